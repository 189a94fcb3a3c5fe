// Code that is made beside the proofs of its program.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/EarlyCode.h"

namespace selvedge::driver {

EarlyCode::EarlyCode(const CompileRequest &request, const Session &session)
    : guess(request, session), worker([this] { run(); }) {}

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
  if (guess.run() && !isUnwanted)
    code = guess.compile(std::nullopt);
}

bool EarlyCode::handOver(Session &session) {
  std::optional<Proof> proof = session.getProof();
  join();
  if (!proof || !code)
    return false;
  std::optional<Code> proved = std::move(*code).claim(*proof);
  if (proved)
    session.takeCode(std::move(*proved));
  return proved.has_value();
}

bool compileAll(const CompileRequest &request, Session &session) {
  std::optional<EarlyCode> early;
  if (EarlyCode::isWorthwhile()) {
    session.expectGuess();
    early.emplace(request, session);
  }
  if (!session.runPasses(Emit::SmFinal))
    return false;
  if (early && early->handOver(session))
    return session.result.status == CompileStatus::Ok;
  return session.emitPtx() && session.assemble();
}

} // namespace selvedge::driver
