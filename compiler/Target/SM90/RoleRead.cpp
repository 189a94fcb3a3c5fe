// Emits the code of one thread of a kernel with roles: shared memory to
// registers.
// SPDX-License-Identifier: MIT
#include "compiler/Target/SM90/RoleEmitter.h"

namespace selvedge::sm90 {

using namespace mlir;
using namespace selvedge::sm;

/// Accumulator-shaped tiles of 64 rows, and vectors.
LogicalResult RoleEmitter::emitRead(ReadOp read) {
  BufferType type = read.getBuffer().getType();
  if (type.isVector()) {
    readVector(read);
    return success();
  }
  FailureOr<SmallVector<int64_t>> order =
      orderOfRows(read, read.getType(), type);
  if (failed(order))
    return failure();
  bool hasMatrices = type.getElementType().getIntOrFloatBitWidth() == 16 &&
                     order->size() % 8 == 0;
  hasMatrices ? readMatrices(read, *order) : readWords(read, *order);
  return success();
}

/// Four 8x8 matrices at a time: two of eight rows each, and beside them two
/// more (PTX ISA, "ldmatrix"). Each lane gives the address of one row.
void RoleEmitter::readMatrices(ReadOp read, ArrayRef<int64_t> order) {
  BufferType type = read.getBuffer().getType();
  Value &kept = readOffsets[type];
  if (!kept)
    kept = keptFromStart([&] {
      Value row = add(mul(warpId, i32(16)),
                      arith::AndIOp::create(b, loc(), laneId, i32(15)));
      Value col = mul(arith::ShRUIOp::create(b, loc(), laneId, i32(4)), i32(8));
      return sharedOffset(type, row, col);
    });
  Type words = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(4, b.getI32Type()));
  Type pair = VectorType::get(2, type.getElementType());
  Registers registers(order.size());
  for (int64_t col = 0; col < type.getCols(); col += 16) {
    Value address = addressFrom(type, bufferBases[read.getBuffer()], kept,
                                /*rows=*/0, col);
    Value loaded = intrinsic("llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3",
                             words, {address});
    // Two 8-column tiles have eight elements per thread, four pairs.
    for (int64_t i = 0; i < 8; ++i) {
      Value word = LLVM::ExtractValueOp::create(b, loc(), loaded, i / 2);
      registers[order[col / 2 + i]] = LLVM::ExtractElementOp::create(
          b, loc(), LLVM::BitcastOp::create(b, loc(), pair, word), i32(i % 2));
    }
  }
  lanes(read) = registers;
}

/// Pairs of adjacent columns: neighbouring lanes have neighbouring ones.
void RoleEmitter::readWords(ReadOp read, ArrayRef<int64_t> order) {
  BufferType type = read.getBuffer().getType();
  Type pair = VectorType::get(2, type.getElementType());
  Registers registers(order.size());
  for (int64_t i = 0; i < static_cast<int64_t>(order.size()); i += 2) {
    Value address = pairAddress(read.getBuffer(), layoutOf(read.getType()), i,
                                readOffsets[type]);
    Value loaded = LLVM::LoadOp::create(
        b, loc(), pair, address, 2 * lanes::bytesOf(type.getElementType()));
    for (int64_t n : {0, 1})
      registers[order[i + n]] =
          LLVM::ExtractElementOp::create(b, loc(), loaded, i32(n));
  }
  lanes(read) = registers;
}

/// Whether every thread holds elements by twos, side by side.
static bool isOfPairs(AxisLayoutAttr axis) {
  auto isEven = [](int64_t stride) { return stride % 2 == 0; };
  return axis.getRegSizes().take_front() == ArrayRef<int64_t>{2} &&
         axis.getRegStrides().front() == 1 &&
         llvm::all_of(axis.getRegStrides().drop_front(), isEven) &&
         llvm::all_of(axis.getLanes(), isEven) &&
         llvm::all_of(axis.getWarps(), isEven);
}

/// Elements of a vector that find registers beside the sums of two products: of
/// 32, eight are faster than sixteen (gradients of heads of 64, causal by 1 %).
static constexpr int64_t mostReadAhead = 8;

/// The last wait for a product before the branch that is emitted, behind which
/// `base` is known; null for none.
Operation *RoleEmitter::waitBefore(Value base) {
  Operation *branch = b.getInsertionBlock()->getParentOp(),
            *def = base.getDefiningOp();
  bool isKnown =
      def && lastWait && isa<scf::IfOp>(branch) &&
      lastWait->getBlock() == branch->getBlock() &&
      (def->getBlock() != branch->getBlock() || def->isBeforeInBlock(lastWait));
  return isKnown ? lastWait : nullptr;
}

/// By twos where threads have such, unless the vector begins anywhere. Behind
/// products in flight they take long to come: of a vector that is read in a
/// branch as many as find registers are asked for while the product before it
/// is awaited.
void RoleEmitter::readVector(ReadOp read) {
  BufferType type = read.getBuffer().getType();
  AxisLayoutAttr axis = layoutOf(read.getType()).getAxes()[0];
  Value &first = readOffsets[read.getType()];
  if (!first)
    first = keptFromStart([&] {
      Value col = i32(0);
      for (auto [id, strides] : {std::pair(laneId, axis.getLanes()),
                                 std::pair(warpId, axis.getWarps())})
        if (Value part = lanes::bitSum(b, loc(), id, strides))
          col = add(col, part);
      return sharedOffset(type, i32(0), col);
    });
  Value base = bufferBases[read.getBuffer()];
  OpBuilder::InsertPoint here = b.saveInsertionPoint();
  if (Operation *wait = waitBefore(base);
      wait && axis.getNumRegs() > mostReadAhead)
    b.setInsertionPoint(wait);
  base = bytesAhead(sharedPointer(base), first);
  int64_t bytes = lanes::bytesOf(type.getElementType()),
          count = isOfPairs(axis) && type.getLead() == 0 ? 2 : 1;
  Registers registers;
  while (static_cast<int64_t>(registers.size()) < axis.getNumRegs()) {
    auto reg = static_cast<int64_t>(registers.size());
    if (reg == mostReadAhead)
      b.restoreInsertionPoint(here);
    Value address =
        bytesAhead(base, static_cast<int32_t>(axis.regOffset(reg) * bytes));
    Value loaded = LLVM::LoadOp::create(
        b, loc(), VectorType::get(count, type.getElementType()), address,
        count * bytes);
    for (int64_t n = 0; n < count; ++n)
      registers.push_back(
          LLVM::ExtractElementOp::create(b, loc(), loaded, i32(n)));
  }
  lanes(read) = registers;
}

} // namespace selvedge::sm90
