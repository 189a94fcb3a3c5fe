// verify-tile-blocks: with their sizes programs store what they did.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Passes.h"
#include "compiler/Verify/Tile/ComparesPrograms.h"
#include "compiler/Verify/Tile/SameResults.h"

#include "mlir/IR/BuiltinOps.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYTILEBLOCKS
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

LogicalResult refuse(KernelOp kernel, const Twine &wanted) {
  return kernel.emitOpError("expects ")
      .append(wanted)
      .append(" before sizes were bound");
}

/// Binds sizes and coordinates, and compares ranges.
LogicalResult bind(KernelOp before, KernelOp after, LaneValues &values) {
  if (before.getSymName() != after.getSymName() ||
      before.getAxes() != after.getAxes() || before.getSizes() ||
      !after.getSizes() ||
      before.getRanges().size() != after.getRanges().size())
    return refuse(after, "the axes and ranges");
  for (auto axis : after.getAxes().getAsRange<AxisAttr>())
    if (axis.getBlock())
      values.bindSize(
          axis.getBlock(),
          after.getSizes()->getAs<IntegerAttr>(axis.getName()).getInt());
  for (auto [i, ranges] : llvm::enumerate(
           llvm::zip_equal(before.getRanges().getAsRange<IterAttr>(),
                           after.getRanges().getAsRange<IterAttr>()))) {
    auto [range, other] = ranges;
    int64_t size = range.getBlock() ? values.sizeOf(range.getBlock()) : 1;
    AffineMap extent =
        range.getBlock() ? range.getExtentFor(size) : range.getExtent();
    if (range.getName() != other.getName() ||
        range.getBlock() != other.getBlock() || extent != other.getExtent())
      return refuse(after,
                    "the length of range '" + range.getName().strref() + "'");
    Value coord = before.getCoord(i), now = after.getCoord(i);
    values.bind(ValueRange(coord), ValueRange(now));
    if (extent.isSingleConstant() && extent.getSingleConstantResult() <= size)
      for (Value value : {coord, now})
        values.bind(value, values.integer(0, 32));
  }
  return success();
}

LogicalResult check(ProgramOp before, ProgramOp after) {
  if (failed(haveSameSignature(before, after)))
    return failure();
  for (auto [kernel, other] :
       llvm::zip_equal(before.getOps<KernelOp>(), after.getOps<KernelOp>())) {
    SameResults results;
    results.bindSignature(before, kernel, other);
    if (failed(bind(kernel, other, results.values)) ||
        failed(
            results.compare(kernel.getBody().front(), other.getBody().front())))
      return failure();
  }
  return success();
}

struct VerifyTileBlocksPass
    : ComparesPrograms<impl::VerifyTileBlocksBase<VerifyTileBlocksPass>> {
  using ComparesPrograms::ComparesPrograms;

  LogicalResult compare(ProgramOp before, ProgramOp after) override {
    return check(before, after);
  }
};

} // namespace

std::unique_ptr<Pass> createVerifyTileBlocks(OpPassManager pipeline) {
  return std::make_unique<VerifyTileBlocksPass>(std::move(pipeline));
}

} // namespace selvedge::verify
