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
  /// Without a device on `ref`.
  CaseRunner(CompileRequest request, std::optional<Device> device)
      : request(std::move(request)), device(std::move(device)) {}

  /// Executes a case and prints what it gave. The outputs are there, too, when
  /// they differ from what they are compared with.
  Status run(const Case &theCase, Outputs &outputs);

private:
  Status runReferenceCase(const Problem &problem, const Case &theCase,
                          Outputs &outputs);
  Status runGpuCase(const Problem &problem, const Case &theCase,
                    Execution execution, Outputs &outputs);
  /// The reference's results; those of the last case if its data were equal.
  Result<const Reference *> referenceOf(const Problem &problem);

  CompileRequest request;
  std::optional<Device> device;
  /// Loaded by the first case.
  std::optional<GpuOp> op;
  std::optional<Problem> lastProblem;
  Reference lastReference;
};

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_RUNCASE_H
