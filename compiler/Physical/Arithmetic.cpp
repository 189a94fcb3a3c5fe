// Arithmetic of tiles as hardware rounds it.
// SPDX-License-Identifier: MIT
#include "compiler/Physical/Arithmetic.h"
#include "compiler/Reference/Evaluate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

using namespace mlir;

namespace selvedge::physical {

using reference::TileRef;
using reference::TileShape;
using reference::TileValue;

namespace {

/// Rounds each value to a type. Operations in f32 on operands in f32 round
/// once: fp64 in between is wide enough for the sum, product, quotient and
/// root.
void roundTo(Type type, MutableArrayRef<double> values) {
  bool isF32 = type.isF32();
  for (double &value : values)
    value =
        isF32 ? static_cast<float>(value) : reference::quantize(value, type);
}

std::vector<float> toFloats(const TileRef &tile) {
  return {tile->values.begin(), tile->values.end()};
}

/// The same tile with its floats rounded to `type`, and without bounds: here
/// every value is what it is.
TileRef rounded(const TileRef &tile, Type type) {
  if (!tile->isFloat && tile->unsure.empty())
    return tile;
  auto result = std::make_shared<TileValue>();
  result->shape = tile->shape;
  result->isFloat = tile->isFloat;
  result->ints = tile->ints;
  result->values = tile->values;
  roundTo(type, result->values);
  return result;
}

/// The axes `over` with their extents in `tile`.
TileShape shapeOver(const TileRef &tile, ArrayRef<StringAttr> over) {
  TileShape shape;
  for (StringAttr axis : over)
    shape.push(axis, tile->shape.extents[tile->shape.indexOf(axis)]);
  return shape;
}

float combine(tile::Combine kind, float a, float b) {
  if (kind == tile::Combine::Add)
    return a + b;
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<float>::quiet_NaN();
  return kind == tile::Combine::Max ? std::max(a, b) : std::min(a, b);
}

int64_t combine(tile::Combine kind, int64_t a, int64_t b) {
  if (kind == tile::Combine::Add)
    return static_cast<int32_t>(static_cast<uint64_t>(a) +
                                static_cast<uint64_t>(b));
  return kind == tile::Combine::Max ? std::max(a, b) : std::min(a, b);
}

/// What programs have most, as `reference` computes it, without its bounds;
/// null for other operations and types.
TileRef evaluateInF32(Operation *op, ArrayRef<TileRef> tiles,
                      const TileShape &shape) {
  if (!getElementTypeOrSelf(op->getResult(0).getType()).isF32())
    return nullptr;
  auto both = [&](auto fn) {
    auto result = std::make_shared<TileValue>();
    result->shape = shape;
    result->values.resize(shape.lanes());
    for (auto [lane, a, b] :
         llvm::zip_equal(result->values, tiles[0]->values, tiles[1]->values))
      lane = static_cast<float>(fn(a, b));
    return TileRef(std::move(result));
  };
  auto combined = [&](tile::Combine kind) {
    return both([kind](double a, double b) {
      return combine(kind, static_cast<float>(a), static_cast<float>(b));
    });
  };
  return llvm::TypeSwitch<Operation *, TileRef>(op)
      .Case([&](arith::AddFOp) { return both(std::plus<double>()); })
      .Case([&](arith::SubFOp) { return both(std::minus<double>()); })
      .Case([&](arith::MulFOp) { return both(std::multiplies<double>()); })
      .Case([&](arith::DivFOp) { return both(std::divides<double>()); })
      .Case([&](arith::MaximumFOp) { return combined(tile::Combine::Max); })
      .Case([&](arith::MinimumFOp) { return combined(tile::Combine::Min); })
      .Default([](Operation *) { return nullptr; });
}

} // namespace

TileRef evaluateElementwise(Operation *op, ArrayRef<TileRef> tiles,
                            const TileShape &shape) {
  if (isa<math::FmaOp>(op)) {
    auto sum = std::make_shared<TileValue>(*tiles[0]);
    for (auto [lane, value] : llvm::enumerate(sum->values))
      value = std::fma(static_cast<float>(value),
                       static_cast<float>(tiles[1]->values[lane]),
                       static_cast<float>(tiles[2]->values[lane]));
    return sum;
  }
  // The maximum of numbers: a NaN loses.
  if (isa<arith::MaxNumFOp>(op)) {
    auto maximum = std::make_shared<TileValue>(*tiles[0]);
    for (auto [lane, value] : llvm::enumerate(maximum->values))
      value = std::fmax(value, tiles[1]->values[lane]);
    return maximum;
  }
  if (TileRef result = evaluateInF32(op, tiles, shape))
    return result;
  TileRef result = reference::evaluateElementwise(op, tiles, shape);
  return result
             ? rounded(result, getElementTypeOrSelf(op->getResult(0).getType()))
             : nullptr;
}

TileRef convert(const TileRef &source, Type elementType,
                tile::Overflow overflow) {
  const reference::Format &format = reference::formatOf(elementType);
  auto result = std::make_shared<TileValue>(*source);
  roundTo(elementType, result->values);
  for (auto [narrow, value] : llvm::zip_equal(result->values, source->values)) {
    bool saturates = overflow == tile::Overflow::Clamp ||
                     (overflow == tile::Overflow::Sat && std::isfinite(value));
    if (saturates && std::isinf(narrow))
      narrow = std::copysign(format.maxFinite, value);
  }
  return result;
}

TileRef contract(const TileRef &lhs, const TileRef &rhs, const TileRef &init,
                 ArrayRef<StringAttr> over, const TileShape &shape) {
  // An operand's lane is the sum of a part that the result's lane decides and
  // one that the place along the contracted axes decides.
  TileShape summed = shapeOver(lhs, over);
  reference::LanePositions a0 = reference::lanePositions(lhs->shape, shape),
                           b0 = reference::lanePositions(rhs->shape, shape),
                           aStep = reference::lanePositions(lhs->shape, summed),
                           bStep = reference::lanePositions(rhs->shape, summed);
  std::vector<float> a = toFloats(lhs), b = toFloats(rhs);
  std::vector<float> sums(shape.lanes());
  if (init)
    sums = toFloats(init);
  // A lane's sum is in the order of k; sums of several lanes run side by side.
  for (auto [aOffset, bOffset] : llvm::zip_equal(aStep, bStep))
    for (size_t lane = 0; lane < sums.size(); ++lane)
      sums[lane] += a[a0[lane] + aOffset] * b[b0[lane] + bOffset];
  auto result = std::make_shared<TileValue>();
  result->shape = shape;
  result->values.assign(sums.begin(), sums.end());
  return result;
}

TileRef reduce(tile::Combine kind, const TileRef &source,
               ArrayRef<StringAttr> over, const TileShape &shape,
               Type elementType) {
  TileShape summed = shapeOver(source, over);
  reference::LanePositions base =
                               reference::lanePositions(source->shape, shape),
                           step =
                               reference::lanePositions(source->shape, summed);
  auto result = std::make_shared<TileValue>();
  result->shape = shape;
  result->isFloat = source->isFloat;
  auto fold = [&](const auto &in, auto &out, auto zero) {
    for (int32_t first : base) {
      auto total = static_cast<decltype(zero)>(in[first + step[0]]);
      for (size_t k = 1; k < step.size(); ++k)
        total = combine(kind, total,
                        static_cast<decltype(zero)>(in[first + step[k]]));
      out.push_back(total);
    }
  };
  if (source->isFloat)
    fold(source->values, result->values, 0.0F);
  else
    fold(source->ints, result->ints, int64_t(0));
  return rounded(result, elementType);
}

} // namespace selvedge::physical
