// Scalar integers and trip counts of an executed kernel.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Skeleton.h"

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

Integers::Number Skeleton::numberOf(Agent &agent, Value value) {
  Tracked &tracked = agent.values[value];
  if (tracked.kind == Tracked::Kind::None)
    tracked = {Tracked::Kind::Integer,
               sampled(integers.unknown(value.getType(),
                                        value.getAsOpaquePointer(), {}),
                       value.getType())};
  return tracked.id;
}

Integers::Number Skeleton::sampled(Integers::Number number, Type type) {
  if (samples.empty() || !type.isIntOrIndex() || integers.known(number))
    return number;
  bool isFlag = type.isInteger(1);
  unsigned taken = paths.choose(isFlag ? 2 : samples.size());
  // True first: what optional tensors hold matters more than their absence,
  // and not all paths are tried.
  int64_t value = isFlag ? int64_t(taken) - 1 : samples[taken];
  integers.assume(number, value, value);
  return number;
}

/// A conjunction with sm.leader is true in one thread too; of all else that
/// depends on it nothing is known.
static Spread spreadOf(Agent &agent, Operation &op) {
  Spread spread = Spread::Uniform;
  for (Value operand : op.getOperands())
    spread = std::max(spread, agent.values.lookup(operand).spread);
  return spread == Spread::OneThread && !isa<arith::AndIOp>(op)
             ? Spread::Divergent
             : spread;
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
  Spread spread = spreadOf(agent, op);
  bool isSource = isExpression && !isa<InferIntRangeInterface>(op);
  for (OpResult result : op.getResults()) {
    Integers::Number number =
        isExpression
            ? integers.expression(&op, result.getResultNumber(), operands)
            : integers.unknown(result.getType(), result.getAsOpaquePointer(),
                               {count, agent.group});
    agent.values[result] = {
        Tracked::Kind::Integer,
        isSource ? sampled(number, result.getType()) : number, -1, spread};
  }
}

} // namespace selvedge::verify
