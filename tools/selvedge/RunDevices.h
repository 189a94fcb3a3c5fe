// Executing a problem on a device.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_RUNDEVICES_H
#define SELVEDGE_TOOLS_SELVEDGE_RUNDEVICES_H

#include "compiler/Reference/Reference.h"
#include "selvedge/Device.h"
#include "tools/selvedge/Poison.h"
#include "tools/selvedge/RunProblem.h"

namespace selvedge::cli {

/// Outputs and inouts by name.
using Outputs = std::map<std::string, HostArray>;

/// Outputs of `ref` with the error bound of every element.
struct ReferenceOutput {
  std::vector<double> values;
  std::vector<double> bounds;
};

/// Elements of the inputs that results may depend on, by tensor.
using Footprint = std::map<std::string, std::vector<uint8_t>>;

/// The inputs with their values as the reference takes them.
std::vector<HostTensor> referenceInputs(const Problem &problem);

/// Executes on the reference device and records what was loaded.
Result<std::map<std::string, ReferenceOutput>>
runOnReference(const Problem &problem, Footprint &loaded);

/// How `--device ref` executes a lowered form of the program.
struct PhysicalOptions {
  /// "tile" or "sm:seq"; empty: the program itself.
  std::string form;
  /// Of sm:seq; empty: the first that applies.
  std::string variant;
  std::string poison;
};

/// Lowers to the form and executes it physically, poison outside of `inside`.
Result<Outputs> runPhysical(const Problem &problem,
                            const PhysicalOptions &options,
                            const Footprint &inside);

/// Rounds the reference's values to the types of the outputs.
Result<Outputs>
roundOutputs(const Problem &problem,
             const std::map<std::string, ReferenceOutput> &reference);

/// Compiles for `device` and executes there. Outputs and temps are poisoned,
/// every tensor lies between guard bytes, and neither guards nor inputs may
/// change: that is a Failed status.
Result<Outputs> runOnGpu(const Problem &problem, const Device &device,
                         Poison poison);

/// The architecture whose code suits `device` best.
Result<std::string> bestArch(const Device &device);

/// Compares with the reference and its bounds, prints one line per output, and
/// returns whether all elements are within.
bool compareOutputs(const Problem &problem, const Outputs &outputs,
                    const std::map<std::string, ReferenceOutput> &reference);

/// Prints name, type, shape and statistics of every output.
void summarise(const Problem &problem, const Outputs &outputs);

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_RUNDEVICES_H
