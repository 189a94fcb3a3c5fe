// Emits the code of one thread of a kernel: products on the tensor cores.
// SPDX-License-Identifier: MIT
#include "compiler/Target/Lanes/LaneEmitter.h"

namespace selvedge::lanes {

using namespace mlir;
using namespace selvedge::sm;

/// Rows of accumulators: the axis whose registers are 8 apart (bit 0 of the
/// register number) and whose lane bits 2 to 4 count rows.
static bool isRowAxis(AxisLayoutAttr axis) { return axis.getLanes()[2] == 1; }

/// One fragment from shared memory by `ldmatrix.x4`.
///
/// For A (16 x 16 at row `major`, column `k`): the registers a0..a3 of
/// `mma.m16n8k16`. For B: b0, b1 of two neighbouring 8-wide tiles. `majorAxis`
/// is the axis that is not contracted; `majorBase` the warp's first index along
/// it. Each lane gives the address of one row of an 8x8 matrix (PTX ISA,
/// "ldmatrix"); where the contracted axis is the buffer's row axis the matrices
/// are read transposed.
SmallVector<Value> LaneEmitter::fragment(Value buffer, StringAttr majorAxis,
                                         int64_t major, Value majorBase,
                                         int64_t k, bool isA) {
  auto type = cast<BufferType>(buffer.getType());
  bool transposed = type.getColAxis() == majorAxis;
  // Matrices 0..3 are selected by lane bits 3 and 4: the low bit steps along
  // the major axis for A and along k for B.
  Value low = arith::AndIOp::create(b, loc(), laneId, i32(7));
  Value bit3 = arith::AndIOp::create(
      b, loc(), arith::ShRUIOp::create(b, loc(), laneId, i32(3)), i32(1));
  Value bit4 = arith::ShRUIOp::create(b, loc(), laneId, i32(4));
  Value alongMajor = mul(isA ? bit3 : bit4, i32(8)),
        alongK = mul(isA ? bit4 : bit3, i32(8));
  (transposed ? alongK : alongMajor) =
      add(transposed ? alongK : alongMajor, low);
  SharedIndex majorIndex(add(alongMajor, majorBase), major), kIndex(alongK, k);
  Value address =
      transposed ? sharedAddress(type, bufferBases[buffer], kIndex, majorIndex)
                 : sharedAddress(type, bufferBases[buffer], majorIndex, kIndex);
  StringRef name = transposed
                       ? "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3"
                       : "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3";
  Type result = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(4, b.getI32Type()));
  Value loaded = intrinsic(name, result, {address});
  SmallVector<Value> words;
  for (int64_t i = 0; i < 4; ++i)
    words.push_back(LLVM::ExtractValueOp::create(b, loc(), loaded, i));
  return words;
}

/// The A fragment of 16 rows (number `block`) and columns k..k+15 from
/// accumulator-like registers: no data moves. Columns past the tile are zero.
SmallVector<Value> LaneEmitter::registerFragment(Value tile, StringAttr over,
                                                 int64_t block, int64_t k) {
  LayoutAttr layout = layoutOf(tile.getType());
  int64_t overAt = layout.indexOf(over);
  SmallVector<Value> words;
  for (int64_t word = 0; word < 4; ++word) {
    SmallVector<int64_t> position(2);
    position[1 - overAt] = 2 * block + word % 2;
    if ((k / 8 + word / 2) * 2 >= layout.getAxes()[overAt].getNumRegs()) {
      words.push_back(i32(0));
      continue;
    }
    Value halves[2];
    for (int64_t i = 0; i < 2; ++i) {
      position[overAt] = (k / 8 + word / 2) * 2 + i;
      halves[i] = lanes(tile)[layout.flatten(position)];
    }
    words.push_back(LLVM::BitcastOp::create(b, loc(), b.getI32Type(),
                                            pair(halves[0], halves[1])));
  }
  return words;
}

