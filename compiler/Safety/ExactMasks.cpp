// tile-exact-masks: data that a mask removes has no influence.
// SPDX-License-Identifier: MIT
#include "compiler/Safety/OneLaneBody.h"
#include "compiler/Safety/Passes.h"
#include "dialect/Tile/Decisions.h"
#include "dialect/Tile/Provenance.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "llvm/ADT/SetVector.h"
#include <limits>

namespace selvedge::safety {

#define GEN_PASS_DEF_TILEEXACTMASKS
#include "compiler/Safety/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// Parts of one loop of the program: each goes on with all that the one before
/// carries.
using Chain = SmallVector<scf::ForOp>;

SmallVector<Chain> chainsOf(KernelOp kernel) {
  SmallVector<Chain> chains;
  for (auto loop : kernel.getBody().getOps<scf::ForOp>()) {
    bool goesOn =
        !chains.empty() && loop.getNumResults() != 0 &&
        llvm::equal(chains.back().back().getResults(), loop.getInitArgs());
    if (!goesOn)
      chains.emplace_back();
    chains.back().push_back(loop);
  }
  return chains;
}

/// Whether a mask removes lanes of one operand in which the other one is data
/// of other rows: that has no zero to offer.
bool meetsMaskedData(DotOp dot) {
  return llvm::any_of(dot.getPresence(), [&](Value p) {
    return llvm::any_of(
        ValueRange{dot.getLhs(), dot.getRhs()}, [&](Value operand) {
          return !llvm::all_of(axesOf(p.getType()), [&](StringAttr axis) {
            return llvm::is_contained(axesOf(operand.getType()), axis);
          });
        });
  });
}

/// Whether Inf and NaN in `operand` are Inf or NaN in the result, or do not
/// matter to it.
bool isSticky(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (isa<arith::MulFOp, arith::AddFOp, arith::SubFOp, arith::NegFOp>(op))
    return true;
  if (isa<arith::DivFOp>(op))
    return operand.getOperandNumber() == 0;
  return isa<arith::SelectOp>(op) && operand.getOperandNumber() != 0;
}

/// Whether `value` is not finite wherever `carried` is not.
bool isSticky(Value value, Value carried) {
  if (value == carried)
    return true;
  Operation *def = value.getDefiningOp();
  if (auto dot = dyn_cast_or_null<DotOp>(def))
    return dot.getInit() && isSticky(dot.getInit(), carried);
  return isa_and_nonnull<arith::MulFOp, arith::AddFOp, arith::SubFOp>(def) &&
         llvm::any_of(def->getOperands(), [&](Value operand) {
           return isSticky(operand, carried);
         });
}

class ExactChain {
public:
  ExactChain(KernelOp kernel, Chain &loops, NoteIds &ids)
      : kernel(kernel), loops(loops), ids(ids) {}

  LogicalResult run() {
    for (scf::ForOp loop : loops)
      for (auto dot : loop.getBody()->getOps<DotOp>())
        if (meetsMaskedData(dot) && failed(addSum(loop, dot)))
          return failure();
    return sums.empty() ? success() : emit();
  }

private:
  /// A product's sum must be where it can be tested after the loops: carried by
  /// them, and read by nothing else.
  LogicalResult addSum(scf::ForOp loop, DotOp dot) {
    auto refuse = [&](const Twine &found) {
      return dot.emitOpError("cannot have an exact mask: expects a sum that "
                             "the loop carries and nothing else reads, but ")
             << found;
    };
    if (!dot->hasOneUse() || !isa<scf::YieldOp>(*dot->getUsers().begin()))
      return refuse("its result is read in the same step");
    unsigned result = dot->getUses().begin()->getOperandNumber();
    Value carried = loop.getRegionIterArg(result);
    if (!carried.hasOneUse() || !isSticky(dot.getResult(), carried))
      return refuse("what the loop carries is more than a sum");
    if (loop != loops.back() && !loop.getResult(result).hasOneUse())
      return refuse("a part of the loop's sum is read");
    auto over = cast<StringAttr>(dot.getOver()[0]);
    if (dot.getOver().size() != 1 || (axis && axis != over))
      return refuse("its products are contracted over several axes");
    axis = over;
    sums.insert(result);
    return success();
  }

  /// What a sum becomes before it is narrowed or stored, as long as that is not
  /// finite where the sum matters and is not; null where it is read otherwise.
  Value resultOf(Value sum) {
    Value result = sum;
    while (result.hasOneUse() && isSticky(*result.use_begin()) &&
           result.use_begin()->getOwner()->getParentOp() == kernel)
      result = result.use_begin()->getOwner()->getResult(0);
    bool isLeft = llvm::all_of(result.getUsers(), [&](Operation *user) {
      return isa<ConvertOp, StoreOp>(user) && user->getParentOp() == kernel;
    });
    return isLeft ? result : Value();
  }

