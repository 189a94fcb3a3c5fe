// Whether a store writes every element of its tensor.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SAFETY_STORECOVERAGE_H
#define SELVEDGE_COMPILER_SAFETY_STORECOVERAGE_H

#include "dialect/Tile/Tile.h"

#include <optional>
#include <string>

namespace selvedge::safety {

/// Why `store` does not provably write every element of its tensor, or nothing
/// if it does.
std::optional<std::string> coverageGap(tile::StoreOp store);

} // namespace selvedge::safety

#endif // SELVEDGE_COMPILER_SAFETY_STORECOVERAGE_H
