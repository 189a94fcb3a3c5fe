// What is decided of a kernel with warp roles before any of it is emitted.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_ROLES_ROLESCHEDULE_H
#define SELVEDGE_COMPILER_SCHEDULE_ROLES_ROLESCHEDULE_H

#include "compiler/Schedule/Loops/IndexLimit.h"
#include "compiler/Schedule/Plan/Plan.h"
#include "compiler/Schedule/Roles/WarpRoles.h"
#include "compiler/Schedule/Softmax/OnlineSoftmax.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace selvedge::schedule {

/// Bytes of a swizzled row.
constexpr int64_t panelBytes = 128;
constexpr int64_t panelCols = 64, warpsPerGroup = 4, threadsPerWarpgroup = 128;

/// Warps of the copying warpgroup after those that copy and order tiles: one
/// per warpgroup sends what it has staged.
constexpr int64_t firstSender = 2;

/// What of a thread block's shared memory is left to barriers and mailboxes:
/// those of an attention take up to 300 bytes.
constexpr int64_t barrierBytes = 512;
/// Shared memory for tiles.
constexpr int64_t maxTileBytes = 227 * 1024 - barrierBytes;

/// A type with the layout of one warpgroup.
mlir::Type typeOfWarpgroup(mlir::Type type);

/// `j - i <= most`: how far a column may lie ahead of a row.
struct AheadLimit {
  sm::RangeOp columns, rows;
  mlir::Value most;
};
std::optional<AheadLimit> matchAheadLimit(mlir::Value condition);

/// A comparison of numbers that all lanes share; null for others.
mlir::arith::CmpIOp comparesPlaces(mlir::Value condition);

/// `columns < scalar`, of which all rows have the same; null for others.
std::optional<IndexLimit> limitOfColumns(mlir::Value condition,
                                         mlir::StringAttr columns);

/// Whether it is a matter of a tile's first or last row, or of none, whether a
/// predicate is true for all of its rows.
bool isOfOuterRows(mlir::Value predicate);

/// Columns of the tile that a bulk store stores.
int64_t columnsOf(const BulkStore &store);

/// Which products lag, how deep rings are, in which order steps come: all that
/// emission follows. A function of the kernel in form seq and of its plan, or
/// what an attribute of the kernel says instead.
class RoleSchedule {
public:
  /// Decides: rings have at most `maxSlots` slots.
  RoleSchedule(sm::KernelOp source, RolePlan plan, int64_t maxSlots);
  /// What is `given`; where the kernel does not allow that `why` says so.
  RoleSchedule(sm::KernelOp source, RolePlan plan, int64_t maxSlots,
               sm::RoleScheduleAttr given, std::string &why);

  /// The decisions as data.
  sm::RoleScheduleAttr asAttr() const;

  sm::KernelOp source;
  /// What it leaves to lanes, or to the products themselves, is none of its
  /// bulk stores and additions.
  RolePlan plan;
  /// Most slots of a ring.
  int64_t maxSlots;

