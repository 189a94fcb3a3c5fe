// Splits the work of a kernel over a copying thread and warpgroups that
// multiply.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_ROLES_WARPROLES_H
#define SELVEDGE_COMPILER_SCHEDULE_ROLES_WARPROLES_H

#include "compiler/Schedule/Loops/TileLength.h"
#include "dialect/Sm/Sm.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

namespace selvedge::schedule {

/// Rows of a warpgroup's accumulator.
constexpr int64_t warpgroupRows = 64;

/// A copy of form seq that the hardware can do in bulk.
struct BulkCopy {
  sm::CopyOp copy;
  /// First index per dimension of the tensor: the scalar, or the range's start;
  /// null for 0.
  llvm::SmallVector<mlir::Value> starts;
  /// Extents of the box, per dimension of the tensor.
  llvm::SmallVector<int64_t> box;
  /// Predicates on the buffer's rows, or on a vector's columns, that are no
  /// bound of the tensor; a bulk copy does not know them: what is absent has to
  /// be cleared, or may hold anything where each only becomes what is masked.
  llvm::SmallVector<mlir::Value, 0> rowPredicates, garbagePredicates;
  /// Each warpgroup has a part of its own: rows of the buffer, or columns.
  bool isPerWarpgroup = false, hasOwnColumns = false;
  /// Lanes read it, and no product.
  bool isRead = false;

  /// Whether it brings columns alone, which come and go with a tile.
  bool isVector() const {
    return sm::CopyOp(copy).getBuffer().getType().isVector();
  }
  /// Places of the predicates that are bounds of the tensor.
  llvm::SmallVector<unsigned, 0> extents{};
  /// Dimensions of the tensor that the buffer's rows are, and that warpgroups
  /// divide.
  size_t rowDimension = 0, partDimension = 0;
  /// Where rows are pairs of two dimensions; its outer one is `rowDimension`.
  sm::PairsAttr pairs = {};
  /// Per dimension of the tensor, what is added to the first index; null for
  /// nothing.
  llvm::SmallVector<mlir::Value, 0> shifts{};
};

/// A store of form seq that the hardware can do in bulk: every predicate is a
/// bound of the tensor, beyond which bulk stores write nothing, or holds for
/// whole tiles.
struct BulkStore {
  sm::StoreOp store;
  /// As for copies.
  llvm::SmallVector<mlir::Value> starts;
  llvm::SmallVector<int64_t> box;
  mlir::StringAttr colAxis;
  size_t rowDimension = 0;
  /// As for copies.
  sm::PairsAttr pairs = {};
  /// Run-time extent of the tensor's rows: unless it is a multiple of the words
  /// that bulk stores write, lanes store. Null where it is known to be one.
  mlir::Value rowExtent = {};
  /// Predicates that say where rows end inside of the tensor, or whether the
  /// tile exists: one that is not whole lanes store.
  llvm::SmallVector<mlir::Value, 0> conditions{};
  /// Places of the predicates that are bounds of the tensor.
  llvm::SmallVector<unsigned, 0> extents{};

