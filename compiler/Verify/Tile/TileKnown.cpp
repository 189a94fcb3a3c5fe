// verify-tile-known: predicates that passes claim to be true are true.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/KernelSeed.h"
#include "compiler/Verify/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYTILEKNOWN
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

struct VerifyTileKnownPass : impl::VerifyTileKnownBase<VerifyTileKnownPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    KernelOp kernel = getOperation();
    WalkResult result = kernel.walk([&](KnownOp known) {
      return isProved(kernel, known)
                 ? WalkResult::advance()
                 : (known.emitOpError("claims a predicate that the loops "
                                      "around it do not prove in all lanes"),
                    WalkResult::interrupt());
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  bool isProved(KernelOp kernel, KnownOp known) {
    ProgramOp program = kernel.getProgram();
    IndexValues values;
    SmallVector<Polynomial> dims;
    seedSignature(program.getDims(), program.getTensors(), values, dims);
    seedKernel(kernel, values, dims);
    assumePromises(kernel, values, dims);
    values.enterLoops(known);
    bool hasOnlyCompares = true;
    SmallVector<Polynomial> goals;
    conjuncts(known.getPredicate(), [&](Value part) {
      size_t before = goals.size();
      values.collect(part, goals);
      hasOnlyCompares &= goals.size() > before;
    });
    return hasOnlyCompares && llvm::all_of(goals, [&](const Polynomial &goal) {
             return values.isNonNegativeByCases(goal);
           });
  }

  /// Results may rely on what the caller promised about values in memory; the
  /// bounds of accesses never do.
  void assumePromises(KernelOp kernel, IndexValues &values,
                      ArrayRef<Polynomial> dims) {
    kernel.walk([&](LoadOp load) {
      if (!load.getType().isInteger(32))
        return;
      StringAttr tensor = kernel.getTensorArgOf(load.getTensor()).getName();
      for (auto promise :
           kernel.getProgram().getPromises().getAsRange<RequireAttr>())
        if (promise.getTensor() == tensor)
          values.define(
              load,
              values.newSymbol(values.of(promise.getLo().getResult(0), dims),
                               values.of(promise.getHi().getResult(0), dims)));
    });
  }
};

} // namespace
} // namespace selvedge::verify