  /// How the loops run: each by itself, with a lagged product, or as one loop
  /// whose products stay in flight.
  sm::Overlap overlap = sm::Overlap::Apart;
  /// What it could be, and whether maxima could be speculated on: an attribute
  /// may ask for less.
  sm::Overlap possible = sm::Overlap::Apart;
  bool canSpeculate = false;
  bool lags() const { return overlap == sm::Overlap::Lagged; }
  /// Whether a tile may take its steps in any order.
  bool isOrderFree = false;
  /// The last product of resident operands beside those of the loops, if any.
  sm::MmaOp lastOutside;
  /// Per loop, the product that lags one step behind.
  llvm::DenseMap<mlir::Operation *, sm::MmaOp> lagged;
  /// Position of its result among the carried values.
  unsigned laggedResult = 0;
  /// Per loop, its softmax step if maxima are speculated on, and the type of
  /// each thread's part of the sum.
  llvm::DenseMap<mlir::Operation *, OnlineSoftmax> softmax;
  mlir::Type partialType;
  /// Whether a step multiplies across warpgroups what the one before staged,
  /// and warps of their own send the results. Else nothing is added in bulk.
  bool crossingsAreLate = false;
  /// Whether what steps read besides their products' operands fits in shared
  /// memory; where it does not there is no schedule, and `misfit` says so.
  bool isFit = false;
  static constexpr const char *misfit =
      "what its steps load does not fit in shared memory beside what they "
      "multiply";
  /// Slots of the rings of loops, and of the rings of tiles.
  int64_t stages = 2, residentStages = 1;
  /// Bytes of all rings and of the staged results.
  int64_t smemBytes = 0;
  /// The resident operand whose slots results are staged in, if there is one.
  std::optional<size_t> host;
  /// How many parts results are staged in.
  int64_t storeParts = 1;
  sm::StepOrder order = sm::StepOrder::Forward;

  // Buffers, in RoleScheduleBuffers.cpp.
  sm::BufferType slotType(const BulkCopy &copy) const;
  /// Bytes of one stage of a copy.
  int64_t stageBytes(const BulkCopy &copy) const;
  /// Slots of one stage of a copy.
  int64_t partsOf(const BulkCopy &copy) const {
    return copy.isPerWarpgroup ? plan.warpgroups : 1;
  }
  /// Whether copies of a step bring vectors.
  bool readsVectors() const;
  /// The copy of a step that its first product of a copied tile reads.
  size_t firstRead() const;
  /// Staging of a store: all columns of a warpgroup, or where they are cut into
  /// parts one panel of them; and how many such buffers there are.
  sm::BufferType storeType(const BulkStore &store) const;
  int64_t storeSlots(const BulkStore &store) const;
  bool interleavesRows(const RoleCrossing &crossing) const;
  sm::BufferType crossedType(const RoleCrossing &crossing) const;
  llvm::ArrayRef<RoleCrossing> firstCrossings() const;
  /// Bytes of what all warpgroups stage in a step.
  int64_t crossedBytes() const;
  llvm::ArrayRef<BulkAdd> firstAdds() const;
  const BulkAdd *addOf(mlir::Operation *store) const;
  sm::BufferType addType(const BulkAdd &add) const;
  int64_t addBytes() const;
  /// The copies of the first loop's steps: those of all loops are alike.
  llvm::ArrayRef<BulkCopy> firstCopies() const {
    return plan.streamed.find(plan.loops.front())->second;
  }

  // Products, in RoleScheduleProducts.cpp.
  /// The streamed copy that a product reads.
  std::optional<size_t> streamedBy(mlir::scf::ForOp loop, sm::MmaOp mma) const;
  /// The operand of a loop's lagged product that its step computes.
  mlir::Value laggedOperand(mlir::scf::ForOp loop) const;

