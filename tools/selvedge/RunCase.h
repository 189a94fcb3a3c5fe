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
  /// Whether rows may be NaN that share a tile with data that a mask removes.
  bool mayLoseRows = false;
  bool comparesClean = false;
  int64_t launches = 1;
  /// On `sim`, instead of all schedules one per kind of poison, from this one
  /// on.
  std::optional<uint64_t> schedule;
};

/// What the devices have seen of the cases so far.
struct Sightings {
  /// Cases per variant of the op.
  std::map<std::string, int64_t> variants;
  /// Cases in which a block had several tiles.
  int64_t manyTiles = 0;
  /// Phases that an mbarrier had, at most.
  int64_t phases = 0;
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

  /// Compiles for the device, as the first case does: with the bindings of
  /// `problem`. Diagnostics have been printed when it fails.
  Status prepare(const Problem &problem);

  /// Keeps what run() would print for getReport().
  void setQuiet() { isQuiet = true; }
  /// What the last case gave.
  const std::string &getReport() const { return report; }
  /// Where it ran: "axpy on sim (sm_80, universal)".
  const std::string &getPlace() const { return place; }
  /// How its outputs compare with `ref`, one after another.
  const std::vector<Comparison> &getComparisons() const { return comparisons; }
  /// Has `--device ref` execute another variant of the form.
  void setVariant(std::string name) { physical.variant = std::move(name); }
  /// After prepare(): the host program; null on `ref`.
  const Manifest *getProgram() const;
  /// After prepare() on `ref`: the form's text.
  const std::string &getText() const { return *text; }
  /// The last problem whose results `ref` told, and these.
  const std::optional<Problem> &getProblem() const { return lastProblem; }
  const Reference &getReference() const { return lastReference; }
  const Sightings &getSightings() const { return sightings; }

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
  /// Prints, or keeps.
  void say(const std::string &words);
  /// Says where a case ran, and what its outputs are.
  void sayResults(const Problem &problem, const std::string &on,
                  const Outputs &outputs);
  /// Compares with `ref` and says how.
  bool agrees(const Problem &problem, const Case &theCase,
              const Outputs &outputs, const Reference &reference);

  CompileRequest request;
  std::optional<Device> device;
  PhysicalOptions physical;
  std::optional<SimOptions> sim;
  /// Loaded by the first case.
  std::optional<GpuOp> op;
  std::optional<SimOp> simOp;
  /// Of a lowered form.
  std::optional<std::string> text;
  bool isQuiet = false;
  std::string report, place;
  std::vector<Comparison> comparisons;
  Sightings sightings;
  std::optional<Problem> lastProblem;
  Reference lastReference;
};

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_RUNCASE_H
