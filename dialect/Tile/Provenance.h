// Why a safety operation exists, carried by its location.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_TILE_PROVENANCE_H
#define SELVEDGE_DIALECT_TILE_PROVENANCE_H

#include "dialect/Tile/Tile.h"

#include "llvm/ADT/StringMap.h"

#include <optional>

namespace selvedge::tile {

/// What a safety pass says about an operation that it inserted or relies on.
/// It travels as the metadata of a FusedLoc: nothing may depend on it but
/// `explain` and readers of `--locations`.
struct SafetyNote {
  /// Unique in the program: KERNEL.KIND and a number.
  std::string id;
  /// `load`, `mask`, `guard`, `store` or `init`.
  std::string kind;
  /// What is made safe: a tensor, "scores", "left operand".
  std::string subject;
  /// The consumer that demanded it, or the case that it guards against.
  std::string reason;
  /// Positions, in the list of predicates that the operation began with, of
  /// those that a pass proved and dropped.
  llvm::SmallVector<int64_t> proved{};
  /// Those of them that hold by the bounds of a loop's part.
  llvm::SmallVector<int64_t> byLoop{};
  /// Those of them that hold wherever another predicate does.
  llvm::SmallVector<int64_t> byPredicate{};
  /// Positions of predicates that a tensor map tests: they bound an index by
  /// the extent of the tensor.
  llvm::SmallVector<int64_t> byExtent{};
  /// Positions of predicates that are not tested, as what becomes of the lanes
  /// is removed later.
  llvm::SmallVector<int64_t> untested{};
};

/// `loc` with `note` in place of any other one; `consumer`, if any, follows the
/// operation's own place.
mlir::Location withNote(mlir::Location loc, const SafetyNote &note,
                        std::optional<mlir::Location> consumer = {});

/// The note of an operation's location.
std::optional<SafetyNote> noteOf(mlir::Location loc);

/// The consumer given to withNote().
std::optional<mlir::Location> consumerOf(mlir::Location loc);

/// `loc` without its note.
mlir::Location withoutNote(mlir::Location loc);

/// Why a predicate need not be tested.
enum class Proof { ByLanes, ByLoop, ByPredicate };

/// Adds the predicate at `position` of those that `op` has now to its proved
/// ones; does nothing for an operation without a note.
void noteProved(mlir::Operation *op, unsigned position, Proof proof);

/// `loc`, whose note says that a tensor map tests the predicates at `positions`
/// of those that the operation has now.
mlir::Location withExtents(mlir::Location loc,
                           llvm::ArrayRef<unsigned> positions);

/// Numbers the notes of one pass.
class NoteIds {
public:
  /// The next id of `kind` in the kernel around `op`.
  std::string next(mlir::Operation *op, llvm::StringRef kind);

private:
  llvm::StringMap<unsigned> counts;
};

} // namespace selvedge::tile

#endif // SELVEDGE_DIALECT_TILE_PROVENANCE_H
