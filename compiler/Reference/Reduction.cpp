// tile.reduce: combines the present lanes along axes.
// SPDX-License-Identifier: MIT
#include "compiler/Reference/Evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;

namespace selvedge::reference {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Sum with the rounding of `count` additions in any order: each is off by at
/// most u (2u allowed: part of the sum may run on tensor cores) of the sum of
/// magnitudes.
struct Sum {
  double value = 0, bound = 0, size = 0;
  int64_t count = 0;
  bool unbounded = false;

  void include(Num x, bool present, bool unsure) {
    if (present)
      value += x.value;
    unbounded |= std::isinf(x.bound) || (unsure && !std::isfinite(x.value));
    if (std::isfinite(x.value)) {
      bound += x.bound + (unsure ? std::abs(x.value) : 0);
      size += std::abs(x.value);
    }
    ++count;
  }

  Num finish(const Format &format) const {
    double rounding = count < 2 ? 0 : (count + 2) * 2 * format.unit * size;
    Num r = withBound(value, bound + rounding, unbounded);
    return rounded(r, format);
  }
};

TileRef reduceFloats(tile::Combine kind, const Format &format,
                     const TileValue &source,
                     const std::vector<uint8_t> &present,
                     const LanePositions &rowOf, const TileShape &shape) {
  std::shared_ptr<TileValue> result = makeFloats(shape);
  if (kind == tile::Combine::Add) {
    std::vector<Sum> sums(result->values.size());
    for (size_t i = 0; i < rowOf.size(); ++i)
      if (present.empty() || present[i])
        sums[rowOf[i]].include(source.at(i),
                               present.empty() || (present[i] & Present),
                               !present.empty() && (present[i] & Unsure));
    for (size_t row = 0; row < sums.size(); ++row) {
      Num sum = sums[row].finish(format);
      result->values[row] = sum.value;
      result->bounds[row] = sum.bound;
    }
    return result;
  }
  bool isMax = kind == tile::Combine::Max;
  std::vector<Num> best(result->values.size(),
                        Num{isMax ? -infinity : infinity, 0});
  std::vector<uint8_t> unsure(best.size());
  for (size_t i = 0; i < rowOf.size(); ++i) {
    if (!present.empty() && (present[i] & Unsure))
      unsure[rowOf[i]] = 1;
    if (!present.empty() && !(present[i] & Present))
      continue;
    Num &row = best[rowOf[i]];
    row = isMax ? maximum(row, source.at(i)) : minimum(row, source.at(i));
  }
  for (size_t row = 0; row < best.size(); ++row) {
    result->values[row] = best[row].value;
    result->bounds[row] = unsure[row] ? infinity : best[row].bound;
  }
  return result;
}

TileRef reduceIntegers(tile::Combine kind, unsigned width,
                       const TileValue &source,
                       const std::vector<uint8_t> &present,
                       const LanePositions &rowOf, const TileShape &shape) {
  std::shared_ptr<TileValue> result = makeInts(shape);
  result->unsure.resize(result->ints.size());
  int64_t highest = static_cast<int64_t>((uint64_t(1) << (width - 1)) - 1);
  int64_t identity = kind == tile::Combine::Add   ? 0
                     : kind == tile::Combine::Max ? -highest - 1
                                                  : highest;
  result->ints.assign(result->ints.size(), identity);
  for (size_t i = 0; i < rowOf.size(); ++i) {
    if (!present.empty() && present[i] == Absent)
      continue;
    int32_t row = rowOf[i];
    if (source.unsureAt(i) || (!present.empty() && (present[i] & Unsure)))
      result->unsure[row] = 1;
    if (!present.empty() && !(present[i] & Present))
      continue;
    int64_t &best = result->ints[row], lane = source.ints[i];
    if (kind == tile::Combine::Max)
      best = std::max(best, lane);
    else if (kind == tile::Combine::Min)
      best = std::min(best, lane);
    else
      best = static_cast<int64_t>(static_cast<uint64_t>(best) +
                                  static_cast<uint64_t>(lane));
  }
  if (width < 64)
    for (int64_t &lane : result->ints)
      lane =
          static_cast<int64_t>(static_cast<uint64_t>(lane) << (64 - width)) >>
          (64 - width);
  return result;
}

} // namespace

TileRef evaluateReduce(tile::ReduceOp op, const TileRef &source,
                       ArrayRef<TileRef> presence, const TileShape &shape) {
  std::vector<uint8_t> present = conjunction(presence, source->shape);
  LanePositions rowOf = lanePositions(shape, source->shape);
  Type element = getElementTypeOrSelf(op.getType());
  if (source->isFloat)
    return reduceFloats(op.getKind(), formatOf(element), *source, present,
                        rowOf, shape);
  return reduceIntegers(op.getKind(), element.getIntOrFloatBitWidth(), *source,
                        present, rowOf, shape);
}

} // namespace selvedge::reference
