// tile-fold-integers: integers that are compared with, or taken from,
// themselves. SPDX-License-Identifier: MIT
#include "compiler/Analysis/LinearIndex.h"
#include "compiler/Safety/Identities.h"
#include "compiler/Safety/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::safety {

#define GEN_PASS_DEF_TILEFOLDINTEGERS
#include "compiler/Safety/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// Gives `op` a constant as its result; of a tile, whose size is not bound, in
/// each lane.
void replaceByConstant(PatternRewriter &rewriter, Operation *op,
                       TypedAttr value) {
  Location loc = op->getLoc();
  Value scalar = arith::ConstantOp::create(rewriter, loc, value);
  rewriter.replaceOp(
      op, broadcastTo(rewriter, loc, scalar, op->getResult(0).getType()));
}

/// `x < x`, `x == x`.
struct FoldCompare : OpRewritePattern<arith::CmpIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::CmpIOp op,
                                PatternRewriter &rewriter) const override {
    if (analysis::source(op.getLhs()) != analysis::source(op.getRhs()))
      return failure();
    bool holds =
        arith::applyCmpPredicate(op.getPredicate(), APInt(32, 0), APInt(32, 0));
    replaceByConstant(rewriter, op, rewriter.getBoolAttr(holds));
    return success();
  }
};

/// The other operand of a sum, or a minuend, one of whose operands is `term`;
/// null for none.
template <typename Op>
Value without(Value sum, Value term) {
  auto op = sum.getDefiningOp<Op>();
  if (op && op.getRhs() == term)
    return op.getLhs();
  bool isEither = std::is_same_v<Op, arith::AddIOp>;
  return op && isEither && op.getLhs() == term ? op.getRhs() : Value();
}

/// `x - x`, and `x + y - x`.
struct FoldDifference : OpRewritePattern<arith::SubIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SubIOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getLhs() == op.getRhs()) {
      replaceByConstant(
          rewriter, op,
          rewriter.getZeroAttr(getElementTypeOrSelf(op.getType())));
      return success();
    }
    Value left = without<arith::AddIOp>(op.getLhs(), op.getRhs());
    if (!left)
      return failure();
    rewriter.replaceOp(op, left);
    return success();
  }
};

/// `x - y + y`.
struct FoldSum : OpRewritePattern<arith::AddIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::AddIOp op,
                                PatternRewriter &rewriter) const override {
    Value left = without<arith::SubIOp>(op.getLhs(), op.getRhs());
    if (!left)
      left = without<arith::SubIOp>(op.getRhs(), op.getLhs());
    if (!left)
      return failure();
    rewriter.replaceOp(op, left);
    return success();
  }
};

/// What a condition is in all lanes; none where data say.
std::optional<bool> constantOf(Value condition) {
  APInt value;
  if (!matchPattern(analysis::source(condition), m_ConstantInt(&value)))
    return std::nullopt;
  return value.getBoolValue();
}

/// A conjunction or disjunction of which one side is a constant.
template <typename Op>
struct FoldLogic : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isInteger(1))
      return failure();
    // One side decides where it is this, and does not matter where it is not.
    bool deciding = std::is_same_v<Op, arith::OrIOp>;
    for (auto [side, other] : {std::pair(op.getLhs(), op.getRhs()),
                               std::pair(op.getRhs(), op.getLhs())})
      if (std::optional<bool> value = constantOf(side)) {
        rewriter.replaceOp(op, *value == deciding ? side : other);
        return success();
      }
    return failure();
  }
};

/// The opposite of a constant.
struct FoldOpposite : OpRewritePattern<arith::XOrIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::XOrIOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<bool> value = constantOf(op.getLhs());
    if (!getElementTypeOrSelf(op.getType()).isInteger(1) || !value ||
        constantOf(op.getRhs()) != true)
      return failure();
    replaceByConstant(rewriter, op, rewriter.getBoolAttr(!*value));
    return success();
  }
};

/// A select that always takes the same side.
struct FoldSelect : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SelectOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<bool> value = constantOf(op.getCondition());
    if (!value)
      return failure();
    rewriter.replaceOp(op, *value ? op.getTrueValue() : op.getFalseValue());
    return success();
  }
};

/// Whether a sink's predicate tells lanes apart that the sink combines, as each
/// of its predicates has to.
bool staysAlong(Operation *sink, Value predicate) {
  SmallVector<StringAttr> axes(axesOf(predicate.getType()));
  auto mentions = [&](Attribute over) {
    return llvm::is_contained(axes, over);
  };
  return llvm::TypeSwitch<Operation *, bool>(sink)
      .Case<DotOp, ReduceOp>(
          [&](auto op) { return llvm::any_of(op.getOver(), mentions); })
      .Case([&](SoftmaxUpdateOp op) { return mentions(op.getOverAttr()); })
      .Default(true);
}

