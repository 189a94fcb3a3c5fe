// Executes the control flow of a kernel, agent by agent.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ASYNC_SKELETON_H
#define SELVEDGE_COMPILER_VERIFY_ASYNC_SKELETON_H

#include "compiler/Verify/Async/Instructions.h"
#include "compiler/Verify/Async/Integers.h"
#include "compiler/Verify/Async/Paths.h"
#include "compiler/Verify/Async/RoundRobin.h"

#include "dialect/Sm/Sm.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

namespace selvedge::verify {

/// For which threads of an agent a value holds: all of them; an i1 that is true
/// in at most one; or an integer that may differ from thread to thread.
enum class Spread : uint8_t { Uniform, OneThread, Divergent };

/// What is known of an SSA value: nothing, a scalar integer, a ring or slot in
/// shared memory, a ring of mbarriers, the token of an asynchronous operation,
/// or registers that one still writes.
struct Tracked {
  enum class Kind { None, Integer, Buffer, MBarrier, Token, Product };
  Kind kind = Kind::None;
  unsigned id = 0;    // of the number, ring or operation
  int64_t stage = -1; // of a buffer; -1: the whole ring
  Spread spread = Spread::Uniform;
  /// Where the lanes of a tile lie (Places); 0: not known.
  unsigned place = 0;
};

/// What an agent knows of values.
class TrackedValues {
public:
  explicit TrackedValues(ValueNumbers &numbers) : numbers(&numbers) {}

  Tracked lookup(mlir::Value value) const {
    std::optional<unsigned> number = numbers->find(value);
    return number && *number < tracked.size() ? tracked[*number] : Tracked();
  }
  Tracked &operator[](mlir::Value value) { return at(numbers->of(value)); }
  Tracked &at(unsigned number) {
    if (number >= tracked.size())
      tracked.resize(number + 1);
    return tracked[number];
  }
  /// Nothing is written where nothing is known.
  void set(mlir::Value value, Tracked known) {
    bool isKnown = known.kind != Tracked::Kind::None || known.place != 0;
    if (isKnown || numbers->find(value))
      (*this)[value] = known;
  }

private:
  ValueNumbers *numbers;
  std::vector<Tracked> tracked;
};

/// Where an agent stands: its name and the trips of the loops around it, as
/// (number, count), the count 0 where the loop decides on each.
struct Place {
  llvm::StringRef agent;
  llvm::SmallVector<std::pair<int64_t, int64_t>, 2> trips;

  /// "warp 1, iteration 2 of 3"
  std::string str() const;
};

/// One agent's place in the kernel and its values.
struct Agent {
  explicit Agent(ValueNumbers &numbers) : values(numbers) {}

  struct Frame {
    mlir::Operation *owner; // none: the kernel's body
    mlir::Block *block;
    Instruction *next = nullptr; // none: not begun
    int64_t trip = 0, trips = 0; // of a loop
    /// Of a branch that does nothing but compute: both arms are executed.
    enum { OneArm, FirstArm, SecondArm } arm = OneArm;
    bool byOneThread = false;
  };

  std::string name;
  unsigned actor = 0;
  /// Agents of one group execute the same code on the same data.
  unsigned group = 0;
  llvm::SmallVector<Frame> frames;
  TrackedValues values;
  /// How often a rule has counted an operation.
  llvm::DenseMap<mlir::Operation *, unsigned> counts;
  /// Its current operation waits for others.
  bool isBlocked = false;

  Place where() const;
  mlir::Operation *current() const { return frames.back().next->op; }
  /// Executes `body`, the only block of the current operation.
  void enter(mlir::Block &body);
  /// Whether it is in a branch that one of its threads has taken.
  bool isOneThread() const;
};

/// Which integers choices among samples begin with.
struct SampleOrder {
  llvm::ArrayRef<int64_t> values;
  bool alternates = false;
  std::optional<int64_t> callers;
  bool flags = true;
  /// Of what is loaded, how many choices there were.
  size_t numLoaded = 0;

  /// A choice: between truth values, or among integers that are loaded or the
  /// caller's.
  struct Choice {
    bool isFlag, isLoaded;
    int64_t value;
  };
  /// What number `taken` of the next choice is.
  int64_t take(unsigned taken, bool isFlag, bool isLoaded);
  /// Whether `made` are the first of all choices, as they come.
  bool beginsWith(llvm::ArrayRef<Choice> made) const;
};

/// Interprets loops, branches and scalar integers; what depends on data is a
/// choice of `paths`. All other operations are left to a rule.
class Skeleton {
public:
  using Rule = llvm::function_ref<Progress(Agent &, Instruction &)>;

  /// Loops whose trip count depends on data run at most 2 * `stages` + 1
  /// times: each stage twice, and the wrap. Loops inside loops run at most
  /// `stages` + 1 times, loops around such loops at most 3 times.
  /// Branches on data whose arms only compute are not choices.
  Skeleton(Integers &integers, Paths &paths, int64_t stages)
      : integers(integers), paths(paths), stages(stages) {}

