// Loops that differ by their masks become one.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/JoinedLoops.h"
#include "compiler/Schedule/Roles/StagedLoads.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// Whether an operation is part of the frame that all steps have: copies,
/// products, what is staged and stored.
static bool isOfFrame(Operation &op) {
  return isa<MmaOp>(op) ||
         !(isa<LoadOp, ReadOp>(op) || isMemoryEffectFree(&op));
}

static SmallVector<Operation *> frameOf(scf::ForOp loop) {
  SmallVector<Operation *> frame;
  for (Operation &op : loop.getBody()->without_terminator())
    if (isOfFrame(op))
      frame.push_back(&op);
  return frame;
}

static bool isStaged(Value v) {
  return llvm::any_of(v.getUsers(), llvm::IsaPred<StageOp>);
}

/// Erases what nothing needs any more.
static void eraseUnused(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && op.getNumRegions() == 0 &&
        !op.hasTrait<OpTrait::IsTerminator>() &&
        (isMemoryEffectFree(&op) || isa<AllocOp, LoadOp, ReadOp>(op)))
      op.erase();
}

namespace {

/// What corresponds to the values of one loop in another, whose steps do the
/// same with buffers of their own.
class Counterparts {
public:
  Counterparts(scf::ForOp from, scf::ForOp to) : from(from) {
    define(from.getBody()->getArguments(), to.getBody()->getArguments());
  }

  void define(ValueRange xs, ValueRange ys) { known.map(xs, ys); }

  /// Whether `x` has a counterpart: one has been said, or it is outside.
  bool isKnown(Value x) {
    return known.contains(x) || from.isDefinedOutsideOfLoop(x);
  }

  /// Whether `y` is the counterpart of `x`. That of a buffer is the first one
  /// that it is compared with.
  bool match(Value x, Value y) {
    if (!known.contains(x) && x != y && x.getDefiningOp<AllocOp>() &&
        y.getDefiningOp<AllocOp>() && x.getType() == y.getType())
      known.map(x, y);
    return known.lookupOrDefault(x) == y;
  }

  const IRMapping &all() const { return known; }

private:
  scf::ForOp from;
  IRMapping known;
};

/// Joins three loops.
class Join {
public:
  Join(scf::ForOp first, scf::ForOp whole, scf::ForOp last)
      : first(first), whole(whole), last(last), ofLast(whole, last) {}

  /// Whether they are such loops.
  bool match();
  void run();

private:
  bool firstIsLikeLast();
  bool matchFrames();
  bool matchFrame(Operation *ofWhole, Operation *ofLast);
  bool matchOperand(Value ofWhole, Value ofLast);
  bool findClaims();
  SmallVector<Operation *> sliceOf(Value v, scf::ForOp loop);
  bool followsFirstProducts(Value v, scf::ForOp loop);
  scf::IfOp makeBranch();
  void emitSide(Block *side, scf::ForOp loop, IRMapping values);
  void moveBehind(scf::IfOp branch);

  scf::ForOp first, whole, last;
  Counterparts ofLast;
  /// What a masked step computes for the frame, and what a whole one does.
  llvm::MapVector<Value, Value> choices;
  /// Predicates of the last loop that whole steps do not test.
  SmallVector<Value> claims;
};

} // namespace

bool Join::match() {
  auto handsOnTheSame = [&](auto pair) {
    auto [x, y] = pair;
    return ofLast.isKnown(x) && ofLast.match(x, y);
  };
  return firstIsLikeLast() && matchFrames() && !choices.empty() &&
         llvm::all_of(
             llvm::zip_equal(whole.getYieldedValues(), last.getYieldedValues()),
             handsOnTheSame) &&
         findClaims() && llvm::all_of(choices, [&](auto &choice) {
           return followsFirstProducts(choice.first, last) &&
                  followsFirstProducts(choice.second, whole);
         });
}

bool Join::firstIsLikeLast() {
  Counterparts same(first, last);
  Block::OpListType &xs = first.getBody()->getOperations(),
                    &ys = last.getBody()->getOperations();
  if (xs.size() != ys.size())
    return false;
  auto isSame = [&](Value v, Value w) { return success(same.match(v, w)); };
  auto isLike = [&](auto pair) {
    auto [x, y] = pair;
    bool matches = x.getNumRegions() == 0 &&
                   OperationEquivalence::isEquivalentTo(
                       &x, &y, isSame, /*markEquivalent=*/nullptr,
                       OperationEquivalence::IgnoreLocations);
    same.define(x.getResults(), y.getResults());
    return matches;
  };
  return llvm::all_of(llvm::zip_equal(xs, ys), isLike);
}

