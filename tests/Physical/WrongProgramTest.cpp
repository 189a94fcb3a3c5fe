// Attention that is wrong by one is refused with every kit of data.
// SPDX-License-Identifier: MIT
#include "Cases.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace selvedge::testing {
namespace {

/// Text of the template, and what stands there instead.
struct Mistake {
  const char *name, *right, *wrong;
};

const Mistake mistakes[] = {
    {"last key dropped", "valid j < kv_len[b]",
     "valid j < kv_len[b] - 1 && j < N - 1"},
    {"a zero key counted",
     "o[b, i, (g, u), :] =", "sm.include(0.0, acc); o[b, i, (g, u), :] ="},
    {"causal one short", "|| j <= i + kv_len[b] - M;",
     "|| j < i + kv_len[b] - M;"},
    {"causal one far", "|| j <= i + kv_len[b] - M;",
     "|| j <= i + 1 + kv_len[b] - M;"},
    {"lse in log2", "sm.lse()", "sm.lse() * 1.4426950408889634"},
};

class WrongProgram : public ::testing::TestWithParam<const char *> {};

TEST_P(WrongProgram, IsRefusedWithEveryKit) {
  Case test = makeCase(GetParam());
  std::ifstream stream(test.path);
  const std::string source(std::istreambuf_iterator<char>(stream), {});
  llvm::append_range(test.kits, test.edges);
  mlir::MLIRContext context;
  prepare(context);
  mlir::OwningOpRef<mlir::ModuleOp> right = build(context, test);
  for (const Mistake &mistake : mistakes) {
    bool isOfMask = llvm::StringRef(mistake.name).starts_with("causal");
    if (isOfMask && test.name == "dense")
      continue;
    std::string text = source;
    size_t at = text.find(mistake.right);
    ASSERT_NE(at, std::string::npos) << mistake.right;
    text.replace(at, std::string(mistake.right).size(), mistake.wrong);
    Case wrong = test;
    wrong.path = ::testing::TempDir() + "wrong-" + test.name + ".tile";
    std::ofstream(wrong.path) << text;
    mlir::OwningOpRef<mlir::ModuleOp> program = build(context, wrong);
    ASSERT_TRUE(program) << mistake.name;
    for (const Kit &kit : test.kits) {
      Outcome outcome{expect(*program, test, kit).outputs, ""};
      EXPECT_NE(beyondBounds(outcome, expect(*right, test, kit)), "")
          << mistake.name << ", kit '" << kit.name << "'";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, WrongProgram,
                         ::testing::Values("dense", "causal", "gemma"),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace selvedge::testing
