// A plan whose kernel a verifier refuses gives way to another one.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/Session.h"
#include "compiler/Schedule/Plan/Plan.h"

#include "mlir/Pass/Pass.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

using namespace mlir;
using namespace selvedge;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

namespace {

/// Leaves the barriers out of kernels that are made of `tile` kernels for which
/// `isBroken` holds.
struct WithoutBarriers : PassInstrumentation {
  using Filter = std::function<bool(tile::KernelOp)>;
  explicit WithoutBarriers(Filter isBroken) : isBroken(std::move(isBroken)) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    if (pass->getArgument() != "tile-to-sm")
      return;
    op->walk([&](tile::KernelOp kernel) {
      if (isBroken(kernel))
        broken.insert(schedule::planName(kernel));
    });
  }

  void runAfterPass(Pass *pass, Operation *op) override {
    auto kernel = dyn_cast<sm::KernelOp>(op);
    if (!kernel || pass->getArgument() != "sm-async-copies" ||
        !broken.contains(schedule::planName(kernel)))
      return;
    SmallVector<sm::BarrierOp> barriers;
    kernel.walk([&](sm::BarrierOp barrier) { barriers.push_back(barrier); });
    for (sm::BarrierOp barrier : barriers)
      barrier.erase();
  }

  Filter isBroken;
  std::set<std::string> broken;
};

/// The compilation of a template's op with kernels that lack barriers.
struct RefusedPlans : testing::Test {
  void compile(WithoutBarriers::Filter isBroken) {
    request.arch = "sm_80";
    request.fileName =
        std::string(SELVEDGE_TEMPLATE_FOLDER) + "/" + request.op + ".tile";
    auto buffer = llvm::MemoryBuffer::getFile(request.fileName);
    ASSERT_TRUE(bool(buffer));
    request.source = (*buffer)->getBuffer().str();
    session.emplace(request);
    isDone = session->checkArch() && session->parse() &&
             session->choosePlans() && session->runPasses(Emit::SmFinal, [&] {
               return std::make_unique<WithoutBarriers>(isBroken);
             });
  }

  CompileRequest request;
  std::optional<driver::Session> session;
  bool isDone = false;
};

TEST_F(RefusedPlans, OnesThatShareOperandsGiveWayTogether) {
  request.op = "flash_bwd";
  request.bindings = {{"D", "128"}, {"deterministic", "false"}};
  compile([](tile::KernelOp kernel) { return kernel.getSharedOperands(); });
  EXPECT_TRUE(isDone) << session->result.diagnostics;
  EXPECT_THAT(session->result.remarks,
              Contains(AllOf(HasSubstr("does not take plan"),
                             HasSubstr("-shared: verify-"))));
}

TEST_F(RefusedPlans, AnyGivesWayToTheNext) {
  request.op = "matmul";
  std::string first;
  compile([&](tile::KernelOp kernel) {
    std::string sizes;
    llvm::raw_string_ostream(sizes) << kernel.getSizesAttr();
    first = first.empty() ? sizes : first;
    return sizes == first;
  });
  EXPECT_TRUE(isDone) << session->result.diagnostics;
  EXPECT_THAT(session->result.remarks,
              Contains(HasSubstr("does not take plan")));
}

TEST_F(RefusedPlans, AreNotWhatIsWrongWhereAllAreRefused) {
  request.op = "matmul";
  compile([](tile::KernelOp) { return true; });
  EXPECT_FALSE(isDone);
  EXPECT_EQ(session->result.status, CompileStatus::InternalError);
  EXPECT_THAT(session->result.diagnostics, HasSubstr("refused"));
}

TEST_F(RefusedPlans, AreErrorsIfStrict) {
  request.op = "matmul";
  request.isStrict = true;
  compile([](tile::KernelOp) { return true; });
  EXPECT_FALSE(isDone);
  EXPECT_THAT(session->result.remarks, Each(Not(HasSubstr("does not take"))));
}

/// Counts how often kernels are verified as they are emitted.
struct VerifiedKernels : PassInstrumentation {
  explicit VerifiedKernels(unsigned &count) : count(count) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    count += pass->getArgument() == "verify-sm-launches";
  }

  unsigned &count;
};

TEST_F(RefusedPlans, AreNotVerifiedWhereTheyDoNotFit) {
  // Two loops have tiles of their own, which the plan's estimate takes for the
  // same.
  request.arch = "sm_80";
  request.bindings = {{"D", "560"}};
  request.source = R"(
op two<T: {bf16, f16} = bf16, D: int = 128>(
    q: T[M, D], k: T[N, D], w: T[P, D]) -> (o: f32[M, D] out_init(0)) {
  kernel main(i in M by BM) {
    let Q = q[i, :];
    var acc = zeros f32[i, D];
    for j in N by BN { acc += dot(dot(Q, k[j, :]) as T, k[j, :]); }
    for j in P by BP { acc += dot(dot(Q, w[j, :]) as T, w[j, :]); }
    o[i, :] = acc;
  }
})";
  unsigned count = 0;
  session.emplace(request);
  ASSERT_TRUE(session->checkArch() && session->parse() &&
              session->choosePlans() &&
              session->runPasses(
                  Emit::SmFinal,
                  [&] { return std::make_unique<VerifiedKernels>(count); }))
      << session->result.diagnostics;
  EXPECT_THAT(session->result.remarks, Contains(HasSubstr("once lowered")));
  EXPECT_EQ(count, 1u);
}

} // namespace
