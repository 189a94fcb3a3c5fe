// tile-obligations: the state of absent lanes at every sink.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/Loads.h"
#include "compiler/Safety/Identities.h"
#include "compiler/Safety/ImpliedLimits.h"
#include "compiler/Safety/Passes.h"
#include "compiler/Safety/Predicates.h"
#include "compiler/Safety/SharedMasks.h"
#include "dialect/Tile/Provenance.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

namespace selvedge::safety {

#define GEN_PASS_DEF_TILEOBLIGATIONS
#include "compiler/Safety/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;
using analysis::isOfData;
using analysis::loadsOf;

class Obligations {
public:
  Obligations(ProgramOp program, bool votes) : program(program), votes(votes) {}

  LogicalResult run() {
    // Softmax first: products rely on its weights being 0 at absent lanes.
    program.walk([&](SoftmaxUpdateOp op) { maskScores(op); });
    program.walk([&](ReduceOp op) { maskReduction(op); });
    WalkResult result = program.walk([&](DotOp op) {
      return failed(pairRule(op)) ? WalkResult::interrupt()
                                  : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    program.walk([&](scf::ForOp loop) { zeroBounds(loop); });
    program.walk([&](LoadOp load) { leaveUntested(load); });
    noteAccesses();
    return success();
  }

private:
  /// Every access is predicated: a safety operation that needs no insertion.
  void noteAccesses() {
    program.walk([&](Operation *op) {
      if (auto load = dyn_cast<LoadOp>(op)) {
        Operation *consumer = demands.lookup(load);
        noteAccess(load, "load", load.getTensor(),
                   consumer ? "zero, by " + nameOf(consumer) : "unread",
                   consumer ? consumer->getLoc() : load.getLoc());
      } else if (auto store = dyn_cast<StoreOp>(op)) {
        noteAccess(store, "store", store.getTensor(), "", store.getLoc());
      }
    });
  }

  void noteAccess(Operation *op, StringRef kind, Value tensor,
                  const std::string &reason, Location consumer) {
    StringAttr name =
        op->getParentOfType<KernelOp>().getTensorArgOf(tensor).getName();
    SafetyNote note{ids.next(op, kind), kind.str(), name.str(), reason};
    if (auto load = dyn_cast<LoadOp>(op))
      note.untested.assign(load.getGarbage().begin(), load.getGarbage().end());
    op->setLoc(withNote(op->getLoc(), note, consumer));
  }

  static std::string nameOf(Operation *op) {
    if (isa<scf::ForOp>(op))
      return "bound of a loop";
    if (auto reduce = dyn_cast<ReduceOp>(op))
      return ("reduction (" + stringifyCombine(reduce.getKind()) + ")").str();
    return "dot over " +
           llvm::join(
               llvm::map_range(
                   cast<DotOp>(op).getOver().getAsValueRange<StringAttr>(),
                   [](StringRef s) { return s.str(); }),
               ", ");
  }

  Value constant(OpBuilder &b, Location loc, TypedAttr value, Type like) {
    return broadcastTo(b, loc, arith::ConstantOp::create(b, loc, value), like);
  }

  /// select(all of `presence`, value, otherwise), inserted for `consumer`.
  Value select(OpBuilder &b, Operation *consumer, const Twine &subject,
               const Twine &reason, ValueRange presence, Value value,
               TypedAttr otherwise) {
    Location loc = consumer->getLoc();
    Value condition;
    for (Value p : presence) {
      Value wide = broadcastTo(b, loc, p, value.getType());
      condition =
          condition ? arith::AndIOp::create(b, loc, condition, wide).getResult()
                    : wide;
    }
    SafetyNote note{
        ids.next(consumer, "mask"), "mask", subject.str(), reason.str(), {}};
    // The select stands where its value does; its consumer is named beside it.
    Location place = value.getDefiningOp() ? value.getLoc() : loc;
    return arith::SelectOp::create(
        b, withNote(place, note, loc), condition, value,
        constant(b, loc, otherwise, value.getType()));
  }

  void maskScores(SoftmaxUpdateOp op) {
    if (op.getPresence().empty())
      return;
    // What other conditions imply for rows that exist needs no test: no other
    // row is stored.
    SmallVector<Value> rows = rowsOf(op.getScores(), op.getOverAttr()),
                       tested(op.getPresence());
    llvm::erase_if(tested, [&](Value p) {
      bool implied = isImplied(p, op.getPresence(), rows);
      if (implied && votes)
        impliedInRows.insert(p);
      return implied;
    });
    OpBuilder b(op);
    TypedAttr masked =
        b.getF32FloatAttr(-std::numeric_limits<float>::infinity());
    op.getScoresMutable().assign(select(b, op, "scores",
                                        "softmax over " + op.getOver(), tested,
                                        op.getScores(), masked));
  }

  void maskReduction(ReduceOp op) {
    SmallVector<Value> open(op.getPresence());
    if (op.getKind() == Combine::Add)
      llvm::erase_if(
          open, [&](Value p) { return makeZeroWhere(op.getSource(), p, op); });
    if (open.empty())
      return;
    OpBuilder b(op);
    TypedAttr neutral = identityOf(
        op.getKind(), getElementTypeOrSelf(op.getSource().getType()));
    op.getSourceMutable().assign(select(b, op, "reduced tile", nameOf(op), open,
                                        op.getSource(), neutral));
  }

  /// Whether `value` is exactly 0 where `predicate` is false, once the absent
  /// lanes of `loads` are.
  static bool isZeroWhere(Value value, Value predicate,
                          SmallVectorImpl<LoadOp> &loads) {
    auto has = [&](ValueRange list) {
      return llvm::any_of(list, [&](Value p) { return implies(p, predicate); });
    };
    Operation *def = value.getDefiningOp();
    // A score of -inf gives a weight of exactly 0.
    if (auto update = dyn_cast_or_null<SoftmaxUpdateOp>(def))
      return value == update.getWeights() && has(update.getPresence());
    if (auto load = dyn_cast_or_null<LoadOp>(def)) {
      loads.push_back(load);
      return has(load.getPresence());
    }
    // Of two operands both: 0 times data may be NaN.
    return isa_and_nonnull<ConvertOp, BroadcastOp, arith::ExtFOp,
                           arith::TruncFOp, arith::NegFOp, arith::AddFOp,
                           arith::SubFOp, arith::MulFOp>(def) &&
           llvm::all_of(def->getOperands(), [&](Value operand) {
             return isZeroWhere(operand, predicate, loads);
           });
  }

  /// The same; makes loads so by their fill.
  bool makeZeroWhere(Value value, Value predicate, Operation *consumer) {
    SmallVector<LoadOp> loads;
    if (!isZeroWhere(value, predicate, loads))
      return false;
    for (LoadOp load : loads) {
      load.setFill(Fill::Zero);
      demands.try_emplace(load, consumer);
      zeroWhere[load].push_back(predicate);
    }
    return true;
  }

  /// The same load for `consumer` alone, zero where one of `presence` is false:
  /// a copy to shared memory can be predicated, what it brought not selected.
  Value loadWhere(OpBuilder &b, LoadOp load, ValueRange presence,
                  Operation *consumer) {
    auto narrowed = cast<LoadOp>(b.clone(*load));
    narrowed.getPresenceMutable().append(presence);
    narrowed.setFill(Fill::Zero);
    demands.try_emplace(narrowed, consumer);
    llvm::append_range(zeroWhere[narrowed], presence);
    return narrowed;
  }

  /// How often a loop runs must not depend on any bits: a bound that does not
  /// exist is made of zeros. What the loop makes of it is absent.
  void zeroBounds(scf::ForOp loop) {
    llvm::DenseSet<Operation *> loads;
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound()})
      loadsOf(bound, loads);
    for (Operation *op : loads) {
      auto load = cast<LoadOp>(op);
      if (load.getPresence().empty())
        continue;
      load.setFill(Fill::Zero);
      demands.try_emplace(load, loop);
      llvm::append_range(zeroWhere[load], load.getPresence());
    }
  }

