// NaN and Inf that a mask removes: mode mask = exact in physical execution, and
// what each part of it is for.
// SPDX-License-Identifier: MIT
#include "Cases.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"

#include <gtest/gtest.h>
#include <limits>

namespace selvedge::testing {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();

/// Warps will vote.
const std::string safe = [] {
  std::string passes = exactPipeline.str(), pass = "tile-obligations";
  return passes.replace(passes.find(pass), pass.size(), pass + "{votes}");
}();
const std::string bound = safe + "," + claimsPipeline.str();
const std::string exact = bound +
                          ",tile.program(tile.kernel(tile-exact-masks))," +
                          simplifyPipeline.str();
const std::string seq = exact + "," + seqPipeline.str();

/// The case's first data with `value` in some keys and values of every head.
Kit plant(const Case &test, const char *name, int64_t from, int64_t to,
          double value, bool inKeys = false) {
  Kit kit = test.kits.front();
  kit.name = name;
  for (HostTensor &input : kit.inputs) {
    if (input.name != "v" && !(inKeys && input.name == "k"))
      continue;
    int64_t heads = input.shape[2] * input.shape[3];
    for (int64_t b = 0; b < input.shape[0]; ++b)
      for (int64_t i = (b * input.shape[1] + from) * heads;
           i < (b * input.shape[1] + to) * heads; ++i)
        input.values[i] = value;
  }
  return kit;
}

/// Of 100 keys some that early rows do not see, one, and some in the middle.
std::vector<Kit> kitsOf(const Case &test) {
  return {plant(test, "future", 60, 100, nan), plant(test, "one", 75, 76, inf),
          plant(test, "keys and values", 40, 50, -inf, true),
          test.kits.front()};
}

class ExactMasks : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    test = makeCase(GetParam());
    prepare(context);
    program = build(context, test);
    ASSERT_TRUE(program);
  }

  /// First difference from logical mode with each kit.
  std::vector<std::string> differences(mlir::ModuleOp module,
                                       const std::string &variant = "") {
    std::vector<std::string> found;
    for (const Kit &kit : kitsOf(test)) {
      Expected expected = expect(*program, test, kit);
      Outcome run =
          execute(module, test, kit, expected, physical::Poison::Nan, variant);
      found.push_back(beyondBounds(run, expected));
    }
    return found;
  }

  mlir::OwningOpRef<mlir::ModuleOp> lowered(const std::string &pipeline) {
    mlir::OwningOpRef<mlir::ModuleOp> copy = program->clone();
    EXPECT_TRUE(transform(*copy, pipeline));
    return copy;
  }

  Case test;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> program;
};

TEST_P(ExactMasks, AreExactInEveryForm) {
  for (const std::string &pipeline : {exact, seq})
    for (const std::string &found : differences(*lowered(pipeline)))
      EXPECT_EQ(found, "");
  EXPECT_TRUE(transform(*lowered(seq), verifySeqPipeline));
}

TEST_P(ExactMasks, AreExactInRoles) {
  test = makeRoleCase(GetParam());
  // Few keys, and in one batch none.
  test.kits.erase(test.kits.begin());
  program = build(context, test);
  ASSERT_TRUE(program);
  std::string roles = rolesPipeline.str();
  roles.insert(roles.find("tile-simplify-presence"),
               "tile.program(tile.kernel(tile-exact-masks)),");
  mlir::OwningOpRef<mlir::ModuleOp> module = lowered(safe + "," + roles);
  for (const std::string &found : differences(*module, "bulk"))
    EXPECT_EQ(found, "");
}

TEST_P(ExactMasks, MatterForEveryKindOfData) {
  std::vector<std::string> found =
      differences(*lowered(bound + "," + simplifyPipeline.str()));
  EXPECT_NE(found[0], "");
  EXPECT_NE(found[1], "");
  EXPECT_NE(found[2], "");
  EXPECT_EQ(found[3], "");
}

TEST_P(ExactMasks, TestForNaN) {
  mlir::OwningOpRef<mlir::ModuleOp> module = lowered(exact);
  module->walk([](tile::AnyOp any) {
    auto compare = any.getCondition().getDefiningOp<mlir::arith::CmpFOp>();
    ASSERT_TRUE(compare);
    compare.setPredicate(mlir::arith::CmpFPredicate::OGE);
  });
  EXPECT_NE(differences(*module)[0], "");
}

TEST_P(ExactMasks, SelectTheTerms) {
  for (const std::string &pipeline : {exact, seq}) {
    mlir::OwningOpRef<mlir::ModuleOp> module = lowered(pipeline);
    int selects = 0;
    module->walk([&](mlir::arith::SelectOp select) {
      auto type = mlir::dyn_cast<mlir::RankedTensorType>(select.getType());
      if (!type || type.getRank() != 3)
        return;
      ++selects;
      select.replaceAllUsesWith(select.getTrueValue());
    });
    EXPECT_GT(selects, 0);
    EXPECT_NE(differences(*module)[0], "");
    if (pipeline == seq)
      EXPECT_FALSE(transform(*module, verifySeqPipeline));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, ExactMasks,
                         ::testing::Values("causal", "gemma"),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace selvedge::testing
