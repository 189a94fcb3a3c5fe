// verify-tile-parts: passes that split loops leave out no step of use.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Passes.h"
#include "compiler/Verify/Tile/ComparesPrograms.h"
#include "compiler/Verify/Tile/LoopSteps.h"

#include "mlir/IR/BuiltinOps.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYTILEPARTS
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

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
    : ComparesPrograms<impl::VerifyTilePartsBase<VerifyTilePartsPass>> {
  using ComparesPrograms::ComparesPrograms;

  LogicalResult compare(ProgramOp before, ProgramOp after) override {
    return check(before, after);
  }
};

} // namespace

std::unique_ptr<Pass> createVerifyTileParts(std::unique_ptr<Pass> pass) {
  OpPassManager pipeline(ModuleOp::getOperationName());
  if (pass)
    pipeline.addPass(std::move(pass));
  return std::make_unique<VerifyTilePartsPass>(std::move(pipeline));
}

} // namespace selvedge::verify
