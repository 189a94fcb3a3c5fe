// Every missing or weakened safety operation is noticed: by the verifier, or
// because results change or memory outside is touched.
// SPDX-License-Identifier: MIT
#include "Cases.h"
#include "Mutants.h"

#include <gtest/gtest.h>
#include <set>

namespace selvedge::testing {
namespace {

/// Clean and expected results of the kits, from the program without faults.
struct Baseline {
  std::vector<Expected> expected;
  std::vector<Run> clean;
};

/// First kit and poison under which the mutant shows; empty for none.
std::string shows(mlir::ModuleOp mutant, const Case &test,
                  const Baseline &baseline, const std::string &variant) {
  for (auto [i, kit] : llvm::enumerate(test.kits)) {
    auto tryPoison = [&](physical::Poison poison) -> std::string {
      Run run =
          execute(mutant, test, kit, baseline.expected[i], poison, variant);
      if (isSame(baseline.clean[i], run))
        return "";
      bool trapped = !run.diagnostics.empty();
      return kit.name + ", " + physical::nameOf(poison).str() +
             (trapped ? ": trapped" : ": changed");
    };
    if (std::string shown = tryPoison(physical::Poison::None); !shown.empty())
      return shown;
    for (physical::Poison poison : physical::poisonKinds)
      if (std::string shown = tryPoison(poison); !shown.empty())
        return shown;
  }
  return "";
}

Baseline baselineOf(mlir::ModuleOp program, mlir::ModuleOp lowered,
                    const Case &test, const std::string &variant) {
  Baseline baseline;
  for (const Kit &kit : test.kits) {
    baseline.expected.push_back(expect(program, test, kit));
    baseline.clean.push_back(execute(lowered, test, kit,
                                     baseline.expected.back(),
                                     physical::Poison::None, variant));
    EXPECT_EQ(baseline.clean.back().diagnostics, "") << test.name << kit.name;
  }
  return baseline;
}

/// Mutants that a judge misses, by "case: mutant".
using Names = std::set<std::string>;

/// Expects `missed` to be exactly the known ones, and prints the table if not.
void expectOnly(const Names &known, const Names &missed, const char *judge,
                const std::string &table) {
  for (const std::string &name : missed)
    EXPECT_TRUE(known.contains(name)) << judge << " misses '" << name << "'\n"
                                      << table;
  for (const std::string &name : known)
    EXPECT_TRUE(missed.contains(name))
        << judge << " no longer misses '" << name << "': drop it here\n"
        << table;
}

std::string row(const std::string &name, bool refused,
                const std::string &shown) {
  std::string text = name;
  text.resize(std::max<size_t>(text.size(), 56), ' ');
  return text + (refused ? " refused " : " accepted") + "  " +
         (shown.empty() ? "NO CHANGE" : shown) + "\n";
}

TEST(Mutants, TileMasks) {
  Names unseen, undetected, unrefused;
  std::string table;
  for (const Case &test : allCases()) {
    mlir::MLIRContext context;
    prepare(context);
    auto program = build(context, test);
    mlir::OwningOpRef<mlir::ModuleOp> safe = program->clone();
    ASSERT_TRUE(transform(*safe, safetyPipeline));
    ASSERT_TRUE(transform(*safe, verifyPipeline));
    mlir::OwningOpRef<mlir::ModuleOp> bound = safe->clone();
    ASSERT_TRUE(transform(*bound, boundPipeline));
    Baseline baseline = baselineOf(*program, *bound, test, "");
    for (Mutant &mutant : maskMutants(*safe)) {
      std::string name = test.name + ": " + mutant.name;
      bool refused = !transform(*mutant.module, verifyPipeline);
      ASSERT_TRUE(transform(*mutant.module, boundPipeline)) << name;
      std::string shown = shows(*mutant.module, test, baseline, "");
      table += row(name, refused, shown);
      if (shown.empty() && !refused)
        undetected.insert(name);
      if (mutant.isDeletion && shown.empty())
        unseen.insert(name);
      if (mutant.isDeletion && !refused)
        unrefused.insert(name);
    }
  }
  expectOnly({}, undetected, "everything", table);
  expectOnly({}, unseen, "execution", table);
  expectOnly({}, unrefused, "the verifier", table);
}

/// Mutants of a lowered module that execution does not show.
void checkLowered(const std::string &pipeline, const std::string &variant,
                  std::vector<Mutant> (*mutate)(mlir::ModuleOp),
                  const Names &known) {
  Names unseen;
  std::string table;
  for (const Case &test : allCases()) {
    mlir::MLIRContext context;
    prepare(context);
    auto program = build(context, test);
    mlir::OwningOpRef<mlir::ModuleOp> lowered = program->clone();
    ASSERT_TRUE(transform(*lowered, pipeline));
    Baseline baseline = baselineOf(*program, *lowered, test, variant);
    for (Mutant &mutant : mutate(*lowered)) {
      // Kernels of the variant that is not run.
      if (llvm::StringRef(mutant.name).starts_with("aligned "))
        continue;
      std::string name = test.name + ": " + mutant.name;
      std::string shown = shows(*mutant.module, test, baseline, variant);
      table += row(name, false, shown);
      if (shown.empty())
        unseen.insert(name);
    }
  }
  expectOnly(known, unseen, "execution", table);
}

const std::string bound = (safetyPipeline + "," + boundPipeline).str();

TEST(Mutants, TileGuards) { checkLowered(bound, "", guardMutants, {}); }

TEST(Mutants, SeqMasks) {
  checkLowered(bound + "," + seqPipeline.str(), "universal", maskMutants, {});
}

} // namespace
} // namespace selvedge::testing
