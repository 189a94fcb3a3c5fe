// Which flags of loops no step sets.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/NeverSet.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <string>

using namespace mlir;

namespace {

/// A loop that carries a flag: `init` at first, the others what the branch on
/// `has` hands on. Asks for the branch on the flag in the arm without; `isSame`
/// says that branches go the same way in all steps.
bool ask(const std::string &has, const std::string &init,
         const std::string &with, const std::string &without,
         bool isSame = false) {
  MLIRContext context;
  context
      .loadDialect<arith::ArithDialect, scf::SCFDialect, func::FuncDialect>();
  std::string text = R"(
    func.func private @some(i32)
    func.func @main(%n: i32, %m: i32, %outside: i1) {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %true = arith.constant true
      %false = arith.constant false
      scf.for %i = %zero to %m step %one iter_args(%flag = )" +
                     init + R"() -> (i1) : i32 {
        %sum = arith.addi %n, %one : i32
        %same = arith.cmpi sgt, %sum, %one : i32
        %other = arith.cmpi sgt, %n, %i : i32
        %next = scf.if )" +
                     has + R"( -> (i1) {
          scf.yield )" +
                     with +
                     R"( : i1
        } else {
          scf.if %flag { func.call @some(%i) : (i32) -> () }
          scf.yield )" +
                     without + R"( : i1
        }
        scf.yield %next : i1
      }
      return
    })";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  scf::IfOp found;
  (*module)->walk([&](scf::IfOp branch) {
    if (branch.getNumResults() == 0)
      found = branch;
  });
  return selvedge::verify::isNeverSet(found, [&](scf::IfOp) { return isSame; });
}

TEST(NeverSet, ByTheOtherArmAlone) {
  EXPECT_TRUE(ask("%same", "%false", "%true", "%flag"));
  EXPECT_TRUE(ask("%same", "%false", "%true", "%false"));
}

TEST(NeverSet, BeforeTheFirstStep) {
  EXPECT_FALSE(ask("%same", "%true", "%true", "%flag"));
  EXPECT_FALSE(ask("%same", "%outside", "%true", "%flag"));
}

TEST(NeverSet, InThisArm) {
  EXPECT_FALSE(ask("%same", "%false", "%true", "%true"));
  EXPECT_FALSE(ask("%same", "%false", "%true", "%outside"));
}

TEST(NeverSet, WhereStepsDiffer) {
  EXPECT_FALSE(ask("%other", "%false", "%true", "%flag"));
  EXPECT_TRUE(ask("%other", "%false", "%false", "%flag"));
}

TEST(NeverSet, WhereStepsAreKnownToAgree) {
  EXPECT_TRUE(ask("%other", "%false", "%true", "%flag", /*isSame=*/true));
  EXPECT_FALSE(ask("%other", "%false", "%true", "%true", /*isSame=*/true));
  EXPECT_FALSE(ask("%other", "%true", "%true", "%flag", /*isSame=*/true));
}

} // namespace
