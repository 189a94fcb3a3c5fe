// The plan interpreter without a GPU: shapes to dims, variant and parameters.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_PLAN_H
#define SELVEDGE_PLAN_H

#include "selvedge/Manifest.h"

#include <array>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace selvedge::inline runtime {

/// Alignment in bytes of the workspace and of every temp in it.
inline constexpr uint64_t workspaceAlign = 256;

/// What the caller of a launch brings.
struct LaunchArgs {
  /// Inputs, outputs and inouts by name, in device memory. Optional ones may be
  /// missing. Temps are not given: they live in the workspace.
  std::map<std::string, TensorView> tensors;
  /// Scalars by name; missing ones take their default.
  std::map<std::string, double> scalars;
  /// Dims that no shape determines; others are compared with the shapes.
  std::map<std::string, int64_t> dims;
  /// Device memory for the temps, aligned to 256 bytes; may be null when
  /// workspaceSize() is 0.
  void *workspace = nullptr;
  /// Bytes at `workspace`.
  uint64_t workspaceBytes = 0;
};

/// A shape in the caller's memory, and who says so, for bindDims().
struct NamedShape {
  /// Position in Manifest::tensors.
  size_t tensor = 0;
  std::span<const int64_t> shape;
};

/// Computes the value of every dim from shapes and from values fixed
/// beforehand. Extents that are plain names are taken first, products and sums
/// are solved for what remains. A conflict names tensor, dimension and both
/// values. Dims that nothing determines stay unknown. Those of sums are 1 where
/// the input's extent is, else whole, unless something says otherwise.
Result<DimValues> bindDims(const Manifest &manifest,
                           const std::vector<NamedShape> &shapes,
                           const std::map<std::string, int64_t> &fixed);

/// Multiprocessors of the GPU that a launch without one is planned for (A100).
inline constexpr int nominalMultiprocessors = 108;

/// Sets each unknown dim that launches choose, so that the thread blocks of
/// the kernels that it multiplies fill the multiprocessors: with one each where
/// they share their work, and then at least four parts of 2048 elements each,
/// since lengths differ, as long as their temps are a hundredth of the other
/// tensors; else with two, where parts have 512 elements. No part of a range
/// that it splits has fewer than 256. Others have to be known. An error where a
/// given one is outside of its range.
Status chooseLaunchSizes(const Manifest &manifest, DimValues &dims,
                         int multiprocessors = nominalMultiprocessors);

/// An error that names the first unknown dim, if there is one.
Status requireAllDims(const Manifest &manifest, const DimValues &dims);

/// Leaves the variants that a GPU can launch whose thread blocks have so many
/// bytes of shared memory, and none behind one that takes all arguments. The
/// positions that they had; Unavailable, with what is needed, where none takes
/// all arguments.
Result<std::vector<size_t>> fitToDevice(Manifest &manifest,
                                        int64_t sharedMemoryPerBlock,
                                        std::string_view device);

/// The shape of a tensor for known dims.
Result<std::vector<int64_t>> shapeOf(const Manifest &manifest,
                                     const ManifestTensor &tensor,
                                     const DimValues &dims);

/// Replaces extents of 1 that stand for any (ManifestTensor::broadcasts) by
/// those of `whole`, and their strides by 0.
void broadcast(const ManifestTensor &tensor, std::span<const int64_t> whole,
               std::span<int64_t> shape, std::span<int64_t> strides);

/// Bytes of the elements of a tensor.
Result<int64_t> byteCount(const Manifest &manifest,
                          const ManifestTensor &tensor, const DimValues &dims);

/// A descriptor for bulk copies of a tensor, of which only the driver knows the
/// encoding.
struct PlannedMap {
  size_t param = 0;
  TensorView tensor;
  /// As in ManifestArg, for the dims at hand.
  std::vector<int64_t> box;
  bool isSwizzled = true;
};

/// One kernel launch, ready for the driver.
struct PlannedLaunch {
  const ManifestLaunch *launch = nullptr;
  /// Position of the variant that it is of.
  size_t variant = 0;
  /// May begin while the launch before it in the plan runs.
  bool isDependent = false;
  std::array<uint32_t, 3> grid = {1, 1, 1};
  /// One parameter per slot, in its low bytes; the place of a tensor map holds
  /// its position in `maps`, that of a counter nothing yet.
  std::vector<uint64_t> params;
  /// Tensor maps still to be encoded, by parameter.
  std::vector<PlannedMap> maps;
};

/// Everything a launch will do.
struct Plan {
  DimValues dims;
  /// Bytes that the temps need.
  uint64_t workspaceBytes = 0;
  /// Position of the chosen variant.
  size_t variant = 0;
  /// Whether some launches are those of the last variant instead.
  bool isMixed = false;
  /// In order, without launches over an empty grid.
  std::vector<PlannedLaunch> launches;
};

/// Checks the arguments and selects a variant; `manifest` must outlive the
/// result. For a GPU at hand the manifest has gone through fitToDevice().
Result<Plan> planLaunch(const Manifest &manifest, const LaunchArgs &args,
                        int multiprocessors = nominalMultiprocessors);

/// The chosen variant in words: "aligned", "aligned and universal".
std::string variantName(const Manifest &manifest, const Plan &plan);

/// Bytes of workspace that planLaunch() will ask for. Needs shapes only.
Result<uint64_t> workspaceSize(const Manifest &manifest, const LaunchArgs &args,
                               int multiprocessors = nominalMultiprocessors);

/// Bytes of workspace for known dims.
Result<uint64_t> workspaceSize(const Manifest &manifest, const DimValues &dims);

/// Bytes to which the rows of a temp are aligned: an odd last extent does not
/// keep kernels from reading several elements at a time.
inline constexpr int64_t tempRowAlign = 16;

/// Strides of a temp in the workspace: the last dimension is fastest, and rows
/// begin at multiples of tempRowAlign where there are several dimensions.
std::vector<int64_t> tempStrides(DType dtype, std::span<const int64_t> shape);

/// Byte offset of every temp in the workspace, by position of the tensor; the
/// last element is the total.
Result<std::vector<uint64_t>> workspaceLayout(const Manifest &manifest,
                                              const DimValues &dims);

} // namespace selvedge::inline runtime

#endif // SELVEDGE_PLAN_H
