// What each operation of sm, forms async and roles, does to shared memory.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ASYNC_SMASYNCRULES_H
#define SELVEDGE_COMPILER_VERIFY_ASYNC_SMASYNCRULES_H

#include "compiler/Verify/Arithmetic/PredicateWords.h"
#include "compiler/Verify/Async/Contents.h"
#include "compiler/Verify/Async/HappensBefore.h"
#include "compiler/Verify/Async/Skeleton.h"
#include "compiler/Verify/Async/Trials.h"
#include "compiler/Verify/Memory/RingTiles.h"
#include "compiler/Verify/Memory/SinkMatches.h"
#include "dialect/Sm/SmScheduler.h"

#include <deque>
#include <map>

namespace selvedge::verify {

/// One execution of a kernel: applies the operations of its agents to a
/// happens-before state and reports what it finds.
class SmAsyncRules {
public:
  /// Two warps, of each warpgroup where there are roles, and the thread of a
  /// `single` role: two that execute the same code show what is missing between
  /// any two. Each stands for two of the four of a warpgroup, which arrive, and
  /// wait, as one.
  /// Accesses to tensors go to `memory`, if it is given; then tiles are
  /// followed, and products and reductions compared with those of the program,
  /// if `sinks` is given.
  SmAsyncRules(Integers &integers, ValueNumbers &numbers, sm::KernelOp kernel,
               const Trial &trial, GlobalMemory *memory = nullptr,
               SinkMatches *sinks = nullptr);

  llvm::MutableArrayRef<Agent> getAgents() { return agents; }
  /// The rule of the skeleton.
  Progress apply(Agent &agent, Instruction &code);
  /// What must hold when all agents have returned.
  mlir::LogicalResult finish();
  /// Reports which agent waits for what.
  mlir::LogicalResult reportDeadlock();

private:
  /// A product in flight and what it reads.
  struct Product {
    Actor actor;
    llvm::SmallVector<Slot, 2> reads = {};
  };
  /// Who an agent stands for, and what it has in flight.
  struct Member {
    sm::RoleOp role = {};            // none: in a kernel without roles
    unsigned threads = 1, warps = 1; // that it stands for
    int64_t warpgroup = 0, warp = 0; // within the role
    unsigned parts = 1;              // agents that share a tile
    std::deque<Product> products = {};
    std::deque<Actor> stores = {};
    /// Copies that it has issued; they complete in this order.
    std::vector<Actor> copies = {};
    /// Tiles that it has asked for, and where it did, until the counter is set
    /// back.
    int64_t tiles = 0;
    sm::NextTileOp lastTile = {};
    /// Whether other threads of the warp may not have seen its last writes.
    bool hasOwnWrites = false;
    /// Slots that its threads have read, and whether all of them have since
    /// executed a fence, and met.
    llvm::SmallVector<Slot, 2> reads = {};
    bool areReadsFenced = false, areReadsMet = false;
    /// mbarriers waited for before the last bulk copies, or since.
    llvm::SmallVector<unsigned, 2> waits = {};
    /// What the first of those copies signals.
    std::optional<unsigned> signalled = {};
    /// Which load of a slot it has released.
    std::map<Slot, unsigned> released = {};
    /// What it has said of slots that it reads.
    llvm::DenseMap<mlir::Value, Contents> claims{};
    /// What the blocked operation waits for.
    enum { Nothing, Barrier, MBarrier } waitsAt = Nothing;
    unsigned waitsFor = 0;
  };
  /// An operation as executed: where the agent stood.
  struct Executed {
    mlir::Operation *op;
    Place where;
  };
  /// A ring of mbarriers: the number of its first stage.
  struct MBarrierRing {
    sm::MBarrierOp op;
    unsigned first;
  };
  struct NamedBarrier {
    unsigned barrier;
    int64_t threads;
  };

  void addAgents(sm::KernelOp kernel);
  void addAgent(std::string name, Member member, unsigned group);
  Member &memberOf(Agent &agent) { return members[agent.actor]; }
  /// Threads that execute what `agent` does here.
  unsigned threadsOf(Agent &agent) {
    return agent.isOneThread() ? 1 : memberOf(agent).threads;
  }

