// Emits the code of one thread of a kernel: tiles that change their layout.
// SPDX-License-Identifier: MIT
#include "compiler/Target/Lanes/LaneEmitter.h"

namespace selvedge::lanes {

using namespace mlir;
using namespace selvedge::sm;

/// Of a tile's register: what registers contribute to each index.
static SmallVector<int64_t> offsetsOf(DistAttr dist, int64_t reg) {
  SmallVector<int64_t> offsets;
  for (auto [axis, r] : llvm::zip_equal(dist.getAxes(), dist.unflatten(reg)))
    offsets.push_back(axis.regOffset(r));
  return offsets;
}

/// Threads find all that they need in their own registers, so each register of
/// the result is one of the source, whichever thread it is.
void LaneEmitter::renameRegisters(RelayoutOp relayout) {
  DistAttr from = distOf(relayout.getSource().getType()),
           to = distOf(relayout.getType());
  DenseMap<ArrayAttr, int64_t> regOf;
  auto placeOf = [&](DistAttr dist, int64_t reg) {
    return b.getI64ArrayAttr(offsetsOf(dist, reg));
  };
  for (int64_t reg = 0; reg < from.getNumRegs(); ++reg)
    regOf[placeOf(from, reg)] = reg;
  Registers source = lanes(relayout.getSource()), result;
  for (int64_t reg = 0; reg < to.getNumRegs(); ++reg)
    result.push_back(source[regOf.at(placeOf(to, reg))]);
  lanes(relayout) = result;
}

SmallVector<Value> LaneEmitter::flatAddresses(Type tile, Value scratch) {
  DistAttr dist = distOf(tile);
  auto shape = cast<RankedTensorType>(tile).getShape();
  int64_t bytes = bytesOf(cast<BufferType>(scratch.getType()).getElementType());
  SmallVector<int64_t> strides(shape.size(), bytes);
  for (size_t d = shape.size() - 1; d-- > 0;)
    strides[d] = strides[d + 1] * shape[d + 1];
  Value base = bufferBases[scratch];
  for (auto [axis, stride] : llvm::zip_equal(dist.getAxes(), strides))
    base = add(base, mul(threadPart(axis), i32(stride)));
  Value pointer = sharedPointer(base);
  SmallVector<Value> addresses;
  for (int64_t reg = 0; reg < dist.getNumRegs(); ++reg) {
    int64_t ahead = 0;
    for (auto [offset, stride] : llvm::zip_equal(offsetsOf(dist, reg), strides))
      ahead += offset * stride;
    addresses.push_back(bytesAhead(pointer, static_cast<int32_t>(ahead)));
  }
  return addresses;
}

LogicalResult LaneEmitter::emitRelayout(RelayoutOp relayout) {
  if (!relayout.exchanges()) {
    renameRegisters(relayout);
    return success();
  }
  Value scratch = relayout.getScratch();
  if (!scratch)
    return relayout.emitOpError("expects a buffer for the tile");
  Type element = getElementTypeOrSelf(relayout.getType()),
       stored = relayout.getScratch().getType().getElementType();
  Registers source = lanes(relayout.getSource());
  for (auto [v, address] : llvm::zip_equal(
           source, flatAddresses(relayout.getSource().getType(), scratch))) {
    Value word = element == stored
                     ? v
                     : arith::ExtUIOp::create(b, loc(), stored, v).getResult();
    LLVM::StoreOp::create(b, loc(), word, address, bytesOf(stored));
  }
  intrinsic("llvm.nvvm.barrier.cta.sync.aligned.all", {}, {i32(0)});
  Registers result;
  for (Value address : flatAddresses(relayout.getType(), scratch)) {
    Value word =
        LLVM::LoadOp::create(b, loc(), stored, address, bytesOf(stored));
    result.push_back(
        element == stored
            ? word
            : arith::TruncIOp::create(b, loc(), element, word).getResult());
  }
  lanes(relayout) = result;
  return success();
}

} // namespace selvedge::lanes
