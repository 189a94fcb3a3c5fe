// What a program's stores and sums are made of once operations are folded.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/FoldedSources.h"

#include "compiler/Verify/Arithmetic/PredicateWords.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace selvedge::verify {

using namespace mlir;

/// `x - x` of tiles whose sizes are not bound, which have no constants.
struct CancelTiles : OpRewritePattern<arith::SubIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SubIOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getLhs() != op.getRhs() || !tile::isTile(op.getType()))
      return failure();
    Value zero = arith::ConstantOp::create(
        rewriter, op.getLoc(),
        rewriter.getZeroAttr(getElementTypeOrSelf(op.getType())));
    rewriter.replaceOpWithNewOp<tile::SplatOp>(op, op.getType(), zero);
    return success();
  }
};

/// Makes equal operations one, and applies what their dialects say of them.
static void fold(Operation *op) {
  MLIRContext *context = op->getContext();
  RewritePatternSet patterns(context);
  patterns.add<CancelTiles>(context);
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName name : context->getRegisteredOperations())
    name.getCanonicalizationPatterns(patterns, context);
  IRRewriter rewriter(context);
  DominanceInfo dominance(op);
  eliminateCommonSubExpressions(rewriter, dominance, op);
  // What is not folded in some rounds stays.
  (void)applyPatternsGreedily(op, std::move(patterns));
}

FoldedSources sourcesOnceFolded(tile::KernelOp kernel) {
  // Kernels look up what their program says.
  OwningOpRef<tile::ProgramOp> program(kernel.getProgram().clone());
  auto copy = program->lookupSymbol<tile::KernelOp>(kernel.getSymName());
  // Which of the kernel's reductions one is.
  constexpr StringLiteral mark = "number";
  SmallVector<Operation *> reductions;
  kernel.walk([&](tile::ReduceOp reduce) { reductions.push_back(reduce); });
  Builder b(kernel.getContext());
  int64_t count = 0;
  copy.walk([&](tile::ReduceOp reduce) {
    reduce->setDiscardableAttr(mark, b.getI64IntegerAttr(count++));
  });
  fold(copy);
  SourceTensors tensors(copy);
  FoldedSources sources;
  copy.walk([&](Operation *op) {
    if (auto store = dyn_cast<tile::StoreOp>(op))
      sources.stores[tensorName(store.getTensor())].push_back(
          tensors.of(store.getValue()));
    auto number = op->getDiscardableAttr(mark);
    if (auto reduce = dyn_cast<tile::ReduceOp>(op); reduce && number)
      sources.reductions[reductions[cast<IntegerAttr>(number).getInt()]] =
          tensors.of(reduce.getSource());
  });
  return sources;
}

} // namespace selvedge::verify
