// Choices of plans: their text, what ptxas makes of them, where they are kept.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/PlanSearch.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include <gtest/gtest.h>

using namespace selvedge;
using schedule::parseChoice;
using schedule::PlanChoice;
using schedule::printChoice;

namespace {

constexpr const char *copy = R"(op copy(x: f32[N]) -> (y: f32[N] out_init(0)) {
  kernel main(i in N by BN) {
    y[i] = x[i];
  }
}
)";

ptx::KernelResources kernel(const char *name, int64_t spillBytes,
                            const char *plan = "main",
                            bool isUniversal = false) {
  ptx::KernelResources resources;
  resources.name = name;
  resources.spillStoreBytes = spillBytes;
  resources.plan = plan;
  resources.isUniversal = isUniversal;
  return resources;
}

/// A request whose plans are kept in a folder that disappears with it.
struct KeptPlans : testing::Test {
  KeptPlans() {
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("plans", folder));
    request.fileName = "test.tile";
    request.source = copy;
    request.arch = "sm_80";
    request.planFolder = folder.str().str();
  }
  ~KeptPlans() override { llvm::sys::fs::remove_directories(folder); }

  std::string planOf(const char *device) {
    CompileRequest other = request;
    other.device = device;
    return compile(other, /*withCubin=*/false).plan;
  }

  void keep(const char *device, const std::string &plan) {
    std::string path;
    PlanMeasurement measurement{device, plan, "N=5", 0.5, 3};
    EXPECT_EQ(keepPlan(request, measurement, path).status, CompileStatus::Ok);
    EXPECT_TRUE(llvm::sys::fs::exists(path)) << path;
  }

  llvm::SmallString<128> folder;
  CompileRequest request;
};

} // namespace

TEST(PlanChoice, TextAndBack) {
  PlanChoice choice;
  EXPECT_EQ(printChoice(choice), "");
  EXPECT_EQ(parseChoice(""), choice);
  choice.tiles = {{"main", "BM128-w8"}, {"universal.main", "BM64-w4"}};
  choice.rings = 2;
  choice.stages = 3;
  choice.bulk = false;
  choice.withoutRoles = {"packed.main"};
  choice.off = {"turns", "lag"};
  EXPECT_EQ(printChoice(choice),
            "main:BM128-w8;universal.main:BM64-w4;packed.main:roles=off;"
            "lag=off;turns=off;rings=2;stages=3;bulk=off");
  EXPECT_EQ(parseChoice(printChoice(choice)), choice);
}

TEST(PlanChoice, WrongTextIsNone) {
  for (const char *text :
       {"main", "main=4", ":w4", "main:", "rings=1", "rings=9", "stages=x",
        "bulk=on", "turns=on", "order=off", "rings=2;;"})
    EXPECT_FALSE(parseChoice(text)) << text;
}

TEST(PlanSearch, VerdictsGoToThePlanThatTheyAreAbout) {
  ptx::PtxasLog log;
  log.kernels = {
      kernel("op_main_bulk", 8),
      kernel("op_main_universal", 64, "universal.main", /*isUniversal=*/true),
      kernel("op_main_2_aligned", 40, "main_2"),
      kernel("op_main_2_universal", 16, "main_2", /*isUniversal=*/true)};
  auto verdicts = driver::judge(log);
  EXPECT_EQ(verdicts["main"].spillBytes, 8);
  EXPECT_TRUE(verdicts["main"].isGood());
  EXPECT_TRUE(verdicts["universal.main"].isGood())
      << "what serves any strides may spill";
  EXPECT_EQ(verdicts["main_2"].spillBytes, 40) << "the worst of its variants";
  EXPECT_FALSE(verdicts["main_2"].isGood());
  log.remarks = {"(C7512) serialized in function 'op_main_bulk'"};
  verdicts = driver::judge(log);
  EXPECT_TRUE(verdicts["main"].isSerialised);
  EXPECT_FALSE(verdicts["main_2"].isSerialised);
  log.remarks = {"(C7510) setmaxnreg ignored"};
  EXPECT_TRUE(driver::judge(log)["main_2"].isSerialised)
      << "a remark without a name is about all";
}

TEST(PlanSearch, FewBytesOfAKernelWithoutRolesAreFree) {
  ptx::PtxasLog log;
  log.kernels = {kernel("op_main_aligned", 159),
                 kernel("op_main_2_aligned", 160, "main_2")};
  EXPECT_FALSE(driver::judge(log)["main"].isGood());
  for (ptx::KernelResources &resources : log.kernels)
    resources.hasRoles = false;
  EXPECT_TRUE(driver::judge(log)["main"].isGood());
  EXPECT_FALSE(driver::judge(log)["main_2"].isGood());
}

TEST(PlanSearch, SpillsOfTheUniversalVariantNeedNoSearch) {
  ptx::PtxasLog log;
  log.kernels = {kernel("op_main_aligned", 31),
                 kernel("op_main_universal", 99, "main", true)};
  EXPECT_FALSE(driver::needsSearch(log));
  EXPECT_EQ(driver::complaintsOf(log),
            std::vector<std::string>{"op_main_universal spills 99 bytes"});
  log.kernels[0].spillStoreBytes = 32;
  EXPECT_TRUE(driver::needsSearch(log));
  log.kernels[0].spillStoreBytes = 0;
  log.remarks = {"(C7512) serialized in function 'op_main_universal'"};
  EXPECT_TRUE(driver::needsSearch(log));
}

TEST(PlanSearch, Complaints) {
  ptx::PtxasLog log;
  log.kernels = {kernel("a", 31), kernel("b", 32), kernel("c", 0)};
  log.remarks = {"(C7512) serialized in function 'c'"};
  EXPECT_EQ(driver::complaintsOf(log),
            (std::vector<std::string>{"b spills 32 bytes",
                                      "c is serialised by ptxas"}));
}

TEST_F(KeptPlans, OfTheDeviceAtHandElseTheLatest) {
  std::vector<PlanCandidate> candidates;
  ASSERT_EQ(listPlans(request, candidates).status, CompileStatus::Ok);
  ASSERT_GE(candidates.size(), 2u);
  EXPECT_EQ(planOf(""), "");
  keep("new", candidates[1].plan);
  keep("old", candidates[0].plan);
  EXPECT_EQ(planOf("new"), candidates[1].plan);
  EXPECT_EQ(planOf("old"), candidates[0].plan);
  EXPECT_EQ(planOf("another"), "");
  EXPECT_EQ(planOf(""), candidates[0].plan);
  keep("new", candidates[0].plan);
  EXPECT_EQ(planOf("new"), candidates[0].plan) << "the latest of a device";
}

TEST_F(KeptPlans, OfThisProgramOnly) {
  keep("gpu", "main:w4");
  EXPECT_EQ(planOf("gpu"), "main:w4");
  request.source += "\n";
  EXPECT_EQ(planOf("gpu"), "");
}

TEST_F(KeptPlans, FolderThatCannotBeMade) {
  request.planFolder = "/dev/null/plans";
  std::string path;
  CompileResult result = keepPlan(request, {"gpu", "main:w4", "", 1, 1}, path);
  EXPECT_EQ(result.status, CompileStatus::BadInput);
  EXPECT_NE(result.diagnostics.find("/dev/null/plans"), std::string::npos);
  EXPECT_EQ(planOf("gpu"), "");
}
