// Emits the code of one thread of a kernel with roles: `wgmma`.
// SPDX-License-Identifier: MIT
#include "compiler/Target/SM90/RoleEmitter.h"

#include "llvm/Support/FormatVariadic.h"

namespace selvedge::sm90 {

using namespace mlir;
using namespace selvedge::sm;

FailureOr<SmallVector<int64_t>>
RoleEmitter::accumulatorOrder(Operation *op, LayoutAttr layout,
                              StringAttr &rowAxis, bool anyRowOrder) {
  auto isRows = [&](AxisLayoutAttr axis) {
    return isAccumulatorRows(axis, /*isInterleaved=*/false) ||
           (anyRowOrder && isAccumulatorRows(axis, /*isInterleaved=*/true));
  };
  auto isCols = [](AxisLayoutAttr axis) {
    return !axis.getRegSizes().empty() && axis.getRegSizes()[0] == 2 &&
           axis.getRegStrides()[0] == 1 &&
           axis.getLanes() == ArrayRef<int64_t>{2, 4, 0, 0, 0} &&
           (axis.getRegSizes().size() == 1 ||
            (axis.getRegSizes().size() == 2 && axis.getRegStrides()[1] == 8));
  };
  int64_t rowAt = isRows(layout.getAxes().front()) ? 0 : 1;
  if (layout.getAxes().size() != 2 || !isRows(layout.getAxes()[rowAt]) ||
      !isCols(layout.getAxes()[1 - rowAt]))
    return op->emitOpError("expects a tile laid out as a warpgroup's "
                           "accumulator, but got ")
           << layout;
  rowAxis = layout.getAxes()[rowAt].getName();
  // Register i: row 8 * (i / 2 % 2), column 8 * (i / 4) + i % 2 (PTX ISA,
  // "wgmma.mma_async", D fragment).
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < layout.getNumRegs(); ++i) {
    int64_t position[2];
    position[rowAt] = i / 2 % 2;
    position[1 - rowAt] = i / 4 * 2 + i % 2;
    order.push_back(layout.flatten(position));
  }
  return order;
}

FailureOr<SmallVector<int64_t>> RoleEmitter::orderOfRows(Operation *op,
                                                         Type tile,
                                                         BufferType buffer,
                                                         bool anyRowOrder) {
  StringAttr rowAxis;
  FailureOr<SmallVector<int64_t>> order =
      accumulatorOrder(op, layoutOf(tile), rowAxis, anyRowOrder);
  if (succeeded(order) &&
      (rowAxis != buffer.getRowAxis() || buffer.getRows() != 64))
    return op->emitOpError("expects an accumulator tile of 64 rows, which "
                           "are the buffer's, but got ")
           << tile;
  return order;
}

/// The 64-bit matrix descriptor of a buffer (PTX ISA, "Matrix Descriptor
/// Format"): address, stride between panels, stride between groups of eight
/// rows, swizzle of 128 bytes; all in units of 16 bytes. Rows of 16 bytes lie
/// as eight rows of 128 bytes do without swizzle; the stride 0 reads them
/// twice.
Value RoleEmitter::descriptor(Value buffer, bool isKMajor) {
  Slot slot = slots.lookup(buffer);
  Value ring = slot.ring ? slot.ring : buffer;
  auto type = cast<BufferType>(ring.getType());
  Value &first = descriptors[isKMajor][ring];
  if (!first) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(warpId.getDefiningOp());
    int64_t panelBytes = type.getRows() * type.getPanelRowBytes();
    uint64_t constant = uint64_t(1) << 62 | uint64_t(1024 >> 4) << 32 |
                        uint64_t(isKMajor ? 1 : panelBytes >> 4) << 16;
    if (type.getSwizzle() == 0)
      constant = uint64_t(128 >> 4) << 32;
    Value address = bufferAddress(ring);
    address = arith::ShRUIOp::create(b, loc(), address, i32(4));
    address = arith::AndIOp::create(b, loc(), address, i32(0x3FFF));
    Value wide = arith::ExtUIOp::create(b, loc(), b.getI64Type(), address);
    first =
        arith::OrIOp::create(b, loc(), wide,
                             arith::ConstantIntOp::create(
                                 b, loc(), static_cast<int64_t>(constant), 64));
  }
  auto moved = [&](Value from, Value count, int64_t bytes) {
    Value wide = arith::ExtUIOp::create(b, loc(), b.getI64Type(), count);
    return add(from, mul(wide, arith::ConstantIntOp::create(b, loc(),
                                                            bytes >> 4, 64)));
  };
  Value result = first;
  if (slot.stage)
    result = moved(result, slot.stage, type.getStageBytes());
  if (slot.panel)
    result =
        moved(result, slot.panel, type.getRows() * type.getPanelRowBytes());
  return result;
}

