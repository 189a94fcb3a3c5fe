// Time of a phase of a compilation.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_PHASETIMER_H
#define SELVEDGE_COMPILER_DRIVER_PHASETIMER_H

#include "compiler/Driver/Compiler.h"

#include <chrono>

namespace selvedge::driver {

/// Adds time to one phase of a result.
inline void addPhase(CompileResult &result, const std::string &phase,
                     double milliseconds) {
  for (auto &[name, total] : result.phases)
    if (name == phase) {
      total += milliseconds;
      return;
    }
  result.phases.emplace_back(phase, milliseconds);
}

/// Adds the time until its end to one phase of a result.
class PhaseTimer {
public:
  PhaseTimer(CompileResult &result, const char *phase)
      : result(result), phase(phase), start(Clock::now()) {}
  ~PhaseTimer() {
    double ms =
        std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    addPhase(result, phase, ms);
  }
  PhaseTimer(const PhaseTimer &) = delete;
  PhaseTimer &operator=(const PhaseTimer &) = delete;

private:
  using Clock = std::chrono::steady_clock;
  CompileResult &result;
  const char *phase;
  Clock::time_point start;
};

} // namespace selvedge::driver

#endif // SELVEDGE_COMPILER_DRIVER_PHASETIMER_H
