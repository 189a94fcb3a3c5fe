// Every missing or weakened safety operation is noticed: by the verifier, or
// because results change or memory outside is touched.
// SPDX-License-Identifier: MIT
#include "Cases.h"
#include "KnownMutants.h"
#include "Mutants.h"
#include "dialect/Sm/Sm.h"
#include "dialect/Tile/Tile.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>

namespace selvedge::testing {
namespace {

/// Leaves only one variant with its kernels.
void keepVariant(mlir::ModuleOp module, llvm::StringRef name) {
  module->walk([&](mlir::Operation *op) {
    if (auto kernel = llvm::dyn_cast<sm::KernelOp>(op);
        kernel && !kernel.getSymName().ends_with(name))
      kernel.erase();
    if (auto variant = llvm::dyn_cast<sm::VariantOp>(op);
        variant && variant.getName() != name)
      variant.erase();
  });
}

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

  /// A kit and poison under which the mutant leaves logical mode's bounds,
  /// touches memory outside, or depends on the poison; empty for none. Its
  /// rounding may differ: a fault can lead to other block sizes. NaN shows
  /// nearly all: the other kinds of poison come behind it in all kits.
  std::string shows(mlir::ModuleOp mutant, const std::string &variant = "") {
    auto runWith = [&](size_t i, physical::Poison poison) {
      return execute(mutant, test, test.kits[i], baseline[i], poison, variant);
    };
    std::vector<Outcome> clean;
    auto depends = [&](size_t i, physical::Poison poison) {
      return !isSame(clean[i], runWith(i, poison));
    };
    auto poisonedBy = [&](size_t i, physical::Poison poison) {
      return test.kits[i].name + ": poisoned by " +
             physical::nameOf(poison).str();
    };
    for (size_t i = 0; i < test.kits.size(); ++i) {
      clean.push_back(runWith(i, physical::Poison::None));
      if (!clean[i].diagnostics.empty())
        return test.kits[i].name + ": outside";
      if (!beyondBounds(clean[i], baseline[i]).empty())
        return test.kits[i].name + ": wrong";
      if (depends(i, physical::Poison::Nan))
        return poisonedBy(i, physical::Poison::Nan);
    }
    for (size_t i = 0; i < test.kits.size(); ++i)
      for (physical::Poison poison : physical::poisonKinds)
        if (poison != physical::Poison::Nan && depends(i, poison))
          return poisonedBy(i, poison);
    return "";
  }

  void addRow(const std::string &name, const char *verdict,
              const std::string &shown) {
    std::string row = name;
    row.resize(std::max<size_t>(row.size(), 48), ' ');
    table += row + " " + verdict + " " + shown + "\n";
  }

  /// Expects `missed` to be exactly those of the case that are known.
  void expectOnly(const Names &known, const Names &missed, const char *judge) {
    for (const std::string &name : missed)
      EXPECT_TRUE(known.contains(name)) << judge << " misses '" << name << "'";
    for (const std::string &name : known)
      if (llvm::StringRef(name).starts_with(test.name + ": ") &&
          !left.contains(name))
        EXPECT_TRUE(missed.contains(name))
            << judge << " no longer misses '" << name << "': it is not known";
  }

  /// The program after passes.
  mlir::OwningOpRef<mlir::ModuleOp> transformed(const std::string &pipeline) {
    mlir::OwningOpRef<mlir::ModuleOp> module = program->clone();
    EXPECT_TRUE(transform(*module, pipeline));
    return module;
  }

  /// Expects mutants to be noticed by the verifiers or by execution of what
  /// `lowering` makes of them, those that a verifier refuses by execution too,
  /// and blatant ones by both, but for known ones.
  void check(mlir::ModuleOp correct,
             std::vector<Mutant> (*mutate)(mlir::ModuleOp),
             const std::string &verifiers, const std::string &lowering,
             const std::string &variant, const Missed &known) {
    EXPECT_TRUE(verifiers.empty() || transform(correct, verifiers));
    Missed missed;
    for (Mutant &mutant : mutate(correct)) {
      // Kernels of the variant that is not run.
      if (llvm::StringRef(mutant.name).starts_with("aligned "))
        continue;
      std::string name = test.name + ": " + mutant.name;
      bool isJudged = !verifiers.empty(),
           isRefused = isJudged && !transform(*mutant.module, verifiers);
      ASSERT_TRUE(lowering.empty() || transform(*mutant.module, lowering))
          << name;
      std::string shown = shows(*mutant.module, variant);
      addRow(name,
             isRefused  ? "refused "
             : isJudged ? "accepted"
                        : "",
             shown.empty() ? "no change" : shown);
      if (shown.empty() && !isRefused)
        missed.byAll.insert(name);
      if (shown.empty())
        missed.inExecution.insert(name);
      if (mutant.isBlatant && isJudged && !isRefused)
        missed.byVerifiers.insert(name);
    }
    expectOnly(known.byAll, missed.byAll, "everything");
    expectOnly(known.inExecution, missed.inExecution, "execution");
    expectOnly(known.byVerifiers, missed.byVerifiers, "each verifier");
  }

