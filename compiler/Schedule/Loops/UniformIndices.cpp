// tile-uniform-indices: quotients that are equal in all lanes of a step.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/StepBegins.h"
#include "compiler/Schedule/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_TILEUNIFORMINDICES
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

std::optional<int64_t> constantOf(Value v) {
  if (auto splat = v.getDefiningOp<SplatOp>())
    v = splat.getValue();
  APInt number;
  return matchPattern(v, m_ConstantInt(&number))
             ? std::optional(number.getSExtValue())
             : std::nullopt;
}

class Rewriter {
public:
  explicit Rewriter(scf::ForOp loop) : loop(loop), begins(loop) {}

  void run() {
    if (!loop.getInductionVar().getType().isInteger(32))
      return;
    for (Operation &op : llvm::make_early_inc_range(*loop.getBody()))
      llvm::TypeSwitch<Operation *>(&op)
          .Case([&](arith::FloorDivSIOp quotient) { visit(quotient); })
          .Case([&](arith::SubIOp rest) { visit(rest); })
          .Case([&](LoadOp load) {
            if (!makeScalar(load))
              simplify(load);
          });
  }

private:
  /// A quotient that is one number in all lanes.
  struct Page {
    Value number;
    int64_t size;
  };

  void visit(arith::FloorDivSIOp quotient) {
    auto range = quotient.getLhs().getDefiningOp<RangeOp>();
    auto by = quotient.getRhs().getDefiningOp<SplatOp>();
    std::optional<int64_t> size = constantOf(quotient.getRhs());
    if (!range || !by || !size || *size <= 0 || !isInPage(range, *size))
      return;
    OpBuilder b(quotient);
    Value number = arith::FloorDivSIOp::create(
        b, quotient.getLoc(), loop.getInductionVar(), by.getValue());
    pages.insert({quotient.getResult(), {number, *size}});
  }

  bool isInPage(RangeOp range, int64_t page) {
    int64_t size = cast<RankedTensorType>(range.getType()).getDimSize(0);
    // A step of one lane gathers nothing.
    return range.getStart() == loop.getInductionVar() &&
           !ShapedType::isDynamic(size) && size > 1 &&
           llvm::isPowerOf2_64(size) && page % size == 0 &&
           begins.atMultipleOf(size);
  }

  /// `range - page * P` is the range shifted by one number. Written as whole
  /// steps the result is inside the page for any first index.
  void visit(arith::SubIOp rest) {
    auto range = rest.getLhs().getDefiningOp<RangeOp>();
    std::optional<int64_t> page = sizeOfProduct(rest.getRhs());
    if (!range || !page || !isInPage(range, *page))
      return;
    int64_t size = cast<RankedTensorType>(range.getType()).getDimSize(0);
    OpBuilder b(rest);
    Location loc = rest.getLoc();
    auto number = [&](int64_t n) -> Value {
      return arith::ConstantIntOp::create(b, loc, n, 32);
    };
    Value first = number(0), begin = loop.getInductionVar();
    if (*page != size) {
      Value step = arith::FloorDivSIOp::create(b, loc, begin, number(size)),
            steps = number(*page / size),
            whole = arith::MulIOp::create(
                b, loc, arith::FloorDivSIOp::create(b, loc, step, steps),
                steps);
      first = arith::MulIOp::create(
          b, loc, arith::SubIOp::create(b, loc, step, whole), number(size));
    }
    Value shift = SplatOp::create(b, loc, range.getType(),
                                  arith::SubIOp::create(b, loc, first, begin));
    rest.replaceAllUsesWith(
        arith::AddIOp::create(b, loc, shift, range).getResult());
    rest.erase();
  }

  /// P of `page * P`, where pages have so many rows.
  std::optional<int64_t> sizeOfProduct(Value v) const {
    auto product = v.getDefiningOp<arith::MulIOp>();
    if (!product)
      return std::nullopt;
    for (unsigned i : {0, 1})
      if (auto page = pages.find(product->getOperand(i));
          page != pages.end() &&
          constantOf(product->getOperand(1 - i)) == page->second.size)
        return page->second.size;
    return std::nullopt;
  }

