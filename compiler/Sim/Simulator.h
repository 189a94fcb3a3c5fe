// Device `sim`: executes form `lanes` thread by thread.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SIM_SIMULATOR_H
#define SELVEDGE_COMPILER_SIM_SIMULATOR_H

#include "compiler/Sim/GlobalMemory.h"
#include "compiler/Sim/TensorMap.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace selvedge::sim {

struct Program;

/// A kernel's argument: a value, or a tensor map in the parameter space.
struct Argument {
  uint64_t value = 0;
  std::optional<TensorMap> map = std::nullopt;
};

/// One launch.
struct Launch {
  std::string kernel;
  /// Blocks; kernels number them in x.
  uint32_t blocks = 1;
  uint32_t threads = 0;
  uint32_t sharedBytes = 0;
  /// Whether all blocks are there at the same time.
  bool isPersistent = false;
  /// Whether it may begin while the launch before it runs: then no thread may
  /// use ahead of its wait what an earlier one writes, or write what one uses,
  /// and no block may end without a wait.
  bool isDependent = false;
  std::vector<Argument> arguments;
};

/// In which order things happen where the hardware is free. Seeds 0 to 3 are
/// extremes: work of engines is done at once or as late as may be, warps run in
/// ascending or descending order, each as far as it can, and lanes that part
/// meet again soon or late. Other seeds choose at random.
struct Schedule {
  explicit Schedule(uint64_t seed)
      : seed(seed), isRandom(seed > 3), isLate(seed == 1 || seed == 3),
        isDescending(seed == 1 || seed == 2), parts(seed == 1 || seed == 2) {}

  uint64_t seed;
  bool isRandom, isLate, isDescending, parts;
};

/// A module whose kernels can be launched.
class Simulator {
public:
  /// Translates the kernels of `module`; empty, and `problem` says why, where
  /// one has an operation that is not known.
  static std::unique_ptr<Simulator> load(mlir::ModuleOp module,
                                         std::string &problem);
  /// The same for text; `visit`, if given, sees the module first.
  static std::unique_ptr<Simulator>
  loadText(const std::string &text, std::string &problem,
           const std::function<void(mlir::ModuleOp)> &visit = nullptr);
  ~Simulator();

  /// Executes a launch. What is wrong: memory out of bounds, data that is not
  /// ordered or not defined, a deadlock, ...; empty: nothing.
  std::string run(const Launch &launch, GlobalMemory &memory,
                  const Schedule &schedule) const;

  /// Instructions of warps executed so far.
  uint64_t executed() const { return numExecuted; }
  /// Phases that an mbarrier of a block has had so far, at most.
  int64_t maxPhases() const { return mostPhases; }
  /// Lines of the text whose operations have been executed.
  std::set<uint32_t> reachedLines() const;

private:
  std::map<std::string, std::unique_ptr<Program>> programs;
  mutable uint64_t numExecuted = 0;
  mutable int64_t mostPhases = 0;
};

} // namespace selvedge::sim

#endif // SELVEDGE_COMPILER_SIM_SIMULATOR_H
