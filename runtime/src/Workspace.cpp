// Where the temps of an op lie in its workspace.
// SPDX-License-Identifier: MIT
#include "selvedge/Plan.h"

namespace selvedge::inline runtime {

Result<std::vector<uint64_t>> workspaceLayout(const Manifest &manifest,
                                              const DimValues &dims) {
  std::vector<uint64_t> offsets;
  offsets.reserve(manifest.tensors.size() + 1);
  uint64_t total = 0;
  for (const ManifestTensor &tensor : manifest.tensors) {
    offsets.push_back(total);
    if (tensor.role != Role::Temp)
      continue;
    Result<int64_t> bytes = byteCount(manifest, tensor, dims);
    if (!bytes.ok())
      return bytes.status();
    uint64_t rounded = (static_cast<uint64_t>(*bytes) + workspaceAlign - 1) /
                       workspaceAlign * workspaceAlign;
    if (__builtin_add_overflow(total, rounded, &total))
      return Status::badInput("the workspace is too large");
  }
  offsets.push_back(total);
  return offsets;
}

Result<uint64_t> workspaceSize(const Manifest &manifest,
                               const DimValues &dims) {
  Result<std::vector<uint64_t>> layout = workspaceLayout(manifest, dims);
  if (!layout.ok())
    return layout.status();
  return layout->back();
}

} // namespace selvedge::inline runtime