  /// Whether lanes store where the hardware cannot.
  bool hasLanes() const { return rowExtent || !conditions.empty(); }
};

/// Elements of 16 bits in a word that bulk stores write.
constexpr int64_t bulkWordElements = 8;

/// A product in a loop whose rows are not those of the warpgroups' tiles: each
/// warpgroup stages what it has of the first operand, and all multiply with all
/// of it. Either each has 64 of its rows, or all rows and a panel of columns.
struct RoleCrossing {
  sm::MmaOp product;
  /// Brings the first operand to shared memory; its source has the rows of the
  /// warpgroups' tiles, which are summed over.
  sm::StageOp stage;
  /// The other operand: a tile outside of loops with a part per warpgroup.
  mlir::Value resident;
  /// Axis of the result's rows, and how many warpgroups share them.
  mlir::StringAttr rowAxis;
  int64_t rowParts = 1;
};

/// What a step adds to a tensor, in bulk: a crossing's result, of which each
/// warpgroup has a box. Every predicate is a bound of the tensor, or says which
/// rows there are: others are made zero, which adds nothing.
struct BulkAdd {
  sm::StoreOp store;
  llvm::SmallVector<mlir::Value> starts;
  llvm::SmallVector<int64_t> box;
  size_t rowDimension = 0;
  /// Places of the predicates that are bounds of the tensor, and of those that
  /// hold for whole tiles: nothing is sent where one does not.
  llvm::SmallVector<unsigned, 0> extents{}, conditions{};
  /// The others.
  llvm::SmallVector<mlir::Value, 0> rowPredicates{};
};

/// What a kernel in form seq needs to run with roles.
struct RolePlan {
  /// Warpgroups of 64 rows.
  int64_t warpgroups = 0;
  /// Axis whose rows the warpgroups share.
  mlir::StringAttr rowAxis;
  /// Copies outside of loops; read by products in any loop.
  llvm::SmallVector<BulkCopy> resident;
  /// Loops in order, each with the same copies, or with those of other tensors.
  llvm::SmallVector<mlir::scf::ForOp> loops;
  bool hasSeveralSources = false;
  /// The outermost loop around them; null where they are those of a tile.
  mlir::scf::ForOp nest;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<BulkCopy>> streamed;
  /// Per loop, the same in each.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<RoleCrossing>> crossings;
  /// Per loop, what its steps add in bulk; the same in each.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<BulkAdd, 1>> adds;
  /// Stores of one tile per warpgroup, outside of loops.
  llvm::SmallVector<BulkStore> stores;
  /// The other stores, and why no bulk store does their work.
  llvm::SmallVector<std::pair<sm::StoreOp, std::string>> laneStores;
  /// Tiles of equal length go to fixed thread blocks, others to whoever is
  /// free.
  TileLength length = TileLength::Equal;
  /// Rows of tiles are pairs, and there are many of them.
  bool takesPairsFirst = false;

  /// A launch that chooses a number of parts has few rows, and so has a packed
  /// version: their order would cost more than it gives.
  void expectFewRows() {
    takesPairsFirst = false;
    if (length == TileLength::GrowsAcross)
      length = TileLength::Varies;
  }

  /// Whether tiles of a segment differ in length by their place in it.
  bool isLengthOfSegments() const {
    return length == TileLength::GrowsInSegments ||
           length == TileLength::ShrinksInSegments;
  }

  /// The crossing that a product, or what stages its operand, is part of; null
  /// for none.
  const RoleCrossing *crossingOf(mlir::Operation *op) const;
  bool hasCrossings() const;

  /// Dims whose indices share rows with another: each must divide the rows of a
  /// warpgroup.
  llvm::SmallVector<mlir::StringAttr> pairDims() const;
};

/// The crossing that `product` is, in a kernel whose warpgroups have rows along
/// `rowAxis`; none, and why, where it is no such one.
std::optional<RoleCrossing> matchCrossing(sm::MmaOp product,
                                          mlir::StringAttr rowAxis,
                                          int64_t warpgroups, std::string &why);

/// The range that an index is, and the scalar by which it is shifted; null for
/// none.
std::pair<sm::RangeOp, mlir::Value> shiftedRange(mlir::Value index);

/// Whether a box whose first column is `start`, or lies `shift` behind it if
/// that is not null, begins at a word of 16 bytes.
bool beginsAtWord(mlir::Value start, mlir::Value shift, mlir::Type element);

/// Whether each element of a tile is one warpgroup's, so that it is added once.
bool isOfOneWarpgroup(mlir::Type tile);

/// Whether all that a loop does is to compute indices, from memory too: the
/// segment that a tile belongs to, for one.
bool computesIndices(mlir::scf::ForOp loop);

/// The plan of a kernel of form seq; none where it does not fit: `why` says so.
std::optional<RolePlan> planRoles(sm::KernelOp kernel, mlir::ArrayAttr tensors,
                                  mlir::ArrayAttr dims, std::string &why);

/// The same of a kernel that a variant launches.
std::optional<RolePlan> planRoles(sm::VariantOp variant, sm::KernelOp kernel,
                                  std::string &why);

/// Emits the kernel in form roles as its schedule says, beside itself, and
/// returns the new one, whose name ends in `_bulk`. `launch` launches the
/// kernel; explanations say that rings have at most `maxSlots` slots. Where the
/// schedule is none for the kernel, or some operation has no place in the form,
/// it fails, with an error, and leaves everything as it is.
mlir::FailureOr<sm::KernelOp> emitRoles(sm::KernelOp kernel,
                                        sm::LaunchOp launch,
                                        const RolePlan &plan, int64_t maxSlots);

/// Erases a variant with its kernels.
void eraseVariant(sm::VariantOp variant);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_ROLES_WARPROLES_H