static bool isContractedAlongColumns(Value buffer, StringAttr over) {
  return cast<BufferType>(buffer.getType()).getColAxis() == over;
}

/// Descriptor units from the start of a buffer to element `k` of the contracted
/// axis.
static int64_t stepOffset(BufferType type, bool isKMajor, int64_t k) {
  if (!isKMajor)
    return k * type.getPanelRowBytes() >> 4;
  int64_t panel = k / type.getPanelCols(), inPanel = k % type.getPanelCols();
  return (panel * type.getRows() * type.getPanelRowBytes() + 2 * inPanel) >> 4;
}

static std::string registerList(int64_t first, int64_t count) {
  std::string text = "{";
  for (int64_t i = 0; i < count; ++i)
    text += llvm::formatv("{0}${1}", i ? "," : "", first + i);
  return text + "}";
}

int64_t RoleEmitter::Assembly::operand(Value value, char constraint) {
  args.push_back(value);
  constraints += llvm::formatv("{0},", constraint);
  return results + static_cast<int64_t>(args.size()) - 1;
}

/// The steps of one pair of operands. Only base descriptors are operands; the
/// steps' offsets are added inside, where nothing hoists them into registers.
LogicalResult RoleEmitter::addSteps(WgmmaOp product, WgmmaOp::Pair pair,
                                    StringAttr rowAxis, Assembly &assembly) {
  auto hasRows = [&](Value operand) {
    if (auto buffer = dyn_cast<BufferType>(operand.getType()))
      return buffer.getRowAxis() == rowAxis || buffer.getColAxis() == rowAxis;
    return layoutOf(operand.getType()).indexOf(rowAxis) >= 0;
  };
  Value a = pair.lhs, rhs = pair.rhs;
  if (!hasRows(a))
    std::swap(a, rhs);
  auto bType = dyn_cast<BufferType>(rhs.getType());
  auto aType = dyn_cast<BufferType>(a.getType());
  if (!bType)
    return product.emitOpError("expects the column operand in shared memory");
  bool bKMajor = isContractedAlongColumns(rhs, pair.over);
  bool aKMajor = !aType || isContractedAlongColumns(a, pair.over);
  int64_t contracted = bKMajor ? bType.getCols() : bType.getRows();
  // Steps that multiply zeros by zeros are left out.
  if (aType && aKMajor && bKMajor)
    contracted = std::max(filledColumns(a), filledColumns(rhs));

  SmallVector<int64_t> aWords;
  int64_t aDescriptor = 0;
  if (aType)
    aDescriptor = assembly.operand(descriptor(a, aKMajor), 'l');
  else
    for (int64_t k = 0; k < contracted; k += 16)
      for (Value word : registerFragment(a, pair.over, 0, k))
        aWords.push_back(assembly.operand(word, 'r'));
  int64_t bDescriptor = assembly.operand(descriptor(rhs, bKMajor), 'l');
  StringRef element = bType.getElementType().isBF16() ? "bf16" : "f16";
  for (int64_t k = 0; k < contracted; k += 16) {
    assembly.text += llvm::formatv("add.s64 db, ${0}, {1};\n", bDescriptor,
                                   stepOffset(bType, bKMajor, k));
    std::string left, flags = llvm::formatv("{0}", bKMajor ? 0 : 1);
    if (aType) {
      assembly.text += llvm::formatv("add.s64 da, ${0}, {1};\n", aDescriptor,
                                     stepOffset(aType, aKMajor, k));
      left = "da";
      flags = llvm::formatv("{0}, {1}", aKMajor ? 0 : 1, flags);
    } else {
      left = registerList(aWords[k / 4], 4);
    }
    assembly.text += llvm::formatv(
        "wgmma.mma_async.sync.aligned.m64n{0}k16.f32.{1}.{1} {2}, {3}, db, "
        "scale, 1, 1, {4};\n",
        assembly.results * 2, element, registerList(0, assembly.results), left,
        flags);
    if (std::exchange(assembly.startsAtZero, false))
      assembly.text += "setp.eq.b32 scale, 0, 0;\n";
  }
  return success();
}

