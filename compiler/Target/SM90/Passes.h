// Passes of the SM90 target.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_TARGET_SM90_PASSES_H
#define SELVEDGE_COMPILER_TARGET_SM90_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace selvedge::sm90 {

#define GEN_PASS_DECL
#include "compiler/Target/SM90/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Target/SM90/Passes.h.inc"

} // namespace selvedge::sm90

#endif // SELVEDGE_COMPILER_TARGET_SM90_PASSES_H
