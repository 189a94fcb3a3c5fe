// The passes without verifiers, whose result waits for a proof.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/Guess.h"

namespace selvedge::driver {

Guess::Guess(const CompileRequest &request, const Session &from)
    : session(request, Proofs::Elsewhere) {
  session.follow(from);
}

Guess::Guess(const CompileRequest &request, const Session &from,
             const schedule::PlanChoice &choice, const std::string &origin)
    : Guess(request, from) {
  session.choose(choice, origin);
}

bool Guess::run() {
  if (!session.parse() || !session.runPasses(Emit::SmFinal))
    return false;
  if (!session.writeManifest())
    return false;
  // Nothing changes the program any more, and only claims need its text.
  program =
      std::async(std::launch::async, [this] { return session.printWhole(); });
  return true;
}

Unproved<Code> Guess::compile(std::optional<size_t> variant) {
  // What the passes had to say the session with verifiers says, too.
  session.result.diagnostics.clear();
  std::optional<Session::Names> names;
  if (variant)
    names = session.kernelsOf(*variant);
  if (session.translateKernels(names))
    session.assemble();
  return {program.get(), session.getCode()};
}

} // namespace selvedge::driver
