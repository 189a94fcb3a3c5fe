// Executes a role of a kernel: control flow and synchronisation.
// SPDX-License-Identifier: MIT
#include "compiler/Physical/RoleAgent.h"
#include "dialect/Sm/SmScheduler.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace selvedge::physical {

using reference::errorAt;
using reference::TileRef;

llvm::Expected<StageId> RoleAgent::stageOf(Operation *op, Value ring,
                                           Value stage) {
  int64_t number = integer(stage);
  int64_t stages = llvm::TypeSwitch<Type, int64_t>(ring.getType())
                       .Case<sm::BufferType, sm::MBarrierType, sm::MailboxType>(
                           [](auto type) { return type.getStages(); });
  if (number < 0 || number >= stages)
    return errorAt(op, "names stage " + llvm::Twine(number) +
                           ", expected one of 0 to " + llvm::Twine(stages - 1));
  return StageId(ring, number);
}

StageId RoleAgent::bufferId(Value buffer) const {
  auto it = names.find(buffer);
  return it == names.end() ? StageId(buffer, 0) : it->second;
}

void RoleAgent::start(sm::RoleOp role, int64_t warpgroup, unsigned number) {
  this->number = number;
  threads = role.getSingle() ? 1 : 128;
  for (int64_t warp = 0; warp < (role.getSingle() ? 1 : 4); ++warp)
    warps.push_back(memory.addWarp());
  values[role.getBody().getArgument(0)] = reference::makeScalar(warpgroup);
  enter(role.getBody().front(), role, /*isLeaders=*/false);
}

TileRef RoleAgent::read(StageId stage) {
  Reading reading = nextReading(stage);
  TileRef data =
      memory.startRead(executing(), stage, Proxy::Generic, reading.id);
  memory.finishRead(executing(), stage, reading.id);
  return data;
}

TileRef RoleAgent::readBuffer(Value buffer) { return read(bufferId(buffer)); }

llvm::Error RoleAgent::toError(Operation *op, StringRef problem) {
  return problem.empty() ? llvm::Error::success() : errorAt(op, problem);
}

void RoleAgent::enter(Block &block, Operation *owner, bool isLeaders) {
  frames.push_back({owner, block.begin(), block.end(), isLeaders});
}

/// Whether a condition holds for the leader of a warpgroup alone.
static bool isForLeader(Value condition) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return isForLeader(both.getLhs()) || isForLeader(both.getRhs());
  return isa_and_nonnull<sm::WarpgroupLeaderOp>(condition.getDefiningOp());
}

void RoleAgent::startRound(scf::ForOp op, int64_t index,
                           ArrayRef<TileRef> carried, bool isLeaders) {
  if (index >= integer(op.getUpperBound())) {
    define(op.getResults(), carried);
    return;
  }
  values[op.getInductionVar()] = reference::makeScalar(index);
  define(op.getRegionIterArgs(), carried);
  enter(*op.getBody(), op, isLeaders);
}

bool RoleAgent::enterRegions(Operation *op) {
  bool isLeaders = frames.back().isLeaders;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](scf::ForOp loop) {
        startRound(loop, integer(loop.getLowerBound()),
                   valuesOf(loop.getInitArgs()), isLeaders);
        return true;
      })
      .Case([&](scf::IfOp branch) {
        Region &region = integer(branch.getCondition())
                             ? branch.getThenRegion()
                             : branch.getElseRegion();
        if (!region.empty())
          enter(region.front(), branch,
                isLeaders || isForLeader(branch.getCondition()));
        return true;
      })
      .Case([&](scf::WhileOp loop) {
        define(loop.getBeforeArguments(), valuesOf(loop.getInits()));
        enter(*loop.getBeforeBody(), loop, isLeaders);
        return true;
      })
      .Default([](Operation *) { return false; });
}

