// The independent verifier.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_PASSES_H
#define SELVEDGE_COMPILER_VERIFY_PASSES_H

#include "dialect/Sm/Sm.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace selvedge::verify {

/// Begins what `verify-sm-outputs` says of an operation that no size executes
/// and of which nothing is proved: the compiler could not look at it, which
/// does not make it wrong.
inline constexpr llvm::StringLiteral
    unreachedError("expects sizes that execute it");

/// `verify-tile-parts` of `pass`, or of no pass.
std::unique_ptr<mlir::Pass>
createVerifyTileParts(std::unique_ptr<mlir::Pass> pass);

/// `verify-tile-folds` of the passes in `pipeline`.
std::unique_ptr<mlir::Pass>
createVerifyTileFolds(mlir::OpPassManager pipeline = mlir::OpPassManager());

/// `verify-tile-packs` of the passes in `pipeline`.
std::unique_ptr<mlir::Pass>
createVerifyTilePacks(mlir::OpPassManager pipeline = mlir::OpPassManager());

/// `verify-tile-blocks` of the passes in `pipeline`.
std::unique_ptr<mlir::Pass>
createVerifyTileBlocks(mlir::OpPassManager pipeline = mlir::OpPassManager());

/// `verify-tile-loops` of the passes in `pipeline`.
std::unique_ptr<mlir::Pass>
createVerifyTileLoops(mlir::OpPassManager pipeline = mlir::OpPassManager());

/// `verify-tile-nests` of the passes in `pipeline`.
std::unique_ptr<mlir::Pass>
createVerifyTileNests(mlir::OpPassManager pipeline = mlir::OpPassManager());

/// `verify-tile-columns` of the passes in `pipeline`.
std::unique_ptr<mlir::Pass>
createVerifyTileColumns(mlir::OpPassManager pipeline = mlir::OpPassManager());

/// `verify-tile-indices` of a pass over kernels, or of no pass.
std::unique_ptr<mlir::Pass>
createVerifyTileIndices(std::unique_ptr<mlir::Pass> pass);

/// `verify-tile-guards` of the passes in `pipeline`.
std::unique_ptr<mlir::Pass>
createVerifyTileGuards(mlir::OpPassManager pipeline = mlir::OpPassManager());

/// `verify-sm-demands` of the passes in `pipeline`.
std::unique_ptr<mlir::Pass>
createVerifySmDemands(mlir::OpPassManager pipeline = mlir::OpPassManager());

/// `verify-sm-outputs` of the passes in `pipeline`; `written` has the programs
/// that kernels are compared with, as they were before all passes. None: those
/// before `pipeline`.
std::unique_ptr<mlir::Pass>
createVerifySmOutputs(mlir::OpPassManager pipeline = mlir::OpPassManager(),
                      mlir::ModuleOp written = {});

/// `verify-sm-order` of the passes in `pipeline`.
std::unique_ptr<mlir::Pass>
createVerifySmOrder(mlir::OpPassManager pipeline = mlir::OpPassManager());

#define GEN_PASS_DECL
#include "compiler/Verify/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Verify/Passes.h.inc"

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_PASSES_H
