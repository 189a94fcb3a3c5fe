// The passes without verifiers, whose result waits for a proof.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_GUESS_H
#define SELVEDGE_COMPILER_DRIVER_GUESS_H

#include "compiler/Driver/Session.h"

#include <future>

namespace selvedge::driver {

/// A session that runs no verifier: ten times as fast as one that does. Its
/// code comes out of it as Unproved only.
class Guess {
public:
  /// With the plans of `session`, which has chosen them.
  Guess(const CompileRequest &request, const Session &session);
  /// With others.
  Guess(const CompileRequest &request, const Session &session,
        const schedule::PlanChoice &choice, const std::string &origin);

  /// All passes, and the host program; false where one fails. Then a session
  /// with verifiers will say why.
  bool run();

  /// After run(): the host program, for the choice of a variant. To launch by
  /// it takes code, which takes a proof.
  const std::string &getManifest() const { return session.result.manifest; }

  /// PTX and cubin of the kernels of a variant; of all kernels without one.
  Unproved<Code> compile(std::optional<size_t> variant);
  /// What ptxas said of the kernels that were compiled last: how well they run,
  /// not what they do.
  const ptx::PtxasLog &getLog() const { return session.getLog(); }

private:
  Session session;
  /// Printed by a thread of its own, which ends before the session does.
  std::shared_future<std::string> program;
};

} // namespace selvedge::driver

#endif // SELVEDGE_COMPILER_DRIVER_GUESS_H
