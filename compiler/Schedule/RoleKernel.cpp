// Emits a kernel with warp roles: its memory and arguments.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/RoleKernel.h"

#include "mlir/IR/AffineExprVisitor.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// Shared memory for tiles; the rest is left to barriers.
static constexpr int64_t maxSharedBytes = 226 * 1024;

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

int64_t RoleKernel::stageBytes(BulkCopy &copy) {
  return slotType(copy).getBytes() *
         (copy.isPerWarpgroup ? plan.warpgroups : 1);
}

void RoleKernel::leaveStores() {
  for (BulkStore &store : plan.stores)
    plan.laneStores.push_back(
        {store.store, "its tile does not fit in shared memory beside two slots "
                      "of each ring"});
  plan.stores.clear();
}

void RoleKernel::allocate() {
  SmallVector<BulkCopy> &steps = plan.streamed[plan.loops.front()];
  int64_t tileBytes = 0, stepBytes = 0;
  for (BulkCopy &copy : plan.resident)
    tileBytes += stageBytes(copy);
  for (BulkCopy &copy : steps)
    stepBytes += stageBytes(copy);
  // Where there is room: results are staged, and the next tile's operands
  // arrive during this one.
  stages = 2;
  int64_t taken = tileBytes + stages * stepBytes, storeBytes = 0;
  for (BulkStore &store : plan.stores)
    storeBytes += storeType(store).getBytes() * plan.warpgroups;
  if (taken + storeBytes > maxSharedBytes)
    leaveStores();
  else
    taken += storeBytes;
  if (plan.isPersistent && taken + tileBytes <= maxSharedBytes) {
    residentStages = 2;
    taken += tileBytes;
  }
  for (; stages < maxStages && taken + stepBytes <= maxSharedBytes; ++stages)
    taken += stepBytes;
  smemBytes = taken;
  SmallVector<Value> barriers;
  auto add = [&](SmallVector<Ring> &rings, ArrayRef<BulkCopy> copies,
                 int64_t depth, bool isRefilled) {
    for (BulkCopy copy : copies) {
      Ring &ring = rings.emplace_back(makeRing(copy, depth));
      barriers.push_back(ring.full);
      // Only what is filled again needs to say that it was read.
      if (!isRefilled)
        continue;
      ring.empty = MBarrierOp::create(
          b, loc,
          MBarrierType::get(b.getContext(), warpsPerGroup * plan.warpgroups,
                            depth));
      barriers.push_back(ring.empty);
    }
  };
  add(resident, plan.resident, residentStages, plan.isPersistent);
  add(streamed, steps, stages, true);
  for (BulkStore &store : plan.stores)
    staging[store.store] =
        AllocOp::create(b, loc, storeType(store).withStages(plan.warpgroups));
  InitMBarriersOp::create(b, loc, barriers);
}

namespace {

/// Emits an affine expression over dims as 32-bit arithmetic.
class DimArithmetic : public AffineExprVisitor<DimArithmetic, Value> {
public:
  DimArithmetic(OpBuilder &b, Location loc, ArrayRef<Value> dims)
      : b(b), loc(loc), dims(dims) {}

  Value visitConstantExpr(AffineConstantExpr e) {
    return arith::ConstantIntOp::create(b, loc, e.getValue(), 32);
  }
  Value visitSymbolExpr(AffineSymbolExpr e) { return dims[e.getPosition()]; }
  Value visitAddExpr(AffineBinaryOpExpr e) { return binary<arith::AddIOp>(e); }
  Value visitMulExpr(AffineBinaryOpExpr e) { return binary<arith::MulIOp>(e); }
  Value visitModExpr(AffineBinaryOpExpr e) { return binary<arith::RemUIOp>(e); }
  Value visitFloorDivExpr(AffineBinaryOpExpr e) {
    return binary<arith::DivUIOp>(e);
  }
  Value visitCeilDivExpr(AffineBinaryOpExpr e) {
    return binary<arith::CeilDivSIOp>(e);
  }
  Value visitDimExpr(AffineDimExpr) {
    llvm_unreachable("launches have dims as symbols");
  }

private:
  template <typename Op>
  Value binary(AffineBinaryOpExpr e) {
    Value lhs = visit(e.getLHS()), rhs = visit(e.getRHS());
    return Op::create(b, loc, lhs, rhs);
  }

  OpBuilder &b;
  Location loc;
  ArrayRef<Value> dims;
};

} // namespace

Value RoleKernel::countTiles() {
  ArrayAttr names = launch->getParentOfType<PlanOp>().getDims();
  SmallVector<Value> dims(names.size());
  for (auto [attr, argument] :
       llvm::zip_equal(target.getArgs(), target.getBody().getArguments()))
    if (auto dim = dyn_cast<DimArgAttr>(attr))
      dims[llvm::find(names, dim.getDim()) - names.begin()] = argument;
  Value count;
  for (AffineExpr extent : launch.getGrid().getResults()) {
    Value factor = DimArithmetic(b, loc, dims).visit(extent);
    count = count ? arith::MulIOp::create(b, loc, count, factor).getResult()
                  : factor;
  }
  return count;
}

