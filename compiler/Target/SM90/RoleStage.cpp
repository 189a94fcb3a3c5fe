// Emits the code of one thread of a kernel with roles: registers to shared
// memory. SPDX-License-Identifier: MIT
#include "compiler/Target/SM90/RoleEmitter.h"

namespace selvedge::sm90 {

using namespace mlir;
using namespace selvedge::sm;

/// Accumulator-shaped 16-bit tiles go to shared memory four 8x8 matrices at a
/// time, transposed where the tile's rows are the buffer's columns (PTX ISA,
/// "stmatrix").
LogicalResult RoleEmitter::emitStageMatrix(StageOp stage) {
  BufferType type = stage.getBuffer().getType();
  if (type.getElementType().isF32())
    return emitStageWords(stage);
  LayoutAttr layout = layoutOf(stage.getSource().getType());
  StringAttr rowAxis;
  FailureOr<SmallVector<int64_t>> order =
      accumulatorOrder(stage, layout, rowAxis);
  if (failed(order))
    return failure();
  bool isTransposed = rowAxis == type.getColAxis();
  int64_t tileRows = isTransposed ? type.getCols() : type.getRows(),
          tileCols = isTransposed ? type.getRows() : type.getCols();
  if ((rowAxis != type.getRowAxis() && !isTransposed) || tileRows != 64 ||
      type.getElementType().getIntOrFloatBitWidth() != 16 ||
      order->size() % 8 != 0)
    return stage.emitOpError("expects a 16-bit accumulator tile of 64 rows and "
                             "a multiple of 16 columns, but got ")
           << stage.getSource().getType();
  // Matrices 0 to 3 are selected by lane bits 3 and 4: the low bit steps along
  // the tile's rows, the high one along its columns. Each lane gives the
  // address of one of the buffer's rows.
  auto rowsAndCols = [&] {
    Value low = arith::AndIOp::create(b, loc(), laneId, i32(7));
    Value bit3 = arith::AndIOp::create(
        b, loc(), arith::ShRUIOp::create(b, loc(), laneId, i32(3)), i32(1));
    Value alongRows = add(mul(warpId, i32(16)), mul(bit3, i32(8)));
    Value alongCols =
        mul(arith::ShRUIOp::create(b, loc(), laneId, i32(4)), i32(8));
    (isTransposed ? alongCols : alongRows) =
        add(isTransposed ? alongCols : alongRows, low);
    return std::pair(alongRows, alongCols);
  };
  Value base = bufferBases[stage.getBuffer()], alongRows, alongCols;
  Value &kept = stagedOffsets[1][type];
  if (!isTransposed)
    std::tie(alongRows, alongCols) = rowsAndCols();
  else if (!kept)
    kept = keptFromStart([&] {
      auto [row, col] = rowsAndCols();
      return sharedOffset(type, col, row);
    });
  const Registers &all = lanes(stage.getSource());
  for (int64_t col = 0; col < tileCols; col += 16) {
    Value pointer =
        isTransposed ? addressFrom(type, base, kept, /*rows=*/col, /*cols=*/0)
                     : sharedAddress(type, base, SharedIndex(alongRows),
                                     SharedIndex(alongCols, col));
    SmallVector<Value> args{
        LLVM::PtrToIntOp::create(b, loc(), b.getI32Type(), pointer)};
    // Two 8-column tiles have eight elements per thread, four pairs.
    for (int64_t i = col / 2; i < col / 2 + 8; i += 2)
      args.push_back(LLVM::BitcastOp::create(
          b, loc(), b.getI32Type(),
          pair(all[(*order)[i]], all[(*order)[i + 1]])));
    inlineAsm({}, args,
              isTransposed ? "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
                             "[$0], {$1, $2, $3, $4};"
                           : "stmatrix.sync.aligned.m8n8.x4.shared.b16 [$0], "
                             "{$1, $2, $3, $4};",
              "r,r,r,r,r,~{memory}");
  }
  return success();
}

Value RoleEmitter::pairAddress(Value buffer, LayoutAttr layout, int64_t i,
                               Value &first) {
  auto type = cast<BufferType>(buffer.getType());
  int64_t rowAt = layout.indexOf(type.getRowAxis());
  AxisLayoutAttr rows = layout.getAxes()[rowAt],
                 cols = layout.getAxes()[1 - rowAt];
  if (!first)
    first = keptFromStart([&] {
      return sharedOffset(type,
                          add(lanes::bitSum(b, loc(), warpId, rows.getWarps()),
                              lanes::bitSum(b, loc(), laneId, rows.getLanes())),
                          lanes::bitSum(b, loc(), laneId, cols.getLanes()));
    });
  // Registers 4n to 4n + 3: two of a row, two of the row eight further.
  return addressFrom(type, bufferBases[buffer], first,
                     /*rows=*/i / 2 % 2 * 8, /*cols=*/i / 4 * 8);
}

/// Accumulators of f32 go there by pairs of adjacent columns: four rows at a
/// time, each with 32 bytes. Of neighbouring rows they lie in the same banks;
/// of interleaved ones each has its own.
LogicalResult RoleEmitter::emitStageWords(StageOp stage) {
  BufferType type = stage.getBuffer().getType();
  LayoutAttr layout = layoutOf(stage.getSource().getType());
  FailureOr<SmallVector<int64_t>> order = orderOfRows(
      stage, stage.getSource().getType(), type, /*anyRowOrder=*/true);
  if (failed(order))
    return failure();
  AxisLayoutAttr rows = layout.getAxes()[layout.indexOf(type.getRowAxis())];
  Value &first = stagedOffsets[isAccumulatorRows(rows, true) ? 2 : 0][type];
  const Registers &all = lanes(stage.getSource());
  for (auto i = 0; i < static_cast<int64_t>(order->size()); i += 2)
    storeShared(pairAddress(stage.getBuffer(), layout, i, first),
                {all[(*order)[i]], all[(*order)[i + 1]]});
  return success();
}

LogicalResult RoleEmitter::emitStageFragment(StageFragmentOp stage) {
  StringAttr rowAxis;
  FailureOr<SmallVector<int64_t>> order =
      accumulatorOrder(stage, layoutOf(stage.getSource().getType()), rowAxis);
  if (failed(order))
    return failure();
  BufferType type = stage.getBuffer().getType();
  const Registers &all = lanes(stage.getSource());
  auto perAccess = static_cast<size_t>(type.getPanelCols());
  for (size_t first = 0; first < order->size(); first += perAccess) {
    SmallVector<Value> values;
    for (size_t i = first; i < first + perAccess; ++i)
      values.push_back(all[(*order)[i]]);
    storeShared(sharedAddress(type, bufferBases[stage.getBuffer()], thread,
                              SharedIndex(i32(0), static_cast<int64_t>(first))),
                values);
  }
  return success();
}

} // namespace selvedge::sm90