  /// Integers that do not depend on the kernel's other operations, from memory
  /// or of the caller, become a choice of `values`; unknown if there are none.
  /// The first choice is the first of them, or with `alternate`, of what is
  /// loaded, the one after that of the load before; the caller's begin with
  /// `callers`, if it is given. Truth values begin with `flags`. Branches on
  /// data begin with the arm for true, loops with as few trips as there may
  /// be; with `others` the other way round.
  void startPath(llvm::ArrayRef<int64_t> values, bool alternate,
                 std::optional<int64_t> callers, bool flags,
                 bool others = false) {
    samples = {values, alternate, callers, flags};
    firstArm = !others;
    choices.clear();
  }
  /// The choices among samples that the path has made.
  llvm::ArrayRef<SampleOrder::Choice> getChoices() const { return choices; }
  /// An integer that a load reads; none where memory is not known.
  using Memory = std::function<std::optional<int64_t>(Agent &, sm::LoadOp)>;
  /// Integers from memory are what `memory` says, and no choice. Loops that
  /// only compute then make all of their trips, and not one.
  void readFrom(Memory memory) { readMemory = std::move(memory); }
  /// Arms that are taken, and bodies of loops that have a step, whatever their
  /// conditions and bounds are.
  using Blocks = llvm::DenseSet<mlir::Block *>;
  void force(Blocks blocks) { forced = std::move(blocks); }
  /// Loops that hand on more than integers end after so many trips; none: when
  /// they say.
  void limitTrips(std::optional<int64_t> most) { mostTrips = most; }
  /// Is called before an agent executes a branch or a loop; null: nobody is.
  using Watch = std::function<void(const Agent &, mlir::Operation *)>;
  void watch(Watch watcher) { watchOwner = std::move(watcher); }
  void start(Agent &agent, mlir::Block &body);
  /// Executes one operation, and those before it that are idle.
  Progress step(Agent &agent, Rule rule);
  /// Operations that were executed.
  uint64_t numSteps() const { return steps; }
  ValueNumbers &getNumbers() { return instructions.getNumbers(); }
  /// Whether some agent has ever executed an operation of the kernel, those
  /// aside that only compute.
  bool hasReached(mlir::Operation *op) const {
    return instructions.has(op->getBlock());
  }

private:
  int64_t maxTrips(mlir::scf::ForOp loop) const;
  /// How often a loop may run by what is known of its bounds.
  struct Trips {
    int64_t least = 0, most = INT64_MAX;
    bool areKnown = false;
  };
  Trips possibleTrips(Integers::Number lower, Integers::Number upper,
                      Integers::Number step);
  /// Gives up a path on which a loop runs another number of times than what
  /// was learned since allows.
  void checkTrips(Agent &agent, mlir::scf::ForOp loop, int64_t decided);
  int64_t tripCount(Agent &agent, mlir::scf::ForOp loop);
  Progress enterLoop(Agent &agent, mlir::scf::ForOp loop);
  Progress enterBranch(Agent &agent, mlir::scf::IfOp branch);
  Progress testLoop(Agent &agent, mlir::scf::ConditionOp test);
  void startTrip(Agent &agent, mlir::scf::ForOp loop, mlir::ValueRange carried);
  void leave(Agent &agent, mlir::Operation *terminator);
  /// Ends the innermost frame; its owner's results are `values`.
  void finishOwner(Agent &agent, mlir::ValueRange values);
  /// Whether only registers come out of a branch or loop, and global memory is
  /// all that it reads.
  bool onlyComputes(mlir::Operation *op);
  /// Fails, with an error, where threads of an agent would part.
  mlir::LogicalResult checkUniform(Agent &agent, mlir::Operation *op,
                                   mlir::ValueRange values);
  /// The number of a scalar integer; a new unknown where it has none.
  Integers::Number numberOf(Agent &agent, mlir::Value value);
  /// Makes an integer, not known, of a value of which nothing is known.
  void define(Tracked &tracked, mlir::Value value);
  /// `number` with one of the samples where nothing is known of it.
  Integers::Number sampled(Integers::Number number, mlir::Type type,
                           bool isLoaded);
  void evaluate(Agent &agent, Instruction &code);
  /// What a load reads whose operands, tensor, indices and predicates, are
  /// these. One that is true makes no difference: a role that runs ahead tests
  /// more.
  Integers::Number element(mlir::Operation *load,
                           llvm::ArrayRef<Integers::Number> operands);
  /// A result of an operation that follows from its operands.
  Integers::Number expression(Instruction &code, unsigned result,
                              llvm::ArrayRef<Integers::Number> operands);

  Integers &integers;
  Paths &paths;
  int64_t stages;
  SampleOrder samples;
  std::vector<SampleOrder::Choice> choices;
  bool firstArm = true;
  std::optional<int64_t> mostTrips;
  Memory readMemory;
  Watch watchOwner;
  Blocks forced;
  llvm::DenseMap<mlir::Operation *, bool> computing;
  Instructions instructions;
  uint64_t steps = 0;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ASYNC_SKELETON_H
