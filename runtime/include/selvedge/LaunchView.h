// The arguments of a launch, in memory of the caller.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_LAUNCHVIEW_H
#define SELVEDGE_LAUNCHVIEW_H

#include "selvedge/Plan.h"

#include <array>
#include <memory_resource>
#include <span>
#include <string_view>

namespace selvedge::inline runtime {

/// A TensorView by name whose extents and strides lie elsewhere.
struct TensorRef {
  std::string_view name;
  void *data = nullptr;
  DType dtype = DType::F32;
  std::span<const int64_t> shape;
  std::span<const int64_t> strides;
  /// No strides are given: the last dimension is fastest, without gaps.
  bool contiguous = false;
};

/// A scalar by name.
struct ScalarRef {
  std::string_view name;
  double value = 0;
};

/// A dim by name.
struct DimRef {
  std::string_view name;
  int64_t value = 0;
};

/// LaunchArgs without memory of its own. Where a name occurs twice, the last
/// one counts.
struct LaunchView {
  std::span<const TensorRef> tensors;
  std::span<const ScalarRef> scalars;
  std::span<const DimRef> dims;
  void *workspace = nullptr;
  uint64_t workspaceBytes = 0;
};

/// planLaunch() without arguments of its own; a plan refers to nothing in them.
Result<Plan> planLaunch(const Manifest &manifest, const LaunchView &view,
                        int multiprocessors = nominalMultiprocessors);

/// The same of workspaceSize().
Result<uint64_t> workspaceSize(const Manifest &manifest, const LaunchView &view,
                               int multiprocessors = nominalMultiprocessors);

/// Arguments as a view, as long as they stay where they are. Those of a usual
/// op take no memory from the heap.
class ArgsView {
public:
  explicit ArgsView(const LaunchArgs &args);
  LaunchView get() const {
    return {tensors, scalars, dims, workspace, workspaceBytes};
  }

private:
  std::array<std::byte, 2048> scratch;
  std::pmr::monotonic_buffer_resource memory{scratch.data(), scratch.size()};
  std::pmr::vector<TensorRef> tensors{&memory};
  std::pmr::vector<ScalarRef> scalars{&memory};
  std::pmr::vector<DimRef> dims{&memory};
  void *workspace;
  uint64_t workspaceBytes;
};

/// The same tensor with memory of its own.
TensorView toTensorView(const TensorRef &ref);

} // namespace selvedge::inline runtime

#endif // SELVEDGE_LAUNCHVIEW_H
