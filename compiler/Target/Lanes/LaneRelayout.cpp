// Emits the code of one thread of a kernel: tiles that change their layout.
// SPDX-License-Identifier: MIT
#include "compiler/Target/Lanes/LaneEmitter.h"

namespace selvedge::lanes {

using namespace mlir;
using namespace selvedge::sm;

/// Of a tile's register: what registers contribute to each index.
static SmallVector<int64_t> offsetsOf(LayoutAttr layout, int64_t reg) {
  SmallVector<int64_t> offsets;
  for (auto [axis, r] :
       llvm::zip_equal(layout.getAxes(), layout.unflatten(reg)))
    offsets.push_back(axis.regOffset(r));
  return offsets;
}

Value LaneEmitter::chooseByLane(ArrayRef<Value> values,
                                const WarpMove::PerLane &numbers) {
  SmallVector<int64_t> all = distinct(numbers);
  Value chosen = values[all.front()];
  for (int64_t number : ArrayRef(all).drop_front()) {
    uint32_t mask = 0;
    for (auto [lane, ofLane] : llvm::enumerate(numbers))
      mask |= static_cast<uint32_t>(ofLane == number) << lane;
    Value ofLanes =
        arith::ShRUIOp::create(b, loc(), i32(static_cast<int32_t>(mask)),
                               rareLane ? rareLane : laneId);
    Value isOne = arith::TruncIOp::create(b, loc(), b.getI1Type(), ofLanes);
    chosen = arith::SelectOp::create(b, loc(), isOne, values[number], chosen);
  }
  return chosen;
}

Value LaneEmitter::readLanes(Value v, const WarpMove::PerLane &reads) {
  Type type = v.getType(), word = b.getI32Type();
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits < 32) {
    v = castTo(b.getIntegerType(bits), v);
    v = arith::ExtUIOp::create(b, loc(), word, v);
    v = readLanes(v, reads);
    return castTo(type,
                  arith::TruncIOp::create(b, loc(), b.getIntegerType(bits), v));
  }
  WarpMove::LaneMap map = *WarpMove::mapOf(reads);
  if (map.isButterfly())
    return shuffleXor(v, map.flips);
  StringRef shuffle = type.isF32() ? "llvm.nvvm.shfl.sync.idx.f32"
                                   : "llvm.nvvm.shfl.sync.idx.i32";
  constexpr int32_t lastLane = 31;
  // Bits that the reader's own number gives are a segment (PTX ISA,
  // "shfl.sync"): the rest is the same number for all.
  if (std::optional<int32_t> kept = map.keptBits())
    return intrinsic(shuffle, type,
                     {i32(-1), v, i32(static_cast<int32_t>(map.flips)),
                      i32(*kept << 8 | lastLane)});
  Value lane = bitSum(b, loc(), rareLane ? rareLane : laneId, map.bits);
  lane = !lane       ? i32(map.flips)
         : map.flips ? arith::XOrIOp::create(b, loc(), lane, i32(map.flips))
                     : lane;
  return intrinsic(shuffle, type, {i32(-1), v, lane, i32(lastLane)});
}

LaneEmitter::Registers LaneEmitter::moveInWarps(const WarpMove &move,
                                                ArrayRef<Value> source) {
  if (move.perRegister == 2) {
    Type element = source.front().getType(),
         both = VectorType::get({2}, element);
    Registers words, halves;
    for (size_t i = 0; i < source.size(); i += 2)
      words.push_back(LLVM::BitcastOp::create(b, loc(), b.getI32Type(),
                                              pair(source[i], source[i + 1])));
    WarpMove ofWords = move;
    ofWords.perRegister = 1;
    for (Value word : moveInWarps(ofWords, words)) {
      Value moved = LLVM::BitcastOp::create(b, loc(), both, word);
      for (int32_t at : {0, 1})
        halves.push_back(
            LLVM::ExtractElementOp::create(b, loc(), moved, i32(at)));
    }
    return halves;
  }
  // What a lane holds itself needs no round.
  Registers taken(source), result;
  for (const WarpMove::Round &round : move.rounds)
    taken.push_back(
        round.isOwn()
            ? Value()
            : readLanes(chooseByLane(source, round.offers), round.reads));
  for (size_t number = 0; number < move.received.size(); ++number)
    result.push_back(chooseByLane(
        taken, move.takenFrom(static_cast<int64_t>(number),
                              static_cast<int64_t>(source.size()))));
  return result;
}

SmallVector<Value> LaneEmitter::flatAddresses(Type tile, Value scratch) {
  LayoutAttr layout = layoutOf(tile);
  auto shape = cast<RankedTensorType>(tile).getShape();
  int64_t bytes = bytesOf(cast<BufferType>(scratch.getType()).getElementType());
  SmallVector<int64_t> strides(shape.size(), bytes);
  for (size_t d = shape.size() - 1; d-- > 0;)
    strides[d] = strides[d + 1] * shape[d + 1];
  Value base = bufferBases[scratch];
  for (auto [axis, stride] : llvm::zip_equal(layout.getAxes(), strides))
    base = add(base, mul(threadPart(axis), i32(stride)));
  Value pointer = sharedPointer(base);
  SmallVector<Value> addresses;
  for (int64_t reg = 0; reg < layout.getNumRegs(); ++reg) {
    int64_t ahead = 0;
    for (auto [offset, stride] :
         llvm::zip_equal(offsetsOf(layout, reg), strides))
      ahead += offset * stride;
    addresses.push_back(bytesAhead(pointer, static_cast<int32_t>(ahead)));
  }
  return addresses;
}

LogicalResult LaneEmitter::emitRelayout(RelayoutOp relayout) {
  if (std::optional<WarpMove> move = relayout.findMove()) {
    Registers source = lanes(relayout.getSource());
    lanes(relayout) = moveInWarps(*move, source);
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
