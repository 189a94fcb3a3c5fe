// A load and a store of one tensor in one kernel, of either dialect.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/InPlaceOrder.h"

#include "compiler/Verify/Arithmetic/Facts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

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

LogicalResult checkInPlace(Operation *load, ValueRange loaded, Operation *store,
                           ValueRange stored) {
  auto refuse = [&](const Twine &expected) {
    InFlightDiagnostic diag = load->emitOpError("expects ") << expected;
    diag.attachNote(store->getLoc()) << "it is stored here";
    return diag;
  };
  for (auto [a, b] : llvm::zip_equal(loaded, stored))
    if (!isSame(a, b))
      return refuse("to load the elements that the same iteration stores");
  if (!isBefore(load, store))
    return refuse("to load elements before they are stored");
  for (Operation *op = store->getParentOp(); op; op = op->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop && loop->isProperAncestor(load) &&
        llvm::none_of(stored, [&](Value i) { return variesIn(i, loop); }))
      return refuse("other elements in each step of the loop around");
  }
  return success();
}

} // namespace selvedge::verify
