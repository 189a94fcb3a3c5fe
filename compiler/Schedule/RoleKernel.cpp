// Emits a kernel with warp roles.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/WarpRoles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

#include <tuple>

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

namespace {

constexpr int64_t warpgroupRows = 64, panelCols = 64, warpsPerGroup = 4;
/// Registers of the copying warpgroup, and of the others by their number: what
/// they free together fits the register file.
constexpr int64_t copyRegisters = 24;
int64_t productRegisters(int64_t warpgroups) {
  return warpgroups <= 2 ? 240 : 160;
}
/// Named barriers: 0 is that of the block.
constexpr int64_t clearBarrier = 1;

class Emitter {
public:
  Emitter(KernelOp source, RolePlan plan, int64_t stages)
      : source(source), plan(std::move(plan)), stages(stages), b(source),
        loc(source.getLoc()) {}

  FailureOr<KernelOp> run();

private:
  /// Slots of one copy and the barriers around them; `empty` is null where they
  /// are filled once.
  struct Ring {
    Value buffer, full, empty;
    BufferType slot;
  };

  Value i32(int64_t v) { return arith::ConstantIntOp::create(b, loc, v, 32); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  BufferType slotType(BulkCopy &copy);
  Ring makeRing(BulkCopy &copy, int64_t depth);
  void allocate();
  /// A scalar of the source, recomputed at the insertion point.
  Value scalar(Value v, IRMapping &mapping);
  void load(BulkCopy &copy, const Ring &ring, Value stage, IRMapping &mapping);
  void emitCopies();
  LogicalResult emitProducts();
  LogicalResult emitLoop(scf::ForOp loop, IRMapping &mapping, Value &stage,
                         Value &parity);
  LogicalResult emitOp(Operation &op, IRMapping &mapping);
  /// Loops in which one product waits for values computed from the others.
  bool findLaggedProducts();
  LogicalResult emitLaggedLoops(IRMapping &mapping);
  /// What a step leaves for the next one.
  struct Pending {
    /// Carried values of the loops; an accumulator without its last product.
    SmallVector<Value> carried;
    /// The computed operand of the last product, its step's index and slot.
    Value operand, index, stage, parity;
  };
  LogicalResult emitStep(scf::ForOp loop, Value index, Value stage,
                         Value parity, std::optional<Pending> before,
                         IRMapping mapping, Pending &after);
  Value startProduct(scf::ForOp loop, const Pending &pending,
                     IRMapping &mapping);
  /// Waits for the tile of a copy in `stage`; absent rows are cleared.
  Value awaitTile(BulkCopy &copy, const Ring &ring, Value stage, Value parity,
                  IRMapping &mapping);
  /// Whether a product's sum starts at zero.
  bool startsAtZero(MmaOp mma);
  void clearRows(BulkCopy &copy, Value slot, IRMapping &mapping);
  Value predicateByRow(Value p, DistAttr dist, IRMapping &mapping);
  /// Types and distributions of one warpgroup.
  Type convert(Type type);
  /// The stage and parity that follow.
  std::pair<Value, Value> advance(Value stage, Value parity);

  KernelOp source, target;
  RolePlan plan;
  int64_t stages;
  OpBuilder b;
  Location loc;
  SmallVector<Ring> resident, streamed;
  Value warpgroup;
  /// Per loop, the product that lags one step behind.
  DenseMap<Operation *, MmaOp> lagged;
  /// Position of its result among the carried values.
  unsigned laggedResult = 0;
  /// Slot that each source buffer stands for, in the current place.
  DenseMap<Value, Value> slots;
};

} // namespace

BufferType Emitter::slotType(BulkCopy &copy) {
  BufferType type = copy.copy.getBuffer().getType();
  return BufferType::get(b.getContext(), type.getRowAxis(), type.getColAxis(),
                         copy.isPerWarpgroup ? warpgroupRows : type.getRows(),
                         type.getCols(), type.getElementType(), /*swizzle=*/7,
                         /*stages=*/1, panelCols);
}

Emitter::Ring Emitter::makeRing(BulkCopy &copy, int64_t depth) {
  BufferType slot = slotType(copy);
  int64_t slotsPerStage = copy.isPerWarpgroup ? plan.warpgroups : 1;
  Ring ring;
  ring.slot = slot;
  ring.buffer = AllocOp::create(b, loc, slot.withStages(depth * slotsPerStage));
  ring.full =
      MBarrierOp::create(b, loc, MBarrierType::get(b.getContext(), 1, depth));
  return ring;
}

void Emitter::allocate() {
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

Value Emitter::scalar(Value v, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(v))
    return known;
  Operation *def = v.getDefiningOp();
  for (Value operand : def->getOperands())
    scalar(operand, mapping);
  return b.clone(*def, mapping)->getResult(cast<OpResult>(v).getResultNumber());
}

std::pair<Value, Value> Emitter::advance(Value stage, Value parity) {
  Value next = add(stage, i32(1));
  Value wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next,
                                      i32(stages));
  Value flipped = arith::XOrIOp::create(b, loc, parity, i32(1));
  return {arith::SelectOp::create(b, loc, wraps, i32(0), next),
          arith::SelectOp::create(b, loc, wraps, flipped, parity)};
}

