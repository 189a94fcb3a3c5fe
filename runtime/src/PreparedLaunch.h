// A plan in the form in which it is launched again and again.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_PREPAREDLAUNCH_H
#define SELVEDGE_RUNTIME_SRC_PREPAREDLAUNCH_H

#include "runtime/src/LaunchCounters.h"
#include "runtime/src/Signature.h"
#include "runtime/src/TensorMap.h"
#include "selvedge/Module.h"

#include <memory>

namespace selvedge::inline runtime {

/// The kernels of a program by variant and launch; of a variant without code
/// none.
using KernelsByVariant = std::vector<std::optional<std::vector<Kernel>>>;

/// A plan whose parameters are packed but for what may differ between launches
/// of equal signature. Thread safe.
class PreparedLaunch {
public:
  /// `plan` is planLaunch() of `manifest` and `view`; `kernels`, by variant,
  /// are those of the variants that it launches, and outlive this object like
  /// `manifest`.
  PreparedLaunch(const Manifest &manifest, const LaunchView &view, Plan plan,
                 const KernelsByVariant &kernels, int multiprocessors);

  /// Whether planLaunch() would accept these arguments and do the same.
  bool accepts(const LaunchView &view) const;

  /// Launches with arguments that are accepted, in the current context;
  /// `pool` is null only where no parameter is a counter.
  Status launch(const CudaDriver &driver, LaunchCounters *pool,
                const LaunchView &view, void *stream) const;

private:
  /// Where an address comes from.
  struct Place {
    /// Nowhere: an absent tensor. Argument: the caller's tensor at `value`.
    /// Workspace: `value` bytes into it.
    enum class Kind { Nowhere, Argument, Workspace };
    Kind kind = Kind::Nowhere;
    size_t value = 0;

    void *in(const LaunchView &view) const;
  };
  struct PointerParam {
    size_t param;
    Place place;
  };
  struct ScalarParam {
    size_t param;
    size_t argument;
    DType dtype;
  };
  struct CheckedScalar {
    size_t argument;
    DType dtype;
  };
  struct MapParam {
    size_t param;
    Place place;
    std::unique_ptr<TensorMapCache> cache;
  };
  /// Its parameters follow those of the kernel before.
  struct Step {
    const Kernel *kernel;
    LaunchShape shape;
    size_t paramCount;
  };

  static Place placeOf(const ManifestTensor &tensor, const LaunchView &view,
                       uint64_t packed);
  void addParam(const Manifest &manifest, const LaunchView &view,
                const ManifestArg &arg, uint64_t packed);

  Signature signature;
  uint64_t workspaceBytes = 0;
  std::vector<Step> steps;
  /// Parameters of all kernels, one per slot.
  std::vector<uint64_t> params;
  std::vector<PointerParam> pointers;
  std::vector<ScalarParam> scalars;
  /// Arguments whose values have a type to fit, parameters or not.
  std::vector<CheckedScalar> checked;
  std::vector<MapParam> maps;
  std::vector<size_t> counters;
};

/// The launches of an op that were last prepared. Thread safe.
class LaunchCache {
public:
  /// The launch that accepts the arguments; null where none does.
  std::shared_ptr<const PreparedLaunch> find(const LaunchView &view);
  /// Adds a launch in place of the one that was not used for longest.
  void insert(std::shared_ptr<const PreparedLaunch> launch);

private:
  static constexpr size_t capacity = 32;

  std::mutex mutex;
  /// The most recently used first.
  std::vector<std::shared_ptr<const PreparedLaunch>> launches;
};

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_PREPAREDLAUNCH_H
