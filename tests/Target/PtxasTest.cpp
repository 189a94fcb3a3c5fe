// Reading ptxas' output, finding it, and its ways to fail.
// SPDX-License-Identifier: MIT
#include "compiler/Target/PTX/Ptxas.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <optional>

using namespace selvedge;

namespace {

/// A folder with scripts that stand in for ptxas.
class PtxasTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("ptxas-test", folder));
    save("SELVEDGE_PTXAS", oldChoice);
    save("PATH", oldPath);
    unsetenv("SELVEDGE_PTXAS");
  }
  void TearDown() override {
    restore("SELVEDGE_PTXAS", oldChoice);
    restore("PATH", oldPath);
    llvm::sys::fs::remove_directories(folder);
  }

  /// Writes an executable shell script and returns its path.
  std::string script(const std::string &body) {
    std::string path = std::string(folder) + "/ptxas";
    std::error_code error;
    llvm::raw_fd_ostream os(path, error);
    os << "#!/bin/sh\n" << body << "\n";
    os.close();
    llvm::sys::fs::setPermissions(path, llvm::sys::fs::all_all);
    return path;
  }

  llvm::SmallString<64> folder;

private:
  static void save(const char *name, std::optional<std::string> &value) {
    if (const char *old = std::getenv(name))
      value = old;
  }
  static void restore(const char *name,
                      const std::optional<std::string> &value) {
    if (value)
      setenv(name, value->c_str(), 1);
    else
      unsetenv(name);
  }
  std::optional<std::string> oldChoice, oldPath;
};

/// Finds the argument after -o, as ptxas does.
constexpr const char *writeCubin = "while [ $# -gt 1 ]; do [ \"$1\" = -o ] && "
                                   "echo cubin > \"$2\"; shift; done";

} // namespace

TEST(PtxasLog, ReadsResources) {
  ptx::PtxasLog log = ptx::parsePtxasLog(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'first' for 'sm_80'\n"
      "ptxas info    : Function properties for first\n"
      "    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
      "ptxas info    : Used 202 registers, used 1 barriers, 1024 bytes smem, "
      "380 bytes cmem[0]\n"
      "ptxas info    : Compile time = 14.011 ms\n"
      "ptxas info    : Compiling entry function 'second' for 'sm_80'\n"
      "ptxas info    : Function properties for second\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 24 registers, used 0 barriers\n");
  ASSERT_EQ(log.kernels.size(), 2u);
  EXPECT_EQ(log.kernels[0].name, "first");
  EXPECT_EQ(log.kernels[0].registers, 202);
  EXPECT_EQ(log.kernels[0].stackBytes, 16);
  EXPECT_EQ(log.kernels[0].spillStoreBytes, 8);
  EXPECT_EQ(log.kernels[0].spillLoadBytes, 12);
  EXPECT_EQ(log.kernels[0].smemBytes, 1024);
  EXPECT_EQ(log.kernels[1].registers, 24);
  EXPECT_EQ(log.kernels[1].smemBytes, 0);
  EXPECT_TRUE(log.remarks.empty());
}

TEST(PtxasLog, DeviceFunctionsDoNotChangeKernels) {
  ptx::PtxasLog log = ptx::parsePtxasLog(
      "ptxas info    : Compiling entry function 'kernel' for 'sm_80'\n"
      "ptxas info    : Function properties for kernel\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 24 registers, used 0 barriers\n"
      "ptxas info    : Function properties for helper\n"
      "    64 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n");
  ASSERT_EQ(log.kernels.size(), 1u);
  EXPECT_EQ(log.kernels[0].stackBytes, 0);
  EXPECT_EQ(log.kernels[0].registers, 24);
}

TEST(PtxasLog, CollectsRemarks) {
  ptx::PtxasLog log = ptx::parsePtxasLog(
      "ptxas info    : (C7512) Potential Performance Loss: wgmma.mma_async "
      "instructions are serialized in function 'kernel'\n"
      "ptxas info    : (C1234) something else\n");
  ASSERT_EQ(log.remarks.size(), 1u);
  EXPECT_NE(log.remarks[0].find("C7512"), std::string::npos);
}

TEST(PtxasLog, SurvivesAnything) {
  for (const char *text :
       {"", "\n\n", "Compiling entry function '", "Function properties for ",
        "Used registers", "bytes stack frame"})
    EXPECT_TRUE(ptx::parsePtxasLog(text).remarks.empty());
}

