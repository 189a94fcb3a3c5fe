// verify-tile-guards: rows that nothing contributes to stay free of NaN.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/Guards.h"
#include "compiler/Verify/Passes.h"
#include "compiler/Verify/WrapsPasses.h"
#include "dialect/Tile/Tile.h"

#include "mlir/IR/BuiltinOps.h"

#include <set>

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYTILEGUARDS
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

struct VerifyTileGuardsPass
    : WrapsPasses<impl::VerifyTileGuardsBase<VerifyTileGuardsPass>> {
  using WrapsPasses::WrapsPasses;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    // Who writes such operations has what they give.
    std::set<std::pair<std::string, Unguarded>> own;
    for (auto program : module.getOps<ProgramOp>())
      visitUnguarded(program, [&](Operation *, Unguarded kind) {
        own.insert({program.getBaseName().str(), kind});
      });
    if (failed(runPipeline(pipeline, module)))
      return signalPassFailure();
    for (auto program : module.getOps<ProgramOp>()) {
      bool isRefused = false;
      visitUnguarded(program, [&](Operation *op, Unguarded kind) {
        if (isRefused || own.contains({program.getBaseName().str(), kind}))
          return;
        isRefused = true;
        op->emitOpError("expects a guard for rows that nothing contributes "
                        "to, found an ")
            << nameOf(kind);
      });
      if (isRefused)
        return signalPassFailure();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createVerifyTileGuards(OpPassManager pipeline) {
  return std::make_unique<VerifyTileGuardsPass>(std::move(pipeline));
}

} // namespace selvedge::verify
