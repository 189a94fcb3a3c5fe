// Which product, reduction or load of the program each of a kernel is.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_MEMORY_SINKMATCHES_H
#define SELVEDGE_COMPILER_VERIFY_MEMORY_SINKMATCHES_H

#include "compiler/Verify/Memory/ProgramSinks.h"

namespace selvedge::verify {

/// Compares the sinks of a kernel of `sm`, wherever they are executed, with
/// those of the program. One that may be several of the program must be one of
/// them in all executions.
class SinkMatches {
public:
  SinkMatches(sm::KernelOp kernel, const ProgramSinks &program)
      : program(program), tensors(kernel) {}

  const ProgramSinks &getProgram() const { return program; }
  /// What follows is executed with other sizes.
  void startTrial();

  /// An execution of `op`, which sums up `sources`; returns what is wrong,
  /// empty for nothing.
  std::string check(mlir::Operation *op, mlir::ValueRange sources,
                    const ProgramSinks::Lanes &found, const Places &places,
                    GlobalMemory &memory, int64_t callers,
                    LaneTiles::Scalars scalars);

private:
  struct Match {
    ProgramSinks::Candidates candidates;
    /// What the comparison is a function of: scalars of the kernel, and places.
    llvm::SmallVector<mlir::Value, 4> scalars;
    llvm::SmallVector<mlir::StringAttr, 4> places;
    /// Those for which the candidates have been compared.
    std::set<std::vector<int64_t>> compared = {};
  };

  Match find(mlir::ValueRange sources, const ProgramSinks::Lanes &found) const;

  const ProgramSinks &program;
  SourceTensors tensors;
  /// By operation and, of products of several pairs, first operand.
  llvm::DenseMap<std::pair<mlir::Operation *, mlir::Value>, Match> matches;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_MEMORY_SINKMATCHES_H