  // Steps and turns, in RoleScheduleSteps.cpp.
  /// Whether a tile's last product runs beside the next tile's first ones, and
  /// whether it could with the slots that there are.
  bool isPipelined() const { return pipelines; }
  bool canPipeline() const;
  /// Whether the steps of a tile are taken from the last to the first: those
  /// that are masked come first, where maxima are not speculated on anyway.
  bool isBackward() const { return order == sm::StepOrder::Backward; }
  /// Whether the further steps of a tile are those of one loop, which masks
  /// scores in a branch: two loops with the same masks around one without.
  bool joinsLoops() const { return joins; }
  /// Whether the steps of a loop mask scores in a branch: those of a single
  /// loop, where only memory says where they begin, and each finds out whether
  /// it is cut; and those of which all conditions are the same for all lanes,
  /// as a page's number has them.
  bool masksInBranch(mlir::scf::ForOp loop) const;
  /// Whether a step's scores are more than a multiple of a product.
  bool changesScores(mlir::scf::ForOp loop) const;
  /// Whether ptxas would begin with such arithmetic while the turn is still to
  /// be passed, and await the lagging product ahead of it. In three loops it
  /// does neither.
  bool isLongBehindTurn(mlir::scf::ForOp loop) const {
    return joinsLoops() && changesScores(loop);
  }
  /// Steps whose columns all lie behind what the rows of a warpgroup may see
  /// are idle: it only releases their tiles.
  bool hasIdleSteps() const { return order == sm::StepOrder::Idle; }
  /// Whether what the rows of a tile see ends one after the other.
  bool endsByRow() const;
  std::optional<AheadLimit> endOfRows(mlir::Value condition) const;
  /// Steps of the last loop of which the rows of a warpgroup see every column
  /// are taken as those of the loop before it.
  llvm::SmallVector<mlir::Value> columnLimits() const;
  mlir::scf::ForOp loopOfWhole() const;
  bool isCleared(const BulkCopy &copy, bool inFirst) const;
  bool comesWithTurn(mlir::scf::ForOp loop, size_t ring, bool inFirst) const;
  /// Warpgroups start their products in turn, so that one computes while the
  /// other multiplies.
  bool hasTurns() const { return plan.warpgroups > 1 && (!lags() || inTurn); }
  bool takesTurns() const { return inTurn; }
  bool multipliesInTurn(mlir::scf::ForOp loop) const {
    return inTurn && gainsByTurns(loop);
  }

  /// Registers per thread of the roles: together those that the block was
  /// launched with.
  int64_t copyRegisters() const {
    return plan.warpgroups > 2 ? 32 : givesRegisters() ? 40 : 24;
  }
  int64_t multiplyRegisters() const {
    return productRegisters(plan.warpgroups) - (givesRegisters() ? 8 : 0);
  }

private:
  bool joins = false, pipelines = false, inTurn = false;

  void findForm();
  /// What of the kernel's steps and tiles a schedule may say.
  bool canJoin() const;
  bool hasSameMasks() const;
  bool canTakeTurns() const;
  bool gainsByTurns(mlir::scf::ForOp loop) const;
  int64_t mostIdleSteps() const;
  int64_t slotsForIdleSteps() const;
  void stopSpeculating();
  std::string follow(sm::RoleScheduleAttr given);
  /// Bytes of all rings and of the staged results.
  int64_t bytesTaken() const;
  /// Loops in which one product waits for values computed from the others.
  bool findLaggedProducts();
  bool hasSameProducts(mlir::scf::ForOp loop) const;
  mlir::Value sharedOperand(mlir::scf::ForOp loop, mlir::Value operand) const;
  /// Loops whose steps only add products of copied tiles to what they carry:
  /// nothing in them depends on a result.
  bool findPlainProducts();
  bool findSoftmax();
  bool findLateCrossings() const;
  /// Whether all that the loops' steps do is to add to one softmax and its
  /// sums: their order then does not matter, and a step without a score
  /// changes nothing.
  bool findOrderFree() const;
  bool hasColumnLimits(mlir::scf::ForOp loop) const;
  bool fitsReads() const;
  /// Slots of all rings.
  void chooseSlots();
  /// Cuts staged results so that they fit `bytes`, or gives bulk stores up; the
  /// bytes that they take.
  int64_t chooseStoreParts(int64_t bytes);
  /// Whether results can be staged in the slots of a resident operand, of which
  /// each warpgroup reads its own part alone: the next tile's operands then
  /// have the place that staged results would take.
  bool findHost();
  /// Results that do not fit in shared memory are stored lane by lane.
  void leaveStores();
  /// Bounds of many loops take more registers where they are copied, and so do
  /// tiles of kernels with rare branches, as ptxas has it. Where products cross
  /// warpgroups eight registers less spill in each step, and cost more than
  /// what copying warps spill per tile.
  bool givesRegisters() const;
};

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_ROLES_ROLESCHEDULE_H