  /// What an operation does to tensors, in SmGlobalAccesses.cpp.
  mlir::LogicalResult accessTensors(Agent &agent, mlir::Operation *op);
  mlir::LogicalResult storeBox(Agent &agent, sm::TmaStoreOp op);
  mlir::LogicalResult storePieces(sm::TmaStoreOp op, sm::TensorMapArgAttr map,
                                  llvm::SmallVector<int64_t> start,
                                  llvm::SmallVector<int64_t> box, int64_t by);
  llvm::SmallVector<std::pair<int64_t, int64_t>>
  presentRows(Agent &agent, mlir::Value buffer);
  /// The integer that lanes are combined to, as far as memory is known.
  void foldLanes(Agent &agent, sm::ReduceOp op);
  Progress applyShared(Agent &agent, const Instruction &code);
  /// Where the tiles of an operation lie, in SmPlaces.cpp: those that it takes
  /// must agree.
  mlir::LogicalResult follow(Agent &agent, mlir::Operation *op);
  mlir::LogicalResult joinPlaces(Agent &agent, mlir::Operation *op,
                                 mlir::ValueRange values,
                                 Places::Number &joined);
  mlir::LogicalResult joinPlace(mlir::Operation *op, Places::Number place,
                                Places::Number &joined);
  mlir::LogicalResult checkSink(Agent &agent, mlir::Operation *op,
                                const std::string &sink, mlir::StringAttr over,
                                mlir::ValueRange operands,
                                mlir::ValueRange presence,
                                Places::Number place);
  /// `place`, and where axes that the program shifts begin by what the presence
  /// of a sink says.
  Places::Number withShifted(Agent &agent, mlir::Operation *op,
                             mlir::ValueRange presence, Places::Number place);
  mlir::LogicalResult checkLoad(Agent &agent, mlir::Operation *op,
                                const std::string &tensor, mlir::Value loaded,
                                mlir::ValueRange presence,
                                Places::Number place);
  /// Of what a dimension of a tensor is indexed with, and all of them.
  Places::Number placeOfIndex(Agent &agent, llvm::StringRef tensor, size_t dim,
                              mlir::Value index);
  mlir::LogicalResult joinIndices(Agent &agent, mlir::Operation *op,
                                  llvm::StringRef tensor,
                                  mlir::ValueRange indices,
                                  Places::Number &joined);
  /// Of a buffer's rows and columns.
  mlir::LogicalResult joinBox(Agent &agent, mlir::Operation *op,
                              llvm::StringRef tensor, mlir::ValueRange indices,
                              sm::BufferType type, std::optional<size_t> rowDim,
                              size_t colDim, Places::Number &joined);
  mlir::LogicalResult joinStaged(Agent &agent, sm::SlotOp slot,
                                 Places::Number &joined);
  void findHeldTensors();
  /// A product or reduction, whose operands lie at `place`.
  mlir::LogicalResult noteExecuted(Agent &agent, mlir::Operation *op,
                                   const SinkUse &use, Places::Number place);
  /// What `use` makes of the values of tiles as an agent has them now.
  template <typename Use>
  auto withLanes(Agent &agent, Use use) {
    auto scalar = [&](mlir::Value value) { return scalarOf(agent, value); };
    KnownElements element(*memory);
    LaneTiles lanes(scalar, element);
    return use(lanes);
  }
  /// Whether a predicate is false in all lanes.
  bool isNowhere(Agent &agent, mlir::Value predicate);
  /// A store, where its lanes lie.
  mlir::LogicalResult followStore(mlir::Operation *op, mlir::Value stored,
                                  const std::string &tensor,
                                  Places::Number place);
  Places::Number placeAlong(mlir::StringAttr axis, int64_t start) {
    return sinks && sinks->getProgram().isShifted(axis)
               ? 0
               : places.of(axis, start);
  }
  std::optional<int64_t> scalarOf(Agent &agent, mlir::Value value) const {
    Tracked tracked = agent.values.lookup(value);
    return tracked.kind == Tracked::Kind::Integer ? integers.known(tracked.id)
                                                  : std::nullopt;
  }
  Progress slot(Agent &agent, sm::SlotOp op);
  Progress copyAsync(Agent &agent, sm::CopyAsyncOp op);
  Progress await(Agent &agent, sm::AwaitOp op);
  /// Operations that bring or clear elements, in SmAsyncContents.cpp: what the
  /// slot of `buffer` holds from now on.
  void fill(Agent &agent, mlir::Value buffer, mlir::ValueRange indices,
            mlir::ValueRange presence, llvm::ArrayRef<int64_t> garbage,
            mlir::Operation *op);
  void fillByTma(Agent &agent, sm::TmaLoadOp op);
  /// A run-time dimension; none where the kernel does not take it.
  std::optional<LaneExpressions::Key> dimArgument(Agent &agent,
                                                  mlir::Attribute name);
  /// Whether the box of a tensor map that has pairs as rows begins with the
  /// first of some; errors if not.
  bool beginsWithPair(Agent &agent, mlir::Operation *op, mlir::Value map,
                      mlir::ValueRange indices, sm::BufferType type);
  /// The extent of a tensor; none where the kernel does not know it.
  std::optional<LaneExpressions::Key>
  extentOfTensor(Agent &agent, mlir::StringAttr tensor, size_t dim);
  void clear(Agent &agent, sm::ClearOp op);
  void overwrite(Agent &agent, mlir::Value buffer);
  void claim(Agent &agent, sm::SlotOp op);
  /// Compares what `agent` has said of a buffer with what it holds.
  Progress checkContents(Agent &agent, mlir::Operation *op, mlir::Value buffer);
  /// Registers of a whole warp to `buffer`.
  Progress stage(Agent &agent, mlir::Operation *op, mlir::Value buffer);
  Progress barrier(Agent &agent, mlir::Operation *op);
  /// A reduction or a change of layout across warps: each writes, waits for all
  /// and reads.
  Progress exchange(Agent &agent, sm::ExchangeOpInterface op);
  /// Operations of form roles, in SmRoleBarriers.cpp and SmRoleAccesses.cpp;
  /// none where there is no rule.
  std::optional<Progress> applyRole(Agent &agent, mlir::Operation &op);
  Progress role(Agent &agent, sm::RoleOp op);
  Progress mbarrier(Agent &agent, sm::MBarrierOp op);
  Progress initMBarriers(Agent &agent, sm::InitMBarriersOp op);
  Progress wait(Agent &agent, sm::WaitOp op);
  Progress arrive(Agent &agent, sm::ArriveOp op);
  Progress expect(Agent &agent, sm::ExpectOp op);
  Progress namedBarrier(Agent &agent, sm::NamedBarrierOp op);
  Progress post(Agent &agent, sm::PostOp op);
  Progress receive(Agent &agent, sm::ReceiveOp op);
  Progress any(Agent &agent, sm::AnyOp op);
  Progress idle(Agent &agent, sm::IdleOp op);
  Progress whole(Agent &agent, sm::WholeOp op);
  Progress tmaLoad(Agent &agent, sm::TmaLoadOp op);
  Progress tmaStore(Agent &agent, sm::TmaStoreOp op);
  Progress inOrder(Agent &agent, sm::InOrderOp op);
  Progress tmaDrain(Agent &agent, sm::TmaDrainOp op);
  Progress panel(Agent &agent, sm::PanelOp op);
  Progress nextTile(Agent &agent, sm::NextTileOp op);
  Progress resetTiles(Agent &agent, sm::ResetTilesOp op);
  Progress warpSync(Agent &agent, sm::WarpSyncOp op);
  Progress readTile(Agent &agent, sm::ReadOp op);
  Progress readByLanes(Agent &agent, mlir::Operation *op, mlir::Value buffer);
  Progress proxyFence(Agent &agent, sm::ProxyFenceOp op);
  void meetInWarp(Agent &agent);
  Progress bulkLoad(Agent &agent, sm::BulkLoadOp op);
  Progress bulkReduce(Agent &agent, sm::BulkReduceOp op);
  Progress wgmma(Agent &agent, sm::WgmmaOp op);
  Progress wgmmaWait(Agent &agent, sm::WgmmaWaitOp op);
  /// Waits for the oldest products of the warp until `pending` are left.
  Progress retire(Agent &agent, mlir::Operation *op, uint64_t pending);

