// Dims that each launch chooses.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_TILE_LAUNCHSIZES_H
#define SELVEDGE_DIALECT_TILE_LAUNCHSIZES_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Operation.h"

namespace selvedge::tile {

/// A dim in lo..hi, both inclusive, that no tensor of the caller has: each
/// launch chooses it. Results do not depend on it, but for rounding.
struct LaunchSize {
  llvm::StringRef name;
  int64_t lo = 1, hi = 1;
  /// From the op's dims, as symbols, to the most elements of each range that is
  /// split into so many parts.
  mlir::AffineMap parts;
};

inline constexpr llvm::StringLiteral launchSizesAttribute = "tile.launch_sizes";

/// Kept in that attribute of a program, and of its plan:
/// `[{name = "S", lo = 1, hi = 128, parts = affine_map<()[s0] -> (s0)>}]`.
void setLaunchSizes(mlir::Operation *programOrPlan,
                    llvm::ArrayRef<LaunchSize> sizes);
llvm::SmallVector<LaunchSize> getLaunchSizes(mlir::Operation *programOrPlan);

} // namespace selvedge::tile

#endif // SELVEDGE_DIALECT_TILE_LAUNCHSIZES_H
