// Data that kernels are sensitive to.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/CheckData.h"

#include "selvedge/Numeric.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace selvedge::cli {

namespace {

/// Squares whose sum over a head, scaled, is about 120; and 120 itself.
constexpr double levels[] = {3.3, 120};

/// A logit far above all others, but within every type.
constexpr double huge = 60;

/// How often normal data comes for each kit that is not.
constexpr size_t normalShare = 2;

bool isFloatInput(const ManifestTensor &tensor) {
  return isFloat(tensor.dtype) &&
         (tensor.role == Role::In || tensor.role == Role::InOut);
}

/// The values of Kit::Kind::Edges. What has f32's range is kept from its end:
/// the error bounds of `ref` do not know that a partial sum overflows.
std::vector<double> edgesOf(DType dtype) {
  double largest = maxFinite(dtype);
  bool isNearOne = dtype == DType::F16 || dtype == DType::E5M2;
  double smallest = dtype == DType::E4M3 ? 0x1p-6
                    : isNearOne          ? 0x1p-14
                                         : 0x1p-126;
  double least = dtype == DType::F16    ? 0x1p-24
                 : dtype == DType::BF16 ? 0x1p-133
                 : dtype == DType::E4M3 ? 0x1p-9
                 : dtype == DType::E5M2 ? 0x1p-16
                                        : 0x1p-149;
  largest = std::min(largest, 0x1p60);
  return {largest, -largest, smallest, least, -0.0, 1};
}

} // namespace

std::string Kit::describe(const Manifest &signature) const {
  switch (kind) {
  case Kind::Normal:
    return "normal";
  case Kind::Level:
    return fmt::format("all about {}", value);
  case Kind::Edges:
    return fmt::format("{} at the ends of its range",
                       signature.tensors[tensor].name);
  case Kind::Plant:
    return fmt::format("{} has {}", signature.tensors[tensor].name, value);
  }
  return "";
}

bool Kit::isNonFinite() const {
  return kind == Kind::Plant && !std::isfinite(value);
}

std::vector<Kit> makeKits(const Manifest &signature) {
  std::vector<Kit> kits;
  bool isAny = false;
  for (size_t i = 0; i < signature.tensors.size(); ++i) {
    if (!isFloatInput(signature.tensors[i]))
      continue;
    isAny = true;
    kits.push_back({Kit::Kind::Edges, i, 0});
    for (double value : {huge, std::numeric_limits<double>::quiet_NaN(),
                         std::numeric_limits<double>::infinity(),
                         -std::numeric_limits<double>::infinity()})
      kits.push_back({Kit::Kind::Plant, i, value});
  }
  if (isAny)
    for (double level : levels)
      for (double sign : {1, -1})
        kits.push_back({Kit::Kind::Level, 0, sign * level});
  kits.insert(kits.end(), std::max<size_t>(1, kits.size() / normalShare),
              Kit());
  return kits;
}

void addKit(const Kit &kit, const Manifest &signature, const DimValues &dims,
            RandomSequence &random, CaseOptions &options) {
  auto isPresent = [&](const std::string &name) {
    return std::ranges::find(options.problem.omitted, name) ==
           options.problem.omitted.end();
  };
  if (kit.kind == Kit::Kind::Level) {
    // One negative factor makes all logits negative.
    double level = kit.value;
    for (const ManifestTensor &tensor : signature.tensors) {
      if (!isFloatInput(tensor) || !isPresent(tensor.name))
        continue;
      options.problem.fills.push_back(fmt::format("{}={:.4g},{:.4g},{:.4g}",
                                                  tensor.name, level,
                                                  level * 1.02, level * 0.97));
      level = std::fabs(level);
    }
    return;
  }
  if (kit.kind == Kit::Kind::Normal)
    return;
  const ManifestTensor &tensor = signature.tensors[kit.tensor];
  if (!isPresent(tensor.name))
    return;
  if (kit.kind == Kit::Kind::Edges) {
    options.problem.fills.push_back(fmt::format(
        "{}={:g}", tensor.name, fmt::join(edgesOf(tensor.dtype), ",")));
    return;
  }
  Result<std::vector<int64_t>> shape = shapeOf(signature, tensor, dims);
  if (!shape.ok() || shape->empty())
    return;
  auto dim = static_cast<size_t>(
      random.uniform(0, static_cast<int64_t>(shape->size()) - 1));
  int64_t last = (*shape)[dim] - 1;
  if (last < 0)
    return;
  int64_t at = random.uniform(0, 2) == 0 ? last : random.uniform(0, last);
  options.problem.plants.push_back(
      fmt::format("{}={}@{}:{}..{}", tensor.name, kit.value, dim, at, at + 1));
}

