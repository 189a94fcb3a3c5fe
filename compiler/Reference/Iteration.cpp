// One iteration of a kernel: walks the operations in order.
// SPDX-License-Identifier: MIT
#include "compiler/Reference/Iteration.h"
#include "compiler/Reference/Evaluate.h"
#include "compiler/Reference/IdleSteps.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"

#include <limits>

using namespace mlir;

namespace selvedge::reference {

Iteration::Iteration(KernelContext &context, ArrayRef<int64_t> coordinates)
    : context(context) {
  tile::KernelOp kernel = context.kernel;
  for (auto [i, dim] : llvm::enumerate(context.arguments.dims))
    values[kernel.getDimArg(i)] = makeScalar(dim);
  for (auto [i, scalar] : llvm::enumerate(context.arguments.scalars))
    values[kernel.getScalarArgument(i)] = scalar;
  for (auto [i, coordinate] : llvm::enumerate(coordinates))
    values[kernel.getCoord(i)] = makeScalar(coordinate);
}

llvm::Error Iteration::run() {
  return runBlock(context.kernel.getBody().front());
}

llvm::SmallVector<TileRef> Iteration::valuesOf(ValueRange range) {
  llvm::SmallVector<TileRef> tiles;
  for (Value value : range)
    tiles.push_back(valueOf(value));
  return tiles;
}

void Iteration::define(ValueRange results, ArrayRef<TileRef> tiles) {
  for (auto [result, tile] : llvm::zip_equal(results, tiles))
    values[result] = tile;
}

Tensor &Iteration::tensorOf(Value handle) {
  return context.arguments.tensors[cast<BlockArgument>(handle).getArgNumber() -
                                   context.arguments.dims.size()];
}

TileShape Iteration::shapeOf(Type type) {
  TileShape shape;
  for (StringAttr axis : tile::axesOf(type))
    shape.push(axis, context.extents.lookup(axis));
  return shape;
}

llvm::Error Iteration::runBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (llvm::Error failure = runOp(&op))
      return failure;
  return llvm::Error::success();
}

llvm::Error Iteration::runOp(Operation *op) {
  return TypeSwitch<Operation *, llvm::Error>(op)
      .Case([&](scf::ForOp loop) { return runFor(loop); })
      .Case([&](scf::IfOp branch) { return runIf(branch); })
      .Case([&](tile::LoadOp load) { return runLoad(load); })
      .Case([&](tile::StoreOp store) { return runStore(store); })
      .Case([&](tile::SoftmaxUpdateOp update) {
        return runSoftmaxUpdate(update);
      })
      .Case([&](tile::SoftmaxIncludeOp include) {
        return runSoftmaxInclude(include);
      })
      .Default([&](Operation *other) -> llvm::Error {
        llvm::Expected<TileRef> result = evaluate(other);
        if (!result)
          return result.takeError();
        values[other->getResult(0)] = withFactor(other, *result);
        return llvm::Error::success();
      });
}

TileRef Iteration::withFactor(Operation *op, const TileRef &result) {
  // What these give does not depend on the reference.
  if (isa<tile::SoftmaxNormalizeOp, tile::SoftmaxLseOp, tile::SoftmaxWeightOp>(
          op) ||
      !result->isFloat || result->relative)
    return result;
  if (llvm::none_of(op->getOperands(), [&](Value operand) {
        auto it = values.find(operand);
        return it != values.end() && it->second->relative;
      }))
    return result;
  auto marked = std::make_shared<TileValue>(*result);
  marked->relative = true;
  return marked;
}

