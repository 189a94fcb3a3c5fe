// The messages of verify-sm-async.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/SmAsyncRules.h"

#include "llvm/Support/FormatVariadic.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

/// "buffer "j" x "D""
static std::string nameOfBuffer(BufferType type) {
  return llvm::formatv("buffer \"{0}\" x \"{1}\"", type.getRowAxis().getValue(),
                       type.getColAxis().getValue());
}

std::string SmAsyncRules::nameOf(Slot slot) {
  if (auto alloc = dyn_cast<AllocOp>(rings[slot.buffer]))
    return llvm::formatv("stage {0} of {1}", slot.stage,
                         nameOfBuffer(alloc.getType()));
  auto number =
      llvm::count_if(llvm::ArrayRef(rings).take_front(slot.buffer),
                     [](Operation *ring) { return isa<MailboxOp>(ring); });
  return llvm::formatv("stage {0} of mailbox {1}", slot.stage, number);
}

std::string SmAsyncRules::nameOfMBarrier(unsigned mbarrier) {
  unsigned ring = ringOfMBarrier[mbarrier];
  std::string name = llvm::formatv("stage {0} of mbarrier {1}",
                                   mbarrier - mbarrierRings[ring].first, ring);
  BufferType type;
  kernel.walk([&](TmaLoadOp load) {
    if (load.getBarrier().getDefiningOp() == mbarrierRings[ring].op)
      type = load.getBuffer().getType();
  });
  if (type)
    name += " for " + nameOfBuffer(type);
  return name;
}

std::string SmAsyncRules::nameOfBarrier(unsigned barrier) {
  for (auto &[id, named] : namedBarriers)
    if (named.barrier == barrier)
      return llvm::formatv("barrier {0}", id);
  return "the block's barrier";
}

/// What a fault breaks, and what was found instead.
static std::string describe(Fault fault, StringRef slot, StringRef barrier) {
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
                         "access to {0}, found none",
                         slot);
  case Fault::AwaitedBefore:
    return "expects a token that has not been awaited, found a stale one";
  case Fault::NotOwn:
    return "expects a token of the agent's own operation, found another's";
  case Fault::TooManyArrivals:
    return llvm::formatv(
        "expects no more arrivals than the phase of {0} counts", barrier);
  case Fault::TooManyBytes:
    return llvm::formatv("expects no more bytes than the phase of {0} was told",
                         barrier);
  case Fault::EarlyArrival:
    return llvm::formatv("expects the last phase of {0} to be over before this "
                         "arrival, found nothing that orders it",
                         barrier);
  case Fault::PhaseOverrun:
    return llvm::formatv(
        "expects each wait for a phase of {0} to be over before "
        "the next phase ends, found nothing that orders it",
        barrier);
  case Fault::LeftInFlight:
    return "expects an await before the kernel ends, found none";
  }
  llvm_unreachable("unknown fault");
}

void SmAsyncRules::attachNotes(InFlightDiagnostic &error, Operation *ring) {
  if (isa_and_nonnull<MailboxOp, MBarrierOp>(ring))
    error.attachNote(ring->getLoc()) << "defined here";
  if (!trial.dims.empty())
    error.attachNote(kernel.getLoc()) << "with " << trial.str(kernel);
}

Progress SmAsyncRules::report(const Finding &found, Operation *op,
                              const Place &where, StringRef barrier,
                              Operation *ring) {
  bool hasSlot = barrier.empty() && found->slot.buffer < rings.size();
  if (hasSlot)
    ring = rings[found->slot.buffer];
  InFlightDiagnostic error =
      op->emitOpError(describe(
          found->fault, hasSlot ? nameOf(found->slot) : "a buffer", barrier))
      << " (" << where.str() << ")";
  if (found->earlier && sites[*found->earlier].op != nullptr) {
    const Executed &earlier = sites[*found->earlier];
    error.attachNote(earlier.op->getLoc())
        << "in conflict with '" << earlier.op->getName() << "' ("
        << earlier.where.str() << ")";
  }
  attachNotes(error, ring);
  return Progress::Failed;
}

Progress SmAsyncRules::concludeMBarrier(const Finding &found, Operation *op,
                                        Agent &agent, unsigned mbarrier) {
  return found ? report(found, op, agent.where(), nameOfMBarrier(mbarrier),
                        mbarrierRings[ringOfMBarrier[mbarrier]].op)
               : Progress::Advanced;
}

LogicalResult SmAsyncRules::finish() {
  for (Agent &agent : agents)
    if (NextTileOp op = memberOf(agent).lastTile) {
      InFlightDiagnostic error = op.emitOpError(
          "expects sm.reset_tiles with its last number, found none: the next "
          "launch would start with the counter of this one");
      attachNotes(error, nullptr);
      return failure();
    }
  Finding found = order.finish();
  if (!found)
    return success();
  const Executed &left = sites[*found->earlier];
  found->earlier.reset();
  report(found, left.op, left.where);
  return failure();
}

std::string SmAsyncRules::describeWait(Agent &agent) {
  Member &member = memberOf(agent);
  switch (member.waitsAt) {
  case Member::Nothing:
    return "it has returned";
  case Member::Barrier:
    return nameOfBarrier(member.waitsFor) + ", " +
           order.describeBarrier(member.waitsFor);
  case Member::MBarrier:
    return nameOfMBarrier(member.waitsFor) + ", " +
           order.describeMBarrier(member.waitsFor);
  }
  llvm_unreachable("unknown wait");
}

LogicalResult SmAsyncRules::reportDeadlock() {
  auto isBlocked = [&](Agent &agent) {
    return memberOf(agent).waitsAt != Member::Nothing;
  };
  Agent &first = *llvm::find_if(agents, isBlocked);
  InFlightDiagnostic error =
      first.current()->emitOpError("expects to go on, found that all agents "
                                   "wait: ")
      << describeWait(first);
  // Warps of one warpgroup mostly wait at one place.
  std::pair<unsigned, Operation *> last;
  for (Agent &agent : agents) {
    std::pair<unsigned, Operation *> place(agent.group, agent.current());
    if (memberOf(agent).role && std::exchange(last, place) == place)
      continue;
    error.attachNote(agent.current()->getLoc())
        << agent.where().str() << " waits here: " << describeWait(agent);
  }
  attachNotes(error, nullptr);
  return failure();
}

} // namespace selvedge::verify
