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
    visit(load.getResult(), 1);
    for (auto [factor, extent] : uses)
      found.push_back({from.getName(), factor, extent});
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

  void visit(Value v, int64_t factor) {
    if (!seen.insert({v, factor}).second)
      return;
    for (OpOperand &use : v.getUses())
      visit(use, factor);
  }

  void visit(OpOperand &use, int64_t factor) {
    Operation *user = use.getOwner();
    llvm::TypeSwitch<Operation *>(user)
        .Case<arith::AddIOp, arith::SubIOp, arith::MaxSIOp, arith::MinSIOp,
              tile::SplatOp, tile::BroadcastOp, tile::RangeOp>(
            [&](Operation *op) { visit(op->getResult(0), factor); })
        .Case([&](arith::SelectOp op) {
          if (use.getOperandNumber() > 0)
            visit(op.getResult(), factor);
        })
        .Case([&](arith::MulIOp op) {
          Value other = op.getOperand(1 - use.getOperandNumber());
          std::optional<int64_t> constant = constantOf(other);
          int64_t product = 0;
          if (constant && *constant > 0 &&
              !llvm::MulOverflow(factor, *constant, product))
            visit(op.getResult(), product);
        })
        .Case([&](scf::ForOp op) {
          if (use.get() == op.getLowerBound())
            visit(op.getInductionVar(), factor);
        })
        .Case([&](tile::TensorAccessOpInterface access) {
          unsigned first = access.getIndices().getBeginOperandIndex();
          unsigned dim = use.getOperandNumber() - first;
          if (use.getOperandNumber() < first ||
              dim >= access.getIndices().size())
            return;
          if (tile::TensorArgAttr into = tensors.lookup(access.getAccessed()))
            uses.push_back({factor, into.getShape().getResult(dim)});
        });
  }

  DenseMap<Value, tile::TensorArgAttr> tensors;
  DenseSet<std::pair<Value, int64_t>> seen;
  SmallVector<std::pair<int64_t, AffineExpr>> uses;
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
