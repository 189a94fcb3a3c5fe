// Sizes that each launch chooses.
// SPDX-License-Identifier: MIT
#include "selvedge/Plan.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace selvedge::inline runtime {

namespace {

/// Fewest elements of a part, where a range has so many.
constexpr int64_t leastPart = 256;

/// Thread blocks that a multiprocessor is given of a kernel that does not share
/// its work by itself: while one waits for memory, another one computes. One
/// alone is up to 1.6 times slower (docs/dev/experiments.md, "Parts of
/// keys").
constexpr int64_t blocksPerMultiprocessor = 2;

/// Thread blocks that share their work take parts one after another: that many
/// parts of so many elements make up for ranges that differ in length.
constexpr int64_t balancedParts = 4;
constexpr int64_t balancedPart = 2048;

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

/// Sizes of a dim that fill the GPU with thread blocks, and that even out how
/// long they take.
struct WantedParts {
  int64_t fill = std::numeric_limits<int64_t>::max();
  bool isBalanced = false;
};

WantedParts wantedParts(const Manifest &manifest, DimValues dims, size_t dim,
                        int64_t multiprocessors) {
  WantedParts wanted;
  if (manifest.variants.empty()) {
    wanted.fill = multiprocessors;
    return wanted;
  }
  // Variants differ by the sizes of blocks. The first one is what arguments
  // take that are aligned.
  for (const ManifestLaunch &launch : manifest.variants.front().launches) {
    dims[dim] = 1;
    int64_t one = countBlocks(manifest, launch, dims);
    dims[dim] = 2;
    int64_t perUnit = countBlocks(manifest, launch, dims) - one;
    if (perUnit <= 0)
      continue;
    int64_t blocks = launch.persistent
                         ? multiprocessors
                         : multiprocessors * blocksPerMultiprocessor;
    wanted.fill = std::min(wanted.fill, blocks / perUnit);
    wanted.isBalanced |= launch.persistent;
  }
  return wanted;
}

/// Most elements of the ranges that are split; none where nothing is.
std::optional<int64_t> elementsOf(const Manifest &manifest,
                                  const ManifestLaunchSize &size,
                                  const DimValues &dims) {
  std::optional<int64_t> most;
  for (const DimExpr &expr : size.parts)
    if (Result<int64_t> elements = expr.evaluate(dims, manifest.dims);
        elements.ok())
      most = std::max(most.value_or(0), *elements);
  return most;
}

int64_t chosenSize(const Manifest &manifest, const ManifestLaunchSize &size,
                   const DimValues &dims, int multiprocessors) {
  WantedParts wanted = wantedParts(manifest, dims, size.dim, multiprocessors);
  int64_t parts = wanted.fill;
  if (std::optional<int64_t> elements = elementsOf(manifest, size, dims)) {
    parts = std::min(parts, *elements / leastPart);
    if (wanted.isBalanced)
      parts =
          std::max(parts, std::min(*elements / balancedPart, balancedParts));
  }
  return std::clamp(parts, size.lo, size.hi);
}

} // namespace

Status chooseLaunchSizes(const Manifest &manifest, DimValues &dims,
                         int multiprocessors) {
  for (const ManifestLaunchSize &size : manifest.launchSizes) {
    std::optional<int64_t> &value = dims[size.dim];
    if (!value)
      value = chosenSize(manifest, size, dims, multiprocessors);
    else if (*value < size.lo || *value > size.hi)
      return Status::badInput(
          fmt::format("dimension '{}' is {}, outside {}..{}",
                      manifest.dims[size.dim], *value, size.lo, size.hi));
  }
  return Status();
}

} // namespace selvedge::inline runtime
