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

// No plan has room for tensor cores: the passes fail, run again one by one, and
// then without. The program is printed beside its code: in a context that had
// lost its locks that ended the compiler in one of seventy runs.
TEST_F(EarlyCodeTest, PassesThatFailedLeaveThreadsOn) {
  request.source = R"(
op f<D: int = 24>(x: f16[Q, D], k: f16[D, N], v: f16[N, D], a: f16[S, T], b: f16[M, T])
-> (y: f16[M, S, Q, D] out_init(0), z: f16[M, S, Q] out_init(0)) {
  kernel main(s in S by BS, q in Q by BQ, i in M by BM) {
    let rows = x[q, :];
    var acc = zeros f32[q, D];
    var sm = online_softmax(q);
    for j in N by BN {
      let p = sm.update(dot(rows, k[:, j]) * 0.125, acc);
      acc += dot(p as f16, v[j, :]);
    }
    var t = zeros f32[s, i];
    for l in T by BT { t += dot(a[s, l], b[i, l]); }
    y[i, s, q, :] = sm.normalize(acc) as f16;
    z[i, s, q] = t as f16;
  }
}
)";
  request.arch = "sm_90a";
  Session session(request, Proofs::Elsewhere);
  ASSERT_TRUE(begin(session));
  EXPECT_TRUE(session.isThreadSafe());
  ASSERT_TRUE(session.runPasses(Emit::SmFinal));
  EXPECT_TRUE(session.isThreadSafe());
}
