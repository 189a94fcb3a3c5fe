// verify-tile-folds: a pass that folds leaves every result as it is.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Passes.h"
#include "compiler/Verify/Tile/ComparesPrograms.h"
#include "compiler/Verify/Tile/SameResults.h"

#include "mlir/IR/BuiltinOps.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYTILEFOLDS
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

struct VerifyTileFoldsPass
    : ComparesPrograms<impl::VerifyTileFoldsBase<VerifyTileFoldsPass>> {
  using ComparesPrograms::ComparesPrograms;

  LogicalResult compare(ProgramOp before, ProgramOp after) override {
    return haveSameResults(before, after);
  }
};

} // namespace

std::unique_ptr<Pass> createVerifyTileFolds(OpPassManager pipeline) {
  return std::make_unique<VerifyTileFoldsPass>(std::move(pipeline));
}

} // namespace selvedge::verify
