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
  if (isFit)
    chooseSlots();
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