  /// Fails, with an error, where not all threads of a warp, or more than one,
  /// execute `op`.
  bool isWholeWarp(Agent &agent, mlir::Operation *op);
  bool isOneThread(Agent &agent, mlir::Operation *op);
  /// A bulk copy to, and one from, `buffer`.
  Progress bulkFill(Agent &agent, mlir::Operation *op,
                    mlir::TypedValue<sm::BufferType> buffer,
                    mlir::Value barrier, mlir::Value stage);
  Progress bulkDrain(Agent &agent, mlir::Operation *op, mlir::Value buffer);
  bool isBoxOfBuffer(mlir::Operation *op, mlir::Value map, sm::BufferType type);
  /// Fails, with an error, for registers that a product still writes.
  bool areInFlight(Agent &agent, mlir::Operation &op);

  /// Adds a ring of buffers or of words.
  Progress addRing(Agent &agent, mlir::Operation *op, int64_t stages);
  /// An access of `actor`, to one stage of what `buffer` holds.
  Progress read(Agent &agent, Actor actor, mlir::Operation *op,
                mlir::Value buffer, Site site);
  Progress write(Agent &agent, Actor actor, unsigned parts, mlir::Operation *op,
                 mlir::Value buffer, Site site);
  Progress readSlot(Agent &agent, Actor actor, mlir::Operation *op, Slot slot,
                    Site site);
  Progress writeSlot(Agent &agent, Actor actor, unsigned parts,
                     mlir::Operation *op, Slot slot, Site site);

