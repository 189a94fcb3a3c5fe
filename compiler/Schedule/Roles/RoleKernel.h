// State of the emission of a kernel with warp roles.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_ROLES_ROLEKERNEL_H
#define SELVEDGE_COMPILER_SCHEDULE_ROLES_ROLEKERNEL_H

#include "compiler/Schedule/Roles/RoleSchedule.h"
#include "dialect/Tile/Decisions.h"

#include "mlir/IR/IRMapping.h"

namespace selvedge::schedule {

/// Named barriers, of which there are 16: 0 is that of the block, then one for
/// rows to be cleared, one per warpgroup for its turn, and one per warpgroup
/// for the tile that it stores.
constexpr int64_t clearBarrier = 1, turnBarrier = 2;

/// The tile's columns along `axis` as far as one panel of so many goes.
mlir::Type panelOf(mlir::Type type, mlir::StringAttr axis,
                   int64_t cols = panelCols);

/// Emits the kernel as its schedule says.
class RoleKernel {
public:
  RoleKernel(sm::KernelOp source, sm::LaunchOp launch, RoleSchedule schedule)
      : source(source), launch(launch), schedule(std::move(schedule)),
        b(source), loc(tile::withoutDecisions(source.getLoc())) {}

  /// Fails, with an error, where some operation has no place in the form.
  mlir::FailureOr<sm::KernelOp> run();

private:
  /// By how much ranges along some axes start later.
  using Shifts = llvm::SmallVector<std::pair<mlir::StringAttr, mlir::Value>, 2>;
  mlir::LogicalResult emit();
  int64_t bytesOfBarriers();
  /// Slots of one copy and the barriers around them.
  struct Ring {
    mlir::Value buffer, full, empty;
    sm::BufferType slot;
    int64_t depth = 0;
    /// Bytes of a stage that its barriers are for; none where they are those of
    /// another ring, which is awaited and released with this one.
    int64_t guarded = 0;
  };