/// Announces the bytes of a tile and copies it.
void Emitter::load(BulkCopy &copy, const Ring &ring, Value stage,
                   IRMapping &mapping) {
  int64_t parts = copy.isPerWarpgroup ? plan.warpgroups : 1;
  ExpectOp::create(b, loc, ring.full, stage, parts * ring.slot.getBytes());
  SmallVector<Value> starts;
  for (Value start : copy.starts)
    starts.push_back(scalar(start, mapping));
  Value map = mapping.lookup(copy.copy.getTensor());
  Value first =
      parts == 1 ? stage : arith::MulIOp::create(b, loc, stage, i32(parts));
  for (int64_t part = 0; part < parts; ++part) {
    Value slot = SlotOp::create(b, loc, ring.slot, ring.buffer,
                                part ? add(first, i32(part)) : first);
    SmallVector<Value> indices(starts);
    if (part)
      indices[copy.rowDimension] =
          add(indices[copy.rowDimension], i32(part * warpgroupRows));
    TmaLoadOp::create(b, loc, map, indices, slot, ring.full, stage);
  }
}

/// The role that copies: all tiles in the order in which they are consumed.
void Emitter::emitCopies() {
  auto role = RoleOp::create(b, loc, "copy", 0, 1, copyRegisters, true);
  Block &block = role.getBody().emplaceBlock();
  block.addArgument(b.getI32Type(), loc);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&block);
  IRMapping mapping;
  mapping.map(source.getBody().getArguments(), target.getBody().getArguments());
  for (auto [copy, ring] : llvm::zip_equal(plan.resident, resident))
    load(copy, ring, i32(0), mapping);
  Value stage = i32(0), parity = i32(1);
  for (scf::ForOp loop : plan.loops) {
    auto steps = scf::ForOp::create(
        b, loc, scalar(loop.getLowerBound(), mapping),
        scalar(loop.getUpperBound(), mapping), scalar(loop.getStep(), mapping),
        ValueRange{stage, parity});
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToEnd(steps.getBody());
    IRMapping local = mapping;
    local.map(loop.getInductionVar(), steps.getInductionVar());
    Value s = steps.getRegionIterArg(0), p = steps.getRegionIterArg(1);
    for (auto [copy, ring] : llvm::zip_equal(plan.streamed[loop], streamed)) {
      WaitOp::create(b, loc, ring.empty, s, p);
      load(copy, ring, s, local);
    }
    auto [nextStage, nextParity] = advance(s, p);
    scf::YieldOp::create(b, loc, ValueRange{nextStage, nextParity});
    stage = steps.getResult(0);
    parity = steps.getResult(1);
  }
}