  Case test = makeCase(GetParam());
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> program;
  /// What logical mode says of the kits.
  std::vector<Expected> baseline;
  /// Mutants that are not tried.
  Names left;
  std::string table;
};

TEST_P(Mutants, TileMasks) {
  check(*transformed(safetyPipeline.str()), maskMutants, verifyPipeline.str(),
        boundPipeline.str(), "", missedOnTile);
  EXPECT_NE(table, "");
}

const std::string bound = (safetyPipeline + "," + boundPipeline).str();

TEST_P(Mutants, TileGuards) {
  check(*transformed(bound), guardMutants, "", "", "", missedGuards);
}

TEST_P(Mutants, SeqMasks) {
  check(*transformed(bound + "," + seqPipeline.str()), maskMutants,
        verifySeqPipeline.str(), "", "universal", missedInSeq);
}

/// A copy in which no warp but the first takes part.
TEST_P(Mutants, CopyMissesRows) {
  mlir::OwningOpRef<mlir::ModuleOp> seq =
      transformed(bound + "," + seqPipeline.str());
  seq->walk([&](sm::CopyOp copy) {
    mlir::SmallVector<sm::AxisLayoutAttr> axes;
    for (sm::AxisLayoutAttr axis : copy.getLayout().getAxes())
      axes.push_back(sm::AxisLayoutAttr::get(
          axis.getContext(), axis.getName(), axis.getRegSizes(),
          axis.getRegStrides(), axis.getLanes(), {}));
    copy.setLayoutAttr(sm::LayoutAttr::get(copy.getContext(), axes));
  });
  bool hasCopy =
      seq->walk([](sm::CopyOp) { return mlir::WalkResult::interrupt(); })
          .wasInterrupted();
  EXPECT_EQ(shows(*seq, "universal").empty(), !hasCopy);
}

/// Mutants of what orders accesses to shared memory, with sizes at which rings
/// wrap.
class MutantWaits : public Mutants {
protected:
  void SetUp() override {
    test.kits.insert(test.kits.begin(), test.edges.begin(), test.edges.end());
    Mutants::SetUp();
  }
};

TEST_P(MutantWaits, Async) {
  mlir::OwningOpRef<mlir::ModuleOp> async =
      transformed((exactPipeline + "," + claimsPipeline + "," +
                   simplifyPipeline + "," + seqPipeline + "," + asyncPipeline)
                      .str());
  keepVariant(*async, "universal");
  check(*async, waitMutants, verifyAsyncPipeline.str(), "", "universal",
        Missed());
  EXPECT_NE(table, "");
}

INSTANTIATE_TEST_SUITE_P(Cases, MutantWaits,
                         ::testing::ValuesIn(asyncCaseNames),
                         [](const auto &info) { return info.param; });

/// The same of kernels with roles.
class MutantRoles : public Mutants {
protected:
  void SetUp() override {
    test = makeRoleCase(GetParam());
    // The smallest first: it shows most.
    if (!test.edges.empty())
      test.kits = {test.edges.front(), test.edges.back(), test.kits.front()};
    Mutants::SetUp();
  }
};

std::string withoutSpace(const ::testing::TestParamInfo<const char *> &info) {
  std::string name = info.param;
  llvm::erase(name, ' ');
  return name;
}

constexpr llvm::StringLiteral verifyOrder = "sm.kernel(verify-sm-async)";

/// Of attention on few kits, as there are many mutants.
TEST_P(MutantRoles, Roles) {
  mlir::OwningOpRef<mlir::ModuleOp> roles =
      transformed((exactPipeline + "," + rolesPipeline).str());
  keepVariant(*roles, "bulk");
  EXPECT_TRUE(transform(*roles, verifyAsyncPipeline));
  // Every wait, arrival, fence and clear counts.
  check(*roles, roleMutants, verifyOrder.str(), "", "bulk", Missed());
  EXPECT_NE(table, "");
}

INSTANTIATE_TEST_SUITE_P(Cases, MutantRoles,
                         ::testing::Values("matmul", "dense", "causal 128"),
                         withoutSpace);

/// The same of further kernels, by the verifier of order alone.
class MutantOrder : public ::testing::TestWithParam<const char *> {};

TEST_P(MutantOrder, Attention) {
  Case test = makeRoleCase(GetParam());
  mlir::MLIRContext context;
  prepare(context);
  mlir::OwningOpRef<mlir::ModuleOp> roles = build(context, test);
  ASSERT_TRUE(roles &&
              transform(*roles, (exactPipeline + "," + rolesPipeline).str()));
  keepVariant(*roles, "bulk");
  ASSERT_TRUE(transform(*roles, verifyOrder));
  for (Mutant &mutant : roleMutants(*roles))
    EXPECT_FALSE(transform(*mutant.module, verifyOrder)) << mutant.name;
}

INSTANTIATE_TEST_SUITE_P(Cases, MutantOrder,
                         ::testing::Values("causal", "causal 256", "dense 128",
                                           "dense 256", "gemma", "gemma 128",
                                           "gemma 256", "masked 128"),
                         withoutSpace);

/// Mutants of loops in parts, with sizes at which the parts' bounds matter.
class MutantParts : public Mutants {
protected:
  void SetUp() override {
    test.kits.insert(test.kits.begin(), test.edges.begin(), test.edges.end());
    Mutants::SetUp();
  }