  /// Has `tested` be the sums' results and `steps` what makes them, if nothing
  /// reads a result before all are there.
  bool findResults() {
    scf::ForOp last = loops.back();
    BackwardSliceOptions options;
    options.inclusive = true;
    options.omitBlockArguments = true;
    options.filter = [&](Operation *op) {
      return op->getParentOp() == kernel && last->isBeforeInBlock(op);
    };
    llvm::SetVector<Operation *> slice;
    for (unsigned i : sums) {
      Value result = resultOf(last.getResult(i));
      if (!result || failed(getBackwardSlice(result, &slice, options)))
        return false;
      if (!llvm::is_contained(tested, result))
        tested.push_back(result);
    }
    steps = slice.takeVector();
    llvm::sort(steps, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    return llvm::all_of(steps, isPure) &&
           llvm::all_of(tested, [&](Value result) {
             return llvm::all_of(result.getUsers(), [&](Operation *user) {
               return steps.empty() || steps.back()->isBeforeInBlock(user);
             });
           });
  }

  /// Whether some element of a value is not finite.
  Value emitTest(OpBuilder &b, Location loc) {
    Location place = withNote(
        loc, {ids.next(kernel, "redo"),
              "guard",
              "sum over " + axis.getValue().str(),
              "weights of masked lanes are 0, and 0 times NaN or Inf is NaN: a "
              "warp computes a sum that is not finite again, without them",
              {}});
    Value found;
    for (Value value : tested) {
      Value infinity = arith::ConstantOp::create(
          b, loc, b.getF32FloatAttr(std::numeric_limits<float>::infinity()));
      // True for NaN, too.
      Value bad =
          arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UGE,
                                math::AbsFOp::create(b, loc, value),
                                broadcastTo(b, loc, infinity, value.getType()));
      Value any = AnyOp::create(b, place, b.getI1Type(), bad);
      if (found)
        any = AnyOp::create(b, place, b.getI1Type(),
                            arith::OrIOp::create(b, loc, found, any));
      found = any;
    }
    return found;
  }

  LogicalResult emit() {
    scf::ForOp first = loops.front(), last = loops.back();
    // What else the loops carry is right, but for what the sums are scaled by.
    SmallVector<Value> results;
    if (findResults()) {
      results = tested;
    } else {
      steps.clear();
      llvm::append_range(results, last.getResults());
      tested = llvm::map_to_vector(
          sums, [&](unsigned i) -> Value { return last.getResult(i); });
    }
    OpBuilder b(last->getContext());
    b.setInsertionPointAfter(steps.empty() ? last : steps.back());
    Location loc = last.getLoc();
    auto branch = scf::IfOp::create(b, loc, ValueRange(results).getTypes(),
                                    emitTest(b, loc), /*withElseRegion=*/true);
    for (auto [result, exact] : llvm::zip_equal(results, branch.getResults()))
      result.replaceUsesWithIf(exact, [&](OpOperand &use) {
        return branch->isBeforeInBlock(
            branch->getBlock()->findAncestorOpInBlock(*use.getOwner()));
      });
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, results);
    b.setInsertionPointToStart(branch.thenBlock());
    // The last part tests every predicate, so it fits the steps of all.
    FailureOr<scf::ForOp> lanes =
        OneLaneBody(last, axis, ids)
            .emit(b, first.getLowerBound(), last.getUpperBound(),
                  first.getInitArgs());
    if (failed(lanes)) {
      // See OneLaneBody::addParts.
      b.setInsertionPointToEnd(branch.thenBlock());
      scf::YieldOp::create(b, loc, results);
      return failure();
    }
    b.setInsertionPointAfter(*lanes);
    IRMapping mapping;
    mapping.map(last.getResults(), lanes->getResults());
    for (Operation *step : steps)
      b.clone(*step, mapping);
    scf::YieldOp::create(b, loc,
                         llvm::map_to_vector(results, [&](Value result) {
                           return mapping.lookup(result);
                         }));
    noteDecision(
        kernel,
        {"masks", "exact",
         "sums that are not finite after the loop over " +
             axis.getValue().str() +
             " are computed again, lane by lane: NaN and Inf that a mask "
             "removes reach nothing"});
    return success();
  }

  KernelOp kernel;
  Chain &loops;
  NoteIds &ids;
  StringAttr axis;
  /// Carried values that masked data can make NaN.
  llvm::SetVector<unsigned> sums;
  /// What is tested and computed again: results that sums become, by `steps`
  /// after the loops, or the sums themselves.
  SmallVector<Value> tested;
  SmallVector<Operation *> steps;
};

struct TileExactMasksPass : impl::TileExactMasksBase<TileExactMasksPass> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    SmallVector<Chain> chains = chainsOf(kernel);
    auto isCarried = [&](DotOp dot) {
      auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
      return loop && loop->getParentOp() == kernel;
    };
    WalkResult result = kernel.walk([&](DotOp dot) {
      if (!meetsMaskedData(dot) || isCarried(dot))
        return WalkResult::advance();
      dot.emitOpError("cannot have an exact mask: expects a product that a "
                      "loop of the kernel sums up, but it is in no such loop");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    NoteIds ids;
    for (Chain &chain : chains)
      if (failed(ExactChain(kernel, chain, ids).run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace selvedge::safety
