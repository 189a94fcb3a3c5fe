// Sizes that each launch chooses.
// SPDX-License-Identifier: MIT
#include "selvedge/Plan.h"

#include <algorithm>
#include <fmt/format.h>

namespace selvedge::inline runtime {

namespace {

/// Fewest elements of a part, where a range has so many.
constexpr int64_t leastPart = 256;

/// Thread blocks of a launch; none where dims are too large for one.
int64_t countBlocks(const Manifest &manifest, const ManifestLaunch &launch,
                    const DimValues &dims) {
  int64_t blocks = 1;
  for (const DimExpr &expr : launch.grid) {
    Result<int64_t> extent = expr.evaluate(dims, manifest.dims);
    if (!extent.ok() || __builtin_mul_overflow(blocks, *extent, &blocks))
      return 0;
  }
  return blocks;
}

/// The most thread blocks of a kernel that a dim multiplies, per unit of it.
int64_t blocksPerUnit(const Manifest &manifest, DimValues dims, size_t dim) {
  int64_t most = 1;
  if (manifest.variants.empty())
    return most;
  // Any variant will do: they differ by the sizes of blocks.
  for (const ManifestLaunch &launch : manifest.variants.back().launches) {
    dims[dim] = 1;
    int64_t one = countBlocks(manifest, launch, dims);
    dims[dim] = 2;
    int64_t two = countBlocks(manifest, launch, dims);
    most = std::max(most, two - one);
  }
  return most;
}

/// Most parts that are worth their combination.
int64_t mostParts(const Manifest &manifest, const ManifestLaunchSize &size,
                  const DimValues &dims) {
  int64_t most = size.parts.empty() ? size.hi : 1;
  for (const DimExpr &expr : size.parts)
    if (Result<int64_t> elements = expr.evaluate(dims, manifest.dims);
        elements.ok())
      most = std::max(most, *elements / leastPart);
  return most;
}

} // namespace

Status chooseLaunchSizes(const Manifest &manifest, DimValues &dims,
                         int multiprocessors) {
  for (const ManifestLaunchSize &size : manifest.launchSizes) {
    std::optional<int64_t> &value = dims[size.dim];
    if (!value)
      value = std::clamp(
          std::min(multiprocessors / blocksPerUnit(manifest, dims, size.dim),
                   mostParts(manifest, size, dims)),
          size.lo, size.hi);
    else if (*value < size.lo || *value > size.hi)
      return Status::badInput(
          fmt::format("dimension '{}' is {}, outside {}..{}",
                      manifest.dims[size.dim], *value, size.lo, size.hi));
  }
  return Status();
}

} // namespace selvedge::inline runtime