Type Emitter::convert(Type type) {
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

LogicalResult Emitter::emitOp(Operation &op, IRMapping &mapping) {
  if (isa<AllocOp, CopyOp, scf::YieldOp, sm::ReturnOp>(op))
    return success();
  if (auto mma = dyn_cast<MmaOp>(op)) {
    auto operand = [&](Value v) {
      Value slot = slots.lookup(v);
      return slot ? slot : mapping.lookup(v);
    };
    // A sum that starts at zero needs no registers set to it.
    Value init = startsAtZero(mma) ? Value() : mapping.lookup(mma.getInit());
    Value started = WgmmaOp::create(
        b, op.getLoc(), convert(mma.getType()), operand(mma.getLhs()),
        operand(mma.getRhs()), init, mma.getOverAttr());
    mapping.map(
        mma.getResult(),
        WgmmaWaitOp::create(b, op.getLoc(), started.getType(), started, 0)
            .getResult());
    return success();
  }
  // Distributions that only copies use have warps of their own shape.
  auto isOwn = [&](Type type) {
    DistAttr dist = distOf(type);
    return !dist || llvm::all_of(dist.getAxes(), [&](AxisDistAttr axis) {
      return axis.getName() == plan.rowAxis
                 ? axis.getLanes()[2] == 1
                 : llvm::all_of(axis.getWarps(),
                                [](int64_t w) { return w == 0; });
    });
  };
  if (llvm::all_of(op.getResultTypes(), isOwn)) {
    Operation *clone = b.clone(op, mapping);
    for (Value result : clone->getResults())
      result.setType(convert(result.getType()));
    if (auto constant = dyn_cast<arith::ConstantOp>(clone))
      if (auto dense = dyn_cast<SplatElementsAttr>(constant.getValue()))
        constant.setValueAttr(
            DenseElementsAttr::get(cast<ShapedType>(constant.getType()),
                                   dense.getSplatValue<Attribute>()));
    if (auto range = dyn_cast<RangeOp>(clone)) {
      AxisDistAttr axis = distOf(range.getType()).getAxes()[0];
      if (axis.getName() == plan.rowAxis) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(range);
        range.getStartMutable().assign(
            add(range.getStart(),
                arith::MulIOp::create(b, loc, warpgroup, i32(warpgroupRows))));
      }
    }
  }
  return success();
}

/// The predicate with one row per thread of a warpgroup.
Value Emitter::predicateByRow(Value p, DistAttr dist, IRMapping &mapping) {
  if (!distOf(p.getType()))
    return scalar(p, mapping);
  Operation *def = p.getDefiningOp();
  SmallVector<Value> operands;
  for (Value operand : def->getOperands())
    operands.push_back(predicateByRow(operand, dist, mapping));
  OperationState state(def->getLoc(), def->getName());
  state.addOperands(operands);
  state.attributes = llvm::to_vector(def->getAttrs());
  auto shape = cast<RankedTensorType>(p.getType()).getShape();
  state.types.push_back(
      RankedTensorType::get(shape, getElementTypeOrSelf(p.getType()), dist));
  return b.create(state)->getResult(0);
}

/// Rows that a bulk copy brought although they are absent become zero: the
/// first warpgroup clears them, and no warp reads before.
void Emitter::clearRows(BulkCopy &copy, Value slot, IRMapping &mapping) {
  auto type = cast<BufferType>(slot.getType());
  SmallVector<int64_t> lanes{1, 2, 4, 8, 16}, warps{32, 64};
  int64_t perThread = std::max<int64_t>(1, type.getRows() / 128);
  SmallVector<int64_t> sizes, strides;
  if (perThread > 1) {
    sizes.push_back(perThread);
    strides.push_back(128);
  }
  for (int64_t &stride : warps)
    if (stride >= type.getRows())
      stride = 0;
  DistAttr dist = DistAttr::get(
      b.getContext(), {AxisDistAttr::get(b.getContext(), type.getRowAxis(),
                                         sizes, strides, lanes, warps)});
  SmallVector<Value> rows;
  for (Value p : copy.rowPredicates)
    rows.push_back(predicateByRow(p, dist, mapping));
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        warpgroup, i32(0));
  auto branch = scf::IfOp::create(b, loc, TypeRange(), isFirst, false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    ClearOp::create(b, loc, slot, rows);
    ProxyFenceOp::create(b, loc);
  }
  NamedBarrierOp::create(b, loc, i32(clearBarrier),
                         32 * warpsPerGroup * plan.warpgroups, false);
}

