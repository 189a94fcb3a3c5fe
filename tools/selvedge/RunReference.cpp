// Device `ref`.
// SPDX-License-Identifier: MIT
#include "selvedge/Numeric.h"
#include "tools/selvedge/RunDevices.h"

#include <cstdio>
#include <fmt/format.h>

namespace selvedge::cli {

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

Result<Reference> runOnReference(const Problem &problem) {
  std::vector<HostTensor> outputs;
  std::string diagnostics;
  Reference result;
  ReferenceOptions options;
  options.reads = &result.reads;
  bool done =
      runReference(problem.request, problem.namedDims(), problem.scalars,
                   referenceInputs(problem), outputs, diagnostics, options);
  std::fwrite(diagnostics.data(), 1, diagnostics.size(), stderr);
  if (!done)
    return Status::failed("device 'ref' failed");
  for (HostTensor &output : outputs) {
    output.bounds.resize(output.values.size());
    result.outputs[output.name] = {std::move(output.values),
                                   std::move(output.bounds)};
  }
  for (const ManifestTensor &tensor : problem.signature.tensors) {
    if (tensor.role != Role::Out && tensor.role != Role::InOut)
      continue;
    Result<HostArray> array = makeArray(problem, tensor);
    if (!array.ok())
      return array.status();
    size_t count =
        array->data.size() / static_cast<size_t>(sizeOf(tensor.dtype));
    auto it = result.outputs.find(tensor.name);
    if (it == result.outputs.end() || it->second.values.size() != count)
      return Status::failed(
          fmt::format("device 'ref' returned no output '{}' of {} elements",
                      tensor.name, count));
  }
  return result;
}

Result<Outputs> roundOutputs(const Problem &problem,
                             const Reference &reference) {
  Outputs outputs;
  for (const ManifestTensor &tensor : problem.signature.tensors) {
    auto it = reference.outputs.find(tensor.name);
    if (it == reference.outputs.end())
      continue;
    Result<HostArray> array = makeArray(problem, tensor);
    if (!array.ok())
      return array.status();
    array->data = fromDoubles(tensor.dtype, it->second.values);
    outputs[tensor.name] = std::move(*array);
  }
  return outputs;
}

} // namespace selvedge::cli
