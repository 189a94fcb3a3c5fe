// sm-mask-wide: what is zero where lanes are absent is chosen before it is
// narrowed.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/Softmax/OnlineSoftmax.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMMASKWIDE
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

/// The axis along which elements that follow each other share a register.
StringAttr sharedAxis(Type type) {
  for (AxisLayoutAttr axis : layoutOf(type).getAxes())
    if (llvm::is_contained(axis.getRegStrides(), 1))
      return axis.getName();
  return {};
}

/// Whether a condition may differ along `axis`.
bool differsAlong(Value condition, StringAttr axis) {
  LayoutAttr layout = layoutOf(condition.getType());
  if (!layout || !axis || layout.indexOf(axis) < 0)
    return false;
  Operation *def = condition.getDefiningOp();
  if (!def || isa<RangeOp>(def) || !isPure(def))
    return true;
  return llvm::any_of(def->getOperands(), [&](Value operand) {
    return differsAlong(operand, axis);
  });
}

/// Zero stays zero when it is narrowed, so that both orders give the same.
struct MaskBeforeNarrowing : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SelectOp select,
                                PatternRewriter &rewriter) const override {
    auto narrow = select.getTrueValue().getDefiningOp<ConvertOp>();
    auto isMask = [](Operation *user) {
      auto mask = dyn_cast<arith::SelectOp>(user);
      return mask && isSplat(mask.getFalseValue(), 0);
    };
    if (!narrow || !isSplat(select.getFalseValue(), 0) ||
        !getElementTypeOrSelf(narrow.getSource().getType()).isF32() ||
        !llvm::all_of(narrow->getUsers(), isMask) ||
        !differsAlong(select.getCondition(), sharedAxis(select.getType())))
      return failure();
    Type wide = narrow.getSource().getType();
    Location loc = select.getLoc();
    Value zero = SplatOp::create(
        rewriter, loc, wide,
        arith::ConstantOp::create(rewriter, loc, rewriter.getF32FloatAttr(0)));
    Value masked = arith::SelectOp::create(rewriter, loc, select.getCondition(),
                                           narrow.getSource(), zero);
    rewriter.replaceOpWithNewOp<ConvertOp>(select, select.getType(), masked,
                                           narrow.getOverflow());
    return success();
  }
};

struct SmMaskWidePass : impl::SmMaskWideBase<SmMaskWidePass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<MaskBeforeNarrowing>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace selvedge::schedule
