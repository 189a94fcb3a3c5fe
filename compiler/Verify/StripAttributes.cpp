// strip-discardable-attributes: verifiers read the program, not notes on it.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Passes.h"
#include "dialect/Tile/Accumulate.h"
#include "dialect/Tile/BroadcastDims.h"
#include "dialect/Tile/LaunchSizes.h"
#include "dialect/Tile/ReducedDims.h"
#include "dialect/Tile/SchedulePins.h"
#include "dialect/Tile/UniqueTensors.h"

#include "mlir/IR/Builders.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_STRIPATTRIBUTES
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;

struct StripAttributesPass : impl::StripAttributesBase<StripAttributesPass> {
  void runOnOperation() override {
    // These the front end writes, and nobody else: what is added to memory,
    // and whether in any order, which dims a launch chooses, which the caller
    // may broadcast or sum over, which integers differ, and what schedules pin.
    auto isNote = [](NamedAttribute attribute) {
      StringRef name = attribute.getName();
      return name != tile::addsAttribute && name != tile::anyOrderAttribute &&
             name != tile::launchSizesAttribute &&
             name != tile::broadcastAttribute &&
             name != tile::reducedAttribute &&
             name != tile::scheduleAttribute && name != tile::uniqueAttribute;
    };
    getOperation()->walk([&](Operation *op) {
      SmallVector<NamedAttribute> kept(op->getDiscardableAttrs());
      llvm::erase_if(kept, isNote);
      op->setDiscardableAttrs(kept);
    });
  }
};

} // namespace
} // namespace selvedge::verify
