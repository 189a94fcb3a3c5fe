// Milliseconds of an op on a GPU.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_BENCHTIMING_H
#define SELVEDGE_TOOLS_SELVEDGE_BENCHTIMING_H

#include "selvedge/Op.h"
#include "tools/selvedge/RunProblem.h"

namespace selvedge::cli {

/// Milliseconds per launch of batches that follow each other.
struct Timing {
  double median = 0, best = 0;
  int64_t batches = 0, launchesPerBatch = 0;
  /// Name of the variant, and of the kernels that it launches.
  std::string variant;
  std::vector<std::string> kernels;
};

/// The tensors of a problem in device memory, contiguous; one set serves every
/// candidate.
class BenchArgs {
public:
  /// Allocates all tensors and uploads the inputs.
  static Result<BenchArgs> place(const Problem &problem, const Device &device);

  /// Launches `op` on them again and again.
  Result<Timing> time(const Op &op);

private:
  explicit BenchArgs(Device device) : device(std::move(device)) {}
  /// Workspace for `op`, if the one at hand is too small.
  Status reserve(const Op &op);

  Device device;
  std::vector<DeviceBuffer> buffers;
  DeviceBuffer workspace;
  LaunchArgs args;
};

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_BENCHTIMING_H
