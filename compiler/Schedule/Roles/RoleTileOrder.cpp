// The order of tiles of equal length.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/RoleKernel.h"

namespace selvedge::schedule {

using namespace mlir;

/// Tiles along the last range but one that are taken side by side: with those
/// of the last range about a square of a multiprocessor's tiles at a time.
static constexpr int64_t tilesPerGroup = 16;

/// Numbers go through a group of tiles along the last range but one, then to
/// the next tile of the last range, so that what runs at a time reads few
/// operands, which then stay in L2. Only kernels all of whose operands belong
/// to steps gain by it: others have their own tiles' operands.
Value RoleKernel::orderTile(Value number) {
  size_t ranges = tileCounts.size();
  if (!sharesOperands())
    return number;
  auto rem = [&](Value x, Value y) -> Value {
    return arith::RemUIOp::create(b, loc, x, y);
  };
  Value rows = tileCounts[ranges - 2], columns = tileCounts[ranges - 1];
  Value plane = mul(rows, columns);
  Value within = ranges > 2 ? rem(number, plane) : number;
  Value perGroup = mul(columns, i32(tilesPerGroup));
  Value first = mul(div(within, perGroup), i32(tilesPerGroup));
  Value height =
      arith::MinUIOp::create(b, loc, sub(rows, first), i32(tilesPerGroup));
  Value inGroup = rem(within, perGroup);
  Value row = add(first, rem(inGroup, height)), column = div(inGroup, height);
  return add(sub(number, within), add(mul(row, columns), column));
}

} // namespace selvedge::schedule
