// sm-long-tiles-first: the order in which thread blocks take tiles whose length
// changes along the fastest range. SPDX-License-Identifier: MIT
#include "compiler/Schedule/Loops/TileLength.h"
#include "compiler/Schedule/Passes.h"
#include "dialect/Sm/Sm.h"
#include "dialect/Tile/Decisions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMLONGTILESFIRST
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

/// The loops whose steps make tiles long: those inside of one around them, as
/// over heads, which all tiles take equally often.
SmallVector<scf::ForOp> loopsOf(KernelOp kernel) {
  auto loops = llvm::to_vector(kernel.getBody().getOps<scf::ForOp>());
  while (loops.size() == 1 && tileLength(loops) == TileLength::Equal) {
    auto inner = llvm::to_vector(loops.front().getOps<scf::ForOp>());
    if (inner.empty())
      break;
    loops = std::move(inner);
  }
  return loops;
}

struct SmLongTilesFirstPass : impl::SmLongTilesFirstBase<SmLongTilesFirstPass> {
  using SmLongTilesFirstBase::SmLongTilesFirstBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    arith::RemUIOp place = placeOf(kernel);
    // Roles order their tiles themselves.
    if (kernel.hasRoles() || !place)
      return;
    SmallVector<scf::ForOp> loops = loopsOf(kernel);
    if (loops.empty())
      return;
    TileLength length = tileLength(loops);
    bool grows =
        length == TileLength::Grows || length == TileLength::GrowsInSegments;
    // Rows whose tiles shrink begin with the longest.
    if (!grows && !(windows && length == TileLength::Shrinks))
      return;
    std::string order = "the longest tiles of a row first";
    if (windows) {
      takeInWindows(place);
      order += ", those of equal length beside each other";
    }
    if (grows)
      turn(place);
    tile::noteDecision(kernel,
                       {"order", order,
                        std::string("tiles ") + (grows ? "grow" : "shrink") +
                            " along the fastest range: what is left at "
                            "the end is short"});
  }

private:
  /// The block's place along the fastest range; none where there is one range,
  /// or no block.
  static arith::RemUIOp placeOf(KernelOp kernel) {
    for (auto place : kernel.getBody().getOps<arith::RemUIOp>())
      if (place.getLhs().getDefiningOp<BlockIdOp>())
        return place;
    return {};
  }

  /// Blocks take tiles of several rows in the order of their columns.
  static void takeInWindows(arith::RemUIOp place) {
    auto block = place.getLhs().getDefiningOp<BlockIdOp>();
    OpBuilder b(place);
    Value inWindows =
        BlockIdOp::create(b, block.getLoc(), block.getType(), place.getRhs());
    block.replaceAllUsesWith(inWindows);
    block.erase();
  }

  /// The last tiles come first.
  static void turn(arith::RemUIOp place) {
    OpBuilder b(place->getContext());
    b.setInsertionPointAfter(place);
    Location loc = place.getLoc();
    Value last = arith::SubIOp::create(
        b, loc, place.getRhs(), arith::ConstantIntOp::create(b, loc, 1, 32));
    auto backwards = arith::SubIOp::create(b, loc, last, place);
    place->replaceUsesWithIf(
        ValueRange(backwards.getResult()),
        [&](OpOperand &use) { return use.getOwner() != backwards; });
  }
};

} // namespace
} // namespace selvedge::schedule
