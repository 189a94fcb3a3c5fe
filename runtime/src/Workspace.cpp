// Where the temps of an op lie in its workspace.
// SPDX-License-Identifier: MIT
#include "selvedge/Plan.h"

#include <algorithm>
#include <fmt/format.h>

namespace selvedge::inline runtime {

std::vector<int64_t> tempStrides(DType dtype, std::span<const int64_t> shape) {
  std::vector<int64_t> rows(shape.begin(), shape.end());
  if (rows.size() > 1) {
    auto unit = static_cast<uint64_t>(tempRowAlign / sizeOf(dtype));
    // Unsigned: a row may be too long to exist where there are no rows.
    uint64_t extent = static_cast<uint64_t>(std::max<int64_t>(rows.back(), 1));
    rows.back() = static_cast<int64_t>((extent + unit - 1) / unit * unit);
  }
  return contiguousStrides(rows);
}

/// Bytes of a temp's rows with what lies between them.
static Result<int64_t> tempBytes(const Manifest &manifest,
                                 const ManifestTensor &tensor,
                                 const DimValues &dims) {
  Result<std::vector<int64_t>> shape = shapeOf(manifest, tensor, dims);
  if (!shape.ok())
    return shape.status();
  Result<int64_t> dense = byteCount(manifest, tensor, dims);
  if (!dense.ok() || *dense == 0 || shape->size() < 2)
    return dense;
  shape->back() = tempStrides(tensor.dtype, *shape)[shape->size() - 2];
  Result<int64_t> bytes = byteCount(tensor.dtype, *shape);
  if (!bytes.ok())
    return Status::badInput(
        fmt::format("tensor '{}': {}", tensor.name, bytes.status().message()));
  return bytes;
}

Result<std::vector<uint64_t>> workspaceLayout(const Manifest &manifest,
                                              const DimValues &dims) {
  std::vector<uint64_t> offsets;
  offsets.reserve(manifest.tensors.size() + 1);
  uint64_t total = 0;
  for (const ManifestTensor &tensor : manifest.tensors) {
    offsets.push_back(total);
    if (tensor.role != Role::Temp)
      continue;
    Result<int64_t> bytes = tempBytes(manifest, tensor, dims);
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
