// A load and a store of one tensor in one kernel, of either dialect.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/InPlaceOrder.h"

#include "compiler/Verify/Arithmetic/Facts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace selvedge::verify {

using namespace mlir;

/// Whether `a` stands before `b`, in the block that holds both or what they
/// stand in.
static bool isBefore(Operation *a, Operation *b) {
  for (Operation *around = a; around; around = around->getParentOp())
    if (Operation *other = around->getBlock()->findAncestorOpInBlock(*b))
      return around != other && around->isBeforeInBlock(other);
  return false;
}

/// Where the step of a loop begins: its index, or what a loop of one step,
/// which is a branch, tests. Null for others.
///
///     scf.for %i = ...        %any = arith.cmpi slt, %i, %end
///                             scf.if %any { ... }
static Value beginOf(Operation *part) {
  if (auto loop = dyn_cast_or_null<scf::ForOp>(part))
    return loop.getInductionVar();
  auto branch = dyn_cast_or_null<scf::IfOp>(part);
  auto compare = branch ? branch.getCondition().getDefiningOp<arith::CmpIOp>()
                        : arith::CmpIOp();
  return compare && compare.getPredicate() == arith::CmpIPredicate::slt
             ? compare.getLhs()
             : Value();
}

bool isMadeOf(Value value, Value from) {
  if (strip(value) == strip(from))
    return true;
  Operation *def = strip(value).getDefiningOp();
  return def && isStable(def) && llvm::any_of(def->getOperands(), [&](Value v) {
           return isMadeOf(v, from);
         });
}

/// Where the steps begin of two parts of what was one loop, which follow each
/// other and hold one of two operations each. No step is taken twice
/// (`verify-tile-parts`), nor is an element stored twice. Null where they are
/// no such parts.
static std::pair<Value, Value> stepsAround(Operation *a, Operation *b) {
  for (Operation *around = a; around; around = around->getParentOp())
    if (Operation *other = around->getBlock()->findAncestorOpInBlock(*b)) {
      Value begin = around != other ? beginOf(around) : Value(),
            otherBegin = beginOf(other);
      return begin && otherBegin ? std::pair(begin, otherBegin)
                                 : std::pair<Value, Value>();
    }
  return {};
}

/// Whether a loop has one step or none, as `when` makes it:
///
///     scf.for %i = 0 to (%c ? 1 : 0) step 1
static bool isBranch(scf::ForOp loop) {
  if (!matchPattern(loop.getLowerBound(), m_Zero()) ||
      !matchPattern(loop.getStep(), m_One()))
    return false;
  Operation *end = loop.getUpperBound().getDefiningOp();
  if (isa_and_nonnull<arith::ExtUIOp>(end))
    return end->getOperand(0).getType().isInteger(1);
  auto select = dyn_cast_or_null<arith::SelectOp>(end);
  return select && matchPattern(select.getTrueValue(), m_One()) &&
         matchPattern(select.getFalseValue(), m_Zero());
}

LogicalResult checkInPlace(Operation *load, ValueRange loaded, Operation *store,
                           ValueRange stored) {
  auto refuse = [&](const Twine &expected) {
    InFlightDiagnostic diag = load->emitOpError("expects ") << expected;
    diag.attachNote(store->getLoc()) << "it is stored here";
    return diag;
  };
  auto [begin, other] = stepsAround(load, store);
  bool areParts = begin && llvm::any_of(stored, [&, end = other](Value index) {
                    return isMadeOf(index, end);
                  });
  for (auto [a, b] : llvm::zip_equal(loaded, stored))
    if (areParts ? !isSameWith(a, b, begin, other) : !isSame(a, b))
      return refuse("to load the elements that the same iteration stores");
  if (!areParts && !isBefore(load, store))
    return refuse("to load elements before they are stored");
  for (Operation *op = store->getParentOp(); op; op = op->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop && loop->isProperAncestor(load) && !isBranch(loop) &&
        llvm::none_of(stored, [&](Value i) { return variesIn(i, loop); }))
      return refuse("other elements in each step of the loop around");
  }
  return success();
}

} // namespace selvedge::verify