  bool isLeft(llvm::StringRef mutant, size_t number) const;
  void checkSteps(mlir::ModuleOp before, const std::string &split,
                  const std::string &binding, const Missed &known);
};

TEST_P(MutantParts, Tile) {
  check(*transformed((exactPipeline + "," + claimsPipeline).str()), partMutants,
        verifyClaimsPipeline.str(), simplifyPipeline.str(), "", missedInParts);
  EXPECT_NE(table, "");
}

/// To refuse the steps of a window takes seconds each. Of parts that other
/// cases have, too, every fourth mutant is tried, of each part other ones,
/// unless SELVEDGE_ALL_MUTANTS is set. A part has six.
bool MutantParts::isLeft(llvm::StringRef mutant, size_t number) const {
  return test.name == "gemma" &&
         (mutant.contains("full: ") || mutant.contains("after it: ")) &&
         (number / 6 + number) % 4 != 0 && !std::getenv("SELVEDGE_ALL_MUTANTS");
}

/// Expects that `verify-tile-parts` accepts what `split` makes of a module,
/// that it or the verifier of claims refuses every mutant of it, and that the
/// mutants change results once `binding` has given blocks their sizes.
void MutantParts::checkSteps(mlir::ModuleOp before, const std::string &split,
                             const std::string &binding, const Missed &known) {
  mlir::OwningOpRef<mlir::ModuleOp> parts(before.clone());
  ASSERT_TRUE(transform(*parts, "verify-tile-parts{of=" + split + "}"));
  Missed missed;
  for (auto [i, mutant] : llvm::enumerate(stepMutants(*parts))) {
    std::string name = test.name + ": " + mutant.name;
    if (isLeft(mutant.name, i)) {
      left.insert(name);
      continue;
    }
    mlir::OwningOpRef<mlir::ModuleOp> pair(mutant.module->clone());
    for (auto program : before.getOps<tile::ProgramOp>()) {
      auto copy = program.clone();
      copy.setSymName((program.getSymName() + ".before").str());
      pair->push_back(copy);
    }
    bool isRefused = !transform(*pair, "verify-tile-parts");
    ASSERT_TRUE(transform(*mutant.module, binding)) << name;
    // Parts of which one runs may be exchanged, but not what they claim.
    if (!isRefused && transform(*mutant.module, verifyClaimsPipeline))
      missed.byVerifiers.insert(name);
    ASSERT_TRUE(transform(*mutant.module, simplifyPipeline)) << name;
    std::string shown = shows(*mutant.module);
    addRow(name, "refused", shown.empty() ? "no change" : shown);
    if (shown.empty())
      missed.inExecution.insert(name);
  }
  expectOnly(known.byVerifiers, missed.byVerifiers, "each verifier");
  expectOnly(known.inExecution, missed.inExecution, "execution");
}

TEST_P(MutantParts, Steps) {
  checkSteps(*transformed(exactPipeline.str()), "tile-loop-parts",
             "tile-expand-softmax,cse,tile-bind-blocks", missedSteps);
  EXPECT_NE(table, "");
}

/// The same of blocks that lie inside their tensors and others.
TEST_P(MutantParts, InteriorSteps) {
  checkSteps(*transformed(exactPipeline.str() +
                          ",tile-loop-parts,tile-expand-softmax,cse"),
             "tile-interior-parts", "tile-bind-blocks", missedInteriorSteps);
  EXPECT_NE(table, "");
}

INSTANTIATE_TEST_SUITE_P(Cases, MutantParts, ::testing::ValuesIn(caseNames),
                         [](const auto &info) { return info.param; });

INSTANTIATE_TEST_SUITE_P(Cases, Mutants, ::testing::ValuesIn(caseNames),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace selvedge::testing
