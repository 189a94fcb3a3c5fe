// Code that is made beside the proofs of its program.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/EarlyCode.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace selvedge;
using driver::EarlyCode;
using driver::Proofs;
using driver::Session;

namespace {

constexpr const char *copy = R"(op copy(x: f32[N]) -> (y: f32[N] out_init(0)) {
  kernel main(i in N by BN) {
    y[i] = x[i];
  }
}
)";

struct EarlyCodeTest : testing::Test {
  EarlyCodeTest() {
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("early", folder));
    request.fileName = "test.tile";
    request.source = copy;
    request.arch = "sm_80";
    request.ptxas = std::string(folder) + "/ptxas";
    std::error_code error;
    llvm::raw_fd_ostream os(request.ptxas, error);
    os << "#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\n"
          "echo cubin > \"$2\"\n";
    os.close();
    llvm::sys::fs::setPermissions(request.ptxas, llvm::sys::fs::all_all);
  }
  ~EarlyCodeTest() override { llvm::sys::fs::remove_directories(folder); }

  static bool begin(Session &session) {
    return session.checkArch() && session.parse() && session.choosePlans() &&
           session.locatePtxas();
  }

  llvm::SmallString<128> folder;
  CompileRequest request;
};

} // namespace

TEST_F(EarlyCodeTest, IsThatOfTheProvedProgram) {
  Session session(request);
  ASSERT_TRUE(begin(session));
  EarlyCode early(request, session);
  ASSERT_TRUE(session.runPasses(Emit::SmFinal));
  ASSERT_TRUE(early.handOver(session));
  EXPECT_EQ(session.result.cubin, "cubin\n");
  Session alone(request);
  ASSERT_TRUE(begin(alone) && alone.runPasses(Emit::SmFinal) &&
              alone.emitPtx());
  EXPECT_EQ(session.result.ptx, alone.result.ptx);
  EXPECT_EQ(session.result.manifest, alone.result.manifest);
}

TEST_F(EarlyCodeTest, OfAnotherProgramIsThrownAway) {
  Session session(request);
  ASSERT_TRUE(begin(session));
  EarlyCode early(request, session);
  // As if a verifier had refused the first plan.
  std::vector<PlanCandidate> candidates;
  ASSERT_EQ(listPlans(request, candidates).status, CompileStatus::Ok);
  CompileRequest other = request;
  other.plan = candidates.back().plan;
  Session proved(other);
  ASSERT_TRUE(begin(proved) && proved.runPasses(Emit::SmFinal));
  EXPECT_FALSE(early.handOver(proved));
  EXPECT_EQ(proved.result.ptx, "");
  EXPECT_EQ(proved.result.cubin, "");
}

TEST_F(EarlyCodeTest, IsNotForAProgramThatWasNotProved) {
  Session session(request);
  ASSERT_TRUE(begin(session));
  EarlyCode early(request, session);
  Session guess(request, Proofs::Elsewhere);
  ASSERT_TRUE(begin(guess) && guess.runPasses(Emit::SmFinal));
  EXPECT_FALSE(early.handOver(guess));
  EXPECT_EQ(guess.result.cubin, "");
}
