// Device `ref` on a lowered form of the program.
// SPDX-License-Identifier: MIT
#include "compiler/Physical/Physical.h"
#include "selvedge/Numeric.h"
#include "tools/selvedge/RunDevices.h"
#include "tools/selvedge/Support.h"

#include <cstdio>
#include <fmt/format.h>

namespace selvedge::cli {

namespace {

physical::Poison kindOf(Poison poison) {
  // Bytes of 0xFF are a NaN in every float type.
  llvm::StringRef name =
      poisonName(poison == Poison::Ones ? Poison::Nan : poison);
  for (physical::Poison kind : physical::poisonKinds)
    if (physical::nameOf(kind) == name)
      return kind;
  return physical::Poison::None;
}

} // namespace

Result<std::string> lowerTo(const PhysicalOptions &options,
                            CompileRequest request) {
  if (!options.text.empty())
    return readNamedFile(options.text);
  // Block sizes depend on the target; `ref` itself needs none.
  if (request.arch.empty())
    request.arch = "sm_80";
  Emit stage = options.form == "tile"     ? Emit::TileBound
               : options.form == "sm:seq" ? Emit::SmSeq
                                          : Emit::SmFinal;
  std::string text;
  CompileResult compiled =
      emitText(forOneDevice(std::move(request)), stage, text);
  if (Status s = statusOf(compiled); !s.ok())
    return s;
  return text;
}

Result<Outputs> runPhysical(const Problem &problem,
                            const PhysicalOptions &options,
                            const std::string &text, Poison poison,
                            const Reference &reference) {
  physical::Options physicalOptions;
  physicalOptions.poison = kindOf(poison);
  physicalOptions.variant = options.variant;
  physicalOptions.inside = &reference.reads;
  std::vector<HostTensor> results;
  std::string diagnostics;
  bool done = physical::runText(text, problem.namedDims(), problem.scalars,
                                referenceInputs(problem), results, diagnostics,
                                physicalOptions);
  if (!done)
    return Status::failed(fmt::format("form '{}' failed on device 'ref': {}",
                                      options.form, diagnostics));
  std::fwrite(diagnostics.data(), 1, diagnostics.size(), stderr);
  Outputs outputs;
  for (const ManifestTensor &tensor : problem.signature.tensors)
    for (const HostTensor &result : results) {
      if (result.name != tensor.name)
        continue;
      Result<HostArray> array = makeArray(problem, tensor);
      if (!array.ok())
        return array.status();
      array->data = fromDoubles(tensor.dtype, result.values);
      outputs[tensor.name] = std::move(*array);
    }
  return outputs;
}

} // namespace selvedge::cli