  /// Predicates of what lies in memory for which nobody demands a zero, as what
  /// becomes of the lanes is removed later: scores of keys that are not valid.
  void leaveUntested(LoadOp load) {
    SmallVector<int64_t> untested;
    llvm::DenseSet<Operation *> pointers;
    for (Value index : load.getIndices())
      loadsOf(index, pointers);
    // Where an index was not loaded it may be any number.
    auto isOfPointer = [&](Value p) {
      return llvm::any_of(pointers, [&](Operation *pointer) {
        return llvm::any_of(cast<LoadOp>(pointer).getPresence(), [&](Value of) {
          return implies(of, p) || implies(p, of);
        });
      });
    };
    for (auto [i, p] : llvm::enumerate(load.getPresence()))
      if (isOfData(p) && !bounds(p, pointers) && !isOfPointer(p) &&
          !impliedInRows.contains(p) && isRemovedLater(load, p) &&
          llvm::none_of(zeroWhere[load],
                        [&](Value wanted) { return implies(p, wanted); }))
        untested.push_back(static_cast<int64_t>(i));
    load.setGarbage(untested);
  }

  /// Whether a predicate may keep an index inside a tensor that comes from one
  /// of `pointers`.
  static bool bounds(Value p, const llvm::DenseSet<Operation *> &pointers) {
    llvm::DenseSet<Operation *> loads;
    loadsOf(p, loads);
    return llvm::any_of(
        loads, [&](Operation *load) { return pointers.contains(load); });
  }