TEST_F(PtxasTest, ChosenPathWins) {
  std::string path = script("exit 0");
  setenv("SELVEDGE_PTXAS", "/nonexistent/ptxas", 1);
  EXPECT_EQ(ptx::findPtxas(path), path);
  EXPECT_EQ(ptx::findPtxas("/nonexistent/ptxas"), "");
  EXPECT_EQ(ptx::findPtxas(folder), "") << "a folder is not a program";
}

TEST_F(PtxasTest, EnvironmentWinsOverPath) {
  std::string path = script("exit 0");
  setenv("SELVEDGE_PTXAS", path.c_str(), 1);
  EXPECT_EQ(ptx::findPtxas(), path);
  setenv("SELVEDGE_PTXAS", "/nonexistent/ptxas", 1);
  EXPECT_EQ(ptx::findPtxas(), "") << "a wrong choice is not replaced";
}

TEST_F(PtxasTest, SearchesPath) {
  std::string path = script("exit 0");
  setenv("PATH", folder.c_str(), 1);
  EXPECT_EQ(ptx::findPtxas(), path);
}

TEST_F(PtxasTest, ReturnsWhatWasWritten) {
  ptx::PtxasResult result = ptx::assemble("ptx", "sm_80", script(writeCubin));
  EXPECT_EQ(result.status, ptx::PtxasStatus::Ok) << result.message;
  EXPECT_EQ(result.cubin, "cubin\n");
}

TEST_F(PtxasTest, FailureShowsOutput) {
  ptx::PtxasResult result = ptx::assemble(
      "ptx", "sm_80", script("echo 'line 3; error: bad operand' >&2; exit 2"));
  EXPECT_EQ(result.status, ptx::PtxasStatus::Refused);
  EXPECT_NE(result.message.find("bad operand"), std::string::npos);
}

TEST_F(PtxasTest, AnOldOneTakesKernelsOneByOne) {
  ptx::PtxasResult result = ptx::assemble(
      "ptx", "sm_80",
      script(std::string("case \"$*\" in *--split-compile*) echo \"Unknown "
                         "option '--split-compile'\" >&2; exit 1;; esac\n") +
             writeCubin));
  EXPECT_EQ(result.status, ptx::PtxasStatus::Ok) << result.message;
  EXPECT_EQ(result.cubin, "cubin\n");
}

TEST_F(PtxasTest, RemarkIsAnError) {
  ptx::PtxasResult result = ptx::assemble(
      "ptx", "sm_90a",
      script(std::string("echo '(C7510) serialized' >&2\n") + writeCubin));
  EXPECT_EQ(result.status, ptx::PtxasStatus::Refused);
  EXPECT_NE(result.message.find("C7510"), std::string::npos);
  EXPECT_TRUE(result.cubin.empty());
}

// Whoever killed it, it was not the compiler's output.
TEST_F(PtxasTest, KilledProgram) {
  ptx::PtxasResult result = ptx::assemble("ptx", "sm_80", script("kill -9 $$"));
  EXPECT_EQ(result.status, ptx::PtxasStatus::CannotRun);
  EXPECT_NE(result.message.find("killed by signal 9"), std::string::npos)
      << result.message;
  result = ptx::assemble("ptx", "sm_80", script("kill -SEGV $$"));
  EXPECT_EQ(result.status, ptx::PtxasStatus::Refused);
  EXPECT_NE(result.message.find("crashed"), std::string::npos);
}

TEST_F(PtxasTest, OtherPrograms) {
  for (const char *program : {"/bin/false", "/bin/cat"}) {
    ptx::PtxasResult result = ptx::assemble("ptx", "sm_80", program);
    EXPECT_EQ(result.status, ptx::PtxasStatus::CannotRun);
    EXPECT_NE(result.message.find("is it ptxas?"), std::string::npos)
        << result.message;
  }
}

TEST_F(PtxasTest, NeedsNoTemporaryFolder) {
  setenv("TMPDIR", "/nonexistent", 1);
  ptx::PtxasResult result = ptx::assemble("ptx", "sm_80", script(writeCubin));
  unsetenv("TMPDIR");
  EXPECT_EQ(result.status, ptx::PtxasStatus::Ok) << result.message;
}

TEST_F(PtxasTest, MissingProgram) {
  EXPECT_EQ(ptx::assemble("ptx", "sm_80", "/nonexistent/ptxas").status,
            ptx::PtxasStatus::CannotRun);
}

TEST_F(PtxasTest, ProgramThatWritesNothing) {
  EXPECT_EQ(ptx::assemble("ptx", "sm_80", script("exit 0")).status,
            ptx::PtxasStatus::CannotRun);
}