LogicalResult Emitter::emitLoop(scf::ForOp loop, IRMapping &mapping,
                                Value &stage, Value &parity) {
  SmallVector<Value> inits;
  for (Value init : loop.getInitArgs())
    inits.push_back(mapping.lookup(init));
  inits.push_back(stage);
  inits.push_back(parity);
  auto steps = scf::ForOp::create(b, loc, scalar(loop.getLowerBound(), mapping),
                                  scalar(loop.getUpperBound(), mapping),
                                  scalar(loop.getStep(), mapping), inits);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(steps.getBody());
    IRMapping local = mapping;
    local.map(loop.getInductionVar(), steps.getInductionVar());
    for (auto [from, to] :
         llvm::zip(loop.getRegionIterArgs(), steps.getRegionIterArgs()))
      local.map(from, to);
    unsigned carried = loop.getInitArgs().size();
    Value s = steps.getRegionIterArg(carried),
          p = steps.getRegionIterArg(carried + 1);
    SmallVector<BulkCopy> &copies = plan.streamed.find(loop)->second;
    SmallVector<Operation *> lastReader(copies.size());
    for (auto [i, copy] : llvm::enumerate(copies))
      for (Operation *user : copy.copy.getBuffer().getUsers())
        if (isa<MmaOp>(user) && user->getBlock() == loop.getBody() &&
            (!lastReader[i] || lastReader[i]->isBeforeInBlock(user)))
          lastReader[i] = user;
    for (Operation &op : loop.getBody()->without_terminator()) {
      // A tile is awaited before its first product.
      if (auto mma = dyn_cast<MmaOp>(op))
        for (auto [i, copy] : llvm::enumerate(copies)) {
          Value buffer = copy.copy.getBuffer();
          if ((mma.getLhs() != buffer && mma.getRhs() != buffer) ||
              slots.lookup(buffer))
            continue;
          slots[buffer] = awaitTile(copy, streamed[i], s, p, local);
        }
      if (failed(emitOp(op, local)))
        return failure();
      for (size_t i = 0; i < copies.size(); ++i)
        if (lastReader[i] == &op)
          ArriveOp::create(b, loc, streamed[i].empty, s, true);
    }
    for (BulkCopy &copy : copies)
      slots.erase(copy.copy.getBuffer());
    SmallVector<Value> yields;
    for (Value v :
         cast<scf::YieldOp>(loop.getBody()->getTerminator()).getResults())
      yields.push_back(local.lookup(v));
    auto [nextStage, nextParity] = advance(s, p);
    yields.push_back(nextStage);
    yields.push_back(nextParity);
    scf::YieldOp::create(b, loc, yields);
  }
  for (auto [from, to] : llvm::zip(loop.getResults(), steps.getResults()))
    mapping.map(from, to);
  stage = steps.getResults()[loop.getNumResults()];
  parity = steps.getResults()[loop.getNumResults() + 1];
  return success();
}

