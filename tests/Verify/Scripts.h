// Agents that follow a script, and matchers of findings.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TESTS_VERIFY_SCRIPTS_H
#define SELVEDGE_TESTS_VERIFY_SCRIPTS_H

#include "compiler/Verify/Async/HappensBefore.h"
#include "compiler/Verify/Async/RoundRobin.h"

#include "gmock/gmock.h"
#include <functional>

namespace selvedge::verify {

MATCHER(isFine, "no fault") {
  if (arg)
    *result_listener << "fault " << static_cast<int>(arg->fault);
  return !arg.has_value();
}

MATCHER_P(is, fault, "a fault") {
  return arg.has_value() && arg->fault == fault;
}

MATCHER_P2(is, fault, earlier, "a fault with an earlier site") {
  if (arg && arg->earlier)
    *result_listener << "fault " << static_cast<int>(arg->fault) << " after "
                     << *arg->earlier;
  return arg.has_value() && arg->fault == fault && arg->earlier &&
         *arg->earlier == static_cast<Site>(earlier);
}

/// The operations of some agents, run by the scheduler; the first finding ends
/// the run.
struct Scripts {
  using Operation = std::function<Progress()>;
  std::vector<std::vector<Operation>> agents;
  std::vector<size_t> next;
  Finding found;

  /// Appends an operation that yields a finding.
  void check(unsigned agent, std::function<Finding()> operation) {
    at(agent).push_back([this, operation] {
      found = operation();
      return found ? Progress::Failed : Progress::Advanced;
    });
  }
  /// Appends one that blocks until it has passed.
  void wait(unsigned agent, std::function<Finding(bool &passed)> operation) {
    at(agent).push_back([this, operation] {
      bool passed = false;
      found = operation(passed);
      if (found)
        return Progress::Failed;
      return passed ? Progress::Advanced : Progress::Blocked;
    });
  }
  /// Runs the agents in turn, the last one first if `reversed`.
  Ending run(bool reversed = false) {
    next.assign(agents.size(), 0);
    return runRoundRobin(agents.size(), [&](unsigned turn) {
      unsigned agent = reversed ? agents.size() - 1 - turn : turn;
      if (next[agent] == agents[agent].size())
        return Progress::Finished;
      Progress progress = agents[agent][next[agent]]();
      next[agent] += progress == Progress::Advanced;
      return progress;
    });
  }

private:
  std::vector<Operation> &at(unsigned agent) {
    if (agent >= agents.size())
      agents.resize(agent + 1);
    return agents[agent];
  }
};

} // namespace selvedge::verify

#endif // SELVEDGE_TESTS_VERIFY_SCRIPTS_H
