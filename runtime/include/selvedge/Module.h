// Code on a GPU: modules and their kernels.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_MODULE_H
#define SELVEDGE_MODULE_H

#include "selvedge/Device.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace selvedge::inline runtime {

struct ModuleState;

/// Blocks and threads of a launch.
struct LaunchShape {
  std::array<uint32_t, 3> grid = {1, 1, 1};
  /// Threads in x.
  uint32_t block = 1;
  /// Whether the kernel may start while the one before it on the stream runs,
  /// where driver and GPU can do that. It has to wait before it touches memory
  /// (`griddepcontrol.wait`), as the one before has to if that started so.
  bool isDependent = false;
};

/// A function of a module, which it keeps loaded.
class Kernel {
public:
  /// Launches on `stream` (a CUstream; null: the default stream). One parameter
  /// per slot, in its low bytes.
  Status launch(const LaunchShape &shape, std::span<uint64_t> params,
                void *stream = nullptr) const;

  /// The same with the address of each parameter's value, of any size.
  Status launch(const LaunchShape &shape, std::span<void *> params,
                void *stream = nullptr) const;

private:
  friend class Module;
  std::shared_ptr<const ModuleState> module;
  void *function = nullptr;
  std::string name;
  uint32_t smemBytes = 0;
};

/// Loaded code, unloaded with the last Module or Kernel that refers to it.
class Module {
public:
  /// Loads a cubin, or PTX that the driver assembles.
  static Result<Module> load(const Device &device, const std::string &image);

  /// Loads PTX. ptxas assembles it for `arch` ("sm_90") if there is one that
  /// can, otherwise the driver; origin() says which.
  static Result<Module> loadPtx(const Device &device, const std::string &ptx,
                                const std::string &arch);

  /// "cubin", "ptx assembled by ptxas" or "ptx assembled by the driver".
  const std::string &origin() const { return path; }

  /// Finds a kernel and grants it `smemBytes` of dynamic shared memory, with
  /// which it will be launched.
  Result<Kernel> kernel(const std::string &name, int64_t smemBytes) const;

private:
  std::shared_ptr<const ModuleState> state;
  std::string path;
};

} // namespace selvedge::inline runtime

#endif // SELVEDGE_MODULE_H
