// Fuzzes manifests, and plans of those that are accepted.
// SPDX-License-Identifier: MIT
#include "selvedge/Plan.h"

#include <cstdint>

using namespace selvedge;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  (void)parseManifest(text, ManifestKind::Signature);
  Result<Manifest> manifest = parseManifest(text);
  if (!manifest.ok())
    return 0;
  // Sizes that depend on the input, and fit or do not.
  LaunchArgs args;
  size_t next = 0;
  auto extent = [&] {
    static constexpr int64_t sizes[] = {0, 1, 2, 7, 64, 100, 1 << 20, -1};
    return sizes[data[next++ % size] % std::size(sizes)];
  };
  for (const std::string &dim : manifest->dims)
    args.dims[dim] = extent();
  for (const ManifestTensor &tensor : manifest->tensors) {
    std::vector<int64_t> shape;
    DimValues dims;
    for (const std::string &dim : manifest->dims)
      dims.emplace_back(args.dims[dim]);
    for (const DimExpr &expr : tensor.shape) {
      Result<int64_t> value = expr.evaluate(dims, manifest->dims);
      shape.push_back(value.ok() ? *value : extent());
    }
    if (tensor.role != Role::Temp)
      args.tensors[tensor.name] = contiguousView(
          reinterpret_cast<void *>(4096), tensor.dtype, std::move(shape));
  }
  for (const ManifestScalar &scalar : manifest->scalars)
    args.scalars[scalar.name] = 1;
  Result<uint64_t> bytes = workspaceSize(*manifest, args);
  args.workspace = reinterpret_cast<void *>(workspaceAlign);
  args.workspaceBytes = bytes.ok() ? *bytes : 0;
  Result<Plan> plan = planLaunch(*manifest, args);
  return plan.ok() && plan->variant >= manifest->variants.size() ? -1 : 0;
}
