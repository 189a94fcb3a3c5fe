// Code that is made beside the proofs of its program.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_EARLYCODE_H
#define SELVEDGE_COMPILER_DRIVER_EARLYCODE_H

#include "compiler/Driver/Session.h"

#include <atomic>
#include <thread>

namespace selvedge::driver {

/// A guess: while verifiers work on a program, a second session on a thread of
/// its own runs the passes without them, and goes on to PTX and ptxas. What it
/// makes cannot be read but by handOver(), to a session that has run all
/// verifiers and whose program is the same, letter by letter. So the code is
/// always that of a program that was proved: where the guess is wrong (a
/// verifier refused, a kernel was planned again) it is thrown away.
class EarlyCode {
public:
  /// Begins with the plans of `session`, which has parsed.
  EarlyCode(const CompileRequest &request, const Session &session);
  /// Waits.
  ~EarlyCode();
  EarlyCode(const EarlyCode &) = delete;
  EarlyCode &operator=(const EarlyCode &) = delete;

  /// Waits, and gives `proved`, which has run its passes to Emit::SmFinal, the
  /// outcome of what follows these; false where it was made of another program.
  bool handOver(Session &proved);

  /// Whether there is a second core for it.
  static bool isWorthwhile();

private:
  void run();
  void join();

  Session guess;
  /// The program that the code is made of; empty: none is.
  std::string program;
  std::atomic<bool> isUnwanted = false;
  std::thread worker;
};

} // namespace selvedge::driver

#endif // SELVEDGE_COMPILER_DRIVER_EARLYCODE_H