void RoleAgent::leaveBlock() {
  Frame frame = frames.pop_back_val();
  if (isa<sm::RoleOp>(frame.owner))
    return;
  Operation *terminator = frame.at->getBlock()->getTerminator();
  if (auto condition = dyn_cast<scf::ConditionOp>(terminator)) {
    auto loop = cast<scf::WhileOp>(frame.owner);
    SmallVector<TileRef> passed = valuesOf(condition.getArgs());
    if (!integer(condition.getCondition()))
      return define(loop.getResults(), passed);
    define(loop.getAfterArguments(), passed);
    return enter(*loop.getAfterBody(), loop, frame.isLeaders);
  }
  SmallVector<TileRef> yielded = valuesOf(terminator->getOperands());
  if (auto loop = dyn_cast<scf::ForOp>(frame.owner)) {
    startRound(loop, integer(loop.getInductionVar()) + integer(loop.getStep()),
               yielded, frame.isLeaders);
  } else if (auto loop = dyn_cast<scf::WhileOp>(frame.owner)) {
    define(loop.getBeforeArguments(), yielded);
    enter(*loop.getBeforeBody(), loop, frame.isLeaders);
  } else {
    define(frame.owner->getResults(), yielded);
  }
}

llvm::Expected<bool> RoleAgent::step() {
  Frame &frame = frames.back();
  if (frame.at == frame.end || frame.at->hasTrait<OpTrait::IsTerminator>()) {
    if (frame.at == frame.end)
      --frame.at;
    leaveBlock();
    return true;
  }
  Operation *op = &*frame.at;
  bool passed = true;
  if (auto wait = dyn_cast<sm::WaitOp>(op)) {
    llvm::Expected<bool> found = runWait(wait);
    if (!found)
      return found.takeError();
    passed = *found;
  } else if (auto barrier = dyn_cast<sm::NamedBarrierOp>(op)) {
    llvm::Expected<bool> found = runNamedBarrier(barrier);
    if (!found)
      return found.takeError();
    passed = *found;
  }
  if (!passed)
    return false;
  ++frame.at;
  if (isa<sm::WaitOp, sm::NamedBarrierOp>(op) || enterRegions(op))
    return true;
  if (llvm::Error failure = execute(op))
    return std::move(failure);
  return true;
}

llvm::Expected<bool> RoleAgent::runWait(sm::WaitOp op) {
  llvm::Expected<StageId> id = stageOf(op, op.getBarrier(), op.getStage());
  if (!id)
    return id.takeError();
  bool isOver = false;
  if (llvm::Error failure = toError(
          op, memory.wait(executing(), *id, integer(op.getParity()), isOver)))
    return std::move(failure);
  return isOver;
}

llvm::Error RoleAgent::runArrive(sm::ArriveOp op) {
  llvm::Expected<StageId> id = stageOf(op, op.getBarrier(), op.getStage());
  if (!id)
    return id.takeError();
  Warps arriving = executing();
  bool isOnce = op.getPerWarp() || arriving.size() < warps.size();
  return toError(
      op, memory.arrive(arriving, *id, isOnce ? arriving.size() : threads, 0));
}

llvm::Error RoleAgent::checkIdle(sm::IdleOp op) {
  for (Value p : op.getPresence())
    if (llvm::none_of(valueOf(p)->ints, [](int64_t v) { return v != 0; }))
      return llvm::Error::success();
  return errorAt(op, "leaves out a step of which elements are present");
}

llvm::Error RoleAgent::checkWhole(sm::WholeOp op) {
  for (Value p : op.getPresence())
    if (llvm::is_contained(valueOf(p)->ints, 0))
      return errorAt(op, "takes a step of which elements are absent without "
                         "predicates");
  return llvm::Error::success();
}

llvm::Expected<bool> RoleAgent::runNamedBarrier(sm::NamedBarrierOp op) {
  int64_t id = integer(op.getId());
  if (!waitsForRound) {
    int64_t round = 0;
    if (llvm::Error failure = toError(
            op, memory.meet(executing(), id, threads,
                            static_cast<int64_t>(op.getThreads()), round)))
      return std::move(failure);
    waitsForRound = round;
  }
  if (!op.getArrive() && !memory.isComplete(executing(), id, *waitsForRound))
    return false;
  waitsForRound.reset();
  return true;
}

