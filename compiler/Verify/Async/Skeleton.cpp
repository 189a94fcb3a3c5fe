// Executes the control flow of a kernel, agent by agent.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/Skeleton.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace selvedge::verify {

using namespace mlir;

std::string Place::str() const {
  std::string text = agent.str();
  for (auto [number, count] : trips) {
    text += llvm::formatv(", iteration {0}", number);
    if (count > 0)
      text += llvm::formatv(" of {0}", count);
  }
  return text;
}

Place Agent::where() const {
  Place place{name, {}};
  for (const Frame &frame : frames)
    if (isa_and_nonnull<scf::ForOp, scf::WhileOp>(frame.owner))
      place.trips.push_back({frame.trip + 1, frame.trips});
  return place;
}

void Agent::enter(Block &body) {
  Operation *owner = current();
  frames.push_back({owner, &body});
}

bool Agent::isOneThread() const {
  return llvm::any_of(frames,
                      [](const Frame &frame) { return frame.byOneThread; });
}

void Skeleton::start(Agent &agent, Block &body) {
  agent.frames.push_back({nullptr, &body});
}

/// Gives `to` what is known of `from`, all at once.
static void assign(Agent &agent, ValueRange to, ValueRange from) {
  auto values = llvm::map_to_vector<16>(
      from, [&](Value value) { return agent.values.lookup(value); });
  for (auto [target, value] : llvm::zip_equal(to, values))
    agent.values.set(target, value);
}

LogicalResult Skeleton::checkUniform(Agent &agent, Operation *op,
                                     ValueRange values) {
  for (Value value : values)
    if (agent.values.lookup(value).spread != Spread::Uniform)
      return op->emitOpError("expects control that is the same in all threads "
                             "of a warp, found one that depends on sm.leader (")
             << agent.where().str() << ")";
  return success();
}

/// Whether a loop computes nothing but integers, which say what others do.
static bool onlyCounts(scf::ForOp loop) {
  return loop.getNumResults() > 0 &&
         llvm::all_of(loop.getResultTypes(),
                      [](Type type) { return type.isInteger(); });
}

Progress Skeleton::enterLoop(Agent &agent, scf::ForOp loop) {
  if (failed(checkUniform(
          agent, loop,
          {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})))
    return Progress::Failed;
  if (watchOwner)
    watchOwner(agent, loop);
  int64_t trips = tripCount(agent, loop);
  // Every trip reads the same registers in flight, if any, unless one hands
  // them to the next.
  bool handsOn = llvm::any_of(loop.getRegionIterArgs(), [&](Value carried) {
    return instructions.mayBeInFlight(carried);
  });
  // Where memory is known it matters what each reads.
  bool isPerhaps = llvm::any_of(agent.frames, [](const Agent::Frame &frame) {
    return frame.arm != Agent::Frame::OneArm;
  });
  if (onlyComputes(loop) && !handsOn && (!readMemory || isPerhaps))
    trips = std::min<int64_t>(trips, 1);
  if (mostTrips && !onlyCounts(loop))
    trips = std::min(trips, *mostTrips);
  if (trips == 0 && forced.contains(loop.getBody()))
    trips = 1;
  agent.frames.push_back({loop, loop.getBody()});
  agent.frames.back().trips = trips;
  if (trips > 0)
    startTrip(agent, loop, loop.getInitArgs());
  else
    finishOwner(agent, loop.getInitArgs());
  return Progress::Advanced;
}

/// The operation `index + step` of a loop's body; null where there is none.
static Operation *nextIndex(scf::ForOp loop) {
  for (Operation *user : loop.getInductionVar().getUsers())
    if (isa<arith::AddIOp>(user) && user->getOperand(1) == loop.getStep())
      return user;
  return nullptr;
}

