// The online softmax, step by step, in fp64.
//
// Error model. What a softmax gives, the quotient acc / sum and the log-sum-exp
// max + log(sum), does not change when the reference of all weights of a row
// shifts: a common factor cancels. A kernel's own maximum (in error, lazy or
// speculative) is such a shift, so bounds of weights, sums and accumulators are
// relative to the reference used here, taken as exact.
// SPDX-License-Identifier: MIT
#include "compiler/Reference/Evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;

namespace selvedge::reference {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What weights are relative to: 0 for a row without keys yet.
double referenceOf(double max) { return max == -infinity ? 0 : max; }

/// Error of the argument of an exponential: scale and log2(e) are multiplied
/// into score and reference, in f32, separately or fused. The constant allows
/// for a reference that differs by a few units.
double argumentError(double score, double distance) {
  return unit32 * (2 * std::abs(distance) + std::abs(score) + 16);
}

/// exp(score - reference).
Num weightOf(Num score, double reference) {
  double distance = score.value - reference;
  double value = std::exp(distance);
  if (score.value == -infinity)
    return {value, 0};
  if (!std::isfinite(reference))
    return {value, std::isinf(score.bound) ? infinity : 0};
  double error = exponentialError(
      distance, score.bound + argumentError(score.value, distance));
  return withBound(value, error + value * approximation + weightFloor,
                   std::isinf(score.bound));
}

/// exp(max - reference): what a step multiplies the old state by, and the
/// relative error of that product.
struct Rescale {
  double factor;
  double error;
  /// The row had no score within the range of f32 and has one now: nothing of
  /// the old state remains.
  bool fresh;

  Rescale(double max, double newMax)
      : fresh(max == -infinity && newMax != -infinity) {
    double distance = max - referenceOf(newMax);
    factor = std::exp(distance);
    error = approximation + 4 * unit32 +
            (factor > 0 ? growth(2 * unit32 * std::abs(distance)) : 0);
  }

  Num apply(Num x) const {
    double value = x.value * factor;
    if (fresh || (x.value == 0 && x.bound == 0))
      return {value, 0};
    // The old scores were sentinels (the smallest float of an additive mask):
    // their weights among themselves were uncertain and are gone.
    if (factor == 0)
      return withBound(value, weightFloor, false);
    return withBound(value,
                     x.bound * factor + std::abs(value) * error + weightFloor,
                     std::isinf(x.bound));
  }
};

/// One row of a step while its scores are gathered.
struct Row {
  double max = -infinity;
  /// Upper and lower end of the maximum.
  double high = -infinity, low = -infinity;
  /// Sum of the step's weights and of their bounds, and how many there are.
  double sum = 0, bound = 0;
  int64_t count = 0;
  bool unbounded = false;

  void raise(Num score) {
    if (std::isnan(score.value) || score.value > max)
      max = std::isnan(max) ? max : score.value;
    // Beyond the range of f32, but perhaps not Inf in every kernel.
    unbounded |= std::isinf(score.bound) && score.value != -infinity;
    high = std::max(high, score.value + score.bound);
    low = std::max(low, score.value - score.bound);
  }

  void include(Num weight) {
    sum += weight.value;
    bound += weight.bound;
    ++count;
  }

  Num maximum() const {
    return withBound(max, std::max(high - max, max - low), unbounded);
  }
};

Num boundedSum(const Row &row, Num carried) {
  double value = carried.value + row.sum;
  double rounding = static_cast<double>(row.count + 2) * 2 * unit32 * value;
  return withBound(value, carried.bound + row.bound + rounding,
                   row.unbounded || std::isinf(carried.bound));
}

/// Replaces max, sum and accumulators once the weights of a step are known.
void finishStep(SoftmaxState &state, ArrayRef<Row> rows) {
  std::shared_ptr<TileValue> max = makeFloats(state.max->shape);
  std::shared_ptr<TileValue> sum = makeFloats(state.sum->shape);
  std::vector<Rescale> rescales;
  for (size_t i = 0; i < rows.size(); ++i) {
    rescales.emplace_back(state.max->values[i], rows[i].max);
    Num newMax = rows[i].maximum();
    Num newSum = boundedSum(rows[i], rescales[i].apply(state.sum->at(i)));
    max->values[i] = newMax.value;
    max->bounds[i] = newMax.bound;
    sum->values[i] = newSum.value;
    sum->bounds[i] = newSum.bound;
  }
  for (TileRef &acc : state.accs) {
    std::shared_ptr<TileValue> scaled = makeFloats(acc->shape);
    LanePositions rowOf = lanePositions(max->shape, acc->shape);
    for (size_t i = 0; i < rowOf.size(); ++i) {
      Num x = rescales[rowOf[i]].apply(acc->at(i));
      scaled->values[i] = x.value;
      scaled->bounds[i] = x.bound;
    }
    acc = scaled;
  }
  state.max = max;
  state.sum = sum;
}

std::vector<Row> startRows(const SoftmaxState &state) {
  std::vector<Row> rows(state.max->values.size());
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i].raise(state.max->at(i));
  return rows;
}

} // namespace

