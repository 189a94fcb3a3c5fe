// unroll-loads: loads of several iterations on their way at once.
// SPDX-License-Identifier: MIT
#include "compiler/Target/PTX/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/Matchers.h"

namespace selvedge::ptx {

#define GEN_PASS_DEF_UNROLLLOADS
#include "compiler/Target/PTX/Passes.h.inc"

using namespace mlir;

namespace {

/// Iterations that become one, and of what is left over again. ptxas makes one
/// of the four that are left at last.
constexpr uint64_t factors[] = {16, 8};
/// Most operations of iterations that become one, and most registers that they
/// load.
constexpr int64_t mostOperations = 1600, mostLoaded = 96;

/// Registers that inline PTX loads from global memory; none for other text.
std::optional<int64_t> loadedBy(LLVM::InlineAsmOp code) {
  StringRef text = code.getAsmString();
  if (code.getNumResults() != 1 || !text.contains("ld.global") ||
      text.contains("st.") || text.contains("bar"))
    return std::nullopt;
  auto parts = dyn_cast<LLVM::LLVMStructType>(code.getResult(0).getType());
  return parts ? parts.getBody().size() : 1;
}

/// By which factors a loop is unrolled: none if its iterations do anything but
/// compute and load.
SmallVector<uint64_t> factorsOf(scf::ForOp loop) {
  int64_t operations = 0, loaded = 0;
  WalkResult walk = loop.getBody()->walk([&](Operation *op) {
    ++operations;
    if (auto code = dyn_cast<LLVM::InlineAsmOp>(op)) {
      std::optional<int64_t> registers = loadedBy(code);
      loaded += registers.value_or(0);
      return registers ? WalkResult::advance() : WalkResult::interrupt();
    }
    bool isOther = isMemoryEffectFree(op) || isa<scf::IfOp>(op);
    return isOther ? WalkResult::advance() : WalkResult::interrupt();
  });
  SmallVector<uint64_t> fitting;
  if (!walk.wasInterrupted() && loaded > 0)
    llvm::copy_if(factors, std::back_inserter(fitting), [&](int64_t factor) {
      return factor * operations <= mostOperations &&
             factor * loaded <= mostLoaded;
    });
  return fitting;
}

struct UnrollLoads : impl::UnrollLoadsBase<UnrollLoads> {
  void runOnOperation() override {
    SmallVector<std::pair<scf::ForOp, SmallVector<uint64_t>>> loops;
    getOperation()->walk([&](scf::ForOp loop) {
      std::optional<APInt> step = loop.getConstantStep();
      if (step && step->isOne() &&
          matchPattern(loop.getLowerBound(), m_Zero()) &&
          !loop.getStaticTripCount())
        if (SmallVector<uint64_t> fitting = factorsOf(loop); !fitting.empty())
          loops.emplace_back(loop, std::move(fitting));
    });
    for (auto [loop, fitting] : loops) {
      // The upstream function counts iterations without a sign.
      OpBuilder b(loop);
      loop.setUpperBound(arith::MaxSIOp::create(
          b, loop.getLoc(), loop.getUpperBound(), loop.getLowerBound()));
      for (uint64_t factor : fitting) {
        FailureOr<UnrolledLoopInfo> unrolled = loopUnrollByFactor(loop, factor);
        if (failed(unrolled))
          return signalPassFailure();
        if (!unrolled->epilogueLoopOp)
          break;
        loop = *unrolled->epilogueLoopOp;
      }
    }
  }
};

} // namespace

} // namespace selvedge::ptx
