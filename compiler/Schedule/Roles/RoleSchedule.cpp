// What is decided of a kernel with warp roles before any of it is emitted.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/RoleSchedule.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

RoleSchedule::RoleSchedule(KernelOp source, RolePlan plan, int64_t maxSlots)
    : source(source), plan(std::move(plan)), maxSlots(maxSlots) {
  findForm();
  isFit = fitsReads();
  if (!isFit)
    return;
  chooseSlots();
  pipelines = canPipeline();
  if (mostIdleSteps() > 0 && slotsForIdleSteps() <= stages)
    order = StepOrder::Idle;
  else if (isOrderFree && this->plan.loops.size() > 1)
    order = StepOrder::Backward;
  joins = canJoin();
  inTurn = canTakeTurns();
}

RoleSchedule::RoleSchedule(KernelOp source, RolePlan plan, int64_t maxSlots,
                           RoleScheduleAttr given, std::string &why)
    : source(source), plan(std::move(plan)), maxSlots(maxSlots) {
  findForm();
  isFit = fitsReads();
  why = isFit ? follow(given) : misfit;
}

RoleScheduleAttr RoleSchedule::asAttr() const {
  return RoleScheduleAttr::get(
      source->getContext(), overlap, order, stages, residentStages,
      plan.stores.empty() ? 0 : storeParts, host ? int64_t(*host) : -1,
      !softmax.empty(), joins, pipelines, inTurn, crossingsAreLate);
}

/// Exact maxima, and so steps in their order.
void RoleSchedule::stopSpeculating() {
  softmax.clear();
  isOrderFree = false;
}

/// Empty, or what of `given` the kernel does not allow.
std::string RoleSchedule::follow(RoleScheduleAttr given) {
  if (given.getOverlap() != overlap && given.getOverlap() != Overlap::Apart)
    return "its products cannot be " +
           stringifyOverlap(given.getOverlap()).str();
  overlap = given.getOverlap();
  if (given.getSpeculates() && softmax.empty())
    return "it has no softmax whose maximum can be speculated on";
  if (!given.getSpeculates())
    stopSpeculating();
  if (given.getLate() && !crossingsAreLate)
    return "no product of it can be late";
  if (!given.getLate()) {
    crossingsAreLate = false;
    plan.adds.clear();
  }
  stages = given.getSlots();
  residentStages = given.getTileSlots();
  if (given.getStoreParts() == 0)
    leaveStores();
  else if (plan.stores.empty())
    return "it has no result that leaves in bulk";
  storeParts = std::max<int64_t>(1, given.getStoreParts());
  for (const BulkStore &store : plan.stores)
    if (columnsOf(store) % (storeParts * store.box.back()) != 0)
      return "its results have no " + std::to_string(storeParts) + " parts";
  if (given.getHost() >= 0 &&
      (!findHost() || int64_t(*host) != given.getHost()))
    return "results cannot be staged in the slots of operand " +
           std::to_string(given.getHost());
  smemBytes = bytesTaken();
  if (smemBytes > maxTileBytes)
    return "it would take " + std::to_string(smemBytes) + " of " +
           std::to_string(maxTileBytes) + " bytes of shared memory";
  if (given.getPipelined() && !canPipeline())
    return "its tiles cannot be one pipeline";
  pipelines = given.getPipelined();
  order = given.getOrder();
  if (order == StepOrder::Backward && plan.loops.size() == 1)
    return "it has one loop, whose steps go forward";
  if (order == StepOrder::Idle &&
      (mostIdleSteps() == 0 || slotsForIdleSteps() > stages))
    return "it has no steps to leave out, or no slots for that";
  if (order != StepOrder::Forward && !isOrderFree)
    return "its steps have an order";
  if (given.getJoined() && !canJoin())
    return "its loops cannot be joined";
  joins = given.getJoined();
  if (given.getInTurn() && !canTakeTurns())
    return "its warpgroups cannot multiply in turn";
  inTurn = given.getInTurn();
  return "";
}

bool RoleSchedule::givesRegisters() const {
  KernelOp kernel = source;
  size_t fewLoops = plan.hasCrossings() ? 3 : 2;
  return plan.warpgroups <= 2 &&
         (plan.loops.size() > fewLoops ||
          !kernel.getBody().front().getOps<AnyOp>().empty());
}

Type typeOfWarpgroup(Type type) {
  LayoutAttr layout = layoutOf(type);
  if (!layout)
    return type;
  SmallVector<AxisLayoutAttr> axes;
  SmallVector<int64_t> shape(cast<RankedTensorType>(type).getShape());
  for (auto [i, axis] : llvm::enumerate(layout.getAxes())) {
    for (int64_t stride : axis.getWarps().drop_front(2))
      if (stride)
        shape[i] /= 2;
    axes.push_back(AxisLayoutAttr::get(
        type.getContext(), axis.getName(), axis.getRegSizes(),
        axis.getRegStrides(), axis.getLanes(), axis.getWarps().take_front(2)));
  }
  return RankedTensorType::get(shape, getElementTypeOrSelf(type),
                               LayoutAttr::get(type.getContext(), axes));
}

} // namespace selvedge::schedule
