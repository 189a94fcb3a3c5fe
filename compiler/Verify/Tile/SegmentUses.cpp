// Uses of a tensor that lie in segments of its rows.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Tile/SegmentUses.h"

#include "compiler/Verify/Arithmetic/KernelSeed.h"
#include "compiler/Verify/Arithmetic/PredicateWords.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <limits>

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::tile;

namespace {

/// One load or store of a tensor.
class SegmentUse {
public:
  SegmentUse(Operation *use, ValueRange presence, const SegmentRows &rows)
      : use(use), kernel(use->getParentOfType<KernelOp>()), presence(presence),
        rows(rows) {
    SmallVector<Polynomial> dims;
    ProgramOp program = kernel.getProgram();
    seedSignature(program.getDims(), program.getTensors(), values, dims);
    seedKernel(kernel, values, dims);
    for (Value predicate : presence)
      takeSelects(predicate);
    values.enterLoops(use);
  }

  /// Whether a row is not before some end of a segment, and before some other.
  bool isInside(Value row) {
    auto lanes = row.getDefiningOp<RangeOp>();
    std::optional<SegmentUse> other;
    if (arith::SelectOp tile =
            lanes ? selectIn(lanes.getStart()) : arith::SelectOp()) {
      other.emplace(*this);
      other->take(tile, false);
      take(tile, true);
    }
    return isInOne(row) && (!other || other->isInOne(row));
  }

private:
  bool isInOne(Value row) {
    for (Value predicate : presence)
      values.collect(predicate, known);
    Polynomial index = values.of(row);
    bool isBehind = false, isBefore = false;
    for (Operation *at = use; at != kernel; at = at->getParentOp())
      for (auto load : at->getBlock()->getOps<LoadOp>()) {
        if (tensorName(load.getTensor()) != rows.ends ||
            !load->isBeforeInBlock(at) || !isPresent(load))
          continue;
        // A segment begins at end b, and ends at end b + 1.
        Polynomial end = values.of(load.getResult());
        if (load.getIndices()[0].getDefiningOp<arith::AddIOp>())
          isBefore = isBefore || holds(end - index - 1);
        else
          isBehind = isBehind || holds(index - end);
        if (isBehind && isBefore)
          return true;
      }
    return false;
  }

  /// The choice that a number is kept in bounds of.
  static arith::SelectOp selectIn(Value number) {
    while (
        isa_and_nonnull<arith::MaxSIOp, arith::MinSIOp>(number.getDefiningOp()))
      number = number.getDefiningOp()->getOperand(0);
    return number.getDefiningOp<arith::SelectOp>();
  }

  /// Goes on with one side of a choice.
  void take(arith::SelectOp select, bool side) {
    Value taken = side ? select.getTrueValue() : select.getFalseValue();
    if (side)
      takeTile(select.getCondition(), taken.getDefiningOp<arith::AddIOp>());
    values.define(select.getResult(), values.of(taken));
  }

  /// Where a condition says which of a segment's tiles there are: what is not
  /// negative of their number is so of their rows, which do not wrap.
  ///
  ///     %start = %first + %number * %block
  void takeTile(Value condition, arith::AddIOp start) {
    size_t before = known.size();
    values.collect(condition, known);
    auto offset =
        start ? start.getRhs().getDefiningOp<arith::MulIOp>() : arith::MulIOp();
    if (!offset)
      return;
    Polynomial block = values.of(offset.getRhs());
    if (!values.isNonNegative(block))
      return;
    for (size_t i = before, end = known.size(); i < end; ++i)
      known.push_back(known[i] * block);
    auto define = [&](Value value, const Polynomial &exact) {
      if (holds(exact) && holds(std::numeric_limits<int32_t>::max() - exact))
        values.define(value, exact);
    };
    define(offset, values.of(offset.getLhs()) * block);
    define(start, values.of(start.getLhs()) + values.of(offset));
  }

  /// Where a row that is not negative lies below `c ? %end : 0`, `c` is true;
  /// what else is selected by it is what it is then.
  void takeSelects(Value predicate) {
    auto compare = predicate.getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt)
      return;
    auto end = strip(compare.getRhs()).getDefiningOp<arith::SelectOp>();
    if (!end || !matchPattern(end.getFalseValue(), m_Zero()))
      return;
    // What is computed here must not see the selects as they are else.
    IndexValues others = values;
    others.enterLoops(use);
    if (!others.isNonNegativeByCases(others.of(compare.getLhs())))
      return;
    kernel.walk([&](arith::SelectOp select) {
      if (select.getCondition() == end.getCondition())
        values.define(select.getResult(), values.of(select.getTrueValue()));
    });
    values.collect(end.getCondition(), known);
  }

  bool holds(const Polynomial &goal) {
    return values.isNonNegativeByAny(goal, known);
  }

  bool isPresent(LoadOp load) {
    return llvm::all_of(load.getPresence(), [&](Value predicate) {
      SmallVector<Polynomial> goals;
      values.collect(predicate, goals);
      return !goals.empty() && llvm::all_of(goals, [&](const Polynomial &goal) {
        return holds(goal);
      });
    });
  }

  Operation *use;
  KernelOp kernel;
  ValueRange presence;
  const SegmentRows &rows;
  IndexValues values;
  /// What is so wherever the use is present.
  SmallVector<Polynomial> known;
};

} // namespace

bool areUsesInSegments(ProgramOp program, const SegmentRows &rows,
                       KernelOp init) {
  auto isIn = [&](auto use) {
    if (tensorName(use.getTensor()) != rows.tensor ||
        use->template getParentOfType<KernelOp>() == init)
      return true;
    return SegmentUse(use, use.getPresence(), rows)
        .isInside(use.getIndices()[rows.dim]);
  };
  WalkResult result = program.walk([&](Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    auto store = dyn_cast<StoreOp>(op);
    bool isInside = load ? isIn(load) : !store || isIn(store);
    return isInside ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

} // namespace selvedge::verify
