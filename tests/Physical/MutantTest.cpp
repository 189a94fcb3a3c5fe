// Every missing or weakened safety operation is noticed: by the verifier, or
// because results change or memory outside is touched.
// SPDX-License-Identifier: MIT
#include "Cases.h"
#include "KnownMutants.h"
#include "Mutants.h"
#include "dialect/Sm/Sm.h"

#include <gtest/gtest.h>
#include <iostream>

namespace selvedge::testing {
namespace {

class Mutants : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    prepare(context);
    program = build(context, test);
    ASSERT_TRUE(program);
    for (const Kit &kit : test.kits)
      baseline.push_back(expect(*program, test, kit));
  }

  void TearDown() override {
    if (HasFailure())
      std::cout << table;
  }

  /// First kit and poison under which the mutant leaves logical mode's bounds,
  /// touches memory outside, or depends on the poison; empty for none. Its
  /// rounding may differ: a fault can lead to other block sizes.
  std::string shows(mlir::ModuleOp mutant, const std::string &variant = "") {
    for (auto [kit, expected] : llvm::zip_equal(test.kits, baseline)) {
      auto runWith = [&, &kit = kit, &expected = expected](auto poison) {
        return execute(mutant, test, kit, expected, poison, variant);
      };
      Outcome clean = runWith(physical::Poison::None);
      if (!clean.diagnostics.empty())
        return kit.name + ": outside";
      if (!beyondBounds(clean, expected).empty())
        return kit.name + ": wrong";
      for (physical::Poison poison : physical::poisonKinds)
        if (!isSame(clean, runWith(poison)))
          return kit.name + ": poisoned by " + physical::nameOf(poison).str();
    }
    return "";
  }

  void addRow(const std::string &name, const char *verdict,
              const std::string &shown) {
    std::string row = name;
    row.resize(std::max<size_t>(row.size(), 48), ' ');
    table += row + " " + verdict + " " + (shown.empty() ? "no change" : shown) +
             "\n";
  }

  /// Expects `missed` to be exactly those of the case that are known.
  void expectOnly(const Names &known, const Names &missed, const char *judge) {
    for (const std::string &name : missed)
      EXPECT_TRUE(known.contains(name)) << judge << " misses '" << name << "'";
    for (const std::string &name : known)
      if (llvm::StringRef(name).starts_with(test.name + ": "))
        EXPECT_TRUE(missed.contains(name))
            << judge << " no longer misses '" << name << "': it is not known";
  }

  /// Expects execution to miss exactly the known mutants of a lowered module.
  void checkLowered(const std::string &pipeline, const std::string &variant,
                    std::vector<Mutant> (*mutate)(mlir::ModuleOp),
                    const Names &known) {
    mlir::OwningOpRef<mlir::ModuleOp> lowered = program->clone();
    ASSERT_TRUE(transform(*lowered, pipeline));
    Names unseen;
    for (Mutant &mutant : mutate(*lowered)) {
      // Kernels of the variant that is not run.
      if (llvm::StringRef(mutant.name).starts_with("aligned "))
        continue;
      std::string name = test.name + ": " + mutant.name;
      std::string shown = shows(*mutant.module, variant);
      addRow(name, "", shown);
      if (shown.empty())
        unseen.insert(name);
    }
    expectOnly(known, unseen, "execution");
  }

  Case test = makeCase(GetParam());
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> program;
  /// What logical mode says of the kits.
  std::vector<Expected> baseline;
  std::string table;
};

TEST_P(Mutants, TileMasks) {
  mlir::OwningOpRef<mlir::ModuleOp> safe = program->clone();
  ASSERT_TRUE(transform(*safe, safetyPipeline));
  ASSERT_TRUE(transform(*safe, verifyPipeline));
  Names undetected, unseen, unrefused;
  for (Mutant &mutant : maskMutants(*safe)) {
    std::string name = test.name + ": " + mutant.name;
    bool refused = !transform(*mutant.module, verifyPipeline);
    ASSERT_TRUE(transform(*mutant.module, boundPipeline)) << name;
    std::string shown = shows(*mutant.module);
    addRow(name, refused ? "refused " : "accepted", shown);
    if (shown.empty() && !refused)
      undetected.insert(name);
    if (mutant.isDeletion && shown.empty())
      unseen.insert(name);
    if (mutant.isDeletion && !refused)
      unrefused.insert(name);
  }
  EXPECT_NE(table, "");
  expectOnly(harmless, undetected, "everything");
  expectOnly(harmlessDeletions, unseen, "execution");
  expectOnly(unproven, unrefused, "the verifier");
}

const std::string bound = (safetyPipeline + "," + boundPipeline).str();

TEST_P(Mutants, TileGuards) {
  checkLowered(bound, "", guardMutants, harmlessGuards);
}

TEST_P(Mutants, SeqMasks) {
  checkLowered(bound + "," + seqPipeline.str(), "universal", maskMutants,
               harmlessInSeq);
}

/// A copy in which no warp but the first takes part.
TEST_P(Mutants, CopyMissesRows) {
  mlir::OwningOpRef<mlir::ModuleOp> seq = program->clone();
  ASSERT_TRUE(transform(*seq, bound + "," + seqPipeline.str()));
  seq->walk([&](sm::CopyOp copy) {
    mlir::SmallVector<sm::AxisDistAttr> axes;
    for (sm::AxisDistAttr axis : copy.getDist().getAxes())
      axes.push_back(sm::AxisDistAttr::get(
          axis.getContext(), axis.getName(), axis.getRegSizes(),
          axis.getRegStrides(), axis.getLanes(), {}));
    copy.setDistAttr(sm::DistAttr::get(copy.getContext(), axes));
  });
  bool hasCopy =
      seq->walk([](sm::CopyOp) { return mlir::WalkResult::interrupt(); })
          .wasInterrupted();
  EXPECT_EQ(shows(*seq, "universal").empty(), !hasCopy);
}

INSTANTIATE_TEST_SUITE_P(Cases, Mutants, ::testing::ValuesIn(caseNames),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace selvedge::testing