void Skeleton::startTrip(Agent &agent, scf::ForOp loop, ValueRange carried) {
  assign(agent, loop.getRegionIterArgs(), carried);
  Agent::Frame &frame = agent.frames.back();
  if (!onlyComputes(loop))
    checkTrips(agent, loop, frame.trips);
  frame.next = instructions.of(frame.block);
  Value index = loop.getInductionVar();
  Integers::Number lower = numberOf(agent, loop.getLowerBound()),
                   step = numberOf(agent, loop.getStep());
  std::optional<int64_t> from = integers.known(lower),
                         by = integers.known(step);
  static const char indexOf = 0;
  Integers::Number number;
  if (from && by)
    number = integers.constant(index.getType(), *from + frame.trip * *by);
  else if (frame.trip == 0)
    number = lower;
  else if (Operation *next = nextIndex(loop))
    // What an operation of the trip before computed for this one.
    number = integers.expression(next, 0, {agent.values[index].id, step});
  else
    number = integers.unknown(index.getType(), &indexOf,
                              {lower, step, static_cast<uint64_t>(frame.trip)});
  agent.values[index] = {Tracked::Kind::Integer, number};
}

bool Skeleton::onlyComputes(Operation *op) {
  auto [known, isNew] = computing.try_emplace(op, false);
  if (!isNew)
    return known->second;
  bool computes = llvm::all_of(op->getResultTypes(), [](Type type) {
    return isa<RankedTensorType, FloatType>(type);
  });
  op->walk([&](Operation *inner) {
    // Warps exchange parts through shared memory.
    auto exchange = dyn_cast<sm::ExchangeOpInterface>(inner);
    computes &=
        isa<scf::ForOp, scf::IfOp, sm::LoadOp>(inner) ||
        (isMemoryEffectFree(inner) && !(exchange && exchange.exchanges()));
  });
  // The walk has not inserted anything.
  return known->second = computes;
}

Progress Skeleton::enterBranch(Agent &agent, scf::IfOp branch) {
  Integers::Number number = numberOf(agent, branch.getCondition());
  Spread spread = agent.values.lookup(branch.getCondition()).spread;
  Region *arms[] = {&branch.getElseRegion(), &branch.getThenRegion()};
  if (spread == Spread::Divergent ||
      (spread == Spread::OneThread && !arms[0]->empty())) {
    branch.emitOpError("expects a branch on sm.leader to be taken where it is "
                       "true and to have no other arm (")
        << agent.where().str() << ")";
    return Progress::Failed;
  }
  if (watchOwner)
    watchOwner(agent, branch);
  std::optional<int64_t> known = integers.known(number);
  bool isBoth = !known && spread == Spread::Uniform && onlyComputes(branch);
  bool taken = true;
  auto isForced = [&](Region *arm) {
    return !arm->empty() && forced.contains(&arm->front());
  };
  if (isForced(arms[0]) || isForced(arms[1])) {
    taken = isForced(arms[1]);
    isBoth = false;
  } else if (known) {
    taken = *known != 0;
  } else if (!isBoth) {
    taken = (paths.choose(2) == 0) == firstArm;
    integers.assumeCondition(number, taken);
  }
  if (arms[taken]->empty()) {
    ++agent.frames.back().next;
    return Progress::Advanced;
  }
  agent.frames.push_back({branch, &arms[taken]->front()});
  agent.frames.back().byOneThread = spread == Spread::OneThread;
  if (isBoth && !arms[0]->empty())
    agent.frames.back().arm = Agent::Frame::FirstArm;
  return Progress::Advanced;
}

Progress Skeleton::testLoop(Agent &agent, scf::ConditionOp test) {
  // A loop that decides on data goes round three times: into the body, from
  // one trip to the next, and once more after that.
  static constexpr int64_t maxWhileTrips = 3;
  if (failed(checkUniform(agent, test, test.getCondition())))
    return Progress::Failed;
  Integers::Number number = numberOf(agent, test.getCondition());
  std::optional<int64_t> known = integers.known(number);
  Agent::Frame &frame = agent.frames.back();
  bool isMore =
      known ? *known != 0 : frame.trip < maxWhileTrips && paths.choose(2) == 0;
  if (!known)
    integers.assumeCondition(number, isMore);
  if (!isMore) {
    finishOwner(agent, test.getArgs());
    return Progress::Advanced;
  }
  auto loop = cast<scf::WhileOp>(frame.owner);
  assign(agent, loop.getAfterArguments(), test.getArgs());
  frame.block = loop.getAfterBody();
  frame.next = instructions.of(frame.block);
  return Progress::Advanced;
}