/// A predicate that always holds makes no lane absent: no sink has to say so.
/// One that was spread over an axis for a side that is gone speaks of fewer
/// axes again: lanes that are absent whatever their row is are loaded as such.
struct FoldPresence : OpInterfaceRewritePattern<SinkOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(SinkOpInterface op,
                                PatternRewriter &rewriter) const override {
    // These are counted by their places among the others.
    if (auto load = dyn_cast<LoadOp>(*op); load && !load.getGarbage().empty())
      return failure();
    MutableOperandRange presence = op.getPresenceMutable();
    bool changed = false;
    for (unsigned i = presence.size(); i-- > 0;) {
      auto spread = presence[i].get().getDefiningOp<BroadcastOp>();
      if (constantOf(presence[i].get()) == true)
        rewriter.modifyOpInPlace(op, [&] { presence.erase(i); });
      else if (spread && staysAlong(op, spread.getSource()))
        rewriter.modifyOpInPlace(
            op, [&] { presence[i].assign(spread.getSource()); });
      else
        continue;
      changed = true;
    }
    return success(changed);
  }
};

/// Whether no lane enters a sink, whatever the data.
template <typename Sink>
bool isNever(Sink sink) {
  return llvm::any_of(sink.getPresence(),
                      [](Value p) { return constantOf(p) == false; });
}

/// A product that no lane enters adds nothing.
struct FoldProduct : OpRewritePattern<DotOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DotOp op,
                                PatternRewriter &rewriter) const override {
    if (!isNever(op))
      return failure();
    if (op.getInit())
      rewriter.replaceOp(op, op.getInit());
    else
      replaceByConstant(rewriter, op, rewriter.getF32FloatAttr(0));
    return success();
  }
};

/// A reduction that no lane enters gives what one over no lane gives.
struct FoldReduction : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    if (!isNever(op))
      return failure();
    replaceByConstant(
        rewriter, op,
        identityOf(op.getKind(), getElementTypeOrSelf(op.getType())));
    return success();
  }
};

/// A softmax step that no lane enters leaves the state, and has no weights.
struct FoldStep : OpRewritePattern<SoftmaxUpdateOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SoftmaxUpdateOp op,
                                PatternRewriter &rewriter) const override {
    if (!isNever(op))
      return failure();
    Location loc = op.getLoc();
    Value zero =
        arith::ConstantOp::create(rewriter, loc, rewriter.getF32FloatAttr(0));
    SmallVector<Value> results = {
        broadcastTo(rewriter, loc, zero, op.getWeights().getType()),
        op.getMax(), op.getSum()};
    llvm::append_range(results, op.getAccs());
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct TileFoldIntegersPass : impl::TileFoldIntegersBase<TileFoldIntegersPass> {
  void runOnOperation() override {
    Operation *kernel = getOperation();
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldCompare, FoldDifference, FoldSum, FoldLogic<arith::AndIOp>,
                 FoldLogic<arith::OrIOp>, FoldOpposite, FoldSelect, FoldProduct,
                 FoldReduction, FoldStep, FoldPresence>(&getContext());
    foldSingleNumbers(getOperation());
    // What reads the same is one value, and what nobody reads any more is gone.
    unify(kernel);
    // Upstream folds would make constants of tiles without a size.
    walkAndApplyPatterns(kernel, std::move(patterns));
    unify(kernel);
  }

private:
  /// Ranges of one number, without blocks, and loops of one step.
  static void foldSingleNumbers(KernelOp kernel) {
    OpBuilder builder(&kernel.getBody().front().front());
    for (auto [i, range] :
         llvm::enumerate(kernel.getRanges().getAsRange<IterAttr>())) {
      auto extent =
          dyn_cast<AffineConstantExpr>(range.getExtent().getResult(0));
      BlockArgument number = kernel.getCoord(i);
      if (!range.getBlock() && extent && extent.getValue() == 1 &&
          !number.use_empty())
        number.replaceAllUsesWith(arith::ConstantOp::create(
            builder, kernel.getLoc(), builder.getI32IntegerAttr(0)));
    }
    IRRewriter rewriter(kernel.getContext());
    kernel.walk([&](scf::ForOp loop) {
      (void)loop.promoteIfSingleIteration(rewriter);
    });
  }

  static void unify(Operation *kernel) {
    IRRewriter rewriter(kernel->getContext());
    DominanceInfo dominance(kernel);
    eliminateCommonSubExpressions(rewriter, dominance, kernel);
  }
};

} // namespace
} // namespace selvedge::safety