/// One asm per product: fence, all steps, commit.
LogicalResult RoleEmitter::emitWgmma(WgmmaOp product) {
  StringAttr rowAxis;
  FailureOr<SmallVector<int64_t>> order =
      accumulatorOrder(product, layoutOf(product.getType()), rowAxis,
                       /*anyRowOrder=*/true);
  if (failed(order))
    return failure();
  auto count = static_cast<int64_t>(order->size());
  Assembly assembly{.results = count, .startsAtZero = !product.getInit()};
  for (int64_t i = 0; i < count; ++i)
    assembly.constraints += "=f,";
  if (product.getInit())
    for (auto [i, reg] : llvm::enumerate(*order)) {
      assembly.args.push_back(lanes(product.getInit())[reg]);
      assembly.constraints += llvm::formatv("{0},", i);
    }
  assembly.text = "{ .reg .pred scale; .reg .b64 da, db; "
                  "wgmma.fence.sync.aligned;\n";
  assembly.text += assembly.startsAtZero ? "setp.ne.b32 scale, 0, 0;\n"
                                         : "setp.eq.b32 scale, 0, 0;\n";
  for (WgmmaOp::Pair pair : product.getPairs())
    if (failed(addSteps(product, pair, rowAxis, assembly)))
      return failure();
  assembly.text += "wgmma.commit_group.sync.aligned; }";
  assembly.constraints += "~{memory}";

  Type result = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(count, b.getF32Type()));
  Value sums =
      inlineAsm(result, assembly.args, assembly.text, assembly.constraints);
  Registers registers(count);
  for (auto [i, reg] : llvm::enumerate(*order))
    registers[reg] =
        LLVM::ExtractValueOp::create(b, loc(), sums, static_cast<int64_t>(i));
  lanes(product) = registers;
  return success();
}

/// The accumulators pass through the wait, or nothing would order their uses
/// after it.
void RoleEmitter::emitWgmmaWait(WgmmaWaitOp wait) {
  Registers in = lanes(wait.getAccumulator()), out;
  std::string constraints;
  for (size_t i = 0; i < in.size(); ++i)
    constraints += "=f,";
  for (size_t i = 0; i < in.size(); ++i)
    constraints += llvm::formatv("{0},", i);
  constraints += "~{memory}";
  Type result = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(in.size(), b.getF32Type()));
  Value done = inlineAsm(
      result, in,
      llvm::formatv("wgmma.wait_group.sync.aligned {0};", wait.getPending())
          .str(),
      constraints);
  lastWait = done.getDefiningOp();
  for (size_t i = 0; i < in.size(); ++i)
    out.push_back(
        LLVM::ExtractValueOp::create(b, loc(), done, static_cast<int64_t>(i)));
  lanes(wait) = out;
}

} // namespace selvedge::sm90
