// What the cases of `check` have reached.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_CHECKCOVERAGE_H
#define SELVEDGE_TOOLS_SELVEDGE_CHECKCOVERAGE_H

#include "tools/selvedge/CheckCases.h"

namespace selvedge::cli {

/// Counts cases that have something about them.
class Coverage {
public:
  /// All that cases of `maker` can have counts 0.
  explicit Coverage(const CaseMaker &maker);

  /// Counts a case that `runner` has just run.
  void record(const CheckCase &made, const CaseRunner &runner);
  /// Takes what devices have seen of all cases so far.
  void update(const CaseRunner &runner, bool isSim);

  /// In the order in which they are reported.
  const std::vector<std::pair<std::string, int64_t>> &getCounters() const {
    return counters;
  }
  /// Names of those that are 0.
  std::vector<std::string> findMissing() const;

private:
  int64_t &at(const std::string &name);
  void recordBlocks(const Problem &problem);
  void recordRanges(const Problem &problem);
  void recordSegments(const std::string &name,
                      const std::vector<double> &bounds, double lo, double hi);
  void recordSelections(const Problem &problem);

  const CaseMaker &maker;
  std::vector<std::pair<std::string, int64_t>> counters;
};

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_CHECKCOVERAGE_H
