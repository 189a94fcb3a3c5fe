// What no lane contributes to a reduction.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SAFETY_IDENTITIES_H
#define SELVEDGE_COMPILER_SAFETY_IDENTITIES_H

#include "dialect/Tile/Tile.h"

namespace selvedge::safety {

/// What a reduction over no lane gives: 0 (add), the least number of the
/// element type (max; -inf of floats), or the greatest (min).
mlir::TypedAttr identityOf(tile::Combine kind, mlir::Type element);

} // namespace selvedge::safety

#endif // SELVEDGE_COMPILER_SAFETY_IDENTITIES_H
