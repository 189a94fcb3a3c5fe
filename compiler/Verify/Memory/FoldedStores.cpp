// What a program's stores are made of once operations are folded.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/FoldedStores.h"

#include "compiler/Verify/Arithmetic/PredicateWords.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace selvedge::verify {

using namespace mlir;

/// Makes equal operations one, and applies what their dialects say of them.
static void fold(Operation *op) {
  MLIRContext *context = op->getContext();
  RewritePatternSet patterns(context);
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

std::map<std::string, std::vector<SourceTensors::Names>>
sourcesOnceFolded(tile::KernelOp kernel) {
  // Kernels look up what their program says.
  OwningOpRef<tile::ProgramOp> program(kernel.getProgram().clone());
  auto copy = program->lookupSymbol<tile::KernelOp>(kernel.getSymName());
  fold(copy);
  SourceTensors tensors(copy);
  std::map<std::string, std::vector<SourceTensors::Names>> sources;
  copy.walk([&](tile::StoreOp store) {
    sources[tensorName(store.getTensor())].push_back(
        tensors.of(store.getValue()));
  });
  return sources;
}

} // namespace selvedge::verify
