// tile.dot: products summed over shared axes, present lanes only.
// SPDX-License-Identifier: MIT
#include "compiler/Reference/Evaluate.h"
#include "compiler/Reference/Product.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace selvedge::reference {

namespace {

/// One operand, reordered to [batch][line][k] or [batch][k][line]; only the
/// order matters here, lanes that are absent along the contracted axes hold 0.
struct Operand {
  TileShape shape;
  std::vector<double> values, bounds;
  std::vector<uint8_t> present;
  int64_t lines = 0;
};

/// The axes of a product, by the operands that have them.
struct Grouping {
  TileShape batch, rows, columns, depth;
};

Grouping groupAxes(const TileShape &lhs, const TileShape &rhs, ArrayAttr over) {
  Grouping groups;
  for (auto [axis, extent] : llvm::zip(lhs.axes, lhs.extents)) {
    if (llvm::is_contained(over, Attribute(axis)))
      groups.depth.push(axis, extent);
    else
      (rhs.indexOf(axis) < 0 ? groups.rows : groups.batch).push(axis, extent);
  }
  for (auto [axis, extent] : llvm::zip(rhs.axes, rhs.extents))
    if (lhs.indexOf(axis) < 0)
      groups.columns.push(axis, extent);
  return groups;
}

TileShape concatenate(std::initializer_list<const TileShape *> parts) {
  TileShape shape;
  for (const TileShape *part : parts) {
    llvm::append_range(shape.axes, part->axes);
    llvm::append_range(shape.extents, part->extents);
  }
  return shape;
}

Operand pack(const TileValue &tile, const Grouping &groups,
             const TileShape &lines, ArrayRef<TileRef> presence) {
  Operand operand;
  operand.shape = concatenate({&groups.batch, &lines, &groups.depth});
  operand.lines = lines.lanes();
  operand.present = conjunction(presence, operand.shape);
  LanePositions from = lanePositions(tile.shape, operand.shape);
  operand.values.resize(from.size());
  operand.bounds.resize(tile.bounds.empty() ? 0 : from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    if (!operand.present.empty() && !operand.present[i])
      continue;
    operand.values[i] = tile.values[from[i]];
    if (!tile.bounds.empty())
      operand.bounds[i] = tile.bounds[from[i]];
  }
  return operand;
}

/// Panels of one batch of an operand, each element mapped by `fn(value,
/// bound)`.
template <typename Fn>
Panels makePanels(const Operand &operand, int64_t batch, int64_t depth, Fn fn) {
  Panels panels(operand.lines, depth);
  size_t i = batch * operand.lines * depth;
  for (int64_t line = 0; line < operand.lines; ++line)
    for (int64_t k = 0; k < depth; ++k, ++i) {
      double value = std::isfinite(operand.values[i]) ? operand.values[i] : 0;
      panels.at(line, k) =
          fn(value, operand.bounds.empty() ? 0 : operand.bounds[i]);
    }
  return panels;
}

bool isPresent(const Operand &operand, size_t i) {
  return operand.present.empty() || operand.present[i];
}

/// Adds the products in which an element of `a` is Inf or NaN (absent ones hold
/// 0) and that of `b` is present; `skipShared` leaves out pairs of two such
/// elements. `at(line, other)` names the element of the result.
template <typename At>
void addNonFinite(const Operand &a, const Operand &b, int64_t batch,
                  int64_t depth, bool skipShared, At at) {
  size_t baseA = batch * a.lines * depth, baseB = batch * b.lines * depth;
  for (int64_t line = 0; line < a.lines; ++line) {
    for (int64_t k = 0; k < depth; ++k) {
      size_t i = baseA + line * depth + k;
      if (std::isfinite(a.values[i]))
        continue;
      bool spoilsAll = std::isnan(a.values[i]);
      for (int64_t other = 0; other < b.lines; ++other) {
        size_t j = baseB + other * depth + k;
        if (!isPresent(b, j)) {
          spoilsAll = false;
          continue;
        }
        if (!skipShared || std::isfinite(b.values[j]))
          at(line, other) += a.values[i] * b.values[j];
        else
          spoilsAll = false;
      }
      // The whole line is NaN: nothing that follows can change it.
      if (spoilsAll)
        break;
    }
  }
}

/// Rounding of a sum of `depth` products: each addition is off by at most 2u of
/// the running sum (tensor cores truncate), which is at most the sum of
/// magnitudes.
double roundingOf(int64_t depth) {
  return static_cast<double>(depth + 2) * 2 * unit32;
}

bool anyNonZero(const std::vector<double> &bounds) {
  return llvm::any_of(bounds, [](double bound) { return bound != 0; });
}

/// Values and bounds of a product, [batch][row][column].
struct Product {
  std::vector<double> values, bounds;
};

// The bound is sum of |a| eb + ea |b| + ea eb + g |a||b|; as matrix products:
// (g |a| + ea) x |b| + (|a| + ea) x eb, the second only if eb is not all 0.
Product multiply(const Operand &lhs, const Operand &rhs, int64_t batches,
                 int64_t depth) {
  int64_t plane = lhs.lines * rhs.lines;
  double g = roundingOf(depth);
  bool inexactRhs = anyNonZero(rhs.bounds);
  auto isFinite = [](double value) { return std::isfinite(value); };
  bool finite =
      llvm::all_of(lhs.values, isFinite) && llvm::all_of(rhs.values, isFinite);
  Product product{std::vector<double>(batches * plane),
                  std::vector<double>(batches * plane)};
  auto value = [](double v, double e) { return v; };
  auto size = [](double v, double e) { return std::abs(v); };
  for (int64_t batch = 0; batch < batches; ++batch) {
    double *values = product.values.data() + batch * plane;
    double *bounds = product.bounds.data() + batch * plane;
    auto left = [&](auto fn) { return makePanels(lhs, batch, depth, fn); };
    auto right = [&](auto fn) { return makePanels(rhs, batch, depth, fn); };
    multiplyAccumulate(left(value), right(value), values);
    multiplyAccumulate(
        left([&](double v, double e) { return g * std::abs(v) + e; }),
        right(size), bounds);
    if (inexactRhs)
      multiplyAccumulate(
          left([](double v, double e) { return std::abs(v) + e; }),
          right([](double v, double e) { return e; }), bounds);
    if (finite)
      continue;
    addNonFinite(lhs, rhs, batch, depth, /*skipShared=*/false,
                 [&](int64_t m, int64_t n) -> double & {
                   return values[m * rhs.lines + n];
                 });
    addNonFinite(rhs, lhs, batch, depth, /*skipShared=*/true,
                 [&](int64_t n, int64_t m) -> double & {
                   return values[m * rhs.lines + n];
                 });
  }
  return product;
}

/// The same by single lanes: for predicates that no operand alone can apply,
/// or that a rounding error may have decided.
Product multiplyMasked(const Operand &lhs, const Operand &rhs,
                       const std::vector<uint8_t> &present, int64_t batches,
                       int64_t depth) {
  Product product;
  double g = roundingOf(depth);
  size_t at = 0;
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t m = 0; m < lhs.lines; ++m)
      for (int64_t n = 0; n < rhs.lines; ++n) {
        double sum = 0, bound = 0;
        for (int64_t k = 0; k < depth; ++k, ++at) {
          if (present[at] == Absent)
            continue;
          size_t i = (batch * lhs.lines + m) * depth + k;
          size_t j = (batch * rhs.lines + n) * depth + k;
          double a = lhs.values[i], b = rhs.values[j];
          double ea = lhs.bounds.empty() ? 0 : lhs.bounds[i];
          double eb = rhs.bounds.empty() ? 0 : rhs.bounds[j];
          double size = std::abs(a * b);
          double error =
              std::abs(a) * eb + ea * std::abs(b) + ea * eb + g * size;
          if (present[at] & Present)
            sum += a * b;
          if (present[at] & Unsure)
            error = std::isfinite(size)
                        ? error + size
                        : std::numeric_limits<double>::infinity();
          if (std::isfinite(size) || (present[at] & Unsure))
            bound += error;
        }
        product.values.push_back(sum);
        product.bounds.push_back(bound);
      }
  return product;
}

} // namespace