llvm::Expected<TileRef> Iteration::evaluate(Operation *op) {
  if (op->getNumRegions() != 0 || op->getNumResults() != 1)
    return errorAt(op, "is not an operation that the reference executes");
  for (Type type : op->getResultTypes())
    for (StringAttr axis : tile::axesOf(type))
      if (!context.extents.contains(axis))
        return errorAt(op, "has axis '" + axis.getValue() +
                               "', which its kernel does not declare");
  TileShape shape = shapeOf(op->getResult(0).getType());
  TileRef result =
      TypeSwitch<Operation *, TileRef>(op)
          .Case([&](tile::BlockSizeOp block) {
            auto it = context.blocks.find(block.getBlock());
            return it == context.blocks.end() ? nullptr
                                              : makeScalar(it->second);
          })
          .Case([&](tile::RangeOp range) {
            std::shared_ptr<TileValue> indices = makeInts(shape);
            int64_t start = valueOf(range.getStart())->ints[0];
            for (auto [i, index] : llvm::enumerate(indices->ints))
              index = static_cast<int32_t>(start + static_cast<int64_t>(i));
            return indices;
          })
          .Case([&](tile::SplatOp splat) {
            return broadcast(valueOf(splat.getValue()), shape);
          })
          .Case([&](tile::BroadcastOp repeat) {
            return broadcast(valueOf(repeat.getSource()), shape);
          })
          .Case([&](tile::IsPresentOp present) {
            return makeScalar(
                static_cast<int64_t>(tensorOf(present.getTensor()).present));
          })
          .Case([&](tile::ConvertOp convert) {
            return evaluateConvert(convert, valueOf(convert.getSource()));
          })
          .Case([&](tile::DotOp dot) {
            return evaluateDot(dot, valueOf(dot.getLhs()),
                               valueOf(dot.getRhs()),
                               dot.getInit() ? valueOf(dot.getInit()) : nullptr,
                               valuesOf(dot.getPresence()), shape);
          })
          .Case([&](tile::ReduceOp reduce) {
            return evaluateReduce(reduce, valueOf(reduce.getSource()),
                                  valuesOf(reduce.getPresence()), shape);
          })
          .Case([&](tile::SoftmaxNormalizeOp normalize) {
            return evaluateSoftmaxNormalize(valueOf(normalize.getAcc()),
                                            valueOf(normalize.getSum()));
          })
          .Case([&](tile::SoftmaxLseOp lse) {
            return evaluateSoftmaxLse(valueOf(lse.getMax()),
                                      valueOf(lse.getSum()));
          })
          .Case([&](tile::SoftmaxWeightOp weight) {
            return evaluateSoftmaxWeight(valueOf(weight.getScore()),
                                         valueOf(weight.getMax()),
                                         valueOf(weight.getSum()));
          })
          .Case([&](arith::CmpIOp compare) {
            return evaluateCompare(compare, shape);
          })
          .Default([&](Operation *other) {
            return evaluateElementwise(other, valuesOf(other->getOperands()),
                                       shape);
          });
  if (!result)
    return errorAt(op, "is not an operation that the reference executes");
  return result;
}

TileRef Iteration::evaluateCompare(arith::CmpIOp op, const TileShape &shape) {
  llvm::SmallVector<TileRef> operands = valuesOf(op->getOperands());
  // Sums of indices and scalars are the integers that they mean.
  if (analysis::laneCompare(op))
    for (auto [operand, value] : llvm::zip_equal(operands, op->getOperands()))
      operand = exactSum(*analysis::linearSum(value), shape);
  return evaluateInteger(op, operands, shape);
}

TileRef Iteration::exactSum(const analysis::LinearSum &sum,
                            const TileShape &shape) {
  std::shared_ptr<TileValue> result = makeInts(shape);
  llvm::fill(result->ints, sum.constant);
  for (auto &[term, coefficient] : sum.terms) {
    TileRef part = broadcast(valueOf(term), shape);
    for (size_t i = 0; i < result->ints.size(); ++i)
      result->ints[i] += coefficient * part->ints[i];
    if (part->unsure.empty())
      continue;
    result->unsure.resize(result->ints.size());
    for (size_t i = 0; i < result->ints.size(); ++i)
      result->unsure[i] |= part->unsureAt(i);
  }
  return result;
}

/// Whether lanes are the same numbers. What adds nothing widens bounds of
/// errors, which the code does not make.
static bool areSame(ArrayRef<TileRef> a, ArrayRef<TileRef> b) {
  auto sameBits = [](double x, double y) {
    return llvm::bit_cast<uint64_t>(x) == llvm::bit_cast<uint64_t>(y);
  };
  return llvm::all_of(llvm::zip_equal(a, b), [&](const auto &pair) {
    auto &[x, y] = pair;
    return llvm::equal(x->values, y->values, sameBits) && x->ints == y->ints &&
           x->unsure == y->unsure;
  });
}

