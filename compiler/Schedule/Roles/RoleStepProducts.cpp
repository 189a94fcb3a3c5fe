// Starts and finishes the products of a step, and releases its tiles.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/RoleStepProducts.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

RoleKernel::StepProducts::StepProducts(RoleKernel &kernel, scf::ForOp loop,
                                       Cursor at, IRMapping &mapping)
    : kernel(kernel), copies(kernel.plan.streamed.find(loop)->second), at(at),
      crossingsAt(at), mapping(mapping), crossingScalars(&mapping),
      readers(copies.size()), crosses(!kernel.plan.crossings[loop].empty()) {
  for (auto mma : loop.getBody()->getOps<MmaOp>())
    for (auto [i, copy] : llvm::enumerate(copies))
      readers[i] += reads(mma, copy);
}

bool RoleKernel::StepProducts::reads(MmaOp mma, BulkCopy &copy) {
  Value buffer = copy.copy.getBuffer();
  return mma.getLhs() == buffer || mma.getRhs() == buffer;
}

void RoleKernel::StepProducts::awaitTiles(MmaOp mma) {
  for (auto [i, copy] : llvm::enumerate(copies)) {
    Value buffer = copy.copy.getBuffer();
    if (!reads(mma, copy) || kernel.slots.lookup(buffer))
      continue;
    SmallVector<StepTile> vectors;
    if (i == kernel.schedule.firstRead())
      for (auto [other, ring] : llvm::zip_equal(copies, kernel.streamed))
        if (other.isVector())
          vectors.push_back({&other, &ring, {&other}, mapping});
    kernel.slots[buffer] =
        kernel.clearedTile(copy, kernel.streamed[i], at, mapping, vectors);
  }
}

void RoleKernel::StepProducts::start(MmaOp mma) {
  awaitTiles(mma);
  const RoleCrossing *crossing = kernel.plan.crossingOf(mma);
  if (crossing && !kernel.schedule.crossingsAreLate &&
      !std::exchange(hasMet, true))
    kernel.meetAtCrossing();
  mapping.map(
      mma.getResult(),
      crossing ? kernel.startCrossing(*crossing, crossingsAt, *crossingScalars)
               : kernel.startProduct(mma, mapping));
  started.push_back(mma);
}

void RoleKernel::StepProducts::crossAt(Cursor earlier, IRMapping &scalars) {
  crossingsAt = earlier;
  crossingScalars = &scalars;
}

void RoleKernel::StepProducts::finishFor(Operation &op) {
  for (size_t n = 0; n < started.size(); ++n)
    if (llvm::is_contained(op.getOperands(), started[n].getResult()))
      finish(n);
}

void RoleKernel::StepProducts::finishAll() {
  for (size_t n = 0; n < started.size(); ++n)
    finish(n);
}

void RoleKernel::StepProducts::goBackTo(const StepProducts &earlier) {
  readers = earlier.readers;
  hasMet = earlier.hasMet;
  started = earlier.started;
  waited = earlier.waited;
  finished = earlier.finished;
}

void RoleKernel::StepProducts::forgetTiles() {
  for (BulkCopy &copy : copies) {
    kernel.slots.erase(copy.copy.getBuffer());
    kernel.spreadReads.erase(copy.copy.getBuffer());
  }
}

/// The n-th product, and of a step with one that crosses warpgroups all that
/// were started before it: they have been finished by then, too, and ptxas
/// takes their registers for theirs until a wait has them. Elsewhere registers
/// are read behind a wait of their own.
void RoleKernel::StepProducts::finish(size_t n) {
  size_t first = crosses ? 0 : n;
  for (size_t m = first; m <= n; ++m) {
    if (!waited.insert(m).second)
      continue;
    Value result = started[m].getResult(), flight = mapping.lookup(result);
    mapping.map(result, WgmmaWaitOp::create(kernel.b, started[m].getLoc(),
                                            flight.getType(), flight,
                                            started.size() - 1 - n)
                            .getResult());
  }
  for (; finished <= n; ++finished) {
    if (const RoleCrossing *crossing =
            kernel.plan.crossingOf(started[finished]))
      kernel.releaseCrossed(*crossing, crossingsAt);
    for (auto [i, copy] : llvm::enumerate(copies))
      if (reads(started[finished], copy) && --readers[i] == 0) {
        if (!kernel.schedule.crossingsAreLate &&
            i == kernel.schedule.firstRead())
          kernel.fenceReaders();
        ArriveOp::create(kernel.b, kernel.loc, kernel.streamed[i].empty,
                         at.stage, true);
      }
  }
}

} // namespace selvedge::schedule