  Site newSite(Agent &agent, mlir::Operation *op);
  /// The slot that a value names; none, with an error, for a whole ring.
  std::optional<Slot> slotOf(Agent &agent, mlir::Operation *op,
                             mlir::Value buffer);
  std::optional<Slot> mailSlotOf(Agent &agent, mlir::Operation *op,
                                 mlir::Value mailbox, mlir::Value stage);
  /// A stage number; none, with an error, where it is not one of `stages`.
  std::optional<int64_t> stageOf(Agent &agent, mlir::Operation *op,
                                 mlir::Value stage, int64_t stages);
  /// An initialised mbarrier of a ring; none, with an error, otherwise.
  std::optional<unsigned> mbarrierOf(Agent &agent, mlir::Operation *op,
                                     mlir::Value ring, mlir::Value stage);
  /// Learns from a bulk load which mbarrier releases the slot: the only one
  /// that it waited for, if that is the same stage of a ring as long as the one
  /// that the load signals.
  void learnGuard(Agent &agent, Slot slot, unsigned signal);
  /// Fails, with an error, where `agent` releases what its products read.
  bool isReadLater(Agent &agent, mlir::Operation *op, unsigned mbarrier);

  /// Reports a finding, if it is one, about a slot or about `barrier`. Nothing
  /// is made of where the agent stands unless it is.
  Progress conclude(const Finding &found, mlir::Operation *op, Agent &agent,
                    std::optional<unsigned> barrier = {}) {
    return !found ? Progress::Advanced
                  : report(found, op, agent.where(),
                           barrier ? nameOfBarrier(*barrier) : "");
  }
  Progress report(const Finding &found, mlir::Operation *op, const Place &where,
                  llvm::StringRef barrier = "",
                  mlir::Operation *ring = nullptr);
  Progress concludeMBarrier(const Finding &found, mlir::Operation *op,
                            Agent &agent, unsigned mbarrier);
  /// "stage 1 of buffer "j" x "D"", "stage 1 of mailbox 0"
  std::string nameOf(Slot slot);
  /// "stage 1 of mbarrier ring 3"
  std::string nameOfMBarrier(unsigned mbarrier);
  std::string nameOfBarrier(unsigned barrier);
  /// What a blocked agent waits for.
  std::string describeWait(Agent &agent);
  void attachNotes(mlir::InFlightDiagnostic &error, mlir::Operation *ring);

  Integers &integers;
  ValueNumbers &numbers;
  sm::KernelOp kernel;
  const Trial &trial;
  GlobalMemory *memory;
  SinkMatches *sinks;
  /// Those of `sinks`, which all executions share.
  Places ownPlaces;
  Places &places;
  /// The tensor whose elements the slots of a ring hold, and the dimension of
  /// their rows; checkContents() tells tiles that take turns apart.
  struct Held {
    std::string tensor;
    /// Dimensions that its rows and columns run along.
    std::optional<size_t> rowDim;
    size_t colDim;
  };
  llvm::DenseMap<RingTiles, Held> held;
  /// Of sinks, the ranges that withShifted() asks where they begin.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<sm::RangeOp, 2>>
      rangesOfPresence;
  sm::LaunchOp launch; // of the kernel, once it was looked for
  std::vector<Agent> agents;
  std::vector<Member> members; // by actor
  HappensBefore order;
  unsigned blockBarrier = 0;
  std::vector<mlir::Operation *> rings; // by buffer
  llvm::DenseMap<mlir::Operation *, unsigned> buffers;
  std::vector<MBarrierRing> mbarrierRings;
  std::vector<unsigned> ringOfMBarrier;
  llvm::DenseMap<mlir::Operation *, unsigned> mbarriers;
  llvm::DenseMap<int64_t, NamedBarrier> namedBarriers;
  /// What was posted last, by buffer and stage.
  std::map<Slot, Tracked> mail;
  /// The mbarrier that releases a slot, and how often each slot was loaded.
  std::map<Slot, unsigned> guards;
  std::map<Slot, unsigned> loads;
  /// What the last copy brought to each slot.
  std::map<Slot, Contents> contents;
  LaneExpressions expressions;
  /// Collective writes: an operation, its group and the number of its
  /// execution.
  llvm::DenseMap<std::pair<mlir::Operation *, std::pair<unsigned, unsigned>>,
                 unsigned>
      instances;
  std::vector<Executed> sites;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ASYNC_SMASYNCRULES_H
