// Variants of an op, compiled one by one.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/CompileCached.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace selvedge;

namespace {

constexpr const char *copy =
    "op copy(x: f32[M, N]) -> (y: f32[M, N] out_init(0)) {\n"
    "  kernel main(i in M by BM) { for j in N by BN { y[i, j] = x[i, j]; } }\n"
    "}\n";

struct VariantCompiler : testing::Test {
  VariantCompiler() {
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("variants", folder));
    request.fileName = "copy.tile";
    request.source = copy;
    request.arch = "sm_80";
    request.ptxas = std::string(folder) + "/ptxas";
    runs = std::string(folder) + "/runs";
    writePtxas("");
    ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  }
  ~VariantCompiler() override {
    ::unsetenv("XDG_CACHE_HOME");
    llvm::sys::fs::remove_directories(folder);
  }

  /// A ptxas that writes the kernels it was given, and says `more` of each.
  void writePtxas(const std::string &more) {
    std::error_code error;
    llvm::raw_fd_ostream os(request.ptxas, error);
    os << "#!/bin/sh\necho run >> " << runs
       << "\nfor a; do case $a in /*) [ -e $a ] && in=${in:-$a};; esac; done\n"
          "while [ \"$1\" != -o ]; do shift; done\n"
          "grep -o 'entry [a-z_]*' $in > \"$2\"\n"
       << more;
    os.close();
    llvm::sys::fs::setPermissions(request.ptxas, llvm::sys::fs::all_all);
  }
  size_t numRuns() const {
    auto text = llvm::MemoryBuffer::getFile(runs);
    return text ? (*text)->getBuffer().count('\n') : 0;
  }
  /// Files of the cache.
  size_t numEntries() const {
    std::error_code error;
    size_t count = 0;
    for (llvm::sys::fs::directory_iterator
             it(std::string(folder) + "/selvedge", error),
         end;
         !error && it != end; it.increment(error))
      count += it->path().size() > 5 &&
               llvm::StringRef(it->path()).ends_with(".selv");
    return count;
  }

  llvm::SmallString<128> folder;
  std::string runs;
  CompileRequest request;
};

} // namespace

TEST_F(VariantCompiler, compilesOneVariantAtATime) {
  LaunchCode begun = compileForLaunches(request);
  ASSERT_TRUE(begun.code) << begun.result.diagnostics;
  EXPECT_EQ(numRuns(), 0u);
  Result<VariantCode> aligned = begun.code->compile(0);
  ASSERT_TRUE(aligned.ok()) << aligned.status().message();
  EXPECT_FALSE(aligned->isWhole);
  EXPECT_EQ(aligned->artifact.cubin, "entry copy_main_aligned\n");
  EXPECT_EQ(aligned->artifact.manifest, begun.code->manifest());
  Result<VariantCode> universal = begun.code->compile(1);
  ASSERT_TRUE(universal.ok());
  EXPECT_EQ(universal->artifact.cubin, "entry copy_main_universal\n");
  EXPECT_EQ(numRuns(), 2u);
  // The same as ahead of time.
  CompileResult all = compile(request);
  EXPECT_EQ(all.manifest, begun.code->manifest());
  EXPECT_EQ(all.cubin, "entry copy_main_aligned\nentry copy_main_universal\n");
}

TEST_F(VariantCompiler, variantsComeFromTheCache) {
  EXPECT_TRUE(compileForLaunches(request).code->compile(1).ok());
  EXPECT_EQ(numRuns(), 1u);
  EXPECT_EQ(numEntries(), 2u);
  LaunchCode again = compileForLaunches(request);
  Result<VariantCode> universal = again.code->compile(1);
  ASSERT_TRUE(universal.ok());
  EXPECT_EQ(universal->artifact.cubin, "entry copy_main_universal\n");
  EXPECT_EQ(numRuns(), 1u);
  // What is missing is added.
  Result<VariantCode> aligned = again.code->compile(0);
  ASSERT_TRUE(aligned.ok());
  EXPECT_EQ(aligned->artifact.cubin, "entry copy_main_aligned\n");
  EXPECT_EQ(numRuns(), 2u);
  EXPECT_EQ(numEntries(), 3u);
  // The whole is asked first.
  EXPECT_EQ(compileCached(request).status, CompileStatus::Ok);
  EXPECT_EQ(numRuns(), 3u);
  Result<VariantCode> whole = compileForLaunches(request).code->compile(0);
  ASSERT_TRUE(whole.ok());
  EXPECT_TRUE(whole->isWhole);
  EXPECT_EQ(numRuns(), 3u);
}

