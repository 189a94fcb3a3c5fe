// One problem of `run`: executed on a device and compared.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_RUNCASE_H
#define SELVEDGE_TOOLS_SELVEDGE_RUNCASE_H

#include "tools/selvedge/RunDevices.h"

#include <memory>
#include <optional>

namespace selvedge::cli {

/// A case as it is written in options.
struct CaseOptions {
  ProblemOptions problem;
  std::vector<std::string> layouts;
  std::string poison = "nan";
  std::string compare;
  std::string repeat = "1";
  std::string seed = "0";
};

/// A case whose options are understood.
struct Case {
  ProblemOptions problem;
  std::vector<std::string> layouts;
  std::vector<Poison> poisons;
  bool comparesRef = false;
  bool comparesClean = false;
  int64_t launches = 1;
};

/// Checks the options that do not depend on the op.
Result<Case> parseCase(const CaseOptions &options);

/// Executes cases of one op on one device.
class CaseRunner {
public:
  /// Without a device on `ref`, or on `sim`.
  CaseRunner(CompileRequest request, std::optional<Device> device,
             PhysicalOptions physical, std::optional<SimOptions> sim)
      : request(std::move(request)), device(std::move(device)),
        physical(std::move(physical)), sim(std::move(sim)) {}

  /// Executes a case and prints what it gave. The outputs are there, too, when
  /// they differ from what they are compared with.
  Status run(const Case &theCase, Outputs &outputs);

private:
  Status runReferenceCase(const Problem &problem, const Case &theCase,
                          Outputs &outputs);
  Status runPhysicalCase(const Problem &problem, const Case &theCase,
                         const Reference &reference, Outputs &outputs);
  Status runSimCase(const Problem &problem, const Case &theCase,
                    Execution execution, Outputs &outputs);
  Status runGpuCase(const Problem &problem, const Case &theCase,
                    Execution execution, Outputs &outputs);
  /// The reference's results; those of the last case if its data were equal.
  Result<const Reference *> referenceOf(const Problem &problem);

  CompileRequest request;
  std::optional<Device> device;
  PhysicalOptions physical;
  std::optional<SimOptions> sim;
  /// Loaded by the first case.
  std::optional<GpuOp> op;
  std::optional<SimOp> simOp;
  std::optional<Problem> lastProblem;
  Reference lastReference;
};

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_RUNCASE_H
