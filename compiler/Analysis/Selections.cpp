// Integers from memory that select elements of tensors.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/Selections.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::analysis {

using namespace mlir;

namespace {

/// Follows what is made of one loaded value to where it is an index.
class SelectionFinder {
public:
  SelectionFinder(tile::ProgramOp program, tile::KernelOp kernel) {
    for (unsigned i = 0; i < program.getTensors().size(); ++i)
      tensors[kernel.getTensorArgument(i)] = program.getTensorArg(i);
  }

  void follow(tile::LoadOp load, SmallVectorImpl<Selection> &found) {
    tile::TensorArgAttr from = tensors.lookup(load.getTensor());
    if (!from || !getElementTypeOrSelf(load.getType()).isInteger(32))
      return;
    seen.clear();
    visit(load.getResult(), Scale());
    for (auto [scale, extent] : uses)
      found.push_back({from.getName(), scale.factor, scale.divisor, extent});
    uses.clear();
  }

private:
  static std::optional<int64_t> constantOf(Value v) {
    if (auto splat = v.getDefiningOp<tile::SplatOp>())
      v = splat.getOperand();
    APInt value;
    if (!matchPattern(v, m_ConstantInt(&value)))
      return std::nullopt;
    return value.getSExtValue();
  }

  /// What is spread over lanes.
  static Value withoutBroadcast(Value v) {
    while (Operation *op = v.getDefiningOp()) {
      if (!isa<tile::SplatOp, tile::BroadcastOp>(op))
        break;
      v = op->getOperand(0);
    }
    return v;
  }

  /// Whether `rest` is a remainder, `a - a / b * b`: any `a` has one.
  static bool isRemainder(arith::SubIOp rest) {
    auto product =
        withoutBroadcast(rest.getRhs()).getDefiningOp<arith::MulIOp>();
    if (!product)
      return false;
    auto quotient =
        withoutBroadcast(product.getLhs()).getDefiningOp<arith::FloorDivSIOp>();
    return quotient && withoutBroadcast(quotient.getLhs()) ==
                           withoutBroadcast(rest.getLhs());
  }

  /// What a loaded value has been divided by, and then multiplied by.
  struct Scale {
    int64_t factor = 1, divisor = 1;
  };

  void visit(Value v, Scale scale) {
    if (!seen.insert({v, {scale.factor, scale.divisor}}).second)
      return;
    for (OpOperand &use : v.getUses())
      visit(use, scale);
  }

  void visit(OpOperand &use, Scale scale) {
    if (auto rest = dyn_cast<arith::SubIOp>(use.getOwner());
        rest && isRemainder(rest))
      return;
    Operation *user = use.getOwner();
    llvm::TypeSwitch<Operation *>(user)
        .Case<arith::AddIOp, arith::SubIOp, arith::MaxSIOp, arith::MinSIOp,
              tile::SplatOp, tile::BroadcastOp, tile::RangeOp>(
            [&](Operation *op) { visit(op->getResult(0), scale); })
        .Case([&](arith::SelectOp op) {
          if (use.getOperandNumber() > 0)
            visit(op.getResult(), scale);
        })
        .Case([&](arith::MulIOp op) {
          Value other = op.getOperand(1 - use.getOperandNumber());
          std::optional<int64_t> constant = constantOf(other);
          int64_t product = 0;
          if (constant && *constant > 0 &&
              !llvm::MulOverflow(scale.factor, *constant, product))
            visit(op.getResult(), Scale{product, scale.divisor});
        })
        .Case([&](arith::FloorDivSIOp op) {
          // Of multiples the quotient tells less.
          std::optional<int64_t> constant = constantOf(op.getRhs());
          int64_t product = 0;
          if (use.getOperandNumber() == 0 && scale.factor == 1 && constant &&
              *constant > 0 &&
              !llvm::MulOverflow(scale.divisor, *constant, product))
            visit(op.getResult(), Scale{1, product});
        })
        .Case([&](scf::ForOp op) {
          if (use.get() == op.getLowerBound())
            visit(op.getInductionVar(), scale);
        })
        .Case([&](tile::TensorAccessOpInterface access) {
          unsigned first = access.getIndices().getBeginOperandIndex();
          unsigned dim = use.getOperandNumber() - first;
          if (use.getOperandNumber() < first ||
              dim >= access.getIndices().size())
            return;
          if (tile::TensorArgAttr into = tensors.lookup(access.getAccessed()))
            uses.push_back({scale, into.getShape().getResult(dim)});
        });
  }

  DenseMap<Value, tile::TensorArgAttr> tensors;
  DenseSet<std::pair<Value, std::pair<int64_t, int64_t>>> seen;
  SmallVector<std::pair<Scale, AffineExpr>> uses;
};

} // namespace

SmallVector<Selection> findSelections(tile::ProgramOp program) {
  SmallVector<Selection> found;
  for (auto kernel : program.getBody().getOps<tile::KernelOp>()) {
    SelectionFinder finder(program, kernel);
    kernel.walk([&](tile::LoadOp load) { finder.follow(load, found); });
  }
  return found;
}

} // namespace selvedge::analysis