  mlir::Value i32(int64_t v) {
    return mlir::arith::ConstantIntOp::create(b, loc, v, 32);
  }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return mlir::arith::AddIOp::create(b, loc, x, y);
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) {
    return mlir::arith::SubIOp::create(b, loc, x, y);
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) {
    return mlir::arith::MulIOp::create(b, loc, x, y);
  }
  /// Of values that are not negative.
  mlir::Value div(mlir::Value x, mlir::Value y) {
    return mlir::arith::DivUIOp::create(b, loc, x, y);
  }
  mlir::Value least(mlir::Value x, mlir::Value y) {
    return mlir::arith::MinSIOp::create(b, loc, x, y);
  }
  mlir::Value most(mlir::Value x, mlir::Value y) {
    return mlir::arith::MaxSIOp::create(b, loc, x, y);
  }
  mlir::Value negated(mlir::Value condition) {
    return mlir::arith::XOrIOp::create(
        b, loc, condition, mlir::arith::ConstantIntOp::create(b, loc, 1, 1));
  }
  /// Place in a ring: the slot, and the parity of its barriers' phase.
  struct Cursor {
    mlir::Value stage, parity;
  };
  /// Says in the new kernel's location what was decided, and why.
  void noteDecisions();
  std::string storeWords();
  std::string orderWords();
  tile::Decision stepDecision() const;
  tile::Decision tileDecision() const;
  std::string ringWords();
  /// How far the ranges of warpgroups that follow each other lie apart; 0 where
  /// all have the same.
  int64_t warpgroupStride(sm::RangeOp range) const;
  /// First row of this warpgroup in its tile.
  mlir::Value warpgroupRow() {
    return mlir::arith::MulIOp::create(b, loc, warpgroup, i32(warpgroupRows));
  }
  void releaseHost(Cursor tile);
  void meetInWarpgroup();
  mlir::LogicalResult emitStore(BulkStore &store, mlir::IRMapping &mapping);
  mlir::Value isInBulk(BulkStore &store, mlir::IRMapping &mapping);
  mlir::LogicalResult emitBulkStore(BulkStore &store, mlir::IRMapping &mapping);
  /// Operations that only stores need and that are emitted there.
  void findDeferred();
  mlir::Value unlessNoRow(mlir::Operation *op);
  /// Maps `value` in `part` to the panel of `cols` of its columns, along
  /// `axis`, that starts at `from`; what has no columns is the same in `whole`.
  mlir::LogicalResult emitPart(mlir::Value value, mlir::StringAttr axis,
                               int64_t from, int64_t cols,
                               mlir::IRMapping &whole, mlir::IRMapping &part);
  void addArguments();
  /// The tensor map of a tensor with such a box, and that of a copy.
  sm::TensorMapArgAttr mapArgument(mlir::Value tensor,
                                   llvm::ArrayRef<int64_t> box,
                                   sm::PairsAttr pairs = {},
                                   int64_t swizzle = 7);
  sm::TensorMapArgAttr mapArgument(BulkCopy &copy);
  /// Sets `tiles` and `tilesInRow`.
  void countTiles();
  /// Whether steps bring all operands: tiles side by side then share them.
  bool sharesOperands() const {
    return tileCounts.size() > 1 && plan.resident.empty();
  }
  /// The tile that comes `number`-th where neighbours share operands.
  mlir::Value orderTile(mlir::Value number);
  /// Whether tiles are numbered along the axis of their rows first, which are
  /// pairs: tiles side by side read the same keys. In the grid it is the
  /// slowest one.
  bool takesPairsFirst() const {
    return tileCounts.size() > 1 && plan.takesPairsFirst;
  }
  /// Whether tiles grow along that axis, or along the fastest one.
  bool growsInRow() const {
    return plan.length == TileLength::Grows ||
           plan.length == TileLength::GrowsAcross ||
           plan.length == TileLength::GrowsInSegments;
  }
  /// Has the source's block be the one of a tile.
  void mapTile(mlir::Value tile, mlir::IRMapping &mapping);
  void findCoordinates();
  void findSearched(const llvm::SmallPtrSetImpl<mlir::Operation *> &parts);
  void leaveOutSearched();
  void awaitFreeMail(Cursor at);
  void post(mlir::ValueRange words, Cursor &mail);
  llvm::SmallVector<mlir::Value> wordsOf(mlir::IRMapping &mapping);
  std::optional<IndexLimit> findStoredRows();
  Cursor postEveryNth(Cursor mail);
  Cursor postOnDemand(Cursor mail);
  void emitOrder();
  /// A tile's place, or none where the first word is negative, and where the
  /// one after it will be found.
  struct Mail {
    llvm::SmallVector<mlir::Value> words;
    Cursor next;
  };
  Mail receiveTile(Cursor at, bool isSingle);
  llvm::SmallVector<mlir::Value> pack(const Mail &mail);
  Mail unpackMail(mlir::ValueRange values);
  mlir::LogicalResult takeTiles(
      bool isSingle, llvm::MutableArrayRef<mlir::Value> carried,
      llvm::function_ref<mlir::LogicalResult(mlir::ValueRange, Mail &)> body);
  /// In which order tiles are handed out; without rows by their numbers.
  struct TileOrder {
    /// Rows of tiles, rows per section, tiles of a row in its two parts, if it
    /// has two.
    mlir::Value rows, section, light = {}, heavy = {};
  };
  TileOrder planOrder();
  TileOrder planOrderOfSegments();
  mlir::Value nthTile(const TileOrder &order, mlir::Value n);
  void allocateMail();
  /// Tiles on their way to the other roles. Those that are handed out at run
  /// time are asked for as late as possible: whoever has one keeps it.
  int64_t mailStages() const {
    return plan.length == TileLength::Equal ? 2 : 1;
  }
  /// The copy of a step, of the tile at `place`, that is still to be made if
  /// `exists`.
  struct LaggedCopy {
    mlir::Value exists;
    llvm::SmallVector<mlir::Value> place;
    mlir::Value index;
    Cursor at;
  };
  llvm::SmallVector<mlir::Value> pack(const LaggedCopy &copy);
  LaggedCopy unpackCopy(mlir::ValueRange values);
  std::optional<size_t> laggedCopy();
  void emitStepCopies(mlir::scf::ForOp loop, mlir::Value index, Cursor at,
                      bool isLagged, mlir::IRMapping mapping);
  void emitLaggedCopy(const LaggedCopy &pending);
  /// What a role does in the step of a loop that begins at an index.
  using StepEmitter = llvm::function_ref<void(mlir::scf::ForOp, mlir::Value,
                                              Cursor, mlir::IRMapping &)>;
  /// The steps of a tile, in order.
  void emitEachStep(Cursor &step, mlir::IRMapping &mapping,
                    StepEmitter emitStep);
  void emitStepsOf(mlir::scf::ForOp loop, Cursor &step,
                   mlir::IRMapping &mapping, StepEmitter emitStep);
  void emitNestSteps(mlir::scf::ForOp nest, Cursor &step,
                     const mlir::IRMapping &mapping, StepEmitter emitStep);
  void emitLaggingSteps(mlir::ValueRange place, Cursor &step,
                        llvm::MutableArrayRef<mlir::Value> carried,
                        mlir::IRMapping &mapping);
  void emitTileCopies(mlir::ValueRange place,
                      llvm::MutableArrayRef<mlir::Value> carried,
                      size_t cursors, Mail &mail);
  mlir::LogicalResult emitTiles();
  mlir::LogicalResult emitLoops(mlir::IRMapping &mapping, Cursor &step,
                                Mail &mail, llvm::function_ref<void()> release);
  void awaitResident(Cursor tile, mlir::IRMapping &mapping);
  void releaseResident(Cursor tile);
  /// The loops of a tile one behind the other.
  llvm::ArrayRef<mlir::scf::ForOp> outerLoops() const {
    return plan.nest ? llvm::ArrayRef(plan.nest) : llvm::ArrayRef(plan.loops);
  }
  void findSections();
  /// The operations of a tile outside of loops that stand behind so many of
  /// these. `await` comes before each product there, `release` behind the last
  /// one.
  using BeforeProduct = llvm::function_ref<void(mlir::IRMapping &)>;
  static void awaitNothing(mlir::IRMapping &) {}
  mlir::LogicalResult emitOutside(
      size_t section, mlir::IRMapping &mapping,
      BeforeProduct await = awaitNothing,
      llvm::function_ref<void()> release = [] {});
  /// The operations before the loops of a tile, which lies at `place`.
  mlir::FailureOr<mlir::IRMapping>
  mappingOf(mlir::ValueRange place, BeforeProduct await = awaitNothing);
  Ring makeRing(BulkCopy &copy, int64_t depth);
  mlir::Value addBarrier(int64_t arrivals, int64_t depth) {
    return sm::MBarrierOp::create(
        b, loc, sm::MBarrierType::get(b.getContext(), arrivals, depth));
  }
  void allocate();
  /// A scalar of the source, recomputed at the insertion point.
  mlir::Value scalar(mlir::Value v, mlir::IRMapping &mapping);
  void load(BulkCopy &copy, const Ring &ring, Cursor at,
            mlir::IRMapping &mapping);
  void emitCopies();
  mlir::LogicalResult emitProducts();
  mlir::LogicalResult emitLoop(mlir::scf::ForOp loop, mlir::IRMapping &mapping,
                               Cursor &step);
  mlir::LogicalResult emitNest(mlir::scf::ForOp nest, mlir::IRMapping &mapping,
                               Cursor &step);
  class StepProducts;
  /// Per load of a vector, what lanes have of it (loadSpread).
  using Vectors = llvm::DenseMap<mlir::Operation *, mlir::Value>;
  mlir::LogicalResult emitStepOp(mlir::Operation &op, StepProducts &products,
                                 const Vectors &vectors, Cursor at,
                                 mlir::IRMapping &mapping);
  void readVectors(mlir::scf::ForOp loop, llvm::ArrayRef<sm::MmaOp> products,
                   StepProducts &step, Cursor at, mlir::IRMapping &mapping);
  mlir::Value readSpread(sm::ReadOp read, Cursor at, mlir::IRMapping &mapping);
  void emitStepRead(sm::ReadOp read, StepProducts &products, Cursor at,
                    mlir::IRMapping &mapping);
  mlir::LogicalResult emitWholeBranch(mlir::scf::IfOp branch,
                                      StepProducts &products,
                                      const Vectors &vectors, Cursor at,
                                      mlir::IRMapping &mapping);
  void loadVectors(mlir::Block &block, Vectors &vectors,
                   mlir::IRMapping &mapping);
  mlir::LogicalResult emitSide(mlir::Block &side, StepProducts &products,
                               Vectors vectors, Cursor at,
                               mlir::IRMapping &mapping);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  emitWholeStep(mlir::scf::ForOp loop, mlir::scf::ForOp steps, Cursor at,
                llvm::ArrayRef<sm::LoadOp> ahead, mlir::ValueRange loaded,
                mlir::IRMapping &outside, mlir::IRMapping &mapping);
  // Products that cross the rows of warpgroups, in RoleCrossings.cpp.
  void allocateCrossed();
  mlir::Value crossedRing(const RoleCrossing &crossing);
  static mlir::Type crossedLanes(mlir::Type type);
  llvm::SmallVector<mlir::Value> crossedPresence(const RoleCrossing &crossing);
  mlir::Value crossedStart(const RoleCrossing &crossing, bool ofRows,
                           mlir::IRMapping &mapping);
  mlir::Value rowsBefore(mlir::Value warpgroup);
  Shifts crossedShifts(const RoleCrossing &crossing, mlir::Value part,
                       mlir::Value rowPart);
  mlir::Value crossedSlot(const RoleCrossing &crossing, Cursor at,
                          mlir::Value part, mlir::Value rowPart,
                          mlir::IRMapping &mapping);
  void emitCrossingStage(const RoleCrossing &crossing, Cursor at,
                         mlir::IRMapping &mapping);
  void meetAtCrossing();
  void awaitCrossed(Cursor tile, mlir::IRMapping &mapping);
  mlir::Value startCrossing(const RoleCrossing &crossing, Cursor at,
                            mlir::IRMapping &mapping);
  /// Barriers around what is staged for others: all parts are there, and all
  /// have been read.
  struct CrossedBarriers {
    mlir::Value full, empty;
  };
  CrossedBarriers crossedBarriers(const RoleCrossing &crossing);
  // Those of the step before, in RoleLateCrossings.cpp.
  Cursor before(Cursor at);
  void awaitLate(mlir::scf::ForOp loop, Cursor at);
  void meetReaders();
  void fenceReaders();
  void releaseCrossed(const RoleCrossing &crossing, Cursor at);
  void emitLateTail(llvm::ArrayRef<mlir::Operation *> tail,
                    mlir::scf::ForOp steps, Cursor at, StepProducts &products,
                    mlir::IRMapping &outside, mlir::IRMapping &mapping);
  void emitLastCrossings(mlir::scf::ForOp loop, mlir::scf::ForOp steps,
                         Cursor next, mlir::IRMapping &mapping);
  /// A vector that a step loads ahead, with few registers; null where it cannot
  /// be. In RoleVectors.cpp.
  mlir::Value loadSpread(sm::LoadOp load, mlir::IRMapping &mapping,
                         mlir::Value exists = {});
  llvm::SmallVector<sm::LoadOp> vectorsAhead(mlir::scf::ForOp loop);
  llvm::SmallVector<mlir::Value> vectorsAt(llvm::ArrayRef<sm::LoadOp> loads,
                                           mlir::Value index,
                                           const mlir::IRMapping &mapping,
                                           mlir::Value exists = {});
  mlir::Value isWholeAt(mlir::scf::ForOp loop, mlir::Value index,
                        const mlir::IRMapping &mapping);
  llvm::SmallVector<mlir::Value> firstVectors(llvm::ArrayRef<sm::LoadOp> loads,
                                              mlir::scf::ForOp loop,
                                              mlir::Value from, mlir::Value to,
                                              const mlir::IRMapping &mapping);
  llvm::SmallVector<mlir::Value> nextVectors(llvm::ArrayRef<sm::LoadOp> loads,
                                             mlir::scf::ForOp loop,
                                             mlir::scf::ForOp steps,
                                             const mlir::IRMapping &mapping);
  /// Has the lanes that need the elements get them; false where that takes
  /// shared memory.
  bool useSpread(mlir::Value vector, mlir::Value spread,
                 mlir::IRMapping &mapping);
  // What steps add in bulk, in RoleAdds.cpp.
  void allocateAdds();
  /// Where a part of a sum lies in its tensor, per dimension, and along which
  /// axes it starts later than the first warpgroup's.
  struct AddPlace {
    llvm::SmallVector<mlir::Value> indices;
    Shifts shifts;
  };
  AddPlace placeOf(const BulkAdd &add, mlir::IRMapping &mapping);
  mlir::Value addSlot(const BulkAdd &add, mlir::IRMapping &mapping);
  mlir::Value addedRows(const BulkAdd &add, mlir::Value value,
                        mlir::IRMapping &scalars);
  bool claimRows(const BulkAdd &add, mlir::scf::ForOp loop,
                 mlir::IRMapping &scalars);
  void sendAdd(const BulkAdd &add, mlir::Value slot, mlir::IRMapping &mapping);
  void stageAdds(llvm::ArrayRef<mlir::Operation *> stores, Cursor at,
                 mlir::IRMapping &scalars, mlir::IRMapping &mapping,
                 mlir::scf::ForOp before = {});
  mlir::Value sendParity(Cursor at);
  void emitSenders();
  size_t putProductsLast(llvm::SmallVectorImpl<mlir::Operation *> &ops) const;
  /// Where all warpgroups meet behind what they have staged.
  int64_t crossBarrier() const { return turnBarrier + 2 * plan.warpgroups; }
  /// A product whose result nothing may read yet.
  mlir::Value startProduct(sm::MmaOp mma, mlir::IRMapping &mapping);
  mlir::LogicalResult emitOp(mlir::Operation &op, mlir::IRMapping &mapping);
  void emitMissing(mlir::Value v, mlir::IRMapping &mapping);
  /// What `v` is in `mapping`, or a stand-in, with which the emission fails at
  /// its end.
  mlir::Value valueOf(mlir::Value v, const mlir::IRMapping &mapping);
  mlir::Value standIn(mlir::Value v);
  mlir::LogicalResult emitLaggedLoops(mlir::IRMapping &mapping, Cursor &step,
                                      Mail &mail,
                                      llvm::function_ref<void()> release);
  mlir::LogicalResult emitPlainLoops(mlir::IRMapping &mapping, Cursor &step);
  /// Where the steps of such loops lie: each loop's first index, and its first
  /// step's number.
  struct PlainSteps {
    llvm::SmallVector<mlir::Value> lower, first;
    mlir::Value count, step;
  };
  PlainSteps countSteps(mlir::IRMapping &mapping);
  mlir::Value indexOf(const PlainSteps &steps, mlir::Value number);
  /// Starts the products of the step that begins at `index`; without `carried`
  /// sums start at `inits`.
  llvm::SmallVector<mlir::Value> startProducts(mlir::Value index, Cursor at,
                                               mlir::ValueRange carried,
                                               mlir::ValueRange inits,
                                               mlir::IRMapping mapping);
  void releaseStep(mlir::Value stage);
  /// What a step leaves for the next one.
  struct Pending {
    /// Carried values of the loops; an accumulator without its last product.
    llvm::SmallVector<mlir::Value> carried;
    /// The computed operand of the last product, its step's index and slot.
    mlir::Value operand, index;
    Cursor at;
    /// Whether the accumulator is known to be zero.
    bool isFresh = false;
  };
  /// Where the loops of a tile begin and end, and its first step, if it has
  /// any: whether that is one of the first loop.
  struct TileSteps {
    llvm::SmallVector<mlir::Value> lower, upper;
    mlir::Value first, step, exists, isOfFirst;
    /// Of idle steps, the least index and where they end; null where there
    /// never are any.
    mlir::Value idleFrom, idleTo;
  };
  /// Steps of one loop, and the sum of a step's index and the number that
  /// counts up to it; null where the two are equal.
  struct LoopSteps {
    mlir::scf::ForOp loop;
    mlir::Value from, to, sum = {};
    /// Where the steps of several loops are one: those that need no mask.
    mlir::Value wholeFrom = {}, wholeTo = {};
  };
  mlir::Value lastIndex(mlir::Value from, mlir::Value to, mlir::Value step);
  TileSteps findSteps(mlir::IRMapping &mapping, bool ofWarpgroup = false);
  /// Gives steps of the last loop to the one before it.
  void moveWhole(TileSteps &steps, mlir::Value wholeEnd);
  llvm::SmallVector<LoopSteps> furtherSteps(const TileSteps &steps);
  mlir::Value indexOf(const LoopSteps &steps, mlir::Value number);
  LoopSteps joinedSteps(const TileSteps &steps);
  /// Whether a step has every column for the rows of a warpgroup.
  mlir::Value wholeStep(mlir::scf::ForOp loop, mlir::IRMapping &mapping);
  mlir::Value pastAhead(const AheadLimit &ahead, mlir::Value row,
                        mlir::IRMapping &mapping);
  mlir::Value rowsEnd(mlir::IRMapping &mapping);
  mlir::Value wholeEnd(mlir::IRMapping &mapping);
  void claimWhole(mlir::scf::ForOp loop, mlir::Value index,
                  const mlir::IRMapping &mapping);
  void emitIdleSteps(const TileSteps &steps, const mlir::IRMapping &mapping,
                     Cursor &at);
  llvm::SmallVector<mlir::Value> initialValues(mlir::IRMapping &mapping);
  /// Emits what ends the product beside a step, behind the first part of a fold
  /// if there is one.
  using Meet = llvm::function_ref<void(mlir::Value fold)>;
  bool hasTwoBodies(const Pending *before);
  mlir::FailureOr<mlir::Value>
  emitFront(mlir::scf::ForOp loop, mlir::Value index, Cursor at,
            const Pending *before, const mlir::IRMapping &earlier,
            mlir::IRMapping &mapping, const TileSteps *steps = nullptr,
            Mail *mail = nullptr);
  mlir::LogicalResult emitRest(mlir::scf::ForOp loop, bool isFirst,
                               mlir::IRMapping &mapping, Pending &after,
                               Meet meet, mlir::Value isWhole = {});
  /// The operations of a step that only its masks need.
  llvm::SmallPtrSet<mlir::Operation *, 16> findMasking(mlir::scf::ForOp loop);
  mlir::LogicalResult
  emitFirstStep(const TileSteps &steps, Cursor at, const Pending *before,
                const mlir::IRMapping &earlier,
                llvm::function_ref<mlir::LogicalResult(mlir::Value)> finish,
                const mlir::IRMapping &mapping, Pending &pending, Mail &mail);
  /// What a first step leaves, as results of the branch that it ends, and what
  /// else comes from it.
  void yieldStep(const Pending &pending, mlir::ValueRange more);
  mlir::ValueRange takeStep(mlir::scf::IfOp branch, Pending &pending);
  mlir::LogicalResult emitStep(mlir::scf::ForOp loop, mlir::Value index,
                               Cursor at, const Pending &before,
                               mlir::IRMapping mapping, Pending &after,
                               mlir::Value isWhole = {});
  llvm::SmallVector<mlir::Value> pack(const Pending &pending, Cursor next);
  void unpack(mlir::ValueRange values, Pending &pending, Cursor &next);
  /// Whether a tile's second step is emitted by itself.
  bool hasSecondStep(llvm::ArrayRef<LoopSteps> further);
  mlir::LogicalResult emitFurtherLoop(const LoopSteps &further,
                                      mlir::Value step,
                                      const mlir::IRMapping &mapping,
                                      Pending &pending, Cursor &next);
  mlir::LogicalResult emitSecondStep(LoopSteps &main, mlir::Value step,
                                     const mlir::IRMapping &mapping,
                                     Pending &pending, Cursor &next);
  mlir::LogicalResult emitFurtherSteps(const TileSteps &steps,
                                       const mlir::IRMapping &mapping,
                                       Pending &pending, Cursor &next);
  /// The product that `pending` has left, and its result. Its tile is still to
  /// be released where others come after it.
  mlir::Value emitLastProduct(const Pending &pending,
                              const mlir::IRMapping &mapping);
  void mapResults(llvm::ArrayRef<mlir::Value> carried,
                  mlir::IRMapping &mapping);
  /// A tile whose last product is still to come, if `exists`.
  struct OpenTile {
    mlir::Value exists;
    llvm::SmallVector<mlir::Value> place;
    Pending last;
  };
  llvm::SmallVector<mlir::Value> pack(const OpenTile &open);
  OpenTile unpack(mlir::ValueRange values);
  OpenTile noTile();
  mlir::LogicalResult emitEnd(llvm::ArrayRef<mlir::Value> carried,
                              mlir::IRMapping &mapping);
  mlir::LogicalResult emitBoundary(const OpenTile &open, const TileSteps &steps,
                                   Cursor at, const mlir::IRMapping &mapping,
                                   Pending &pending, Mail &mail);
  mlir::LogicalResult emitOpenTile(mlir::ValueRange place, Mail &mail,
                                   llvm::MutableArrayRef<mlir::Value> carried);
  mlir::LogicalResult emitOpenTiles();
  /// What a slot holds: what `copy` brings, but what `first` does where
  /// `isFirst`.
  struct Meant {
    BulkCopy *copy, *first = nullptr;
    mlir::Value isFirst = {};
  };
  /// A tile that a product reads in a step, whose scalars `mapping` knows.
  struct StepTile {
    BulkCopy *copy;
    const Ring *ring;
    Meant meant;
    mlir::IRMapping mapping;
  };
  StepTile laggedTile(mlir::scf::ForOp loop, mlir::Value index,
                      const mlir::IRMapping &mapping);
  mlir::Value awaitLagged(mlir::scf::ForOp loop, const Pending &pending,
                          const mlir::IRMapping &mapping);
  mlir::Value startLagged(mlir::scf::ForOp loop, const Pending &pending,
                          mlir::Value slot);
  void releaseLagged(mlir::scf::ForOp loop, const Pending &pending);
  mlir::Value finishLagged(mlir::scf::ForOp loop, mlir::Value started,
                           const Pending &pending, mlir::Value fold = {});
  void awaitTurn();
  void passTurn();
  void keepTurnFirst(bool inFlight);
  void passTurnOfStepBefore(mlir::scf::ForOp loop, mlir::scf::ForOp steps);
  void emitSoftmax(const OnlineSoftmax &step, mlir::scf::ForOp loop,
                   mlir::IRMapping &mapping, Meet meet, mlir::Value isWhole);
  /// A step's exponents of 2 are `scores` times `factor` where `presence` is
  /// true, or everywhere without one, and -inf elsewhere.
  struct Exponents {
    mlir::Value scores, factor, presence;
    mlir::Location mask;
    bool isPositive = false; // the factor, as makePositive() leaves it
  };
  Exponents findExponents(const OnlineSoftmax &step, mlir::scf::ForOp loop,
                          mlir::IRMapping &mapping, mlir::Value isWhole = {});
  void maskUnlessWhole(Exponents &exponents, mlir::scf::ForOp loop,
                       mlir::Value condition, mlir::Value isWhole,
                       mlir::IRMapping mapping);
  mlir::Value emitMask(mlir::Value condition, mlir::IRMapping &mapping);
  void maskScores(Exponents &exponents);
  void makePositive(Exponents &exponents);
  void roundHuge(Exponents &exponents, mlir::Value reference, bool isTested);
  mlir::Value naturalMax(mlir::Value max);
  void emitExactSoftmax(
      const OnlineSoftmax &step, mlir::scf::ForOp loop, Exponents exponents,
      mlir::IRMapping &mapping, bool isFirst = false,
      Meet meet = [](mlir::Value) {});
  /// Gives a copy of an operation the types of one warpgroup.
  void convertInPlace(mlir::Operation &op);
  /// `op` with the types of one warpgroup.
  mlir::Operation *cloneConverted(mlir::Operation &op,
                                  mlir::IRMapping &mapping);
  void clearTiles(llvm::ArrayRef<StepTile> tiles, Cursor at, bool inFirst,
                  bool isBeforeTurn);
  void emitClear(StepTile &tile, Cursor at);
  void clearOwnRows(StepTile tile, Cursor at);
  static mlir::Location clearLocation(const StepTile &tile);
  bool isFencedLater(llvm::ArrayRef<StepTile> tiles);
  /// Waits for the tile of a copy in `stage`, unless it is known to have come;
  /// clearTiles() has cleared its absent rows. The slot says what it is meant
  /// to hold, without `meant` what the copy brings.
  mlir::Value awaitTile(BulkCopy &copy, const Ring &ring, Cursor at,
                        mlir::IRMapping &mapping,
                        std::optional<Meant> meant = {}, bool hasCome = false);
  size_t copyOf(sm::ReadOp read);
  /// The slot of what lanes read, which they await.
  mlir::Value awaitRead(sm::ReadOp read, Cursor at, mlir::IRMapping &mapping);
  /// The slot of a vector, whose tile has come.
  mlir::Value vectorSlot(sm::ReadOp read, Cursor at, mlir::IRMapping &mapping);
  /// Has lanes read what a copy of the step brings, and releases it unless that
  /// is a vector.
  void emitRead(sm::ReadOp read, Cursor at, mlir::IRMapping &mapping);
  mlir::Value clearedTile(BulkCopy &copy, const Ring &ring, Cursor at,
                          mlir::IRMapping &mapping,
                          llvm::ArrayRef<StepTile> vectors = {});
  mlir::Value anyRowAbsent(llvm::MutableArrayRef<StepTile> tiles);
  void clearRows(llvm::MutableArrayRef<StepTile> tiles, Cursor at,
                 bool isBeforeTurn);
  /// A predicate of a copy, recomputed with types of the caller's; rows start
  /// `rowShift` later.
  mlir::Value recomputed(mlir::Value p, mlir::IRMapping &mapping,
                         llvm::function_ref<mlir::Type(mlir::Type)> retype,
                         mlir::Value rowShift = {});
  mlir::Value recomputed(mlir::Value p, mlir::IRMapping &mapping,
                         llvm::function_ref<mlir::Type(mlir::Type)> retype,
                         const Shifts &shifts);
  /// What a copy brings to a slot, for the verifiers: where it starts, and
  /// which of its elements exist.
  struct Contents {
    llvm::SmallVector<mlir::Value> indices, presence;
    /// Places of predicates where a slot may hold anything.
    llvm::SmallVector<int64_t> garbage{};
  };
  Contents contentsOf(BulkCopy &copy, mlir::Value rowShift,
                      mlir::IRMapping &mapping);
  Contents contentsOf(const Meant &meant, mlir::Value rowShift,
                      mlir::IRMapping &mapping);
  /// The presence of a sink, for the verifiers.
  llvm::SmallVector<mlir::Value> presenceOf(mlir::ValueRange presence,
                                            mlir::IRMapping &mapping);
  /// The place that follows in a ring of `depth` slots.
  Cursor advance(Cursor at, int64_t depth);

