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

/// Iterations that become one.
constexpr uint64_t factor = 4;
/// Most operations of an iteration, and most registers that it loads.
constexpr int64_t mostOperations = 400, mostLoaded = 24;

/// Registers that inline PTX loads from global memory; none for other text.
std::optional<int64_t> loadedBy(LLVM::InlineAsmOp code) {
  StringRef text = code.getAsmString();
  if (code.getNumResults() != 1 || !text.contains("ld.global") ||
      text.contains("st.") || text.contains("bar"))
    return std::nullopt;
  auto parts = dyn_cast<LLVM::LLVMStructType>(code.getResult(0).getType());
  return parts ? parts.getBody().size() : 1;
}

/// Whether iterations do nothing but compute and load, and little of both.
bool isSmall(scf::ForOp loop) {
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
  return !walk.wasInterrupted() && operations <= mostOperations && loaded > 0 &&
         loaded <= mostLoaded;
}

struct UnrollLoads : impl::UnrollLoadsBase<UnrollLoads> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) {
      std::optional<APInt> step = loop.getConstantStep();
      if (step && step->isOne() &&
          matchPattern(loop.getLowerBound(), m_Zero()) &&
          !loop.getStaticTripCount() && isSmall(loop))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      // The upstream function counts iterations without a sign.
      OpBuilder b(loop);
      loop.setUpperBound(arith::MaxSIOp::create(
          b, loop.getLoc(), loop.getUpperBound(), loop.getLowerBound()));
      if (failed(loopUnrollByFactor(loop, factor)))
        return signalPassFailure();
    }
  }
};

} // namespace

} // namespace selvedge::ptx
