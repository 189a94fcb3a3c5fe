// What an execution need not find out again.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_PHYSICAL_MEMO_H
#define SELVEDGE_COMPILER_PHYSICAL_MEMO_H

#include "compiler/Physical/SharedMemory.h"

#include "llvm/ADT/DenseMap.h"

namespace selvedge::physical {

/// What the operations of a kernel have given, and what their types say.
/// Thread blocks of a launch share it: most tiles of indices and predicates are
/// the same in all of them.
class Memo {
public:
  struct Entry {
    /// Axes and extents of the result.
    reference::TileShape shape;
    /// Whether the result depends on the operands alone.
    bool isPure = false;
    llvm::SmallVector<reference::TileRef, 3> operands;
    reference::TileRef result;

    /// Whether `now` are the operands that `result` was made of.
    bool holds(llvm::ArrayRef<reference::TileRef> now) const;
  };

  /// The entry of an operation with one result.
  Entry &of(mlir::Operation *op);
  /// State of the lanes of an access (reference::conjunction).
  const std::vector<uint8_t> &presence(mlir::Operation *access,
                                       llvm::ArrayRef<reference::TileRef> now,
                                       const reference::TileShape &shape);
  /// The lanes of its buffer that a copy writes; `find` finds them the first
  /// time.
  const LaneMask &lanesOf(mlir::Operation *copy,
                          llvm::function_ref<LaneMask()> find);

private:
  struct Presence {
    llvm::SmallVector<reference::TileRef, 3> predicates;
    std::vector<uint8_t> lanes;
  };
  llvm::DenseMap<mlir::Operation *, Entry> entries;
  llvm::DenseMap<mlir::Operation *, Presence> presences;
  llvm::DenseMap<mlir::Operation *, LaneMask> lanes;
};

} // namespace selvedge::physical

#endif // SELVEDGE_COMPILER_PHYSICAL_MEMO_H
