// Equality of predicates by structure.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SAFETY_PREDICATES_H
#define SELVEDGE_COMPILER_SAFETY_PREDICATES_H

#include "dialect/Tile/Tile.h"

namespace selvedge::safety {

/// Whether two values are the same expression of pure operations, broadcasts
/// and splats aside.
bool sameExpression(mlir::Value a, mlir::Value b);

/// Whether `condition` is `predicate` or a conjunction that contains it.
bool implies(mlir::Value condition, mlir::Value predicate);

} // namespace selvedge::safety

#endif // SELVEDGE_COMPILER_SAFETY_PREDICATES_H
