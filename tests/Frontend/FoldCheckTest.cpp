// Tests of what the check of folds remembers of loops.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/FoldCheck.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

using namespace mlir;

namespace selvedge::frontend {
namespace {

TEST(FoldCheck, ForgetsLoopsThatAreBuiltAgain) {
  MLIRContext context;
  context.loadDialect<arith::ArithDialect, scf::SCFDialect>();
  OpBuilder b(&context);
  Block kernel;
  b.setInsertionPointToStart(&kernel);
  Location loc = b.getUnknownLoc();
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 32),
        one = arith::ConstantIntOp::create(b, loc, 1, 32);
  auto outer = scf::ForOp::create(b, loc, zero, one, one);
  b.setInsertionPointToStart(outer.getBody());
  auto inner = scf::ForOp::create(b, loc, zero, one, one);

  Diagnostics diags("t.tile", "");
  FoldCheck folds(diags);
  folds.add({"i", b.getStringAttr("i"), inner, inner.getInductionVar(), {}});
  folds.forget(outer);
  outer.erase();
  // A range whose loop is gone would end the program here, or be another's.
  folds.run(kernel);
  EXPECT_FALSE(diags.hasErrors());
}

} // namespace
} // namespace selvedge::frontend