/// Operands are the same in all steps, or each kind of step computes its own.
bool Join::matchOperand(Value ofWhole, Value ofOther) {
  if (isa<BufferType>(ofWhole.getType()) || ofLast.isKnown(ofWhole))
    return ofLast.match(ofWhole, ofOther);
  if (ofWhole.getType() != ofOther.getType())
    return false;
  auto [known, isNew] = choices.insert({ofOther, ofWhole});
  return isNew || known->second == ofWhole;
}

/// Whether two operations of the frame do the same. Indices and predicates are
/// those of the last loop, which are right in any step.
bool Join::matchFrame(Operation *ofWhole, Operation *ofOther) {
  if (ofWhole->getName() != ofOther->getName() ||
      ofWhole->getResultTypes() != ofOther->getResultTypes())
    return false;
  if (auto copy = dyn_cast<CopyOp>(ofWhole)) {
    auto other = cast<CopyOp>(ofOther);
    return copy.getTensor() == other.getTensor() &&
           ofLast.match(copy.getBuffer(), other.getBuffer());
  }
  if (auto mma = dyn_cast<MmaOp>(ofWhole)) {
    auto other = cast<MmaOp>(ofOther);
    auto isZero = [](Value v) { return v.getDefiningOp<SplatOp>() != nullptr; };
    return mma.getOverAttr() == other.getOverAttr() &&
           matchOperand(mma.getLhs(), other.getLhs()) &&
           matchOperand(mma.getRhs(), other.getRhs()) &&
           (ofLast.isKnown(mma.getInit())
                ? ofLast.match(mma.getInit(), other.getInit())
            : startOf(mma)
                ? startOf(other) && ofLast.match(startOf(mma).getBuffer(),
                                                 startOf(other).getBuffer())
                : isZero(mma.getInit()) && isZero(other.getInit()));
  }
  if (auto stage = dyn_cast<StageOp>(ofWhole)) {
    auto other = cast<StageOp>(ofOther);
    return matchOperand(stage.getSource(), other.getSource()) &&
           ofLast.match(stage.getBuffer(), other.getBuffer());
  }
  if (auto store = dyn_cast<StoreOp>(ofWhole)) {
    auto other = cast<StoreOp>(ofOther);
    return store.getTensor() == other.getTensor() &&
           ofLast.isKnown(store.getValue()) &&
           ofLast.match(store.getValue(), other.getValue());
  }
  return isa<BarrierOp>(ofWhole);
}

bool Join::matchFrames() {
  SmallVector<Operation *> xs = frameOf(whole), ys = frameOf(last);
  if (xs.size() != ys.size())
    return false;
  for (auto [x, y] : llvm::zip_equal(xs, ys)) {
    if (!matchFrame(x, y))
      return false;
    ofLast.define(x->getResults(), y->getResults());
  }
  return true;
}

/// Predicates of products that follow from the step's indices: whole steps test
/// none.
bool Join::findClaims() {
  auto isOfStep = [](Value p, scf::ForOp loop) {
    return !loop.isDefinedOutsideOfLoop(p);
  };
  for (auto mma : whole.getBody()->getOps<MmaOp>())
    if (llvm::any_of(mma.getPresence(),
                     [&](Value p) { return isOfStep(p, whole); }))
      return false;
  for (auto mma : last.getBody()->getOps<MmaOp>())
    if (!isStaged(mma.getLhs()) && !isStaged(mma.getRhs()))
      for (Value p : mma.getPresence())
        if (isOfStep(p, last) && !llvm::is_contained(claims, p))
          claims.push_back(p);
  return !claims.empty();
}

/// What of a step, beside its frame, `v` is computed from.
SmallVector<Operation *> Join::sliceOf(Value v, scf::ForOp loop) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) {
    return op->getBlock() == loop.getBody() && !isOfFrame(*op);
  };
  (void)getBackwardSlice(v, &slice, options);
  return slice.takeVector();
}

/// Whether of the step's products `v` follows from those of copied tiles alone,
/// with which it begins.
bool Join::followsFirstProducts(Value v, scf::ForOp loop) {
  auto isCopied = [](Value factor) {
    return isa<BufferType>(factor.getType()) && !isStaged(factor);
  };
  return llvm::all_of(sliceOf(v, loop), [&](Operation *op) {
    return op->getNumRegions() == 0 &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             auto mma = operand.getDefiningOp<MmaOp>();
             return !mma || mma->getBlock() != loop.getBody() ||
                    (isCopied(mma.getLhs()) && isCopied(mma.getRhs()));
           });
  });
}

