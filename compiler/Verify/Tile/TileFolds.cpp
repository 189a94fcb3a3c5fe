// verify-tile-folds: a pass that folds leaves every result as it is.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Passes.h"
#include "compiler/Verify/Tile/SameResults.h"
#include "compiler/Verify/WrapsPasses.h"

#include "mlir/IR/BuiltinOps.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYTILEFOLDS
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// What the name of a program ends with that another one is compared with.
constexpr StringLiteral beforeSuffix = ".before";

struct VerifyTileFoldsPass
    : WrapsPasses<impl::VerifyTileFoldsBase<VerifyTileFoldsPass>> {
  explicit VerifyTileFoldsPass(OpPassManager pipeline)
      : WrapsPasses(std::move(pipeline)) {}

  void runOnOperation() override {
    ModuleOp module = getOperation();
    // A copy that the passes do not see.
    OwningOpRef<ModuleOp> copy(module.clone());
    if (failed(runPipeline(pipeline, module)))
      return signalPassFailure();
    for (auto before : copy->getOps<ProgramOp>()) {
      StringRef name = before.getSymName();
      if (pipeline.empty() && !name.consume_back(beforeSuffix))
        continue;
      auto after = module.lookupSymbol<ProgramOp>(name);
      if (!after)
        return before.emitOpError("expects a program '")
                   << name << "' to compare it with",
               signalPassFailure();
      if (failed(haveSameResults(before, after)))
        return signalPassFailure();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createVerifyTileFolds(OpPassManager pipeline) {
  return std::make_unique<VerifyTileFoldsPass>(std::move(pipeline));
}

} // namespace selvedge::verify
