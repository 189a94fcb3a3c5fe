// Code that is made beside the proofs of its program.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/EarlyCode.h"

namespace selvedge::driver {

EarlyCode::EarlyCode(const CompileRequest &request, const Session &session)
    : guess(request, Proofs::Elsewhere) {
  guess.follow(session);
  worker = std::thread([this] { run(); });
}

EarlyCode::~EarlyCode() {
  isUnwanted = true;
  join();
}

void EarlyCode::join() {
  if (worker.joinable())
    worker.join();
}

bool EarlyCode::isWorthwhile() {
  return std::thread::hardware_concurrency() > 1;
}

void EarlyCode::run() {
  if (!guess.parse() || !guess.runPasses(Emit::SmFinal) || isUnwanted)
    return;
  program = guess.printWhole();
  // What the passes had to say the other session says, too.
  guess.result.diagnostics.clear();
  // A failure from here on is the program's.
  if (guess.emitPtx() && !isUnwanted)
    guess.assemble();
}

bool EarlyCode::handOver(Session &proved) {
  if (!proved.isProved())
    return false;
  std::string text = proved.printWhole();
  join();
  if (program.empty() || program != text)
    return false;
  proved.takeCode(guess);
  return true;
}

} // namespace selvedge::driver
