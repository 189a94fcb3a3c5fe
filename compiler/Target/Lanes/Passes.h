// Passes to the code of one thread, of all targets.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_TARGET_LANES_PASSES_H
#define SELVEDGE_COMPILER_TARGET_LANES_PASSES_H

#include "dialect/Sm/Sm.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace selvedge::lanes {

#define GEN_PASS_DECL
#include "compiler/Target/Lanes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Target/Lanes/Passes.h.inc"

} // namespace selvedge::lanes

#endif // SELVEDGE_COMPILER_TARGET_LANES_PASSES_H
