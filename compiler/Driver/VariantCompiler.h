// Variants of an op, compiled one by one.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_VARIANTCOMPILER_H
#define SELVEDGE_COMPILER_DRIVER_VARIANTCOMPILER_H

#include "compiler/Driver/ArtifactCache.h"
#include "compiler/Driver/CompileCached.h"
#include "compiler/Driver/Guess.h"

#include <map>
#include <thread>

namespace selvedge::driver {

/// The code of compileForLaunches(): a guess at the program, whose kernels are
/// compiled on demand, and a session with all verifiers beside it, once.
class VariantCompiler : public LazyCode {
public:
  /// Up to the host program, or from the cache.
  static LaunchCode begin(const CompileRequest &request);
  /// Waits for the verifiers.
  ~VariantCompiler() override;

  const std::string &manifest() const override { return hostProgram; }
  Result<VariantCode> compile(size_t variant) override;

private:
  explicit VariantCompiler(const CompileRequest &request);
  /// Begins the proofs, and runs the passes of the guess. The outcome of the
  /// former where the latter fail.
  bool start(CompileResult &result);
  /// The proof of the guess, or nothing; waits.
  const std::optional<Proof> &waitForProof();
  /// Runs the verifiers on a thread of their own.
  void prove();
  /// Code of a variant with plans that ptxas takes better than the ones of
  /// `first`, which it gave; all variants where that is more than other block
  /// sizes.
  Result<VariantCode> compileBetter(size_t variant, Code first);
  /// Keeps code that was proved in the cache, and gives it.
  VariantCode deliver(size_t variant, CompileResult &result);
  /// All variants, as compileCached() compiles them.
  Result<VariantCode> compileWhole();

  CompileRequest request;
  std::optional<ArtifactCache> cache;
  /// An artefact that was there all along.
  std::optional<Artifact> whole;
  std::string hostProgram;
  /// Whether its plans are those that compileBetter() found.
  bool hasFound = false;
  /// Null until something has to be compiled.
  std::unique_ptr<Session> proving;
  std::unique_ptr<Guess> guess;
  std::optional<Proof> proof;
  std::thread verifiers;
};

} // namespace selvedge::driver

#endif // SELVEDGE_COMPILER_DRIVER_VARIANTCOMPILER_H
