// Scalar integers and trip counts of an executed kernel.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/Skeleton.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

namespace selvedge::verify {

using namespace mlir;

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

Skeleton::Trips Skeleton::possibleTrips(Integers::Number lower,
                                        Integers::Number upper,
                                        Integers::Number step) {
  std::optional<int64_t> from = integers.known(lower),
                         by = integers.known(step);
  if (!from || !by || *by <= 0)
    return {};
  ConstantIntRanges to = integers.range(upper);
  return {tripsUntil(*from, to.smin().getSExtValue(), *by),
          tripsUntil(*from, to.smax().getSExtValue(), *by), true};
}

void Skeleton::checkTrips(Agent &agent, scf::ForOp loop, int64_t decided) {
  Trips trips = possibleTrips(numberOf(agent, loop.getLowerBound()),
                              numberOf(agent, loop.getUpperBound()),
                              numberOf(agent, loop.getStep()));
  if (decided < trips.least || decided > trips.most)
    integers.contradict();
}

int64_t Skeleton::tripCount(Agent &agent, scf::ForOp loop) {
  Integers::Number lower = numberOf(agent, loop.getLowerBound()),
                   upper = numberOf(agent, loop.getUpperBound()),
                   step = numberOf(agent, loop.getStep());
  // What one agent has decided holds for all.
  static const char tripsOf = 0;
  Integers::Number count = integers.unknown(
      IntegerType::get(loop.getContext(), 64), &tripsOf, {lower, upper, step});
  if (std::optional<int64_t> trips = integers.known(count)) {
    checkTrips(agent, loop, *trips);
    return *trips;
  }
  if (auto [least, most, areKnown] = possibleTrips(lower, upper, step);
      areKnown) {
    int64_t from = *integers.known(lower), by = *integers.known(step);
    if (least == most)
      return least;
    most = std::max(least, std::min(most, maxTrips(loop)));
    int64_t chosen = paths.choose(most - least + 1);
    int64_t trips = firstArm ? least + chosen : most - chosen;
    if (trips == 0)
      integers.assume(upper, INT64_MIN, from);
    else
      integers.assume(upper, from + (trips - 1) * by + 1, from + trips * by);
    return trips;
  }
  int64_t trips = paths.choose(maxTrips(loop) + 1);
  integers.assume(count, trips, trips);
  return trips;
}

void Skeleton::define(Tracked &tracked, Value value) {
  tracked = {
      Tracked::Kind::Integer,
      sampled(integers.unknown(value.getType(), value.getAsOpaquePointer(), {}),
              value.getType(), /*isLoaded=*/false)};
}

Integers::Number Skeleton::numberOf(Agent &agent, Value value) {
  Tracked &tracked = agent.values[value];
  if (tracked.kind == Tracked::Kind::None)
    define(tracked, value);
  return tracked.id;
}

int64_t SampleOrder::take(unsigned taken, bool isFlag, bool isLoaded) {
  if (isFlag)
    return int64_t(flags ? taken : 1 - taken) - 1;
  if (isLoaded && alternates)
    taken = (taken + numLoaded++) % values.size();
  if (!isLoaded && callers)
    taken = (taken + (llvm::find(values, *callers) - values.begin())) %
            values.size();
  return values[taken];
}

bool SampleOrder::beginsWith(ArrayRef<Choice> made) const {
  SampleOrder order = *this;
  return llvm::all_of(made, [&](const Choice &choice) {
    return order.take(0, choice.isFlag, choice.isLoaded) == choice.value;
  });
}

Integers::Number Skeleton::sampled(Integers::Number number, Type type,
                                   bool isLoaded) {
  if (samples.values.empty() || !type.isIntOrIndex() || integers.known(number))
    return number;
  bool isFlag = type.isInteger(1);
  unsigned taken = paths.choose(isFlag ? 2 : samples.values.size());
  int64_t value = samples.take(taken, isFlag, isLoaded);
  choices.push_back({isFlag, isLoaded, value});
  integers.assume(number, value, value);
  return number;
}

void Skeleton::evaluate(Agent &agent, Instruction &code) {
  Operation &op = *code.op;
  if (code.isLoad && readMemory) {
    auto load = cast<sm::LoadOp>(op);
    if (std::optional<int64_t> value = readMemory(agent, load)) {
      agent.values.at(code.results.front()) = {
          Tracked::Kind::Integer, integers.constant(load.getType(), *value)};
      return;
    }
  }
  // Operands that are not scalar integers count by their place in the program,
  // and make the result another one each time the operation is executed.
  SmallVector<Integers::Number, 4> operands;
  Spread spread = Spread::Uniform;
  for (auto [i, number] : llvm::enumerate(code.operands)) {
    Tracked &tracked = agent.values.at(number);
    if (i < code.integerOperands) {
      if (tracked.kind == Tracked::Kind::None)
        define(tracked, op.getOperand(i));
      operands.push_back(tracked.id);
    }
    spread = std::max(spread, tracked.spread);
  }
  // A conjunction with sm.leader is true in one thread too; of all else that
  // depends on it nothing is known.
  if (spread == Spread::OneThread && !isa<arith::AndIOp>(op))
    spread = Spread::Divergent;
  unsigned count = code.isExpression ? 0 : ++agent.counts[&op];
  for (OpResult result : op.getResults()) {
    Integers::Number number =
        code.isExpression && code.isLoad ? element(&op, operands)
        : code.isExpression
            ? expression(code, result.getResultNumber(), operands)
            : integers.unknown(result.getType(), result.getAsOpaquePointer(),
                               {count, agent.group});
    agent.values.at(code.results[result.getResultNumber()]) = {
        Tracked::Kind::Integer,
        code.isSource ? sampled(number, result.getType(), code.isLoad) : number,
        -1, spread};
  }
}

Integers::Number Skeleton::element(Operation *op,
                                   ArrayRef<Integers::Number> operands) {
  auto load = cast<sm::LoadOp>(op);
  size_t places = 1 + load.getIndices().size();
  SmallVector<uint64_t> key;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    std::optional<int64_t> value =
        i > 0 ? integers.known(operand) : std::nullopt;
    if (i >= places && value.value_or(0) != 0)
      continue;
    // Numbers of which this path knows the value are equal if that is.
    key.push_back(value ? integers.constant(op->getOperand(i).getType(), *value)
                        : operand);
  }
  llvm::sort(MutableArrayRef(key).drop_front(places));
  static const char loaded = 0;
  return integers.unknown(load.getType(), &loaded, key);
}

Integers::Number Skeleton::expression(Instruction &code, unsigned result,
                                      ArrayRef<Integers::Number> operands) {
  // The agents of a group, one after the other, have the same operands.
  if (code.isKnown && operands == ArrayRef(code.lastOperands))
    return code.lastNumber;
  Integers::Number number = integers.expression(code.op, result, operands);
  code.isKnown = code.op->getNumResults() == 1;
  code.lastOperands.assign(operands.begin(), operands.end());
  code.lastNumber = number;
  return number;
}

} // namespace selvedge::verify
