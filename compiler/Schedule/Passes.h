// Passes that decide how a kernel runs.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_PASSES_H
#define SELVEDGE_COMPILER_SCHEDULE_PASSES_H

#include "dialect/Sm/Sm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

namespace selvedge::schedule {

#define GEN_PASS_DECL
#include "compiler/Schedule/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Schedule/Passes.h.inc"

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_PASSES_H