/// The role that multiplies: 64 rows per warpgroup.
LogicalResult Emitter::emitProducts() {
  auto role = RoleOp::create(b, loc, "products", 1, plan.warpgroups,
                             productRegisters(plan.warpgroups), false);
  Block &block = role.getBody().emplaceBlock();
  warpgroup = block.addArgument(b.getI32Type(), loc);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&block);
  IRMapping mapping;
  mapping.map(source.getBody().getArguments(), target.getBody().getArguments());
  for (auto [copy, ring] : llvm::zip_equal(plan.resident, resident)) {
    Value at = copy.isPerWarpgroup ? warpgroup : i32(0);
    slots[copy.copy.getBuffer()] =
        SlotOp::create(b, loc, ring.slot, ring.buffer, at);
  }
  Value stage = i32(0), parity = i32(0);
  bool waited = false, isLagged = findLaggedProducts();
  for (Operation &op : source.getBody().front()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop && isLagged && loop != plan.loops.back())
      continue;
    if (!loop) {
      if (failed(emitOp(op, mapping)))
        return failure();
      continue;
    }
    if (!waited) {
      for (auto [copy, ring] : llvm::zip_equal(plan.resident, resident)) {
        WaitOp::create(b, loc, ring.full, i32(0), i32(0));
        if (!copy.rowPredicates.empty())
          clearRows(copy, slots[copy.copy.getBuffer()], mapping);
      }
      waited = true;
    }
    if (failed(isLagged ? emitLaggedLoops(mapping)
                        : emitLoop(loop, mapping, stage, parity)))
      return failure();
  }
  return success();
}

Value Emitter::awaitTile(BulkCopy &copy, const Ring &ring, Value stage,
                         Value parity, IRMapping &mapping) {
  WaitOp::create(b, loc, ring.full, stage, parity);
  Value at = stage;
  if (copy.isPerWarpgroup)
    at = add(arith::MulIOp::create(b, loc, stage, i32(plan.warpgroups)),
             warpgroup);
  Value slot = SlotOp::create(b, loc, ring.slot, ring.buffer, at);
  if (!copy.rowPredicates.empty())
    clearRows(copy, slot, mapping);
  return slot;
}

bool Emitter::startsAtZero(MmaOp mma) {
  auto splat = mma.getInit().getDefiningOp<SplatOp>();
  auto constant = splat ? splat.getValue().getDefiningOp<arith::ConstantOp>()
                        : arith::ConstantOp();
  return constant && constant.getValue() == b.getF32FloatAttr(0);
}

/// A product lags if an operand in registers depends on another product of the
/// same step and only the next step needs its result. Each loop must have
/// exactly one, in the same place, and pass all its results to the next loop.
bool Emitter::findLaggedProducts() {
  for (auto [n, loop] : llvm::enumerate(plan.loops)) {
    MmaOp found;
    for (auto mma : loop.getBody()->getOps<MmaOp>()) {
      bool computed =
          llvm::any_of(ValueRange{mma.getLhs(), mma.getRhs()}, [&](Value v) {
            return !isa<BufferType>(v.getType()) &&
                   !loop.isDefinedOutsideOfLoop(v);
          });
      if (computed ? bool(found) : !startsAtZero(mma))
        return false;
      if (computed)
        found = mma;
    }
    if (!found || !found->hasOneUse() ||
        !isa<scf::YieldOp>(*found->getUsers().begin()))
      return false;
    unsigned result = found->getUses().begin()->getOperandNumber();
    if (n > 0 && result != laggedResult)
      return false;
    laggedResult = result;
    lagged[loop] = found;
    if (n == 0)
      continue;
    for (auto [init, before] :
         llvm::zip_equal(loop.getInitArgs(), plan.loops[n - 1].getResults()))
      if (init != before)
        return false;
  }
  // Results of all loops but the last go to the next loop only.
  for (scf::ForOp loop :
       SmallVector<scf::ForOp>(ArrayRef(plan.loops).drop_back()))
    for (Value result : loop.getResults())
      if (!result.hasOneUse())
        return false;
  return true;
}