LogicalResult LaneEmitter::emitMma(MmaOp mma) {
  LayoutAttr layout = layoutOf(mma.getType());
  int64_t rowAt = isRowAxis(layout.getAxes()[0]) ? 0 : 1;
  AxisLayoutAttr rows = layout.getAxes()[rowAt],
                 cols = layout.getAxes()[1 - rowAt];
  if (!isRowAxis(rows) || isRowAxis(cols) || rows.getNumRegs() % 2 != 0 ||
      cols.getNumRegs() % 4 != 0)
    return mma.emitOpError("expects a result laid out as m16n8 "
                           "accumulators, two 8-wide tiles at a time");
  auto hasAxis = [](Value operand, StringAttr axis) {
    if (auto buffer = dyn_cast<BufferType>(operand.getType()))
      return buffer.getRowAxis() == axis || buffer.getColAxis() == axis;
    return layoutOf(operand.getType()).indexOf(axis) >= 0;
  };
  Value a = mma.getLhs(), bOperand = mma.getRhs();
  if (!hasAxis(a, rows.getName()))
    std::swap(a, bOperand);
  auto bType = dyn_cast<BufferType>(bOperand.getType());
  if (!bType)
    return mma.emitOpError("expects the column operand in shared memory");
  StringAttr over = mma.getOverAttr();
  int64_t contracted =
      bType.getRowAxis() == over ? bType.getRows() : bType.getCols();
  int64_t rowBlocks = rows.getNumRegs() / 2, colBlocks = cols.getNumRegs() / 2;
  bool isBf16 = bType.getElementType().isBF16();

  // What warps contribute to the indices; lanes contribute through the
  // fragments.
  auto warpBase = [&](AxisLayoutAttr axis) {
    return threadPart(AxisLayoutAttr::get(b.getContext(), axis.getName(), {},
                                          {}, SmallVector<int64_t>(5, 0),
                                          axis.getWarps()));
  };
  Value rowBase = warpBase(rows), colBase = warpBase(cols);

  Registers acc = lanes(mma.getInit());
  auto regOf = [&](int64_t row, int64_t col) {
    SmallVector<int64_t> position(2);
    position[rowAt] = row;
    position[1 - rowAt] = col;
    return layout.flatten(position);
  };
  Type f32 = b.getF32Type();
  Type result = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                                 SmallVector<Type>(4, f32));
  for (int64_t k = 0; k < contracted; k += 16) {
    SmallVector<SmallVector<Value>> aFragments;
    for (int64_t m = 0; m < rowBlocks; ++m)
      aFragments.push_back(isa<BufferType>(a.getType())
                               ? fragment(a, rows.getName(),
                                          rows.regOffset(2 * m), rowBase, k,
                                          true)
                               : registerFragment(a, over, m, k));
    for (int64_t n = 0; n < colBlocks; n += 2) {
      SmallVector<Value> bFragments = fragment(
          bOperand, cols.getName(), cols.regOffset(2 * n), colBase, k, false);
      for (int64_t m = 0; m < rowBlocks; ++m)
        for (int64_t half = 0; half < 2; ++half) {
          SmallVector<Value> args;
          auto pushPacked = [&](Value word) {
            args.push_back(
                isBf16
                    ? word
                    : LLVM::BitcastOp::create(
                          b, loc(), VectorType::get({2}, b.getF16Type()), word)
                          .getResult());
          };
          for (Value word : aFragments[m])
            pushPacked(word);
          pushPacked(bFragments[2 * half]);
          pushPacked(bFragments[2 * half + 1]);
          SmallVector<int64_t> regs;
          for (int64_t i = 0; i < 4; ++i) {
            regs.push_back(regOf(2 * m + i / 2, 2 * (n + half) + i % 2));
            args.push_back(acc[regs.back()]);
          }
          Value product =
              intrinsic(isBf16 ? "llvm.nvvm.mma.m16n8k16.row.col.bf16"
                               : "llvm.nvvm.mma.m16n8k16.row.col.f32.f32",
                        result, args);
          for (int64_t i = 0; i < 4; ++i)
            acc[regs[i]] = LLVM::ExtractValueOp::create(b, loc(), product, i);
        }
    }
  }
  lanes(mma.getResult()) = acc;
  return success();
}

} // namespace selvedge::lanes
