// Correct programs: physical mode agrees with logical mode, whatever the
// poison.
// SPDX-License-Identifier: MIT
#include "Cases.h"

#include <gtest/gtest.h>

namespace selvedge::testing {
namespace {

class Isolation : public ::testing::TestWithParam<const char *> {
protected:
  /// All kits of the case, its module lowered by `pipeline`.
  static void checkForm(const std::string &pipeline,
                        const std::string &variant) {
    checkForm(makeCase(GetParam()), pipeline, variant);
  }

  static void checkForm(Case test, const std::string &pipeline,
                        const std::string &variant) {
    llvm::append_range(test.kits, test.edges);
    mlir::MLIRContext context;
    prepare(context);
    mlir::OwningOpRef<mlir::ModuleOp> program = build(context, test);
    mlir::OwningOpRef<mlir::ModuleOp> module = program->clone();
    ASSERT_TRUE(transform(*module, pipeline));
    for (const Kit &kit : test.kits) {
      SCOPED_TRACE(kit.name);
      Expected expected = expect(*program, test, kit);
      auto runWith = [&](physical::Poison poison) {
        return execute(*module, test, kit, expected, poison, variant);
      };
      Outcome clean = runWith(physical::Poison::None);
      EXPECT_EQ(beyondBounds(clean, expected), "");
      for (physical::Poison poison : physical::poisonKinds)
        EXPECT_TRUE(isSame(clean, runWith(poison)))
            << "poison " << physical::nameOf(poison).str();
    }
  }
};

const std::string bound = (safetyPipeline + "," + boundPipeline).str();

TEST_P(Isolation, Tile) { checkForm(bound, ""); }
TEST_P(Isolation, SeqFirst) { checkForm(bound + "," + seqPipeline.str(), ""); }
TEST_P(Isolation, SeqUniversal) {
  checkForm(bound + "," + seqPipeline.str(), "universal");
}
TEST_P(Isolation, AsyncFirst) {
  checkForm(bound + "," + seqPipeline.str() + "," + asyncPipeline.str(), "");
}

const std::string parts =
    (exactPipeline + "," + claimsPipeline + "," + simplifyPipeline).str();

TEST_P(Isolation, TileParts) { checkForm(parts, ""); }
TEST_P(Isolation, SeqParts) {
  checkForm(parts + "," + seqPipeline.str(), "universal");
}
TEST_P(Isolation, AsyncParts) {
  checkForm(parts + "," + seqPipeline.str() + "," + asyncPipeline.str(),
            "universal");
}

class RowIsolation : public Isolation {};

TEST_P(RowIsolation, Async) {
  checkForm(makeRowCase(GetParam()), (exactPipeline + "," + rowsPipeline).str(),
            GetParam());
}

INSTANTIATE_TEST_SUITE_P(Variants, RowIsolation,
                         ::testing::ValuesIn(rowVariants),
                         [](const auto &info) { return info.param; });

class RoleIsolation : public Isolation {};

TEST_P(RoleIsolation, Roles) {
  checkForm(makeRoleCase(GetParam()),
            (exactPipeline + "," + rolesPipeline).str(), "bulk");
}

INSTANTIATE_TEST_SUITE_P(Cases, RoleIsolation,
                         ::testing::ValuesIn(roleCaseNames),
                         [](const auto &info) { return info.param; });

INSTANTIATE_TEST_SUITE_P(Cases, Isolation, ::testing::ValuesIn(caseNames),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace selvedge::testing
