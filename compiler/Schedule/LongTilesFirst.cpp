// sm-long-tiles-first: where tiles grow along the fastest range, it runs
// backwards. SPDX-License-Identifier: MIT
#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/TileLength.h"
#include "dialect/Sm/Sm.h"
#include "dialect/Tile/Decisions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMLONGTILESFIRST
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

struct SmLongTilesFirstPass : impl::SmLongTilesFirstBase<SmLongTilesFirstPass> {
  /// The block's place along the fastest range; none where there is one range,
  /// or no block.
  static arith::RemUIOp placeOf(KernelOp kernel) {
    for (auto place : kernel.getBody().getOps<arith::RemUIOp>())
      if (place.getLhs().getDefiningOp<BlockIdOp>())
        return place;
    return {};
  }

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    arith::RemUIOp place = placeOf(kernel);
    auto loops = llvm::to_vector(kernel.getBody().getOps<scf::ForOp>());
    // Roles order their tiles themselves.
    if (!kernel.getBody().getOps<RoleOp>().empty() || !place || loops.empty())
      return;
    TileLength length = tileLength(loops);
    if (length != TileLength::Grows && length != TileLength::GrowsInSegments)
      return;
    OpBuilder b(kernel.getContext());
    b.setInsertionPointAfter(place);
    Location loc = place.getLoc();
    Value last = arith::SubIOp::create(
        b, loc, place.getRhs(), arith::ConstantIntOp::create(b, loc, 1, 32));
    auto backwards = arith::SubIOp::create(b, loc, last, place);
    place->replaceUsesWithIf(
        ValueRange(backwards.getResult()),
        [&](OpOperand &use) { return use.getOwner() != backwards; });
    tile::noteDecision(kernel,
                       {"order", "the longest tiles of a row first",
                        "tiles grow along the fastest range: what is left at "
                        "the end is short"});
  }
};

} // namespace
} // namespace selvedge::schedule
