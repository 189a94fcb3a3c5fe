// The role that multiplies: operations and plain loops.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/RoleKernel.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// Registers per thread by the number of warpgroups: what they and the copying
/// warpgroup hold fits the register file.
static int64_t productRegisters(int64_t warpgroups) {
  return warpgroups <= 2 ? 240 : 160;
}

bool RoleKernel::isZero(Value value) {
  auto splat = value.getDefiningOp<SplatOp>();
  auto constant = splat ? splat.getValue().getDefiningOp<arith::ConstantOp>()
                        : arith::ConstantOp();
  return constant && constant.getValue() == b.getF32FloatAttr(0);
}

Operation *RoleKernel::cloneConverted(Operation &op, IRMapping &mapping) {
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
  return clone;
}

LogicalResult RoleKernel::emitOp(Operation &op, IRMapping &mapping) {
  if (isa<AllocOp, CopyOp, scf::YieldOp, sm::ReturnOp>(op))
    return success();
  if (auto mma = dyn_cast<MmaOp>(op)) {
    auto operand = [&](Value v) {
      Value slot = slots.lookup(v);
      return slot ? slot : mapping.lookup(v);
    };
    // A sum that starts at zero needs no registers set to it.
    Value init =
        isZero(mma.getInit()) ? Value() : mapping.lookup(mma.getInit());
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
  if (llvm::all_of(op.getResultTypes(), isOwn))
    cloneConverted(op, mapping);
  return success();
}

LogicalResult RoleKernel::emitLoop(scf::ForOp loop, IRMapping &mapping,
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
LogicalResult RoleKernel::emitProducts() {
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
  if (!isLagged || !findSoftmax())
    softmax.clear();
  if (isLagged && plan.warpgroups > 1) {
    // The last one gives the first its turn.
    auto isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        warpgroup, i32(plan.warpgroups - 1));
    auto branch = scf::IfOp::create(b, loc, TypeRange(), isLast, false);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(branch.thenBlock());
    passTurn();
  }
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

} // namespace selvedge::schedule