  /// Whether every way of a value leads through products that add nothing along
  /// the predicate's axes to softmax steps or reductions without its lanes.
  static bool isRemovedLater(Value value, Value predicate) {
    auto has = [&](ValueRange list) {
      return llvm::any_of(list, [&](Value p) { return implies(p, predicate); });
    };
    return !value.use_empty() &&
           llvm::all_of(value.getUses(), [&](OpOperand &use) {
             Operation *user = use.getOwner();
             if (auto update = dyn_cast<SoftmaxUpdateOp>(user))
               return value == update.getScores() && has(update.getPresence());
             if (auto reduce = dyn_cast<ReduceOp>(user))
               return has(reduce.getPresence());
             if (auto dot = dyn_cast<DotOp>(user))
               return !has(dot.getPresence()) && value != dot.getInit() &&
                      isRemovedLater(dot, predicate);
             if (auto select = dyn_cast<arith::SelectOp>(user))
               return value == select.getTrueValue() &&
                      isRemovedLater(select, predicate);
             bool isElementwise = isa<ConvertOp, BroadcastOp>(user) ||
                                  isa<arith::ArithDialect, math::MathDialect>(
                                      user->getDialect());
             return isElementwise &&
                    isRemovedLater(user->getResult(0), predicate);
           });
  }

  /// Zero in `operand` of `op` where one of `open` is false, and in that of
  /// other products of the same value.
  void maskOperand(DotOp op, OpOperand &operand, SmallVector<Value> open) {
    OpBuilder b(op);
    Value value = operand.get();
    std::string names = nameOf(op);
    SmallVector<DotOp> sharers = sharersOf(op, value, open);
    for (DotOp other : sharers) {
      names += " and " + nameOf(other);
      for (Value p : demandsOn(other, value))
        if (!llvm::is_contained(open, p))
          open.push_back(p);
    }
    Value masked = select(b, op,
                          &operand == &op.getLhsMutable() ? "left operand"
                                                          : "right operand",
                          names, open, value,
                          b.getZeroAttr(getElementTypeOrSelf(value.getType())));
    operand.set(masked);
    for (DotOp other : sharers)
      for (OpOperand *same : {&other.getLhsMutable(), &other.getRhsMutable()})
        if (same->get() == value) {
          same->set(masked);
          isMasked.insert(same);
        }
  }

  LogicalResult pairRule(DotOp op) {
    OpBuilder b(op);
    for (OpOperand *operand : {&op.getLhsMutable(), &op.getRhsMutable()}) {
      if (isMasked.contains(operand))
        continue;
      SmallVector<Value> open = demandsOn(op, operand->get());
      llvm::erase_if(
          open, [&](Value p) { return makeZeroWhere(operand->get(), p, op); });
      if (open.empty())
        continue;
      if (auto load = operand->get().getDefiningOp<LoadOp>()) {
        operand->set(loadWhere(b, load, open, op));
        if (load->use_empty()) {
          demands.erase(load);
          load.erase();
        }
      } else {
        maskOperand(op, *operand, std::move(open));
      }
    }
    for (Value p : op.getPresence())
      if (!concerns(p, op.getLhs()) && !concerns(p, op.getRhs()))
        return op.emitOpError("expects every predicate on a contracted axis to "
                              "concern one operand, but got one over both");
    return success();
  }

  ProgramOp program;
  bool votes;
  NoteIds ids;
  /// The product, sum or loop that demanded a load's zero fill first.
  DenseMap<Operation *, Operation *> demands;
  /// The predicates where a load must be zero when they are false.
  DenseMap<Operation *, SmallVector<Value>> zeroWhere;
  /// Predicates that others imply for rows that exist, where that is not
  /// enough.
  llvm::DenseSet<Value> impliedInRows;
  /// Operands of products that share the mask of an earlier one.
  llvm::DenseSet<OpOperand *> isMasked;
};

struct TileObligationsPass : impl::TileObligationsBase<TileObligationsPass> {
  using TileObligationsBase::TileObligationsBase;

  void runOnOperation() override {
    if (failed(Obligations(getOperation(), votes).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace selvedge::safety
