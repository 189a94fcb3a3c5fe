// Tiles as one pipeline: a tile's last product runs beside the first products
// of the next.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/RoleKernel.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

namespace {

constexpr size_t cursorValues = 4;

} // namespace

/// What one tile leaves for the next, as values that a loop carries.
SmallVector<Value> RoleKernel::pack(const OpenTile &open) {
  SmallVector<Value> values{open.exists};
  values.append(open.place);
  values.append(open.last.carried);
  values.append({open.last.operand, open.last.index, open.last.at.stage,
                 open.last.at.parity});
  return values;
}

RoleKernel::OpenTile RoleKernel::unpack(ValueRange values) {
  OpenTile open;
  open.exists = values[0];
  values = values.drop_front();
  auto take = [&](size_t n) {
    SmallVector<Value> taken(values.take_front(n));
    values = values.drop_front(n);
    return taken;
  };
  open.place = take(coordinates.size());
  open.last.carried = take(plan.loops.back().getNumResults());
  ValueRange rest = values;
  open.last.operand = rest[0];
  open.last.index = rest[1];
  open.last.at = {rest[2], rest[3]};
  return open;
}

/// Before the first tile there is nothing to finish.
RoleKernel::OpenTile RoleKernel::noTile() {
  auto zero = [&](Type type) -> Value {
    Type element = getElementTypeOrSelf(type);
    return SplatOp::create(
        b, loc, type,
        arith::ConstantOp::create(b, loc, b.getZeroAttr(element)));
  };
  OpenTile open;
  open.exists = arith::ConstantIntOp::create(b, loc, 0, 1);
  open.last.index = i32(0);
  open.place.assign(coordinates.size(), i32(0));
  open.last.at = {i32(0), i32(0)};
  scf::ForOp loop = plan.loops.back();
  auto found = schedule.softmax.find(loop);
  for (auto [i, type] : llvm::enumerate(loop.getResultTypes())) {
    bool isSum = found != schedule.softmax.end() && i == found->second.sum;
    open.last.carried.push_back(
        zero(isSum ? schedule.partialType : typeOfWarpgroup(type)));
  }
  open.last.operand =
      zero(typeOfWarpgroup(schedule.laggedOperand(loop).getType()));
  return open;
}

/// Everything after the loops, with what their steps have left.
LogicalResult RoleKernel::emitEnd(ArrayRef<Value> carried, IRMapping &mapping) {
  mapResults(carried, mapping);
  return emitOutside(outerLoops().size(), mapping);
}

/// The first step of a tile, in two forms: the thread block's first tile has no
/// other to finish.
LogicalResult RoleKernel::emitBoundary(const OpenTile &open,
                                       const TileSteps &steps, Cursor at,
                                       const IRMapping &mapping,
                                       Pending &pending, Mail &mail) {
  SmallVector<Type> types(ValueRange(open.last.carried).getTypes());
  types.push_back(open.last.operand.getType());
  llvm::append_range(types, ValueRange(pack(mail)).getTypes());
  auto branch = scf::IfOp::create(b, loc, types, open.exists, true);
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    Mail next = mail;
    LogicalResult emitted = failure();
    if (block == branch.thenBlock()) {
      FailureOr<IRMapping> earlier = mappingOf(open.place);
      if (failed(earlier))
        return failure();
      auto finish = [&](Value product) {
        SmallVector<Value> carried(open.last.carried);
        carried[schedule.laggedResult] = product;
        return emitEnd(carried, *earlier);
      };
      areStoresDrained = schedule.hasTurns() && !plan.stores.empty();
      emitted = emitFirstStep(steps, at, &open.last, *earlier, finish, mapping,
                              pending, next);
      areStoresDrained = false;
    } else {
      emitted = emitFirstStep(steps, at, nullptr, mapping, {}, mapping, pending,
                              next);
    }
    if (failed(emitted))
      return failure();
    yieldStep(pending, pack(next));
  }
  mail = unpackMail(takeStep(branch, pending));
  return success();
}

/// One tile up to its last product, which is left to the next. A tile without
/// steps is finished at once.
LogicalResult RoleKernel::emitOpenTile(ValueRange place, Mail &mail,
                                       MutableArrayRef<Value> carried) {
  FailureOr<IRMapping> mapping = mappingOf(place);
  if (failed(mapping))
    return failure();
  Cursor resident{carried[0], carried[1]}, step{carried[2], carried[3]};
  OpenTile open = unpack(carried.drop_front(cursorValues));
  awaitResident(resident, *mapping);
  TileSteps steps = findSteps(*mapping, /*ofWarpgroup=*/true);
  SmallVector<Value> values = pack(mail);
  size_t words = values.size();
  values.append({step.stage, step.parity});
  values.append(pack(open));
  auto branch = scf::IfOp::create(b, loc, ValueRange(values).getTypes(),
                                  steps.exists, true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Pending pending;
    Cursor next = advance(step, schedule.stages);
    Mail received = mail;
    if (failed(emitBoundary(open, steps, step, *mapping, pending, received)) ||
        failed(emitFurtherSteps(steps, *mapping, pending, next)))
      return failure();
    emitIdleSteps(steps, *mapping, next);
    releaseResident(resident);
    SmallVector<Value> left = pack(received);
    left.append({next.stage, next.parity});
    left.append(pack({arith::ConstantIntOp::create(b, loc, 1, 1),
                      SmallVector<Value>(place), pending}));
    scf::YieldOp::create(b, loc, left);
    b.setInsertionPointToStart(branch.elseBlock());
    releaseResident(resident);
    // What no step has added to need not be computed again.
    for (auto any : source.getBody().front().getOps<AnyOp>())
      mapping->map(any.getResult(), arith::ConstantIntOp::create(b, loc, 0, 1));
    if (failed(emitEnd(initialValues(*mapping), *mapping)))
      return failure();
    llvm::copy(pack(receiveTile(mail.next, /*isSingle=*/false)),
               values.begin());
    scf::YieldOp::create(b, loc, values);
  }
  mail = unpackMail(branch.getResults().take_front(words));
  resident = advance(resident, schedule.residentStages);
  carried[0] = resident.stage;
  carried[1] = resident.parity;
  llvm::copy(branch.getResults().drop_front(words),
             carried.drop_front(2).begin());
  return success();
}

LogicalResult RoleKernel::emitOpenTiles() {
  SmallVector<Value> carried{i32(0), i32(0), i32(0), i32(0)};
  carried.append(pack(noTile()));
  if (failed(takeTiles(/*isSingle=*/false, carried,
                       [&](ValueRange place, Mail &mail) {
                         return emitOpenTile(place, mail, carried);
                       })))
    return failure();
  OpenTile open = unpack(ValueRange(carried).drop_front(cursorValues));
  auto branch = scf::IfOp::create(b, loc, TypeRange(), open.exists, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  FailureOr<IRMapping> mapping = mappingOf(open.place);
  if (failed(mapping))
    return failure();
  SmallVector<Value> results(open.last.carried);
  results[schedule.laggedResult] = emitLastProduct(open.last, *mapping);
  return emitEnd(results, *mapping);
}

} // namespace selvedge::schedule
