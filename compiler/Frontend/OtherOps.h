// Ops of a file that are not built: their errors are warnings.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_FRONTEND_OTHEROPS_H
#define SELVEDGE_COMPILER_FRONTEND_OTHEROPS_H

#include "compiler/Frontend/Elaborator.h"

namespace selvedge::frontend {

/// Checks the file's own ops but for the one that is built, with the defaults
/// of their parameters.
void checkOtherOps(mlir::MLIRContext *ctx, Diagnostics &diags,
                   const FileAst &file, const OpDecl &built);

} // namespace selvedge::frontend

#endif // SELVEDGE_COMPILER_FRONTEND_OTHEROPS_H