/// Waits for the pending product's tile and starts the product.
Value Emitter::startProduct(scf::ForOp loop, const Pending &pending,
                            IRMapping &mapping) {
  MmaOp mma = lagged[loop];
  bool isLeft = isa<BufferType>(mma.getRhs().getType());
  Value buffer = isLeft ? mma.getRhs() : mma.getLhs();
  SmallVector<BulkCopy> &copies = plan.streamed.find(loop)->second;
  for (auto [i, copy] : llvm::enumerate(copies)) {
    if (copy.copy.getBuffer() != buffer)
      continue;
    IRMapping local = mapping;
    local.map(loop.getInductionVar(), pending.index);
    Value slot =
        awaitTile(copy, streamed[i], pending.stage, pending.parity, local);
    return WgmmaOp::create(b, loc, convert(mma.getType()),
                           isLeft ? pending.operand : slot,
                           isLeft ? slot : pending.operand,
                           pending.carried[laggedResult], mma.getOverAttr());
  }
  llvm_unreachable("planRoles() admits products of streamed tiles only");
}

/// One step: the products that need nothing of it, the lagged product of the
/// step before beside them, then everything else.
LogicalResult Emitter::emitStep(scf::ForOp loop, Value index, Value stage,
                                Value parity, std::optional<Pending> before,
                                IRMapping mapping, Pending &after) {
  mapping.map(loop.getInductionVar(), index);
  MmaOp last = lagged[loop];
  SmallVector<BulkCopy> &copies = plan.streamed.find(loop)->second;
  auto ringOf = [&](MmaOp mma) -> std::optional<size_t> {
    for (auto [i, copy] : llvm::enumerate(copies)) {
      Value buffer = copy.copy.getBuffer();
      if (mma.getLhs() == buffer || mma.getRhs() == buffer)
        return i;
    }
    return std::nullopt;
  };
  SmallVector<std::pair<MmaOp, Value>> started;
  for (auto mma : loop.getBody()->getOps<MmaOp>()) {
    if (mma == last)
      continue;
    std::optional<size_t> ring = ringOf(mma);
    if (ring) {
      Value buffer = copies[*ring].copy.getBuffer();
      slots[buffer] =
          awaitTile(copies[*ring], streamed[*ring], stage, parity, mapping);
    }
    auto operand = [&](Value v) {
      Value slot = slots.lookup(v);
      return slot ? slot : mapping.lookupOrNull(v);
    };
    Value lhs = operand(mma.getLhs()), rhs = operand(mma.getRhs());
    if (!lhs || !rhs)
      return mma.emitOpError("cannot start before the other operations of its "
                             "step");
    started.push_back(
        {mma, WgmmaOp::create(b, mma.getLoc(), convert(mma.getType()), lhs, rhs,
                              Value(), mma.getOverAttr())});
  }
  Value product = before ? startProduct(loop, *before, mapping) : Value();
  for (auto [mma, value] : started) {
    mapping.map(mma.getResult(), WgmmaWaitOp::create(b, loc, value.getType(),
                                                     value, product ? 1 : 0)
                                     .getResult());
    if (std::optional<size_t> ring = ringOf(mma)) {
      ArriveOp::create(b, loc, streamed[*ring].empty, stage, true);
      slots.erase(copies[*ring].copy.getBuffer());
    }
  }
  if (before) {
    for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
      mapping.map(argument, before->carried[i]);
    mapping.map(
        loop.getRegionIterArg(laggedResult),
        WgmmaWaitOp::create(b, loc, product.getType(), product, 0).getResult());
    ArriveOp::create(b, loc, streamed[*ringOf(last)].empty, before->stage,
                     true);
  }
  for (Operation &op : loop.getBody()->without_terminator())
    if (!isa<MmaOp>(op) && failed(emitOp(op, mapping)))
      return failure();
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto [i, v] : llvm::enumerate(yield.getResults()))
    after.carried.push_back(
        mapping.lookup(i == laggedResult ? last.getInit() : v));
  bool isLeft = isa<BufferType>(last.getRhs().getType());
  after.operand = mapping.lookup(isLeft ? last.getLhs() : last.getRhs());
  after.index = index;
  after.stage = stage;
  after.parity = parity;
  return success();
}

