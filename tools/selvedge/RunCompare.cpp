// Comparisons and summaries of outputs.
// SPDX-License-Identifier: MIT
#include "selvedge/Numeric.h"
#include "tools/selvedge/RunDevices.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace selvedge::cli {

static Comparison compareElements(const std::string &name,
                                  const HostArray &output,
                                  const ReferenceOutput &reference,
                                  bool mayLoseRows) {
  Comparison found{name, reference.values.size()};
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
      found.maxError = std::max(found.maxError, error);
      if (error > 0)
        found.maxRatio = std::max(found.maxRatio, error / bound);
    } else if (mayLoseRows && std::isnan(got)) {
      fine = true;
      ++found.lost;
    }
    if (fine || found.outside++ > 0)
      continue;
    found.first = i;
    found.got = got;
    found.expected = wanted;
    found.bound = bound;
  }
  return found;
}

std::vector<Comparison> compareOutputs(const Problem &problem,
                                       const Outputs &outputs,
                                       const Reference &reference,
                                       bool mayLoseRows) {
  std::vector<Comparison> found;
  for (const ManifestTensor &tensor : problem.signature.tensors)
    if (auto it = outputs.find(tensor.name); it != outputs.end())
      found.push_back(compareElements(tensor.name, it->second,
                                      reference.outputs.at(tensor.name),
                                      mayLoseRows));
  return found;
}

std::string describe(const Comparison &found) {
  std::string words =
      fmt::format("compare {}: max error {:.3g}, max error/bound {:.3g}, {} of "
                  "{} elements outside",
                  found.output, found.maxError, found.maxRatio, found.outside,
                  found.elements);
  if (found.lost > 0)
    words += fmt::format(", {} NaN behind a mask", found.lost);
  words += '\n';
  if (found.outside > 0)
    words += fmt::format(
        "compare {}: first at flat index {}: got {}, expected {} +- {}\n",
        found.output, found.first, found.got, found.expected, found.bound);
  return words;
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

Statistics statisticsOf(const HostArray &array) {
  Statistics of;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  double sum = 0;
  for (double value : toDoubles(array.dtype, array.data)) {
    of.nan += std::isnan(value);
    of.infinite += std::isinf(value);
    if (!std::isfinite(value))
      continue;
    ++of.finite;
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
  }
  if (of.finite > 0) {
    of.min = low;
    of.max = high;
    of.mean = sum / static_cast<double>(of.finite);
  }
  return of;
}

std::string summarise(const Problem &problem, const Outputs &outputs) {
  std::string summary;
  for (const ManifestTensor &tensor : problem.signature.tensors) {
    auto it = outputs.find(tensor.name);
    if (it == outputs.end())
      continue;
    const HostArray &array = it->second;
    Statistics of = statisticsOf(array);
    summary += fmt::format("{} {}{}: ", tensor.name, nameOf(array.dtype),
                           shapeToString(array.shape));
    if (of.finite > 0)
      summary += fmt::format("min {:.6g}, max {:.6g}, mean {:.6g}, ", of.min,
                             of.max, of.mean);
    summary += fmt::format("{} NaN, {} Inf\n", of.nan, of.infinite);
  }
  return summary;
}

} // namespace selvedge::cli