llvm::Error RoleAgent::execute(Operation *op) {
  auto done = [] { return llvm::Error::success(); };
  auto integerResult = [&](Value result, int64_t value) {
    values[result] = reference::makeScalar(value);
    return llvm::Error::success();
  };
  return llvm::TypeSwitch<Operation *, llvm::Error>(op)
      .Case<sm::AllocOp, sm::MBarrierOp, sm::MailboxOp, sm::InitMBarriersOp,
            sm::WarpSyncOp, sm::ContributesOp, sm::AfterOp, sm::InOrderOp,
            sm::AwaitLaunchOp, sm::AdmitLaunchOp>([&](auto) { return done(); })
      .Case([&](sm::SlotOp slot) -> llvm::Error {
        llvm::Expected<StageId> id =
            stageOf(slot, slot.getRing(), slot.getStage());
        if (!id)
          return id.takeError();
        names[slot.getResult()] = *id;
        return done();
      })
      .Case([&](sm::WarpgroupLeaderOp op) { return integerResult(op, 1); })
      .Case([&](sm::BlockCountOp op) { return integerResult(op, grid.blocks); })
      .Case([&](sm::NextTileOp op) {
        return integerResult(op, grid.blocks + grid.handedOut++);
      })
      .Case([&](sm::ResetTilesOp) { return done(); })
      .Case([&](sm::AnyOp op) {
        TileRef condition = valueOf(op.getCondition());
        return integerResult(
            op, llvm::any_of(condition->ints, [](int64_t v) { return v; }));
      })
      .Case([&](sm::IdleOp op) { return checkIdle(op); })
      .Case([&](sm::WholeOp op) { return checkWhole(op); })
      .Case([&](sm::ArriveOp op) { return runArrive(op); })
      .Case([&](sm::ExpectOp op) -> llvm::Error {
        llvm::Expected<StageId> id =
            stageOf(op, op.getBarrier(), op.getStage());
        if (!id)
          return id.takeError();
        return toError(op, memory.arrive(executing(), *id, 1,
                                         static_cast<int64_t>(op.getBytes())));
      })
      .Case([&](sm::PostOp op) -> llvm::Error {
        llvm::Expected<StageId> id =
            stageOf(op, op.getMailbox(), op.getStage());
        if (!id)
          return id.takeError();
        memory.write(executing(), *id, valueOf(op.getValue()));
        return done();
      })
      .Case([&](sm::ReceiveOp op) -> llvm::Error {
        llvm::Expected<StageId> id =
            stageOf(op, op.getMailbox(), op.getStage());
        if (!id)
          return id.takeError();
        values[op] = read(*id);
        return done();
      })
      .Case([&](sm::ProxyFenceOp) {
        RoleMemory::fence(executing());
        return done();
      })
      .Case([&](sm::TmaLoadOp op) { return runTmaLoad(op); })
      .Case([&](sm::TmaStoreOp op) {
        startStore(op);
        return done();
      })
      .Case([&](sm::TmaDrainOp op) { return drain(op.getPending()); })
      .Case([&](sm::StageOp op) {
        memory.write(executing(), bufferId(op.getBuffer()),
                     reference::broadcast(valueOf(op.getSource()),
                                          shapeOf(op.getBuffer().getType())));
        return done();
      })
      .Case([&](sm::ReadOp op) {
        values[op] = reference::broadcast(readBuffer(op.getBuffer()),
                                          shapeOf(op.getType()));
        return done();
      })
      .Case([&](sm::ClearOp op) {
        clear(op);
        return done();
      })
      .Case([&](sm::WgmmaOp op) {
        startProduct(op);
        return done();
      })
      .Case([&](sm::WgmmaRetireOp op) {
        retire(static_cast<int64_t>(op.getPending()));
        return done();
      })
      .Case([&](sm::WgmmaWaitOp op) {
        retire(static_cast<int64_t>(op.getPending()));
        values[op.getResult()] = valueOf(op.getAccumulator());
        return done();
      })
      .Case([&](sm::ColumnsOp op) {
        values[op] = columns(op);
        return done();
      })
      .Default([&](Operation *other) { return runOp(other); });
}

} // namespace selvedge::physical
