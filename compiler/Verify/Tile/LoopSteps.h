// Proof that the parts of a loop run its steps, each once and in order.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_TILE_LOOPSTEPS_H
#define SELVEDGE_COMPILER_VERIFY_TILE_LOOPSTEPS_H

#include "compiler/Verify/Arithmetic/IndexValues.h"
#include "compiler/Verify/Tile/SameProgram.h"

namespace selvedge::verify {

/// Steps are numbers: `lower + n * step`. A part runs those from its lower
/// bound on, which must be one of them.
class LoopSteps {
public:
  /// With `mostStep` no block is taken to have more elements.
  LoopSteps(const SplitLoop &split, SameProgram &programs,
            std::optional<int64_t> mostStep = std::nullopt);

  /// Fails with a diagnostic at the part that is wrong: the parts run steps of
  /// the loop only, each at most once and later parts later ones; steps that
  /// none of them runs do nothing.
  llvm::LogicalResult check();

private:
  using Constraints = llvm::SmallVector<Polynomial>;
  struct Part {
    mlir::scf::ForOp loop;
    Polynomial first, end;

    /// What is true of a step that the part runs.
    void addRuns(const Polynomial &index, Constraints &constraints) const;
  };

  /// Gives the bounds of loop and parts their values.
  llvm::LogicalResult bind();
  /// Proves in each case of the minima and maxima that hide in which steps the
  /// parts begin.
  using Case = std::pair<Choice, Polynomial>;
  using Proof =
      llvm::function_ref<llvm::LogicalResult(const Constraints &given)>;
  llvm::LogicalResult checkCases(const Constraints &given,
                                 llvm::ArrayRef<Case> taken, Proof prove);
  llvm::LogicalResult checkParts(const Constraints &given);
  llvm::LogicalResult checkOthers(const Constraints &given);
  /// Whether every index that a part runs lies between the loop's bounds.
  bool isInside(Part &part, const Constraints &given);
  llvm::LogicalResult checkRuns(Part &part, const Constraints &given);
  llvm::LogicalResult checkOrder(Part &part, Part &next,
                                 const Constraints &given);
  /// Whether steps that none of the parts from number `next` on runs, nor what
  /// is `known` to run, do nothing.
  bool areOthersIdle(size_t next, const Constraints &known);
  /// Adds what a true presence says; a claim of a pass says no more.
  void collect(mlir::Value presence, Constraints &constraints);
  bool isIdleStep(const Constraints &known);
  bool isImpossible(const Constraints &known) const;
  /// Whether `p` is a multiple of the loop's step, whatever its symbols are.
  bool isMultipleOfStep(const Polynomial &p) const;

  SplitLoop split;
  SameProgram &programs;
  IndexValues values;
  Polynomial lower, upper, step, index;
  /// Whether isIdleStep() finds out which sums do not wrap.
  bool isThorough = false;
  llvm::SmallVector<Part> parts;
  Constraints conditions;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_TILE_LOOPSTEPS_H