void Join::emitSide(Block *side, scf::ForOp loop, IRMapping values) {
  OpBuilder b = OpBuilder::atBlockEnd(side);
  SmallVector<Value> yields;
  for (auto &[ofOther, ofWhole] : choices) {
    Value v = loop == whole ? ofWhole : ofOther;
    for (Operation *op : sliceOf(v, loop))
      if (!values.contains(op->getResult(0)))
        b.clone(*op, values);
    yields.push_back(values.lookupOrDefault(v));
  }
  scf::YieldOp::create(b, last.getLoc(), yields);
}

/// What steps compute, in a branch behind the frame.
scf::IfOp Join::makeBranch() {
  OpBuilder b(last.getBody()->getTerminator());
  Location loc = last.getLoc();
  auto compare = [&](arith::CmpIPredicate how, Value bound) -> Value {
    return arith::CmpIOp::create(b, loc, how, last.getInductionVar(), bound);
  };
  Value isWhole = arith::AndIOp::create(
      b, loc, compare(arith::CmpIPredicate::sge, whole.getLowerBound()),
      compare(arith::CmpIPredicate::slt, whole.getUpperBound()));
  SmallVector<Value> masked =
      llvm::map_to_vector(choices, [](auto &choice) { return choice.first; });
  auto branch = scf::IfOp::create(b, loc, ValueRange(masked).getTypes(),
                                  isWhole, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  WholeOp::create(b, loc, claims);
  emitSide(branch.thenBlock(), whole, ofLast.all());
  emitSide(branch.elseBlock(), last, IRMapping());
  for (auto [from, to] : llvm::zip_equal(masked, branch.getResults()))
    from.replaceUsesWithIf(to, [&](OpOperand &use) {
      return use.getOwner()->getBlock() == last.getBody() &&
             isOfFrame(*use.getOwner());
    });
  return branch;
}

/// What needs the branch's results comes behind it, with what waits for that in
/// memory.
void Join::moveBehind(scf::IfOp branch) {
  llvm::SmallPtrSet<Operation *, 32> late{branch};
  SmallVector<Operation *> ordered;
  for (Operation &op : last.getBody()->without_terminator()) {
    bool needs = llvm::any_of(op.getOperands(), [&](Value v) {
      return late.contains(v.getDefiningOp());
    });
    bool waits = !ordered.empty() &&
                 (isa<BarrierOp, StageOp, StoreOp>(op) ||
                  (isa<MmaOp>(op) && llvm::any_of(op.getOperands(), isStaged)));
    if (!needs && !waits)
      continue;
    late.insert(&op);
    ordered.push_back(&op);
  }
  for (Operation *op : ordered)
    op->moveBefore(last.getBody()->getTerminator());
}

void Join::run() {
  moveBehind(makeBranch());
  last.getLowerBoundMutable().assign(first.getLowerBound());
  last.getInitArgsMutable().assign(first.getInitArgs());
  whole.erase();
  first.erase();
  eraseUnused(*last.getBody());
}

/// The loop that goes on where `loop` ends, with nothing but scalars between
/// the two; null for none.
static scf::ForOp followerOf(scf::ForOp loop) {
  for (Operation *next = loop->getNextNode(); next; next = next->getNextNode())
    if (auto follower = dyn_cast<scf::ForOp>(next))
      return follower.getInitArgs() == loop.getResults() &&
                     follower.getStep() == loop.getStep()
                 ? follower
                 : scf::ForOp();
    else if (!isMemoryEffectFree(next))
      return {};
  return {};
}

bool joinLoops(KernelOp kernel) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) {
    if (!loop.getBody()->getOps<StageOp>().empty())
      loops.push_back(loop);
  });
  bool joins = false;
  for (size_t n = 0; n + 2 < loops.size(); ++n) {
    scf::ForOp whole = loops[n + 1], last = loops[n + 2];
    if (followerOf(loops[n]) != whole || followerOf(whole) != last)
      continue;
    Join join(loops[n], whole, last);
    if (!join.match())
      continue;
    join.run();
    joins = true;
    n += 2;
  }
  if (joins)
    eraseUnused(kernel.getBody().front());
  return joins;
}

static constexpr StringLiteral joinedAttribute = "sm.joined_loops";

void noteJoinedLoops(KernelOp kernel) {
  kernel->setAttr(joinedAttribute, UnitAttr::get(kernel.getContext()));
}

bool hasJoinedLoops(KernelOp kernel) {
  return kernel->hasAttr(joinedAttribute);
}

bool isWholeBranch(Operation &op) {
  auto branch = dyn_cast<scf::IfOp>(op);
  return branch && !branch.thenBlock()->getOps<WholeOp>().empty();
}

scf::IfOp wholeBranchOf(scf::ForOp loop) {
  for (auto branch : loop.getBody()->getOps<scf::IfOp>())
    if (isWholeBranch(*branch))
      return branch;
  return {};
}

} // namespace selvedge::schedule
