// Compilation with a cache of artefacts on disk.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/CompileCached.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace selvedge;

namespace {

constexpr const char *copy =
    "op copy(x: f32[i in N], a: f32 = 1) -> (y: f32[N] out_init(0)) {\n"
    "  kernel main(i in N by BN) { y[i] = x[i] * a; }\n"
    "}\n";

class CompileCached : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(
        llvm::sys::fs::createUniqueDirectory("selvedge-cached", folder));
    llvm::SmallString<128> program = folder;
    llvm::sys::path::append(program, "ptxas");
    request.fileName = "copy.tile";
    request.source = copy;
    request.arch = "sm_80";
    request.ptxas = std::string(program);
    writePtxas("#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\necho cubin "
               "> \"$2\"\n");
    ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("XDG_CACHE_HOME");
    llvm::sys::fs::remove_directories(folder);
  }
  void writePtxas(const std::string &text) {
    std::error_code error;
    llvm::raw_fd_ostream os(request.ptxas, error);
    os << text;
    os.close();
    llvm::sys::fs::setPermissions(request.ptxas, llvm::sys::fs::all_all);
  }
  /// Whether the result came from the cache.
  bool isCached() {
    CompileResult result = compileCached(request);
    EXPECT_EQ(result.status, CompileStatus::Ok) << result.diagnostics;
    EXPECT_EQ(result.cubin, "cubin\n");
    EXPECT_NE(result.ptx.find(".target sm_"), std::string::npos);
    EXPECT_NE(result.manifest.find("\"variants\""), std::string::npos);
    return result.phases.front().first == "cache";
  }

  llvm::SmallString<128> folder;
  CompileRequest request;
};

TEST_F(CompileCached, compilesOnce) {
  EXPECT_FALSE(isCached());
  EXPECT_TRUE(isCached());
  EXPECT_TRUE(isCached());
}

TEST_F(CompileCached, whateverMattersCompilesAgain) {
  EXPECT_FALSE(isCached());
  request.source = std::string("// other\n") + copy;
  EXPECT_FALSE(isCached());
  request.arch = "sm_90a";
  EXPECT_FALSE(isCached());
  request.op = "copy";
  EXPECT_FALSE(isCached());
  request.masks = MaskMode::Exact;
  EXPECT_FALSE(isCached());
  writePtxas("#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\necho cubin > "
             "\"$2\"\n# another\n");
  EXPECT_FALSE(isCached());
  EXPECT_TRUE(isCached());
}

TEST_F(CompileCached, storedPlansCompileAgain) {
  llvm::SmallString<128> plans = folder;
  llvm::sys::path::append(plans, "plans");
  request.planFolder = std::string(plans);
  EXPECT_FALSE(isCached());
  EXPECT_TRUE(isCached());
  std::string path;
  PlanMeasurement measurement{"device", "stages=3", "N=5", 0.5, 3};
  ASSERT_EQ(keepPlan(request, measurement, path).status, CompileStatus::Ok);
  EXPECT_FALSE(isCached());
  EXPECT_TRUE(isCached());
  request.plan = "stages=2";
  EXPECT_FALSE(isCached());
  EXPECT_TRUE(isCached());
}

// A plan for one program says nothing about another.
TEST_F(CompileCached, plansOfOthersDoNotMatter) {
  EXPECT_FALSE(isCached());
  CompileRequest other = request;
  other.source = std::string("// other\n") + copy;
  other.planFolder = std::string(folder) + "/selvedge/plans";
  std::string path;
  PlanMeasurement measurement{"device", "stages=3", "N=5", 0.5, 3};
  ASSERT_EQ(keepPlan(other, measurement, path).status, CompileStatus::Ok);
  EXPECT_TRUE(isCached());
}

// What `bench --tune` stored is there for everybody who asks for nothing else.
TEST_F(CompileCached, takesTunedPlansByItself) {
  CompileRequest tuned = request;
  tuned.planFolder = std::string(folder) + "/selvedge/plans";
  std::string path;
  PlanMeasurement measurement{"device", "stages=3", "N=5", 0.5, 3};
  ASSERT_EQ(keepPlan(tuned, measurement, path).status, CompileStatus::Ok);
  CompileResult result = compileCached(request);
  EXPECT_EQ(result.planFile, path);
  EXPECT_EQ(result.plan, "stages=3");
  request.ignoresStoredPlans = true;
  result = compileCached(request);
  EXPECT_EQ(result.planFile, "");
  EXPECT_EQ(result.plan, "");
}

// A file of plans is as hostile as any other.
TEST_F(CompileCached, damagedPlansAreNoPlans) {
  EXPECT_FALSE(isCached());
  CompileRequest tuned = request;
  tuned.planFolder = std::string(folder) + "/selvedge/plans";
  std::string path;
  PlanMeasurement measurement{"device", "stages=3", "N=5", 0.5, 3};
  ASSERT_EQ(keepPlan(tuned, measurement, path).status, CompileStatus::Ok);
  std::error_code error;
  llvm::raw_fd_ostream(path, error) << std::string(500000, '[');
  EXPECT_FALSE(isCached());
  EXPECT_EQ(compileCached(request).plan, "");
}

TEST_F(CompileCached, importedFilesMatter) {
  std::string imported = std::string(folder) + "/imported.tile";
  auto write = [&](const std::string &text) {
    std::error_code error;
    llvm::raw_fd_ostream(imported, error) << text;
  };
  write(copy);
  request.fileName = std::string(folder) + "/variant.tile";
  request.source = "import \"imported.tile\";\nop twice(b: f32 = 2) extends "
                   "copy { }\n";
  EXPECT_FALSE(isCached());
  EXPECT_TRUE(isCached());
  // A line of another length at the same place.
  write(std::string("// changed\n") + copy);
  EXPECT_FALSE(isCached());
  EXPECT_TRUE(isCached());
  request.importFolders = {"/nonexistent"};
  EXPECT_TRUE(isCached());
}

TEST_F(CompileCached, warningsAreSaidAgain) {
  request.source = std::string(copy) + "op wrong() extends copy_ { }\n";
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(isCached(), i > 0);
    CompileResult result = compileCached(request);
    EXPECT_NE(result.diagnostics.find("copy.tile:4:20: warning"),
              std::string::npos)
        << result.diagnostics;
  }
  // They name the file.
  request.fileName = "other.tile";
  EXPECT_FALSE(isCached());
}

TEST_F(CompileCached, failuresAreNotKept) {
  request.source = "op copy(\n  x: f32[N]]\n";
  for (int i = 0; i < 2; ++i) {
    CompileResult result = compileCached(request);
    EXPECT_EQ(result.status, CompileStatus::BadInput);
    EXPECT_FALSE(result.diagnostics.empty());
  }
  request.source = copy;
  request.ptxas = "/nowhere/ptxas";
  EXPECT_EQ(compileCached(request).status, CompileStatus::BadInput);
}

} // namespace