  /// What all lanes have; null where they may differ.
  Value scalarOf(Value v) const {
    if (!isTile(v.getType()))
      return v;
    if (auto splat = v.getDefiningOp<SplatOp>())
      return splat.getValue();
    auto page = pages.find(v);
    return page != pages.end() ? page->second.number : Value();
  }

  /// A load of which all lanes read one element.
  bool makeScalar(LoadOp load) {
    if (!isTile(load.getType()) || load.getFill() != Fill::Any ||
        !load.getGarbage().empty() ||
        !getElementTypeOrSelf(load.getType()).isInteger(32))
      return false;
    bool hasPage = false;
    SmallVector<Value> indices, presence;
    for (Value index : load.getIndices()) {
      indices.push_back(scalarOf(index));
      hasPage |= pages.contains(index);
    }
    if (!hasPage || llvm::is_contained(indices, Value()))
      return false;
    OpBuilder b(load);
    for (Value p : load.getPresence()) {
      if (Value scalar = scalarOf(p))
        presence.push_back(scalar);
      else if (Value scalar = scalarCompare(b, p))
        presence.push_back(scalar);
      else if (!holdsInFirstLane(p))
        return false;
    }
    auto scalar = LoadOp::create(
        b, load.getLoc(), getElementTypeOrSelf(load.getType()),
        load.getTensor(), indices, presence, Fill::Any, ArrayRef<int64_t>());
    auto splat = SplatOp::create(b, load.getLoc(), load.getType(), scalar);
    loaded.insert(splat);
    load.replaceAllUsesWith(splat.getResult());
    load.erase();
    return true;
  }

  /// The compare of what is equal in all lanes; null where it is none.
  Value scalarCompare(OpBuilder &b, Value p) const {
    auto compare = p.getDefiningOp<arith::CmpIOp>();
    Value x = compare ? scalarOf(compare.getLhs()) : Value(),
          y = compare ? scalarOf(compare.getRhs()) : Value();
    return x && y ? arith::CmpIOp::create(b, compare.getLoc(),
                                          compare.getPredicate(), x, y)
                  : Value();
  }

  /// Whether a compare holds in the first lane of each step: the loop ends
  /// there.
  bool holdsInFirstLane(Value p) {
    auto compare = p.getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt)
      return false;
    auto range = compare.getLhs().getDefiningOp<RangeOp>();
    auto end = compare.getRhs().getDefiningOp<SplatOp>();
    return range && end && range.getStart() == loop.getInductionVar() &&
           begins.endAtMost(end.getValue());
  }

  /// What was loaded is a scalar index where another index has the axis.
  void simplify(LoadOp load) {
    SmallVector<Value> indices(load.getIndices());
    auto hasAxis = [](Value index, StringAttr axis) {
      return isTile(index.getType()) &&
             llvm::is_contained(axesOf(index.getType()), axis);
    };
    for (auto [i, index] : llvm::enumerate(indices)) {
      auto splat = index.getDefiningOp<SplatOp>();
      if (!splat || !loaded.contains(splat))
        continue;
      StringAttr axis = axesOf(index.getType()).front();
      if (llvm::count_if(indices,
                         [&](Value other) { return hasAxis(other, axis); }) > 1)
        index = splat.getValue();
    }
    load.getIndicesMutable().assign(indices);
  }

  scf::ForOp loop;
  analysis::StepBegins begins;
  llvm::DenseMap<Value, Page> pages;
  llvm::DenseSet<Value> loaded;
};

struct TileUniformIndicesPass
    : impl::TileUniformIndicesBase<TileUniformIndicesPass> {
  void runOnOperation() override {
    getOperation()->walk([](scf::ForOp loop) { Rewriter(loop).run(); });
  }
};

} // namespace
} // namespace selvedge::schedule
