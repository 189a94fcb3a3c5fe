// The messages of verify-sm-async.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/SmAsyncRules.h"

#include "llvm/Support/FormatVariadic.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

std::string SmAsyncRules::nameOf(Slot slot) {
  BufferType type = allocs[slot.buffer].getType();
  return llvm::formatv("stage {0} of buffer \"{1}\" x \"{2}\"", slot.stage,
                       type.getRowAxis().getValue(),
                       type.getColAxis().getValue());
}

/// What a fault breaks, and what was found instead.
static std::string describe(Fault fault, StringRef slot) {
  switch (fault) {
  case Fault::OutsideRing:
    return llvm::formatv("expects a stage of its ring, found {0}", slot);
  case Fault::NeverWritten:
    return llvm::formatv("expects {0} to be written before it is read, found "
                         "no write",
                         slot);
  case Fault::PartMissing:
    return llvm::formatv("expects a barrier between the writes of all warps to "
                         "{0} and this read, found one that has not begun",
                         slot);
  case Fault::InFlight:
    return llvm::formatv("expects the last operation on {0} to be awaited, and "
                         "then a barrier, found it in flight",
                         slot);
  case Fault::Unordered:
    return llvm::formatv("expects a barrier after the last operation on {0}, "
                         "found none that orders it before this one",
                         slot);
  case Fault::Unfenced:
    return llvm::formatv("expects a fence of the async proxy after the last "
                         "write to {0}, found none",
                         slot);
  case Fault::AwaitedBefore:
    return "expects a token that has not been awaited, found a stale one";
  case Fault::NotOwn:
    return "expects a token of the agent's own operation, found another's";
  case Fault::TooManyArrivals:
    return "expects no more arrivals than the barrier's phase counts";
  case Fault::TooManyBytes:
    return "expects no more bytes than the mbarrier's phase was told";
  case Fault::EarlyArrival:
    return "expects the barrier's last phase to be over before this arrival, "
           "found none that orders it";
  case Fault::PhaseOverrun:
    return "expects the phase of a wait to be seen before the next one ends, "
           "found none that orders it";
  case Fault::LeftInFlight:
    return "expects an await before the kernel ends, found none";
  }
  llvm_unreachable("unknown fault");
}

Progress SmAsyncRules::conclude(const Finding &found, Operation *op,
                                const Place &where) {
  if (!found)
    return Progress::Advanced;
  bool hasSlot = found->slot.buffer < allocs.size();
  InFlightDiagnostic error =
      op->emitOpError(
          describe(found->fault, hasSlot ? nameOf(found->slot) : "a buffer"))
      << " (" << where.str() << ")";
  if (found->earlier && sites[*found->earlier].op != nullptr) {
    const Executed &earlier = sites[*found->earlier];
    error.attachNote(earlier.op->getLoc())
        << "in conflict with '" << earlier.op->getName() << "' ("
        << earlier.where.str() << ")";
  }
  return Progress::Failed;
}

LogicalResult SmAsyncRules::finish() {
  Finding found = order.finish();
  if (!found)
    return success();
  const Executed &left = sites[*found->earlier];
  found->earlier.reset();
  conclude(found, left.op, left.where);
  return failure();
}

LogicalResult SmAsyncRules::reportDeadlock() {
  InFlightDiagnostic error =
      agents.front().current()->emitOpError("expects to go on, found that all "
                                            "agents wait");
  for (Agent &agent : agents)
    error.attachNote(agent.current()->getLoc())
        << agent.where().str() << " waits here: "
        << (agent.hasArrived ? order.describeBarrier(blockBarrier)
                             : std::string("it has returned"));
  return failure();
}

} // namespace selvedge::verify