TileRef evaluateDot(tile::DotOp op, const TileRef &lhs, const TileRef &rhs,
                    const TileRef &init, ArrayRef<TileRef> presence,
                    const TileShape &shape) {
  Grouping groups = groupAxes(lhs->shape, rhs->shape, op.getOver());
  llvm::SmallVector<TileRef> left, right;
  bool general = false;
  for (const TileRef &predicate : presence) {
    bool onLeft = predicate->shape.within(lhs->shape);
    bool onRight = predicate->shape.within(rhs->shape);
    bool unsure = llvm::is_contained(predicate->unsure, uint8_t(1));
    general |= (!onLeft && !onRight) || unsure;
    if (onLeft)
      left.push_back(predicate);
    if (onRight)
      right.push_back(predicate);
  }
  if (general) {
    left.clear();
    right.clear();
  }
  Operand a = pack(*lhs, groups, groups.rows, left);
  Operand b = pack(*rhs, groups, groups.columns, right);
  int64_t batches = groups.batch.lanes(), depth = groups.depth.lanes();
  TileShape order = concatenate({&groups.batch, &groups.rows, &groups.columns});
  Product product;
  if (general)
    product = multiplyMasked(
        a, b, conjunction(presence, concatenate({&order, &groups.depth})),
        batches, depth);
  else
    product = multiply(a, b, batches, depth);

  std::shared_ptr<TileValue> result = makeFloats(shape);
  LanePositions from = lanePositions(order, shape);
  const Format &f32 = formatOf(op.getType());
  // Accumulating onto `init` rounds it with every instruction of at least 8
  // products.
  double carried = static_cast<double>(depth / 8 + 2) * 2 * unit32;
  for (size_t i = 0; i < from.size(); ++i) {
    Num start = init ? init->at(i) : Num{};
    double value = product.values[from[i]] + start.value;
    double bound =
        product.bounds[from[i]] + start.bound + carried * std::abs(start.value);
    Num r = withBound(value, bound, std::isinf(bound) || std::isnan(bound));
    if (!std::isfinite(value) && std::isfinite(product.bounds[from[i]]) &&
        std::isfinite(start.bound))
      r.bound = 0;
    if (std::isfinite(value) && std::abs(value) + bound >= f32.overflow)
      r = rounded(r, f32);
    // Sums on the way may overflow, too, in whichever order they are made: they
    // are at most the magnitudes of which `bounds` has this part.
    double magnitudes =
        product.bounds[from[i]] / roundingOf(depth) + std::abs(start.value);
    if (std::isfinite(value) && magnitudes >= f32.overflow)
      r.bound = std::numeric_limits<double>::infinity();
    result->values[i] = r.value;
    result->bounds[i] = r.bound;
  }
  return result;
}

} // namespace selvedge::reference
