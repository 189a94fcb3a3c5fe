// Steps of a loop that have no lanes.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_REFERENCE_IDLESTEPS_H
#define SELVEDGE_COMPILER_REFERENCE_IDLESTEPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace selvedge::reference {

/// The index from which on steps of `loop` find no lane of what they store, sum
/// or multiply, or of what they load where they go number by number: what they
/// carry does not depend on which step it is. None where some operation has
/// lanes in every step. `numberOf` is what a scalar of the loop's surroundings
/// is.
std::optional<int64_t>
idleFrom(mlir::scf::ForOp loop,
         llvm::function_ref<int64_t(mlir::Value)> numberOf);

} // namespace selvedge::reference

#endif // SELVEDGE_COMPILER_REFERENCE_IDLESTEPS_H