  sm::KernelOp source, target;
  sm::LaunchOp launch;
  RoleSchedule schedule;
  RolePlan &plan = schedule.plan;
  /// What each role finds in the kernel's body: its arguments.
  mlir::IRMapping outer;
  /// Tiles of the launch, and those that differ along the fastest axis only.
  mlir::Value tiles, tilesInRow;
  /// Tiles along each range of the launch.
  llvm::SmallVector<mlir::Value> tileCounts;
  /// What hands out tiles of different length.
  mlir::Value counter;
  /// Values of the source that say where in the grid a tile lies, and how the
  /// role that multiplies learns them.
  llvm::SmallVector<mlir::Value> coordinates, mailboxes;
  mlir::Value mailFull, mailEmpty;
  /// Scalars that the others learn instead of computing them: what a search
  /// finds, and what follows from it.
  llvm::SmallPtrSet<mlir::Operation *, 32> searched;
  mlir::OpBuilder b;
  mlir::Location loc;
  llvm::SmallVector<Ring> resident, streamed;
  /// Per crossing of a loop, the ring that its parts are staged in, and the
  /// parts of its resident operand.
  llvm::SmallVector<mlir::Value> crossed;
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> crossedOperands;
  llvm::SmallVector<CrossedBarriers> crossedGuards;
  /// Around what each warpgroup stages for the warp that sends it.
  CrossedBarriers sent;
  /// Per tensor that steps add to in bulk, a buffer with a slot per warpgroup.
  llvm::DenseMap<mlir::Value, mlir::Value> added;
  /// Whether the bulk stores before have been awaited where warps met since:
  /// beside a tile's first step, which those of the tile before it follow.
  bool areStoresDrained = false;
  /// The place in the tile that is stored of the operand that hosts results.
  Cursor hostAt;
  /// Per bulk store, a buffer with a slot per warpgroup.
  llvm::DenseMap<mlir::Operation *, mlir::Value> staging;
  /// Per bulk store that has lanes store, too, its tensor without a map.
  llvm::DenseMap<mlir::Operation *, mlir::Value> lanePointers;
  /// Per tensor map of a tensor that lanes load from, too, the tensor itself.
  llvm::DenseMap<mlir::Value, mlir::Value> loadPointers;
  /// Tensor maps of copies whose boxes are not the first ones of their tensors.
  llvm::DenseMap<sm::TensorMapArgAttr, mlir::Value> otherMaps;
  llvm::SmallPtrSet<mlir::Operation *, 16> deferred;
  /// Behind how many loops of a tile an operation outside of them is emitted.
  llvm::DenseMap<mlir::Operation *, size_t> sections;
  mlir::Value warpgroup;
  /// Slot that each source buffer stands for, in the current place.
  llvm::DenseMap<mlir::Value, mlir::Value> slots;
  /// Of vectors that begin anywhere, the elements that each lane has read in
  /// this step; the others come from other lanes.
  llvm::DenseMap<mlir::Value, mlir::Value> spreadReads;
  /// The first value for which there is a stand-in.
  mlir::Value unknown;
};

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_ROLES_ROLEKERNEL_H
