// Steps that do nothing where a compare is false.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_LOOPS_IDLEWITHOUT_H
#define SELVEDGE_COMPILER_SCHEDULE_LOOPS_IDLEWITHOUT_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::schedule {

/// Whether every carried value keeps its value in a step in which `compare` is
/// false everywhere, and nothing is stored, and nothing but 0 added.
bool isIdleWithout(mlir::scf::ForOp loop, mlir::Value compare);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_LOOPS_IDLEWITHOUT_H
