// Comparisons and summaries of outputs.
// SPDX-License-Identifier: MIT
#include "selvedge/Numeric.h"
#include "tools/selvedge/RunDevices.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace selvedge::cli {

namespace {

/// What the comparison of one output found.
struct Difference {
  double maxError = 0;
  double maxRatio = 0;
  size_t bad = 0;
  size_t firstBad = 0;
  /// NaN where the reference is finite, if that is allowed.
  size_t lost = 0;
};

Difference compareElements(const HostArray &output,
                           const ReferenceOutput &reference, bool mayLoseRows) {
  Difference difference;
  for (size_t i = 0; i < reference.values.size(); ++i) {
    double got =
        loadElement(output.dtype, output.data.data(), static_cast<int64_t>(i));
    double wanted = reference.values[i];
    double bound = reference.bounds[i];
    // An infinite bound says that any value is possible.
    if (!std::isfinite(bound))
      continue;
    bool fine = false;
    if (!std::isfinite(wanted)) {
      // NaN and infinity are one class.
      fine = !std::isfinite(got);
    } else if (std::isfinite(got)) {
      double error = std::fabs(got - wanted);
      fine = error <= bound;
      difference.maxError = std::max(difference.maxError, error);
      if (error > 0)
        difference.maxRatio = std::max(difference.maxRatio, error / bound);
    } else if (mayLoseRows && std::isnan(got)) {
      fine = true;
      ++difference.lost;
    }
    if (!fine && difference.bad++ == 0)
      difference.firstBad = i;
  }
  return difference;
}

} // namespace

bool compareOutputs(const Problem &problem, const Outputs &outputs,
                    const Reference &reference, bool mayLoseRows,
                    std::string &report) {
  bool allFine = true;
  for (const ManifestTensor &tensor : problem.signature.tensors) {
    auto it = outputs.find(tensor.name);
    if (it == outputs.end())
      continue;
    const ReferenceOutput &expected = reference.outputs.at(tensor.name);
    Difference found = compareElements(it->second, expected, mayLoseRows);
    report += fmt::format("compare {}: max error {:.3g}, max error/bound "
                          "{:.3g}, {} of {} elements outside",
                          tensor.name, found.maxError, found.maxRatio,
                          found.bad, expected.values.size());
    if (found.lost > 0)
      report += fmt::format(", {} NaN behind a mask", found.lost);
    report += '\n';
    if (found.bad == 0)
      continue;
    allFine = false;
    size_t at = found.firstBad;
    report += fmt::format(
        "compare {}: first at flat index {}: got {}, expected {} +- {}\n",
        tensor.name, at,
        loadElement(it->second.dtype, it->second.data.data(),
                    static_cast<int64_t>(at)),
        expected.values[at], expected.bounds[at]);
  }
  return allFine;
}

Status compareBits(const Problem &problem, const Outputs &outputs,
                   const std::string &name, const Outputs &others,
                   const std::string &otherName) {
  for (const ManifestTensor &declared : problem.signature.tensors) {
    const std::string &tensor = declared.name;
    auto it = outputs.find(tensor);
    if (it == outputs.end())
      continue;
    const HostArray &array = it->second;
    const HostArray &other = others.at(tensor);
    auto size = static_cast<size_t>(sizeOf(array.dtype));
    size_t count = array.data.size() / size;
    size_t different = 0;
    size_t first = 0;
    auto isNan = [](const HostArray &side, size_t i) {
      return std::isnan(
          loadElement(side.dtype, side.data.data(), static_cast<int64_t>(i)));
    };
    auto differs = [&](size_t i) {
      if (std::memcmp(array.data.data() + i * size,
                      other.data.data() + i * size, size) == 0)
        return false;
      return !declared.anyOrder || isNan(array, i) != isNan(other, i);
    };
    for (size_t i = 0; i < count; ++i)
      if (differs(i) && different++ == 0)
        first = i;
    if (different == 0)
      continue;
    auto at = static_cast<int64_t>(first);
    return Status::failed(fmt::format(
        "tensor '{}' differs in {} of {} elements, first at {}: {} in {}, {} "
        "in {}",
        tensor, different, count, indexToString(array.shape, at),
        loadElement(array.dtype, array.data.data(), at), name,
        loadElement(other.dtype, other.data.data(), at), otherName));
  }
  return Status();
}

std::string summarise(const Problem &problem, const Outputs &outputs) {
  std::string summary;
  for (const ManifestTensor &tensor : problem.signature.tensors) {
    auto it = outputs.find(tensor.name);
    if (it == outputs.end())
      continue;
    const HostArray &array = it->second;
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    double sum = 0;
    size_t finite = 0, nan = 0, infinite = 0;
    for (double value : toDoubles(array.dtype, array.data)) {
      nan += std::isnan(value);
      infinite += std::isinf(value);
      if (!std::isfinite(value))
        continue;
      ++finite;
      low = std::min(low, value);
      high = std::max(high, value);
      sum += value;
    }
    summary += fmt::format("{} {}{}: ", tensor.name, nameOf(array.dtype),
                           shapeToString(array.shape));
    if (finite > 0)
      summary += fmt::format("min {:.6g}, max {:.6g}, mean {:.6g}, ", low, high,
                             sum / static_cast<double>(finite));
    summary += fmt::format("{} NaN, {} Inf\n", nan, infinite);
  }
  return summary;
}

} // namespace selvedge::cli
