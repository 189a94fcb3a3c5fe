// Sizes that each launch chooses.
// SPDX-License-Identifier: MIT
#include "selvedge/Plan.h"

#include <algorithm>
#include <fmt/format.h>

namespace selvedge::inline runtime {

namespace {

/// Fewest elements of a part, where a range has so many. Where half of the
/// multiprocessors have work it is half of that: one kernel's end, and the
/// beginning of the next, take as long as a few hundred elements then.
constexpr int64_t leastPart = 256, leastPartOfFew = 128, busyShare = 2;

/// To join a part takes as long as some dozens of elements: parts beyond so
/// many have at least so many elements. Thread blocks that do not share their
/// work need longer for an element.
constexpr int64_t manyParts = 16, manyPartsUnshared = 32,
                  leastPartOfMany = 1024;

/// Of a kernel whose thread blocks do not share their work a multiprocessor is
/// given two: while one waits for memory, another one computes. One alone is up
/// to 1.6 times slower, but parts of fewer elements take longer to combine
/// (docs/dev/experiments.md, "Parts of keys").
constexpr int64_t blocksPerMultiprocessor = 2;
constexpr int64_t leastPartOfSeveral = 512;

/// Thread blocks that share their work take parts one after another: that many
/// parts of so many elements make up for ranges that differ in length.
constexpr int64_t balancedParts = 4;
constexpr int64_t balancedPart = 2048;

/// Temps of all parts are written and read once. Parts that only balance add at
/// most this share to what the launch moves otherwise.
constexpr int64_t trafficShare = 50;

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

/// The thread blocks of a kernel per unit of a dim, the most of any kernel, and
/// whether they share their work.
struct UnitBlocks {
  int64_t count = 1;
  bool isShared = false;
};

UnitBlocks blocksPerUnit(const Manifest &manifest, DimValues dims, size_t dim) {
  UnitBlocks blocks;
  // Variants differ by the sizes of blocks. The first one is what arguments
  // take that are aligned, but for one that is for a single part.
  bool isFound = false;
  for (const ManifestVariant &variant : manifest.variants) {
    for (const ManifestLaunch &launch : variant.launches) {
      dims[dim] = 1;
      int64_t one = countBlocks(manifest, launch, dims);
      dims[dim] = 2;
      int64_t more = countBlocks(manifest, launch, dims) - one;
      blocks.count = std::max(blocks.count, more);
      blocks.isShared |= more > 0 && launch.persistent;
      isFound |= more > 0;
    }
    if (isFound)
      break;
  }
  return blocks;
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

/// Bytes of the tensors that are temps, or of those that are none.
double bytesOf(const Manifest &manifest, const DimValues &dims, bool areTemps) {
  double bytes = 0;
  for (const ManifestTensor &tensor : manifest.tensors) {
    if ((tensor.role == Role::Temp) != areTemps)
      continue;
    double all = static_cast<double>(sizeOf(tensor.dtype));
    for (const DimExpr &expr : tensor.shape) {
      Result<int64_t> extent = expr.evaluate(dims, manifest.dims);
      all *= extent.ok() ? static_cast<double>(*extent) : 0;
    }
    bytes += all;
  }
  return bytes;
}

/// How many parts move little beside what is moved anyway.
double partsByTraffic(const Manifest &manifest, DimValues dims, size_t dim) {
  dims[dim] = 1;
  double one = bytesOf(manifest, dims, /*areTemps=*/true),
         others = bytesOf(manifest, dims, /*areTemps=*/false);
  dims[dim] = 2;
  double each = bytesOf(manifest, dims, /*areTemps=*/true) - one;
  return each > 0 ? others / (2 * each * trafficShare) : balancedParts;
}

int64_t chosenSize(const Manifest &manifest, const ManifestLaunchSize &size,
                   const DimValues &dims, int multiprocessors) {
  auto [blocks, isShared] = blocksPerUnit(manifest, dims, size.dim);
  int64_t parts = multiprocessors / blocks;
  if (std::optional<int64_t> elements = elementsOf(manifest, size, dims)) {
    int64_t balanced = static_cast<int64_t>(
        std::min<double>(std::min(balancedParts, *elements / balancedPart),
                         partsByTraffic(manifest, dims, size.dim)));
    int64_t others =
        isShared ? balanced
                 : std::min(blocksPerMultiprocessor * multiprocessors / blocks,
                            *elements / leastPartOfSeveral);
    int64_t many = isShared ? manyParts : manyPartsUnshared;
    int64_t most = std::max(std::min(*elements / leastPart, many),
                            *elements / leastPartOfMany);
    parts = std::max({std::min(parts, most), others,
                      std::min(multiprocessors / busyShare / blocks,
                               *elements / leastPartOfFew)});
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
