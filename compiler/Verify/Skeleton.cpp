// Executes the control flow of a kernel, agent by agent.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Skeleton.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace selvedge::verify {

using namespace mlir;

std::string Place::str() const {
  std::string text = agent.str();
  for (auto [number, count] : trips)
    text += llvm::formatv(", iteration {0} of {1}", number, count).str();
  return text;
}

Place Agent::where() const {
  Place place{name, {}};
  for (const Frame &frame : frames)
    if (isa_and_nonnull<scf::ForOp>(frame.owner))
      place.trips.push_back({frame.trip + 1, frame.trips});
  return place;
}

void Skeleton::start(Agent &agent, Block &body) {
  agent.frames.push_back({nullptr, body.begin()});
}

/// Trips from `lower` until `upper`; bounds are cut so that nothing overflows.
static int64_t tripsUntil(int64_t lower, int64_t upper, int64_t step) {
  constexpr int64_t limit = int64_t(1) << 61;
  int64_t length =
      std::clamp(upper, -limit, limit) - std::clamp(lower, -limit, limit);
  return length <= 0 ? 0 : static_cast<int64_t>(llvm::divideCeil(length, step));
}

int64_t Skeleton::maxTrips(scf::ForOp loop) const {
  bool nests = loop.getBody()
                   ->walk([](scf::ForOp inner) {
                     return inner.getStaticTripCount()
                                ? WalkResult::advance()
                                : WalkResult::interrupt();
                   })
                   .wasInterrupted();
  if (nests)
    return 3;
  return loop->getParentOfType<scf::ForOp>() ? stages + 1 : 2 * stages + 1;
}

int64_t Skeleton::tripCount(Agent &agent, scf::ForOp loop) {
  Integers::Number lower = numberOf(agent, loop.getLowerBound()),
                   upper = numberOf(agent, loop.getUpperBound()),
                   step = numberOf(agent, loop.getStep());
  std::optional<int64_t> from = integers.known(lower),
                         by = integers.known(step);
  if (from && by && *by > 0) {
    ConstantIntRanges to = integers.range(upper);
    int64_t least = tripsUntil(*from, to.smin().getSExtValue(), *by),
            most = tripsUntil(*from, to.smax().getSExtValue(), *by);
    if (least == most)
      return least;
    most = std::max(least, std::min(most, maxTrips(loop)));
    int64_t trips = least + paths.choose(most - least + 1);
    if (trips == 0)
      integers.assume(upper, INT64_MIN, *from);
    else
      integers.assume(upper, *from + (trips - 1) * *by + 1,
                      *from + trips * *by);
    return trips;
  }
  static const char tripsOf = 0;
  Integers::Number count = integers.unknown(
      IntegerType::get(loop.getContext(), 64), &tripsOf, {lower, upper, step});
  if (std::optional<int64_t> trips = integers.known(count))
    return *trips;
  int64_t trips = paths.choose(maxTrips(loop) + 1);
  integers.assume(count, trips, trips);
  return trips;
}

bool Skeleton::condition(Agent &agent, scf::IfOp branch) {
  Integers::Number number = numberOf(agent, branch.getCondition());
  if (std::optional<int64_t> value = integers.known(number))
    return *value != 0;
  bool taken = paths.choose(2) == 0;
  integers.assumeCondition(number, taken);
  return taken;
}

void Skeleton::startTrip(Agent &agent, scf::ForOp loop, ValueRange carried) {
  SmallVector<Tracked> values = llvm::map_to_vector(
      carried, [&](Value value) { return agent.values.lookup(value); });
  for (auto [argument, value] :
       llvm::zip_equal(loop.getRegionIterArgs(), values))
    agent.values[argument] = value;
  Agent::Frame &frame = agent.frames.back();
  frame.next = loop.getBody()->begin();
  Value index = loop.getInductionVar();
  Integers::Number lower = numberOf(agent, loop.getLowerBound()),
                   step = numberOf(agent, loop.getStep());
  std::optional<int64_t> from = integers.known(lower),
                         by = integers.known(step);
  static const char indexOf = 0;
  Integers::Number number =
      from && by
          ? integers.constant(index.getType(), *from + frame.trip * *by)
          : integers.unknown(index.getType(), &indexOf,
                             {lower, step, static_cast<uint64_t>(frame.trip)});
  agent.values[index] = {Tracked::Kind::Integer, number};
}

void Skeleton::leave(Agent &agent, Operation *terminator) {
  Agent::Frame &frame = agent.frames.back();
  if (auto loop = dyn_cast<scf::ForOp>(frame.owner))
    if (++frame.trip < frame.trips)
      return startTrip(agent, loop, terminator->getOperands());
  for (auto [result, value] :
       llvm::zip_equal(frame.owner->getResults(), terminator->getOperands()))
    agent.values[result] = agent.values.lookup(value);
  agent.frames.pop_back();
  ++agent.frames.back().next;
}

Integers::Number Skeleton::numberOf(Agent &agent, Value value) {
  Tracked &tracked = agent.values[value];
  if (tracked.kind == Tracked::Kind::None)
    tracked = {
        Tracked::Kind::Integer,
        integers.unknown(value.getType(), value.getAsOpaquePointer(), {})};
  return tracked.id;
}

void Skeleton::evaluate(Agent &agent, Operation &op) {
  if (llvm::none_of(op.getResultTypes(),
                    [](Type type) { return type.isIntOrIndex(); }))
    return;
  // Operands that are not scalar integers count by their place in the program,
  // and make the result another one each time the operation is executed.
  bool isExpression = true;
  SmallVector<Integers::Number> operands;
  for (Value operand : op.getOperands()) {
    bool isArgument = isa<BlockArgument>(operand) &&
                      operand.getParentBlock()->getParentOp() ==
                          agent.frames.front().next->getParentOp();
    isExpression &= isArgument || operand.getType().isIntOrIndex();
    if (isExpression)
      operands.push_back(numberOf(agent, operand));
  }
  unsigned count = isExpression ? 0 : ++agent.counts[&op];
  for (OpResult result : op.getResults())
    agent.values[result] = {
        Tracked::Kind::Integer,
        isExpression
            ? integers.expression(&op, result.getResultNumber(), operands)
            : integers.unknown(result.getType(), result.getAsOpaquePointer(),
                               {count})};
}

Progress Skeleton::step(Agent &agent, Rule rule) {
  Operation &op = *agent.current();
  if (op.hasTrait<OpTrait::IsTerminator>() && !agent.frames.back().owner)
    return Progress::Finished;
  if (isa<scf::YieldOp>(op)) {
    leave(agent, &op);
    return Progress::Advanced;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    int64_t trips = tripCount(agent, loop);
    agent.frames.push_back({loop, {}, 0, trips});
    if (trips > 0) {
      startTrip(agent, loop, loop.getInitArgs());
      return Progress::Advanced;
    }
    agent.frames.pop_back();
    for (auto [result, init] :
         llvm::zip_equal(loop.getResults(), loop.getInitArgs()))
      agent.values[result] = agent.values.lookup(init);
    ++agent.frames.back().next;
    return Progress::Advanced;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    bool taken = condition(agent, branch);
    Region &region = taken ? branch.getThenRegion() : branch.getElseRegion();
    if (region.empty())
      ++agent.frames.back().next;
    else
      agent.frames.push_back({branch, region.front().begin()});
    return Progress::Advanced;
  }
  Progress progress = rule(agent, op);
  if (progress != Progress::Advanced)
    return progress;
  evaluate(agent, op);
  ++agent.frames.back().next;
  return Progress::Advanced;
}

} // namespace selvedge::verify
