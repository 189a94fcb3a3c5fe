// sm-skip-empty-tiles: tiles of no row have no steps.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Loops/IndexLimit.h"
#include "compiler/Schedule/Passes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMSKIPEMPTYTILES
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

/// Whether a number comes from memory: other tiles are counted from dims, and
/// each has a row.
bool isFromMemory(Value number) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = options.omitBlockArguments = true;
  (void)getBackwardSlice(number, &slice, options);
  return llvm::any_of(slice, llvm::IsaPred<LoadOp>);
}

struct SmSkipEmptyTilesPass : impl::SmSkipEmptyTilesBase<SmSkipEmptyTilesPass> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    // Roles are not handed such tiles.
    if (kernel.hasRoles())
      return;
    std::optional<IndexLimit> rows;
    for (const IndexLimit &limit : limitsOfStores(kernel))
      // The end of a segment is no more than that of its tensor.
      if (isOfTile(limit) && isFromMemory(limit.first) &&
          (!rows || isFromMemory(limit.end)))
        rows = limit;
    if (rows)
      skip(*rows);
  }

  /// Numbers of a step do not tell of others.
  bool isOfTile(IndexLimit limit) {
    Block *body = &getOperation().getBody().front();
    return limit.first.getParentBlock() == body &&
           limit.end.getParentBlock() == body;
  }

  /// Loops behind what tells whether there are rows. Whatever their results
  /// are, nothing of them is stored.
  void skip(const IndexLimit &rows) {
    Block &body = getOperation().getBody().front();
    Operation *last = rows.first.getDefiningOp();
    if (Operation *end = rows.end.getDefiningOp();
        end && last->isBeforeInBlock(end))
      last = end;
    OpBuilder b(last);
    b.setInsertionPointAfter(last);
    Value room = roomOf(rows, b, last->getLoc());
    for (Operation &op : body) {
      if (!last->isBeforeInBlock(&op))
        continue;
      if (auto loop = dyn_cast<scf::ForOp>(op))
        limitTo(room, loop.getUpperBoundMutable());
      // A loop of one step.
      if (auto branch = dyn_cast<scf::IfOp>(op))
        if (auto runs = branch.getCondition().getDefiningOp<arith::CmpIOp>();
            runs && runs->hasOneUse() &&
            runs.getPredicate() == arith::CmpIPredicate::slt)
          limitTo(room, runs.getRhsMutable());
    }
  }

  static void limitTo(Value room, OpOperand &bound) {
    if (bound.get().getType() != room.getType())
      return;
    OpBuilder b(bound.getOwner());
    bound.set(arith::MinSIOp::create(b, bound.getOwner()->getLoc(), bound.get(),
                                     room));
  }

  /// More than any bound where there are rows, and 0, at which no loop has a
  /// step, where there are none.
  static Value roomOf(const IndexLimit &rows, OpBuilder &b, Location loc) {
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantIntOp::create(b, loc, value, 32);
    };
    Value hasRows = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                          rows.first, rows.end);
    return arith::SelectOp::create(b, loc, hasRows,
                                   number(std::numeric_limits<int32_t>::max()),
                                   number(0));
  }
};

} // namespace
} // namespace selvedge::schedule
