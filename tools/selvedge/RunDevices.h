// Executing a problem on a device.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_RUNDEVICES_H
#define SELVEDGE_TOOLS_SELVEDGE_RUNDEVICES_H

#include "compiler/Reference/Reference.h"
#include "selvedge/Op.h"
#include "tools/selvedge/Layout.h"
#include "tools/selvedge/RunProblem.h"
#include "tools/selvedge/Scrub.h"

#include <memory>
#include <optional>

namespace selvedge::cli {

/// Outputs and inouts by name.
using Outputs = std::map<std::string, HostArray>;

/// Outputs of `ref` with the error bound of every element.
struct ReferenceOutput {
  std::vector<double> values;
  std::vector<double> bounds;
};

/// What `ref` found.
struct Reference {
  std::map<std::string, ReferenceOutput> outputs;
  /// Per input and element whether any kernel reads it at a present lane.
  std::map<std::string, std::vector<uint8_t>> reads;
};

/// Executes on the reference device.
Result<Reference> runOnReference(const Problem &problem);

/// The inputs with their values as the reference takes them.
std::vector<HostTensor> referenceInputs(const Problem &problem);

/// How `--device ref` executes a lowered form of the program.
struct PhysicalOptions {
  /// "tile", "sm:seq" or "sm:async"; empty: the program itself.
  std::string form;
  /// Of sm:seq or sm:async; empty: the first that applies.
  std::string variant;
  /// A file to execute instead of what the compiler emits.
  std::string text;
};

/// The text of a lowered form; diagnostics have been printed when it fails.
Result<std::string> lowerTo(const PhysicalOptions &options,
                            CompileRequest request);

/// Executes the text of a form physically: poison in absent lanes and in what
/// `reference` never read.
Result<Outputs> runPhysical(const Problem &problem,
                            const PhysicalOptions &options,
                            const std::string &text, Poison poison,
                            const Reference &reference);

/// Rounds the reference's values to the types of the outputs.
Result<Outputs> roundOutputs(const Problem &problem,
                             const Reference &reference);

/// How a problem is executed on a GPU.
struct Execution {
  Poison poison = Poison::Nan;
  /// Tensors that are not named are contiguous.
  std::map<std::string, LayoutKind> layouts;
  /// Launches in a row on one stream, all with equal results.
  int64_t launches = 1;
  /// Where known, input elements that are never read are poisoned.
  const Reference *reference = nullptr;
};

/// What a GPU computed, and by which variant of the op.
struct GpuOutcome {
  Outputs outputs;
  std::string variant;
  /// Whether a thread block had several tiles of a launch.
  bool hasManyTiles = false;
};

/// An op compiled and loaded for a GPU.
class GpuOp {
public:
  /// Compiles; diagnostics have been printed when it fails.
  static Result<GpuOp> load(const CompileRequest &request,
                            const Device &device);

  /// Executes. Outputs and temps, and shared memory and registers of the chip,
  /// are poisoned; every tensor lies between canaries. A canary, a gap or an
  /// input that has changed is a Failed status.
  Result<GpuOutcome> run(const Problem &problem, const Execution &execution);

  /// The host program.
  const Manifest &manifest() const { return op.manifest(); }

private:
  GpuOp(Device device, Op op) : device(std::move(device)), op(std::move(op)) {}
  Status launchAll(const Execution &execution, DType poisonType,
                   const std::vector<LaunchArgs> &launches);

  Device device;
  Op op;
  std::optional<Scrubber> scrubber;
};

/// How `--device sim` executes form `lanes`.
struct SimOptions {
  /// Empty: the first that applies.
  std::string variant;
  /// A file to execute instead of what the compiler emits.
  std::string text;
  /// How many schedules are tried; all have to give the same bits.
  int64_t schedules = 4;
  /// Where the numbers of the lines that were executed go; empty: nowhere.
  std::string coverage;
};

/// An op compiled for the simulated device.
class SimOp {
public:
  static Result<SimOp> load(const Problem &problem, const SimOptions &options);
  SimOp(SimOp &&);
  ~SimOp();

  /// Executes with one schedule.
  Result<GpuOutcome> run(const Problem &problem, const Execution &execution,
                         uint64_t schedule);

  /// Writes the numbers of the lines of form `lanes` that were executed.
  Status writeCoverage(const std::string &path) const;

  /// The host program.
  const Manifest &manifest() const;
  /// How many phases an mbarrier had in a launch so far, at most.
  int64_t maxPhases() const;

private:
  struct Impl;
  explicit SimOp(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl;
};

/// The number in `gpu:N`, and 0 for `gpu` or nothing. The message for others
/// names `sim` and `ref`, too, unless the command is for GPUs alone.
Result<int> parseOrdinal(const std::string &device, bool isGpuOnly = false);

/// Opens the GPU that `wanted` names, or the first one if it is empty, and
/// completes `arch` for it. nullopt: `ref` or `sim` is wanted, or nothing, and
/// there is no GPU.
Result<std::optional<Device>> chooseDevice(const std::string &wanted,
                                           std::string &arch);

/// The architecture whose code suits `device` best.
Result<std::string> bestArch(const Device &device);

/// What the comparison of an output with `ref` found.
struct Comparison {
  std::string output;
  size_t elements = 0;
  /// Further from the reference than its bound.
  size_t outside = 0;
  double maxError = 0, maxRatio = 0;
  /// NaN where the reference is finite, if that is allowed.
  size_t lost = 0;
  /// The first element that is outside, by its flat index.
  size_t first = 0;
  double got = 0, expected = 0, bound = 0;
};

/// Compares with the reference and its bounds. With `mayLoseRows` an element
/// may be NaN instead: what a mask removes, but is present, was not finite, and
/// shares a tile with it (MaskMode::Tile).
std::vector<Comparison> compareOutputs(const Problem &problem,
                                       const Outputs &outputs,
                                       const Reference &reference,
                                       bool mayLoseRows);

/// Lines about an output that was compared.
std::string describe(const Comparison &comparison);

/// Failed unless all bytes are equal: "tensor 'o' differs in 3 of 64 elements,
/// first at [0, 1]: ...". The names say what the sides are. Where devices add
/// in any order the same elements have to be NaN: `ref` bounds the others.
Status compareBits(const Problem &problem, const Outputs &outputs,
                   const std::string &name, const Outputs &others,
                   const std::string &otherName);

/// Of the elements of a tensor; the numbers are of those that are finite.
struct Statistics {
  size_t finite = 0, nan = 0, infinite = 0;
  double min = 0, max = 0, mean = 0;
};
Statistics statisticsOf(const HostArray &array);

/// A line with name, type, shape and statistics of every output.
std::string summarise(const Problem &problem, const Outputs &outputs);

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_RUNDEVICES_H
