// What physical execution refuses.
// SPDX-License-Identifier: MIT
#include "Cases.h"
#include "dialect/Sm/Sm.h"

#include <gtest/gtest.h>

namespace selvedge::testing {
namespace {

/// Diagnostics of the matrix product at a stage.
std::string matmulAt(const std::string &pipeline, const std::string &variant) {
  Case test = makeCase("matmul");
  mlir::MLIRContext context;
  prepare(context);
  mlir::OwningOpRef<mlir::ModuleOp> module = build(context, test);
  EXPECT_TRUE(transform(*module, pipeline));
  return execute(*module, test, test.kits[0], {}, physical::Poison::Nan,
                 variant)
      .diagnostics;
}

const std::string seq =
    (safetyPipeline + "," + boundPipeline + "," + seqPipeline).str();

TEST(PhysicalErrors, SizesAreNotBound) {
  EXPECT_NE(matmulAt(safetyPipeline.str(), "")
                .find("'tile.kernel' has no bound sizes: run tile-bind-blocks "
                      "first"),
            std::string::npos);
}

TEST(PhysicalErrors, VariantIsUnknown) {
  EXPECT_NE(matmulAt(seq, "fast").find("has no variant 'fast'"),
            std::string::npos);
}

TEST(PhysicalErrors, VariantDoesNotApply) {
  // Rows of 77 elements are not aligned to 16 bytes.
  EXPECT_NE(matmulAt(seq, "aligned").find("has variant 'aligned', but"),
            std::string::npos);
}

TEST(PhysicalErrors, SoftmaxIsNotExpanded) {
  Case test = makeCase("softmax");
  mlir::MLIRContext context;
  prepare(context);
  mlir::OwningOpRef<mlir::ModuleOp> module = build(context, test);
  ASSERT_TRUE(transform(*module, "cse,tile-bind-blocks"));
  EXPECT_NE(execute(*module, test, test.kits[0], {}, physical::Poison::Nan)
                .diagnostics.find(
                    "is not an operation that physical execution knows"),
            std::string::npos);
}

/// Nothing awaits the copies.
TEST(PhysicalErrors, CopyIsInFlight) {
  Case test = makeCase("matmul");
  mlir::MLIRContext context;
  prepare(context);
  mlir::OwningOpRef<mlir::ModuleOp> module = build(context, test);
  ASSERT_TRUE(transform(*module, seq + "," + asyncPipeline.str()));
  module->walk([](sm::AwaitOp await) { await.erase(); });
  EXPECT_NE(execute(*module, test, test.kits[0], {}, physical::Poison::Nan,
                    "universal")
                .diagnostics.find("ends with a copy in flight"),
            std::string::npos);
}

TEST(PhysicalErrors, ModuleWithoutProgram) {
  std::vector<HostTensor> outputs;
  std::string diagnostics;
  EXPECT_FALSE(physical::runText("", {}, {}, {}, outputs, diagnostics));
  EXPECT_EQ(diagnostics,
            "error: physical execution expects a module with either one "
            "tile.program or one sm.plan\n");
}

TEST(PhysicalErrors, TextDoesNotParse) {
  std::vector<HostTensor> outputs;
  std::string diagnostics;
  EXPECT_FALSE(physical::runText("tile.", {}, {}, {}, outputs, diagnostics));
  EXPECT_NE(diagnostics, "");
}

} // namespace
} // namespace selvedge::testing
