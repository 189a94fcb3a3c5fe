// verify-tile-parts: passes that split loops leave out no step of use.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Passes.h"
#include "compiler/Verify/Tile/LoopSteps.h"
#include "compiler/Verify/WrapsPasses.h"

#include "mlir/IR/BuiltinOps.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYTILEPARTS
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// What the name of a program ends with that another one is compared with.
constexpr StringLiteral beforeSuffix = ".before";

LogicalResult check(ProgramOp before, ProgramOp after) {
  SameProgram programs;
  if (failed(programs.compare(before, after)))
    return failure();
  for (const SplitLoop &split : programs.getLoops())
    if (failed(LoopSteps(split, programs).check()))
      return failure();
  return success();
}

struct VerifyTilePartsPass
    : WrapsPasses<impl::VerifyTilePartsBase<VerifyTilePartsPass>> {
  explicit VerifyTilePartsPass(std::unique_ptr<Pass> pass)
      : WrapsPasses(OpPassManager()) {
    if (!pass)
      return;
    of = pass->getArgument().str();
    pipeline.addPass(std::move(pass));
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    // A copy that the passes do not see.
    OwningOpRef<ModuleOp> copy(module.clone());
    if (failed(runPipeline(pipeline, module)))
      return signalPassFailure();
    for (auto before : copy->getOps<ProgramOp>()) {
      StringRef name = before.getSymName();
      bool isCompared = of.empty() ? name.consume_back(beforeSuffix) : true;
      if (!isCompared)
        continue;
      auto after = module.lookupSymbol<ProgramOp>(name);
      if (!after)
        return before.emitOpError("expects a program '")
                   << name << "' to compare it with",
               signalPassFailure();
      if (failed(check(before, after)))
        return signalPassFailure();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createVerifyTileParts(std::unique_ptr<Pass> pass) {
  return std::make_unique<VerifyTilePartsPass>(std::move(pass));
}

} // namespace selvedge::verify