TileRef evaluateSoftmaxUpdate(const TileRef &scores, ArrayRef<TileRef> presence,
                              SoftmaxState &state) {
  std::vector<uint8_t> present = conjunction(presence, scores->shape);
  LanePositions rowOf = lanePositions(state.max->shape, scores->shape);
  std::vector<Row> rows = startRows(state);
  for (size_t i = 0; i < rowOf.size(); ++i) {
    if (!present.empty() && (present[i] & Unsure))
      rows[rowOf[i]].unbounded = true;
    if (present.empty() || (present[i] & Present))
      rows[rowOf[i]].raise(scores->at(i));
  }
  std::shared_ptr<TileValue> weights = makeFloats(scores->shape);
  for (size_t i = 0; i < rowOf.size(); ++i) {
    Row &row = rows[rowOf[i]];
    if (!present.empty() && !(present[i] & Present)) {
      weights->bounds[i] = (present[i] & Unsure) ? infinity : 0;
      continue;
    }
    Num score = scores->at(i);
    // A score below the range of f32 has no weight beside one that is in it;
    // in a row of nothing else it may.
    if (score.value == -infinity && std::isinf(score.bound) &&
        row.max == -infinity)
      row.unbounded = true;
    Num weight = weightOf(score, referenceOf(row.max));
    row.include(weight);
    weights->values[i] = weight.value;
    weights->bounds[i] = weight.bound;
  }
  weights->relative = true;
  finishStep(state, rows);
  return weights;
}

void evaluateSoftmaxInclude(const TileRef &score, SoftmaxState &state) {
  TileRef scores = broadcast(score, state.max->shape);
  std::vector<Row> rows = startRows(state);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].raise(scores->at(i));
    rows[i].include(weightOf(scores->at(i), referenceOf(rows[i].max)));
  }
  finishStep(state, rows);
}

TileRef evaluateSoftmaxNormalize(const TileRef &acc, const TileRef &sum) {
  std::shared_ptr<TileValue> result = makeFloats(acc->shape);
  LanePositions rowOf = lanePositions(sum->shape, acc->shape);
  for (size_t i = 0; i < rowOf.size(); ++i) {
    Num weights = sum->at(rowOf[i]);
    Num quotient = weights.value == 0
                       ? Num{0, std::isinf(weights.bound) ? infinity : 0}
                       : divide(acc->at(i), weights, binary32());
    result->values[i] = quotient.value;
    result->bounds[i] = quotient.bound;
  }
  return result;
}

// An error of max is not one of the result, but its rounding to the units of
// the kernel (log2(e) is multiplied in) is.
TileRef evaluateSoftmaxLse(const TileRef &max, const TileRef &sum) {
  std::shared_ptr<TileValue> result = makeFloats(max->shape);
  for (size_t i = 0; i < result->values.size(); ++i) {
    Num weights = sum->at(i);
    double reference = referenceOf(max->values[i]);
    double value =
        weights.value == 0 ? -infinity : reference + std::log(weights.value);
    double smallest = weights.value - weights.bound;
    double bound = weights.bound / smallest + 2 * approximation +
                   approximation * std::abs(std::log(weights.value)) +
                   4 * unit32 * (std::abs(reference) + std::abs(value));
    bool unbounded =
        std::isinf(weights.bound) || (weights.value > 0 && smallest <= 0);
    Num lse = withBound(value, bound, unbounded);
    result->values[i] = lse.value;
    result->bounds[i] = lse.bound;
  }
  return result;
}

TileRef evaluateSoftmaxWeight(const TileRef &score, const TileRef &max,
                              const TileRef &sum) {
  std::shared_ptr<TileValue> result = makeFloats(score->shape);
  LanePositions rowOf = lanePositions(sum->shape, score->shape);
  LanePositions maxOf = lanePositions(max->shape, score->shape);
  for (size_t i = 0; i < rowOf.size(); ++i) {
    Num weights = sum->at(rowOf[i]), lane = score->at(i), quotient;
    if (weights.value == 0)
      quotient.bound = std::isinf(weights.bound) ? infinity : 0;
    else if (lane.value != -infinity || std::isnan(weights.value))
      quotient = divide(weightOf(lane, referenceOf(max->values[maxOf[i]])),
                        weights, binary32());
    result->values[i] = quotient.value;
    result->bounds[i] = quotient.bound;
  }
  return result;
}

} // namespace selvedge::reference