std::string makeRangeValues(RangePattern pattern, int64_t lo, int64_t hi,
                            const std::vector<int64_t> &edges,
                            RandomSequence &random) {
  int64_t inside = random.uniform(lo, hi);
  switch (pattern) {
  case RangePattern::Random:
    return "";
  case RangePattern::Lowest:
    return fmt::format("{}", lo);
  case RangePattern::Highest:
    return fmt::format("{}", hi);
  case RangePattern::LowestFirst:
    return fmt::format("{},{},{}", lo, hi, inside);
  case RangePattern::LowestBetween:
    return fmt::format("{},{},{}", hi, lo, inside);
  case RangePattern::LowestLast:
    return fmt::format("{},{},{}", inside, hi, lo);
  case RangePattern::Edges:
    break;
  }
  std::vector<int64_t> values;
  for (int64_t edge : edges)
    if (edge >= lo && edge <= hi)
      values.push_back(edge);
  if (values.empty())
    return "";
  std::vector<int64_t> some;
  for (int i = 0; i < 3; ++i)
    some.push_back(values[static_cast<size_t>(
        random.uniform(0, static_cast<int64_t>(values.size()) - 1))]);
  return fmt::format("{}", fmt::join(some, ","));
}

std::string makeSegments(RangePattern pattern, int64_t count, int64_t lo,
                         int64_t hi, const std::vector<int64_t> &edges,
                         RandomSequence &random) {
  // What is longer than any command line is left to chance.
  constexpr int64_t most = 512;
  if (pattern == RangePattern::Random || count > most)
    return "";
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i) {
    int64_t edge =
        edges[static_cast<size_t>(random.uniform(0, edges.size() - 1))];
    bool isEdge = pattern == RangePattern::Edges && edge >= lo && edge <= hi;
    values.push_back(pattern == RangePattern::Lowest    ? lo
                     : pattern == RangePattern::Highest ? hi
                     : isEdge ? edge
                              : random.uniform(lo, hi));
  }
  std::sort(values.begin(), values.end());
  size_t last = values.size() - 1;
  if (values.size() > 1 && pattern == RangePattern::LowestFirst) {
    values[0] = values[1] = lo;
  } else if (values.size() > 1 && pattern == RangePattern::LowestLast) {
    values[last] = values[last - 1] = hi;
  } else if (values.size() > 3 && pattern == RangePattern::LowestBetween) {
    // The rest lies on both sides of it.
    values[0] = lo;
    values[last] = hi;
    values[2] = values[1];
  }
  return fmt::format("{}", fmt::join(values, ","));
}

std::string makeSelections(SelectionPattern pattern, int64_t count,
                           RandomSequence &random) {
  constexpr int64_t garbage[] = {-1, std::numeric_limits<int32_t>::max(),
                                 std::numeric_limits<int32_t>::min()};
  // Coprime to the lengths of rows that matter.
  constexpr int length = 13;
  auto any = [&] { return random.uniform(0, std::max<int64_t>(1, count) - 1); };
  std::vector<int64_t> values;
  switch (pattern) {
  case SelectionPattern::Random:
    return "";
  case SelectionPattern::Equal:
    return fmt::format("{}", any());
  case SelectionPattern::None:
    values.assign(std::begin(garbage), std::end(garbage));
    // The first that there is not.
    values.push_back(count);
    break;
  case SelectionPattern::Some:
    for (int i = 0; i < length; ++i)
      values.push_back(i % 4 != 2 ? any()
                       : i == 2   ? count
                                  : garbage[random.uniform(0, 2)]);
    break;
  }
  return fmt::format("{}", fmt::join(values, ","));
}

} // namespace selvedge::cli
