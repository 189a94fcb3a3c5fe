// Launches of two variants that may be made together.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_MEMORY_MIXEDLAUNCHES_H
#define SELVEDGE_COMPILER_VERIFY_MEMORY_MIXEDLAUNCHES_H

#include "dialect/Sm/Sm.h"

#include "mlir/IR/SymbolTable.h"

#include <vector>

namespace selvedge::verify {

/// One launch at each place of a plan: of `variant`, or of `last`, which takes
/// all strides and alignments.
struct MixedLaunches {
  using Sequence = llvm::SmallVector<std::pair<sm::LaunchOp, sm::KernelOp>>;

  sm::VariantOp variant, last;
  Sequence launches;
};

/// The launches of a variant with their kernels; fails, with an error, where
/// one is not in the module.
mlir::FailureOr<MixedLaunches::Sequence>
launchesOf(sm::VariantOp variant, const mlir::SymbolTable &symbols);

/// Sequences by which each two launches of a plan meet in both ways, one of a
/// variant and the other of one for all strides, where the plan has launches
/// chosen one by one (docs/manifest.md). Fails where variants have no launches
/// of the same kernels of the program at the same places.
mlir::FailureOr<std::vector<MixedLaunches>>
mixedLaunches(sm::PlanOp plan, const mlir::SymbolTable &symbols);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_MEMORY_MIXEDLAUNCHES_H