/// All loops as one pipeline: the first step alone, every further one beside
/// the product of the step before, the last product alone. The first step uses
/// the body of the last loop, which tests every predicate and so fits any step.
LogicalResult Emitter::emitLaggedLoops(IRMapping &mapping) {
  scf::ForOp lastLoop = plan.loops.back();
  SmallVector<Value> lower, upper;
  Value first, exists, step;
  for (scf::ForOp loop : llvm::reverse(plan.loops)) {
    Value from = scalar(loop.getLowerBound(), mapping),
          to = scalar(loop.getUpperBound(), mapping);
    step = scalar(loop.getStep(), mapping);
    Value runs =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, from, to);
    first = first
                ? arith::SelectOp::create(b, loc, runs, from, first).getResult()
                : from;
    exists =
        exists ? arith::OrIOp::create(b, loc, exists, runs).getResult() : runs;
    lower.insert(lower.begin(), from);
    upper.insert(upper.begin(), to);
  }
  SmallVector<Value> inits;
  for (Value init : plan.loops.front().getInitArgs())
    inits.push_back(mapping.lookup(init));
  auto branch =
      scf::IfOp::create(b, loc, ValueRange(inits).getTypes(), exists, true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    IRMapping local = mapping;
    for (auto [argument, init] :
         llvm::zip_equal(lastLoop.getRegionIterArgs(), inits))
      local.map(argument, init);
    Pending pending;
    Value stage = i32(0), parity = i32(0);
    if (failed(emitStep(lastLoop, first, stage, parity, std::nullopt, local,
                        pending)))
      return failure();
    std::tie(stage, parity) = advance(stage, parity);
    Value second = add(first, step);
    for (auto [loop, from, to] : llvm::zip_equal(plan.loops, lower, upper)) {
      SmallVector<Value> carried(pending.carried);
      for (Value v : {pending.operand, pending.index, pending.stage,
                      pending.parity, stage, parity})
        carried.push_back(v);
      auto steps = scf::ForOp::create(
          b, loc, arith::MaxSIOp::create(b, loc, from, second), to, step,
          carried);
      auto unpack = [&](ValueRange values) {
        size_t n = pending.carried.size();
        pending.carried.assign(values.begin(), values.begin() + n);
        pending.operand = values[n];
        pending.index = values[n + 1];
        pending.stage = values[n + 2];
        pending.parity = values[n + 3];
        stage = values[n + 4];
        parity = values[n + 5];
      };
      {
        OpBuilder::InsertionGuard inner(b);
        b.setInsertionPointToEnd(steps.getBody());
        unpack(steps.getRegionIterArgs());
        Pending after;
        if (failed(emitStep(loop, steps.getInductionVar(), stage, parity,
                            pending, mapping, after)))
          return failure();
        auto [nextStage, nextParity] = advance(stage, parity);
        SmallVector<Value> yields(after.carried);
        for (Value v : {after.operand, after.index, after.stage, after.parity,
                        nextStage, nextParity})
          yields.push_back(v);
        scf::YieldOp::create(b, loc, yields);
      }
      unpack(steps.getResults());
    }
    Value product = startProduct(lastLoop, pending, mapping);
    SmallVector<Value> results(pending.carried);
    results[laggedResult] =
        WgmmaWaitOp::create(b, loc, product.getType(), product, 0);
    scf::YieldOp::create(b, loc, results);
  }
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, inits);
  }
  for (auto [from, to] :
       llvm::zip_equal(lastLoop.getResults(), branch.getResults()))
    mapping.map(from, to);
  return success();
}

FailureOr<KernelOp> Emitter::run() {
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
  return Emitter(kernel, plan, stages).run();
}

} // namespace selvedge::schedule
