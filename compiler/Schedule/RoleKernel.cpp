// Emits a kernel with warp roles: its memory and arguments.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/RoleKernel.h"

#include "llvm/ADT/SetVector.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

BufferType RoleKernel::slotType(BulkCopy &copy) {
  BufferType type = copy.copy.getBuffer().getType();
  return BufferType::get(b.getContext(), type.getRowAxis(), type.getColAxis(),
                         copy.isPerWarpgroup ? warpgroupRows : type.getRows(),
                         type.getCols(), type.getElementType(), /*swizzle=*/7,
                         /*stages=*/1, panelCols);
}

RoleKernel::Ring RoleKernel::makeRing(BulkCopy &copy, int64_t depth) {
  BufferType slot = slotType(copy);
  int64_t slotsPerStage = copy.isPerWarpgroup ? plan.warpgroups : 1;
  Ring ring;
  ring.slot = slot;
  ring.buffer = AllocOp::create(b, loc, slot.withStages(depth * slotsPerStage));
  ring.full =
      MBarrierOp::create(b, loc, MBarrierType::get(b.getContext(), 1, depth));
  return ring;
}

void RoleKernel::allocate() {
  SmallVector<Value> barriers;
  for (BulkCopy &copy : plan.resident) {
    resident.push_back(makeRing(copy, 1));
    barriers.push_back(resident.back().full);
  }
  // Only what is filled again needs to say that it was read.
  auto emptyType = MBarrierType::get(b.getContext(),
                                     warpsPerGroup * plan.warpgroups, stages);
  for (BulkCopy &copy : plan.streamed[plan.loops.front()]) {
    Ring &ring = streamed.emplace_back(makeRing(copy, stages));
    ring.empty = MBarrierOp::create(b, loc, emptyType);
    barriers.push_back(ring.full);
    barriers.push_back(ring.empty);
  }
  InitMBarriersOp::create(b, loc, barriers);
}

Value RoleKernel::scalar(Value v, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(v))
    return known;
  Operation *def = v.getDefiningOp();
  for (Value operand : def->getOperands())
    scalar(operand, mapping);
  return b.clone(*def, mapping)->getResult(cast<OpResult>(v).getResultNumber());
}

std::pair<Value, Value> RoleKernel::advance(Value stage, Value parity) {
  Value next = add(stage, i32(1));
  Value wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next,
                                      i32(stages));
  Value flipped = arith::XOrIOp::create(b, loc, parity, i32(1));
  return {arith::SelectOp::create(b, loc, wraps, i32(0), next),
          arith::SelectOp::create(b, loc, wraps, flipped, parity)};
}

Type RoleKernel::convert(Type type) {
  DistAttr dist = distOf(type);
  if (!dist)
    return type;
  SmallVector<AxisDistAttr> axes;
  SmallVector<int64_t> shape(cast<RankedTensorType>(type).getShape());
  for (auto [i, axis] : llvm::enumerate(dist.getAxes())) {
    for (int64_t stride : axis.getWarps().drop_front(2))
      if (stride)
        shape[i] /= 2;
    axes.push_back(AxisDistAttr::get(
        b.getContext(), axis.getName(), axis.getRegSizes(),
        axis.getRegStrides(), axis.getLanes(), axis.getWarps().take_front(2)));
  }
  return RankedTensorType::get(shape, getElementTypeOrSelf(type),
                               DistAttr::get(b.getContext(), axes));
}

FailureOr<KernelOp> RoleKernel::run() {
  SmallVector<Attribute> args;
  llvm::SetVector<Value> bulk;
  llvm::DenseMap<Value, SmallVector<int64_t>> boxes;
  auto note = [&](ArrayRef<BulkCopy> copies) {
    for (BulkCopy copy : copies) {
      Value tensor = copy.copy.getTensor();
      bulk.insert(tensor);
      boxes[tensor] = copy.box;
    }
  };
  note(plan.resident);
  note(plan.streamed.lookup(plan.loops.front()));
  std::string name = source.getSymName().str();
  if (size_t at = name.rfind("_aligned"); at != std::string::npos)
    name.resize(at);
  target = KernelOp::create(b, loc, name + "_bulk", b.getArrayAttr({}),
                            warpsPerGroup * (plan.warpgroups + 1));
  Block &body = target.getBody().emplaceBlock();
  for (auto [i, argument] : llvm::enumerate(source.getBody().getArguments())) {
    Attribute arg = source.getArgs()[i];
    Type type = argument.getType();
    if (bulk.contains(argument)) {
      auto tensor = cast<tile::GlobalType>(type);
      arg = TensorMapArgAttr::get(b.getContext(),
                                  cast<PointerArgAttr>(arg).getTensor(),
                                  boxes[argument]);
      type = TensorMapType::get(b.getContext(), tensor.getRank(),
                                tensor.getElementType());
    }
    args.push_back(arg);
    body.addArgument(type, loc);
  }
  target.setArgsAttr(b.getArrayAttr(args));
  b.setInsertionPointToStart(&body);
  allocate();
  emitCopies();
  if (failed(emitProducts()))
    return failure();
  sm::ReturnOp::create(b, loc);
  return target;
}

FailureOr<KernelOp> emitRoles(KernelOp kernel, const RolePlan &plan,
                              int64_t stages) {
  return RoleKernel(kernel, plan, stages).run();
}

} // namespace selvedge::schedule
