// Device `ref`, and comparisons with it.
// SPDX-License-Identifier: MIT
#include "selvedge/Numeric.h"
#include "tools/selvedge/RunDevices.h"

#include <cmath>
#include <cstdio>
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
};

Difference compareElements(const HostArray &output,
                           const ReferenceOutput &reference) {
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
    }
    if (!fine && difference.bad++ == 0)
      difference.firstBad = i;
  }
  return difference;
}

} // namespace

std::vector<HostTensor> referenceInputs(const Problem &problem) {
  std::vector<HostTensor> inputs;
  for (const auto &[name, array] : problem.inputs) {
    HostTensor &tensor = inputs.emplace_back();
    tensor.name = name;
    tensor.dtype = nameOf(array.dtype);
    tensor.shape = array.shape;
    tensor.values = toDoubles(array.dtype, array.data);
    tensor.bounds.assign(tensor.values.size(), 0);
  }
  return inputs;
}

Result<std::map<std::string, ReferenceOutput>>
runOnReference(const Problem &problem, Footprint &loaded) {
  std::vector<HostTensor> outputs;
  std::string diagnostics;
  ReferenceOptions options;
  options.loaded = &loaded;
  bool done =
      runReference(problem.request, problem.namedDims(), problem.scalars,
                   referenceInputs(problem), outputs, diagnostics, options);
  std::fputs(diagnostics.c_str(), stderr);
  if (!done)
    return Status::failed("device 'ref' failed");
  std::map<std::string, ReferenceOutput> result;
  for (HostTensor &output : outputs) {
    output.bounds.resize(output.values.size());
    result[output.name] = {std::move(output.values), std::move(output.bounds)};
  }
  for (const ManifestTensor &tensor : problem.signature.tensors) {
    if (tensor.role != Role::Out && tensor.role != Role::InOut)
      continue;
    Result<HostArray> array = makeArray(problem, tensor);
    if (!array.ok())
      return array.status();
    size_t count =
        array->data.size() / static_cast<size_t>(sizeOf(tensor.dtype));
    auto it = result.find(tensor.name);
    if (it == result.end() || it->second.values.size() != count)
      return Status::failed(
          fmt::format("device 'ref' returned no output '{}' of {} elements",
                      tensor.name, count));
  }
  return result;
}

Result<Outputs>
roundOutputs(const Problem &problem,
             const std::map<std::string, ReferenceOutput> &reference) {
  Outputs outputs;
  for (const ManifestTensor &tensor : problem.signature.tensors) {
    auto it = reference.find(tensor.name);
    if (it == reference.end())
      continue;
    Result<HostArray> array = makeArray(problem, tensor);
    if (!array.ok())
      return array.status();
    array->data = fromDoubles(tensor.dtype, it->second.values);
    outputs[tensor.name] = std::move(*array);
  }
  return outputs;
}

bool compareOutputs(const Problem &problem, const Outputs &outputs,
                    const std::map<std::string, ReferenceOutput> &reference) {
  bool allFine = true;
  for (const ManifestTensor &tensor : problem.signature.tensors) {
    auto it = outputs.find(tensor.name);
    if (it == outputs.end())
      continue;
    const ReferenceOutput &expected = reference.at(tensor.name);
    Difference found = compareElements(it->second, expected);
    fmt::print("compare {}: max error {:.3g}, max error/bound {:.3g}, {} of {} "
               "elements outside\n",
               tensor.name, found.maxError, found.maxRatio, found.bad,
               expected.values.size());
    if (found.bad == 0)
      continue;
    allFine = false;
    size_t at = found.firstBad;
    fmt::print("compare {}: first at flat index {}: got {}, expected {} +- "
               "{}\n",
               tensor.name, at,
               loadElement(it->second.dtype, it->second.data.data(),
                           static_cast<int64_t>(at)),
               expected.values[at], expected.bounds[at]);
  }
  return allFine;
}

void summarise(const Problem &problem, const Outputs &outputs) {
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
    fmt::print("{} {}{}: ", tensor.name, nameOf(array.dtype),
               shapeToString(array.shape));
    if (finite > 0)
      fmt::print("min {:.6g}, max {:.6g}, mean {:.6g}, ", low, high,
                 sum / static_cast<double>(finite));
    fmt::print("{} NaN, {} Inf\n", nan, infinite);
  }
}

} // namespace selvedge::cli