llvm::Error Iteration::runFor(scf::ForOp op) {
  // A length from memory may be anything: a loop of more steps than these is
  // asked where it ends.
  constexpr int64_t mostSteps = 64;
  int64_t low = valueOf(op.getLowerBound())->ints[0];
  int64_t high = valueOf(op.getUpperBound())->ints[0];
  int64_t step = valueOf(op.getStep())->ints[0];
  if (step < 1)
    return errorAt(op, "has step " + llvm::Twine(step));
  llvm::SmallVector<TileRef> carried = valuesOf(op.getInitArgs());
  std::optional<int64_t> idle;
  if ((high - low) / step > mostSteps)
    idle = idleFrom(op, [&](Value v) { return valueOf(v)->ints[0]; });
  for (int64_t i = low; i < high; i += step) {
    values[op.getInductionVar()] = makeScalar(i);
    define(op.getRegionIterArgs(), carried);
    if (llvm::Error failure = runBlock(*op.getBody()))
      return failure;
    llvm::SmallVector<TileRef> next =
        valuesOf(op.getBody()->getTerminator()->getOperands());
    bool isLast = idle && i >= *idle && areSame(carried, next);
    carried = std::move(next);
    // All steps that are left do the same.
    if (isLast)
      break;
  }
  define(op.getResults(), carried);
  return llvm::Error::success();
}

llvm::Error Iteration::runIf(scf::IfOp op) {
  TileRef condition = valueOf(op.getCondition());
  Region &region = condition->ints[0] ? op.getThenRegion() : op.getElseRegion();
  if (region.empty())
    return llvm::Error::success();
  if (llvm::Error failure = runBlock(region.front()))
    return failure;
  for (auto [result, yielded] : llvm::zip(
           op.getResults(), region.front().getTerminator()->getOperands())) {
    values[result] = valueOf(yielded);
    if (!condition->unsureAt(0))
      continue;
    // A rounding error may choose the other branch.
    auto any = std::make_shared<TileValue>(*valueOf(yielded));
    any->bounds.assign(any->values.size(),
                       std::numeric_limits<double>::infinity());
    any->unsure.assign(any->ints.size(), 1);
    values[result] = any;
  }
  return llvm::Error::success();
}

llvm::Error Iteration::runLoad(tile::LoadOp op) {
  llvm::Expected<TileRef> result =
      loadTile(op, tensorOf(op.getTensor()), valuesOf(op.getIndices()),
               valuesOf(op.getPresence()), shapeOf(op.getType()));
  if (!result)
    return result.takeError();
  values[op.getResult()] = *result;
  return llvm::Error::success();
}

llvm::Error Iteration::runStore(tile::StoreOp op) {
  Tensor &tensor = tensorOf(op.getTensor());
  if (!tensor.isWritable())
    return errorAt(op,
                   "writes input '" + tensor.arg.getName().getValue() + "'");
  return storeTile(op, tensor, valueOf(op.getValue()),
                   valuesOf(op.getIndices()), valuesOf(op.getPresence()));
}

llvm::Error Iteration::runSoftmaxUpdate(tile::SoftmaxUpdateOp op) {
  SoftmaxState state{valueOf(op.getMax()), valueOf(op.getSum()), {}};
  for (Value acc : op.getAccs())
    state.accs.push_back(valueOf(acc));
  values[op.getWeights()] = evaluateSoftmaxUpdate(
      valueOf(op.getScores()), valuesOf(op.getPresence()), state);
  values[op.getNewMax()] = state.max;
  values[op.getNewSum()] = state.sum;
  define(op.getNewAccs(), state.accs);
  return llvm::Error::success();
}

llvm::Error Iteration::runSoftmaxInclude(tile::SoftmaxIncludeOp op) {
  SoftmaxState state{valueOf(op.getMax()), valueOf(op.getSum()), {}};
  for (Value acc : op.getAccs())
    state.accs.push_back(valueOf(acc));
  evaluateSoftmaxInclude(valueOf(op.getScore()), state);
  values[op.getNewMax()] = state.max;
  values[op.getNewSum()] = state.sum;
  define(op.getNewAccs(), state.accs);
  return llvm::Error::success();
}

} // namespace selvedge::reference
