// How much of a contracted axis bulk copies can fill.
// SPDX-License-Identifier: MIT
#include "compiler/Target/SM90/RoleEmitter.h"

namespace selvedge::sm90 {

using namespace mlir;
using namespace selvedge::sm;

/// The extent along its last dimension of the tensor that `map` describes;
/// none where a run-time size decides.
std::optional<int64_t> RoleEmitter::lastExtent(Value map) {
  auto attr = dyn_cast<TensorMapArgAttr>(
      kernel.getArgs()[cast<BlockArgument>(map).getArgNumber()]);
  auto module = kernel->getParentOfType<ModuleOp>();
  if (!attr || !module)
    return std::nullopt;
  std::optional<int64_t> extent;
  for (auto plan : module.getOps<PlanOp>())
    for (auto tensor : plan.getTensors().getAsRange<tile::TensorArgAttr>()) {
      if (tensor.getName() != attr.getTensor())
        continue;
      auto last =
          dyn_cast<AffineConstantExpr>(tensor.getShape().getResults().back());
      if (!last || (extent && *extent != last.getValue()))
        return std::nullopt;
      extent = last.getValue();
    }
  return extent;
}

/// Columns of a slot from which on there are zeros: the slots of its ring are
/// filled by bulk copies alone, whose boxes begin at the tensor's first column
/// and end behind its last one. All columns where that is not so.
int64_t RoleEmitter::filledColumns(Value buffer) {
  int64_t all = cast<BufferType>(buffer.getType()).getCols(), filled = 0;
  auto slot = buffer.getDefiningOp<SlotOp>();
  if (!slot)
    return all;
  for (Operation *user : slot.getRing().getUsers()) {
    auto other = dyn_cast<SlotOp>(user);
    if (!other)
      return all;
    for (Operation *op : other->getUsers()) {
      if (isa<WgmmaOp, ClearOp>(op))
        continue;
      auto load = dyn_cast<TmaLoadOp>(op);
      std::optional<int64_t> extent =
          load && matchPattern(load.getIndices().back(), m_Zero())
              ? lastExtent(load.getMap())
              : std::nullopt;
      if (!extent)
        return all;
      filled = std::max(filled, *extent);
    }
  }
  return filled == 0 ? all : std::min(filled, all);
}

} // namespace selvedge::sm90