LogicalResult
RoleKernel::forTiles(MutableArrayRef<Value> carried,
                     llvm::function_ref<LogicalResult(IRMapping &)> body) {
  IRMapping local = outer;
  auto blocks = source.getBody().getOps<BlockIdOp>();
  if (!plan.isPersistent) {
    // Blocks start in order: long tiles, which mostly come last, go first.
    Value last = arith::SubIOp::create(b, loc, tiles, i32(1));
    Value tile = arith::SubIOp::create(
        b, loc, last, BlockIdOp::create(b, loc, b.getI32Type()));
    for (auto block : blocks)
      local.map(block.getResult(), tile);
    return body(local);
  }
  auto loop = scf::ForOp::create(
      b, loc, BlockIdOp::create(b, loc, b.getI32Type()), tiles,
      BlockCountOp::create(b, loc, b.getI32Type()), ValueRange(carried));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  for (auto [value, argument] :
       llvm::zip_equal(carried, loop.getRegionIterArgs()))
    value = argument;
  for (auto block : blocks)
    local.map(block.getResult(), loop.getInductionVar());
  if (failed(body(local)))
    return failure();
  scf::YieldOp::create(b, loc, ValueRange(carried));
  for (auto [value, result] : llvm::zip_equal(carried, loop.getResults()))
    value = result;
  return success();
}

Value RoleKernel::scalar(Value v, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(v))
    return known;
  Operation *def = v.getDefiningOp();
  for (Value operand : def->getOperands())
    scalar(operand, mapping);
  return b.clone(*def, mapping)->getResult(cast<OpResult>(v).getResultNumber());
}

RoleKernel::Cursor RoleKernel::advance(Cursor at, int64_t depth) {
  Value next = add(at.stage, i32(1));
  Value wraps =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next, i32(depth));
  Value flipped = arith::XOrIOp::create(b, loc, at.parity, i32(1));
  return {arith::SelectOp::create(b, loc, wraps, i32(0), next),
          arith::SelectOp::create(b, loc, wraps, flipped, at.parity)};
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

/// The source's arguments, bulk tensors as tensor maps, and the dims that the
/// number of tiles takes.
void RoleKernel::addArguments() {
  llvm::DenseMap<Value, SmallVector<int64_t>> boxes;
  for (ArrayRef<BulkCopy> copies :
       {ArrayRef(plan.resident),
        ArrayRef(plan.streamed.find(plan.loops.front())->second)})
    for (BulkCopy copy : copies)
      boxes[copy.copy.getTensor()] = copy.box;
  for (BulkStore &store : plan.stores)
    boxes[store.store.getTensor()] = store.box;
  Block &body = target.getBody().front();
  SmallVector<Attribute> args;
  for (auto [i, argument] : llvm::enumerate(source.getBody().getArguments())) {
    Attribute arg = source.getArgs()[i];
    Type type = argument.getType();
    if (auto box = boxes.find(argument); box != boxes.end()) {
      auto tensor = cast<tile::GlobalType>(type);
      arg = TensorMapArgAttr::get(
          b.getContext(), cast<PointerArgAttr>(arg).getTensor(), box->second);
      type = TensorMapType::get(b.getContext(), tensor.getRank(),
                                tensor.getElementType());
    }
    args.push_back(arg);
    outer.map(argument, body.addArgument(type, loc));
  }
  ArrayAttr names = launch->getParentOfType<PlanOp>().getDims();
  for (auto [i, name] : llvm::enumerate(names.getAsRange<StringAttr>())) {
    auto arg = DimArgAttr::get(b.getContext(), name);
    if (!launch.getGrid().isFunctionOfSymbol(i) ||
        llvm::is_contained(args, arg))
      continue;
    args.push_back(arg);
    body.addArgument(b.getI32Type(), loc);
  }
  target.setArgsAttr(b.getArrayAttr(args));
}

FailureOr<KernelOp> RoleKernel::run() {
  std::string name = source.getSymName().str();
  if (size_t at = name.rfind("_aligned"); at != std::string::npos)
    name.resize(at);
  target = KernelOp::create(b, loc, name + "_bulk", b.getArrayAttr({}),
                            warpsPerGroup * (plan.warpgroups + 1));
  Block &body = target.getBody().emplaceBlock();
  b.setInsertionPointToStart(&body);
  allocate();
  addArguments();
  tiles = countTiles();
  emitCopies();
  if (failed(emitProducts()))
    return failure();
  noteDecisions();
  sm::ReturnOp::create(b, loc);
  return target;
}

FailureOr<KernelOp> emitRoles(KernelOp kernel, LaunchOp launch,
                              const RolePlan &plan, int64_t maxSlots) {
  return RoleKernel(kernel, launch, plan, maxSlots).run();
}

} // namespace selvedge::schedule
