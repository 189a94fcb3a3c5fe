// What schedules of a program pin.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_TILE_SCHEDULEPINS_H
#define SELVEDGE_DIALECT_TILE_SCHEDULEPINS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include <map>
#include <string>

namespace selvedge::tile {

/// A number that the plan has to choose. Later pins replace earlier ones of the
/// same name.
struct SchedulePin {
  /// Empty: all kernels, or all targets.
  mlir::StringAttr kernel, target;
  /// A block size, or one of the names below.
  mlir::StringAttr name;
  int64_t value = 0;
};

/// Warps of a thread block; 0 roles; slots of rings, buffers of copies.
inline constexpr llvm::StringLiteral warpsPin = "warps", rolesPin = "roles",
                                     ringsPin = "rings", stagesPin = "stages";

/// Of a program: `tile.schedule = [{kernel = "main", name = "BM", target =
/// "sm_80", value = 64}]`.
inline constexpr llvm::StringLiteral scheduleAttribute = "tile.schedule";

/// Sets the attribute; without pins there is none.
void setSchedulePins(mlir::Operation *program,
                     llvm::ArrayRef<SchedulePin> pins);
llvm::SmallVector<SchedulePin> getSchedulePins(mlir::Operation *program);

/// The numbers that are pinned of a kernel for a target, by name; of an empty
/// kernel those of the program.
std::map<std::string, int64_t> pinsOf(mlir::Operation *program,
                                      llvm::StringRef kernel,
                                      llvm::StringRef target);

} // namespace selvedge::tile

#endif // SELVEDGE_DIALECT_TILE_SCHEDULEPINS_H
