// What the plan decided for a kernel, carried by the kernel's location.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_TILE_DECISIONS_H
#define SELVEDGE_DIALECT_TILE_DECISIONS_H

#include "dialect/Tile/Tile.h"

namespace selvedge::tile {

/// One choice of a pass that schedules. Nothing may depend on it but `explain`
/// and readers of `--locations`.
struct Decision {
  /// `tiles`, `roles`, `rings`, ...
  std::string what;
  /// What was chosen.
  std::string choice;
  /// Why, and why not otherwise.
  std::string why;
};

/// `loc` with `decision` after those that it has; one about the same thing is
/// replaced.
mlir::Location withDecision(mlir::Location loc, const Decision &decision);

/// Appends to what the location of `kernel` says.
void noteDecision(mlir::Operation *kernel, const Decision &decision);

/// The decisions of a location, in order.
llvm::SmallVector<Decision> decisionsOf(mlir::Location loc);

/// `loc` without its decisions.
mlir::Location withoutDecisions(mlir::Location loc);

} // namespace selvedge::tile

#endif // SELVEDGE_DIALECT_TILE_DECISIONS_H