// The passes give it roles, a verifier refuses them: what was made of the guess
// is neither handed out nor kept.
TEST_F(VariantCompiler, whatIsRefusedIsNotHandedOut) {
  auto source = llvm::MemoryBuffer::getFile(SELVEDGE_WITHOUT_ROLES);
  ASSERT_TRUE(bool(source));
  request.source = (*source)->getBuffer().str();
  request.op = "skipped";
  request.arch = "sm_90a";
  LaunchCode begun = compileForLaunches(request);
  ASSERT_TRUE(begun.code) << begun.result.diagnostics;
  EXPECT_NE(begun.code->manifest().find("_bulk"), std::string::npos);
  Result<VariantCode> code = begun.code->compile(0);
  ASSERT_TRUE(code.ok()) << code.status().message();
  EXPECT_TRUE(code->isWhole);
  EXPECT_EQ(code->artifact.cubin.find("_bulk"), std::string::npos);
  EXPECT_EQ(code->artifact.manifest.find("_bulk"), std::string::npos);
  EXPECT_EQ(numEntries(), 1u) << "the whole alone";
  // Strictly there is no code at all.
  request.isStrict = true;
  LaunchCode strict = compileForLaunches(request);
  ASSERT_TRUE(strict.code);
  Result<VariantCode> refused = strict.code->compile(0);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("verify-sm-async"),
            std::string::npos)
      << refused.status().message();
  EXPECT_EQ(numEntries(), 1u);
}

TEST_F(VariantCompiler, errorsComeAtOnce) {
  request.source = "op copy(\n  x: f32[N]]\n";
  LaunchCode begun = compileForLaunches(request);
  EXPECT_FALSE(begun.code);
  EXPECT_EQ(begun.result.status, CompileStatus::BadInput);
  EXPECT_NE(begun.result.diagnostics.find("copy.tile:2:"), std::string::npos);
  request.source = copy;
  request.ptxas = "/nowhere/ptxas";
  begun = compileForLaunches(request);
  EXPECT_FALSE(begun.code);
  EXPECT_EQ(begun.result.status, CompileStatus::BadInput);
}

// Plans of the variant that spill are tried until one is good: the code is that
// of ahead of time.
TEST_F(VariantCompiler, plansThatSpillAreSearched) {
  // A kernel of many products spills.
  writePtxas("for k in $(grep -o 'entry [a-z_]*' $in | cut -d' ' -f2); do\n"
             "n=$(awk -v k=$k '/[.]entry/ { on = index($0, k \"(\") } on && "
             "/mma[.]sync/ { ++n } END { print n + 0 }' $in)\n"
             "bytes=0; [ $n -gt 300 ] && bytes=640\n"
             "echo \"Compiling entry function '$k'\"\n"
             "echo \"Function properties for $k\"\n"
             "echo \"0 bytes stack frame, $bytes bytes spill stores, 0 bytes "
             "spill loads\"\ndone\n");
  auto source = llvm::MemoryBuffer::getFile(SELVEDGE_FLASH_FWD);
  ASSERT_TRUE(bool(source));
  request.source = (*source)->getBuffer().str();
  std::vector<std::string> said;
  request.progress = [&](const std::string &words) { said.push_back(words); };
  LaunchCode begun = compileForLaunches(request);
  ASSERT_TRUE(begun.code) << begun.result.diagnostics;
  std::string first = begun.code->manifest();
  // Variants: packed, aligned, universal.
  Result<VariantCode> code = begun.code->compile(1);
  ASSERT_TRUE(code.ok()) << code.status().message();
  EXPECT_FALSE(code->isWhole);
  EXPECT_EQ(numRuns(), 2u);
  EXPECT_EQ(code->artifact.cubin, "entry flash_fwd_main_aligned\n");
  EXPECT_TRUE(code->artifact.manifest != first);
  EXPECT_TRUE(code->artifact.manifest == begun.code->manifest());
  ASSERT_EQ(said.size(), 2u);
  EXPECT_NE(said[0].find("kernel 'main' spills 640 bytes"), std::string::npos);
  EXPECT_EQ(said[1], "plans: takes main:BM128-BN32-w4");
  EXPECT_TRUE(begun.code->compile(2).ok());
  // No plan is stored: what is compiled ahead of time does not depend on it.
  EXPECT_FALSE(llvm::sys::fs::exists(std::string(folder) + "/selvedge/plans"));
  EXPECT_TRUE(compile(request).manifest == code->artifact.manifest);
  // From the cache.
  size_t before = numRuns();
  EXPECT_EQ(numEntries(), 3u);
  LaunchCode again = compileForLaunches(request);
  EXPECT_TRUE(again.code->manifest() == code->artifact.manifest);
  EXPECT_TRUE(again.code->compile(1).ok());
  EXPECT_EQ(numRuns(), before);
}
