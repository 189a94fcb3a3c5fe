// Correct programs: physical mode agrees with logical mode, whatever the
// poison.
// SPDX-License-Identifier: MIT
#include "Cases.h"

#include <gtest/gtest.h>

namespace selvedge::testing {
namespace {

/// All kits of all cases, the module lowered by `pipeline` beforehand.
void checkForm(const std::string &pipeline, const std::string &variant) {
  for (const Case &test : allCases()) {
    mlir::MLIRContext context;
    prepare(context);
    mlir::OwningOpRef<mlir::ModuleOp> program = build(context, test);
    mlir::OwningOpRef<mlir::ModuleOp> module = program->clone();
    ASSERT_TRUE(transform(*module, pipeline)) << test.name;
    for (const Kit &kit : test.kits) {
      SCOPED_TRACE(test.name + ", " + kit.name);
      Expected expected = expect(*program, test, kit);
      Run clean = execute(*module, test, kit, expected, physical::Poison::None,
                          variant);
      if (kit.broken)
        EXPECT_EQ(clean.diagnostics, "");
      else
        EXPECT_EQ(beyondBounds(clean, expected), "");
      for (physical::Poison poison : physical::poisonKinds)
        EXPECT_TRUE(isSame(
            clean, execute(*module, test, kit, expected, poison, variant)))
            << "poison " << physical::nameOf(poison).str();
    }
  }
}

const std::string bound = (safetyPipeline + "," + boundPipeline).str();

TEST(Isolation, Tile) { checkForm(bound, ""); }
TEST(Isolation, SeqFirst) { checkForm(bound + "," + seqPipeline.str(), ""); }
TEST(Isolation, SeqUniversal) {
  checkForm(bound + "," + seqPipeline.str(), "universal");
}

} // namespace
} // namespace selvedge::testing
