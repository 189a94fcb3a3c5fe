// Shared memory of a thread block, in the worst order that is allowed.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_PHYSICAL_SHAREDMEMORY_H
#define SELVEDGE_COMPILER_PHYSICAL_SHAREDMEMORY_H

#include "compiler/Physical/Poison.h"
#include "dialect/Sm/Sm.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Error.h"

namespace selvedge::physical {

/// Lanes of a buffer; empty: all of them.
using LaneMask = std::vector<uint8_t>;

/// Stages of rings that an early warp writes while a late one may still read
/// them: by the number of barriers before, the ring and the stage.
using EarlyWrites =
    llvm::DenseMap<std::tuple<int64_t, mlir::Value, int64_t>, LaneMask>;

/// Buffers as they look to a warp that comes late where others write, and that
/// is not the one whose own part of a copy it reads: a write destroys what was
/// there when it is issued, for readers since the barrier before too, and shows
/// behind the first barrier after its await. In between the lanes are poison.
///
/// Who reads before such a write in program order has been served when it is
/// issued: `early` collects these writes, and the block has to run again.
class SharedMemory {
public:
  SharedMemory(PoisonSource &poison, EarlyWrites &early)
      : poison(poison), early(early) {}

  /// Gives every stage of a ring undefined contents.
  void allocate(sm::AllocOp op);
  /// Lets the operation's result name a stage. Fails past the last one.
  llvm::Error name(sm::SlotOp op, int64_t stage);

  /// What a warp may find in a buffer.
  reference::TileRef read(mlir::Value buffer);
  /// Writes at once, seen by all: the copies of form `seq`.
  void write(mlir::Value buffer, const reference::TileRef &data,
             const LaneMask &lanes);
  /// Threads store to a buffer.
  void stage(mlir::Value buffer, reference::TileRef data);
  /// An asynchronous copy begins.
  void issue(mlir::Value buffer, reference::TileRef data, LaneMask lanes);
  /// All copies but the last `pending` complete.
  void await(int64_t pending);
  /// All warps meet.
  void barrier();
  /// Warps write their parts to `scratch`, meet, and read those of the others:
  /// whether they find them.
  bool exchange(mlir::Value scratch);

  /// Whether a copy has not been awaited.
  bool isCopying() const;
  /// Whether `early` has more than it had before.
  bool hasNewEarlyWrites() const { return isNews; }

private:
  struct Slot {
    reference::TileRef contents;
    /// Barriers before the last read; -1 for none.
    int64_t readAt = -1;
  };
  using SlotId = std::pair<mlir::Value, int64_t>;
  struct Write {
    SlotId slot;
    reference::TileRef data;
    LaneMask lanes;
    bool isAwaited;
  };

  /// The stage that a buffer is.
  SlotId idOf(mlir::Value buffer) const;
  void begin(mlir::Value buffer, reference::TileRef data, LaneMask lanes,
             bool isAwaited);
  void noteEarly(SlotId slot, const LaneMask &lanes);
  reference::TileRef poisoned(SlotId slot);

  PoisonSource &poison;
  EarlyWrites &early;
  llvm::DenseMap<SlotId, Slot> slots;
  llvm::DenseMap<mlir::Value, SlotId> names;
  /// Writes that do not show yet, in the order of their issue.
  std::vector<Write> underWay;
  int64_t barriers = 0;
  bool isNews = false;
};

} // namespace selvedge::physical

#endif // SELVEDGE_COMPILER_PHYSICAL_SHAREDMEMORY_H
