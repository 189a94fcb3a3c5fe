// Code that is made beside the proofs of its program.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_EARLYCODE_H
#define SELVEDGE_COMPILER_DRIVER_EARLYCODE_H

#include "compiler/Driver/Guess.h"

#include <atomic>
#include <thread>

namespace selvedge::driver {

/// While verifiers work on a program, a guess at it becomes PTX and cubin on a
/// thread of its own. Where the guess was wrong (a verifier refused, a kernel
/// was planned again) the code is thrown away.
class EarlyCode {
public:
  /// Begins, with the plans of `session`.
  EarlyCode(const CompileRequest &request, const Session &session);
  /// Waits.
  ~EarlyCode();
  EarlyCode(const EarlyCode &) = delete;
  EarlyCode &operator=(const EarlyCode &) = delete;

  /// Waits, and gives `session`, which has run its passes to Emit::SmFinal, the
  /// outcome of what follows these; false where that is of another program.
  bool handOver(Session &session);

  /// Whether there is a second core for it.
  static bool isWorthwhile();

private:
  void run();
  void join();

  Guess guess;
  std::optional<Unproved<Code>> code;
  std::atomic<bool> isUnwanted = false;
  std::thread worker;
};

/// From plans that are chosen to cubin, by all verifiers; EarlyCode beside them
/// where it is worthwhile. False where that fails.
bool compileAll(const CompileRequest &request, Session &session);

} // namespace selvedge::driver

#endif // SELVEDGE_COMPILER_DRIVER_EARLYCODE_H
