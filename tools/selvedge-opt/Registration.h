// What selvedge-opt knows.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_OPT_REGISTRATION_H
#define SELVEDGE_TOOLS_SELVEDGE_OPT_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace selvedge::opt {

/// Registers the dialects of every stage, with their translations.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers the project's passes and the upstream ones it is used with.
void registerPasses();

/// Registers the passes that print LLVM IR or PTX.
void registerEmitPasses();

} // namespace selvedge::opt

#endif // SELVEDGE_TOOLS_SELVEDGE_OPT_REGISTRATION_H