void Skeleton::finishOwner(Agent &agent, ValueRange values) {
  Agent::Frame frame = agent.frames.pop_back_val();
  assign(agent, frame.owner->getResults(), values);
  ++agent.frames.back().next;
}

void Skeleton::leave(Agent &agent, Operation *terminator) {
  Agent::Frame &frame = agent.frames.back();
  ValueRange yielded = terminator->getOperands();
  if (auto loop = dyn_cast<scf::ForOp>(frame.owner)) {
    if (++frame.trip < frame.trips)
      return startTrip(agent, loop, yielded);
  } else if (auto loop = dyn_cast<scf::WhileOp>(frame.owner)) {
    assign(agent, loop.getBeforeArguments(), yielded);
    ++frame.trip;
    frame.block = loop.getBeforeBody();
    frame.next = instructions.of(frame.block);
    return;
  } else if (frame.arm == Agent::Frame::FirstArm) {
    assign(agent, frame.owner->getResults(), yielded);
    frame.block = &cast<scf::IfOp>(frame.owner).getElseRegion().front();
    frame.next = instructions.of(frame.block);
    frame.arm = Agent::Frame::SecondArm;
    return;
  } else if (frame.arm == Agent::Frame::SecondArm) {
    // Registers are in flight where either arm leaves them so.
    SmallVector<Value> merged;
    for (auto [result, value] :
         llvm::zip_equal(frame.owner->getResults(), yielded))
      merged.push_back(agent.values.lookup(result).kind == Tracked::Kind::None
                           ? value
                           : result);
    return finishOwner(agent, merged);
  }
  finishOwner(agent, yielded);
}

Progress Skeleton::step(Agent &agent, Rule rule) {
  using Kind = Instruction::Kind;
  Agent::Frame &frame = agent.frames.back();
  if (!frame.next)
    frame.next = instructions.of(frame.block);
  for (; frame.next->isIdle(); ++frame.next)
    ++steps;
  ++steps;
  Instruction &code = *frame.next;
  switch (code.kind) {
  case Kind::BlockEnd:
    finishOwner(agent, {});
    return Progress::Advanced;
  case Kind::Return:
    return Progress::Finished;
  case Kind::Yield:
    leave(agent, code.op);
    return Progress::Advanced;
  case Kind::Condition:
    return testLoop(agent, cast<scf::ConditionOp>(code.op));
  case Kind::Loop:
    return enterLoop(agent, cast<scf::ForOp>(code.op));
  case Kind::Branch:
    return enterBranch(agent, cast<scf::IfOp>(code.op));
  case Kind::While: {
    auto loop = cast<scf::WhileOp>(code.op);
    assign(agent, loop.getBeforeArguments(), loop.getInits());
    agent.frames.push_back({loop, loop.getBeforeBody()});
    return Progress::Advanced;
  }
  case Kind::Plain:
    break;
  }
  // A rule knows some results better. Who waits has them already: agents of a
  // group that wait for each other would count executions differently.
  if (code.hasIntegers && !agent.isBlocked)
    evaluate(agent, code);
  Progress progress = code.hasRule ? rule(agent, code) : Progress::Advanced;
  agent.isBlocked = progress == Progress::Blocked;
  if (progress == Progress::Ignored) {
    // What reads registers in flight is refused.
    code.hasRule = code.readsInFlight;
    progress = Progress::Advanced;
  }
  if (progress == Progress::Advanced && agent.frames.back().owner != code.op)
    ++agent.frames.back().next;
  return progress;
}

} // namespace selvedge::verify
