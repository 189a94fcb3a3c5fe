// Emits the code of one thread of a kernel with roles: TMA and `stmatrix`.
// SPDX-License-Identifier: MIT
#include "compiler/Target/SM90/RoleEmitter.h"
#include "dialect/Tile/Accumulate.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace selvedge::sm90 {

using namespace mlir;
using namespace selvedge::sm;

Value RoleEmitter::bufferAddress(Value buffer) {
  return add(sharedBase(), bufferBases[buffer]);
}

/// "{$first, $first+1, ...}" for `count` operands.
static std::string operandList(int64_t first, int64_t count) {
  std::string text = "{";
  for (int64_t i = 0; i < count; ++i)
    text += llvm::formatv("{0}${1}", i ? ", " : "", first + i);
  return text + "}";
}

static std::string repeated(llvm::StringRef text, int64_t count) {
  std::string result;
  for (int64_t i = 0; i < count; ++i)
    result += text;
  return result;
}

void RoleEmitter::forEachPiece(Value map, ValueRange indices, int64_t rows,
                               PieceEmitter emit) {
  SmallVector<Value> start =
      llvm::map_to_vector(indices, [&](Value index) { return lane1(index); });
  ArrayAttr args = kernel.getArgs();
  Block &body = kernel.getBody().front();
  auto valueOf = [&](Attribute arg) {
    return lane1(body.getArgument(llvm::find(args, arg) - args.begin()));
  };
  auto whole =
      cast<TensorMapArgAttr>(args[cast<BlockArgument>(map).getArgNumber()]);
  PairsAttr pairs = whole.getPairs();
  if (!pairs)
    return emit(lane1(map), start, i32(0));
  Value by = valueOf(DimArgAttr::get(kernel.getContext(), pairs.getBy()));
  Value first = start[pairs.getInner()], pair = start[pairs.getOuter()];
  auto piece = [&](Piece size, Value outer, Value inner, Value row) {
    start[pairs.getOuter()] = outer;
    start[pairs.getInner()] = add(first, inner);
    emit(valueOf(whole.in(size)), start, row);
  };
  auto sub = [&](Value from, Value less) -> Value {
    return arith::SubIOp::create(b, loc(), from, less);
  };
  auto forEach = [&](Value from, Value to, Value step,
                     llvm::function_ref<void(Value)> one) {
    auto loop = scf::ForOp::create(b, loc(), from, to, step);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    one(loop.getInductionVar());
  };
  // What a number has in common with a power of two is its lowest bit.
  assert(llvm::isPowerOf2_64(rows));
  Value all = i32(rows);
  Value part = arith::MinUIOp::create(
      b, loc(), arith::AndIOp::create(b, loc(), by, sub(i32(0), by)), all);
  Value group = arith::DivUIOp::create(b, loc(), pair, by);
  Value inner = sub(pair, mul(group, by));
  Value isFirst =
      arith::CmpIOp::create(b, loc(), arith::CmpIPredicate::eq, inner, i32(0));
  // Up to the next group.
  Value ahead = arith::SelectOp::create(
      b, loc(), isFirst, i32(0),
      arith::MinUIOp::create(b, loc(), sub(by, inner), all));
  forEach(i32(0), ahead, part,
          [&](Value row) { piece(Piece::Part, group, add(inner, row), row); });
  group = arith::SelectOp::create(b, loc(), isFirst, group, add(group, i32(1)));
  // All groups that there is room for at once, or one after the other.
  Value most = arith::DivUIOp::create(b, loc(), all, by);
  Value together = arith::SelectOp::create(
      b, loc(), isFirst, arith::MinUIOp::create(b, loc(), most, i32(1)),
      i32(0));
  forEach(i32(0), together, i32(1),
          [&](Value) { piece(Piece::Groups, group, i32(0), i32(0)); });
  Value done = mul(together, mul(most, by));
  Value row = add(ahead, done);
  group = add(group, mul(together, most));
  Value groups = arith::DivUIOp::create(b, loc(), sub(all, row), by);
  forEach(i32(0), groups, i32(1), [&](Value number) {
    piece(Piece::Group, add(group, number), i32(0), add(row, mul(number, by)));
  });
  // Behind the last one.
  row = add(row, mul(groups, by));
  group = add(group, groups);
  forEach(row, all, part,
          [&](Value at) { piece(Piece::Part, group, sub(at, row), at); });
}

/// Where the panel that begins with a column lies in a slot, in bytes.
static int64_t panelBytesBefore(BufferType type, int64_t col) {
  return col * type.getRows() * type.getPanelRowBytes() / type.getPanelCols();
}

void RoleEmitter::emitTmaLoad(TmaLoadOp load) {
  BufferType type = load.getBuffer().getType();
  int64_t rank = load.getMap().getType().getRank();
  Value to = bufferAddress(load.getBuffer());
  Value barrier =
      wordAddress(load.getBarrier(), lane1(load.getStage()), /*bytes=*/8);
  std::string text =
      llvm::formatv("cp.async.bulk.tensor.{0}d.shared::cluster.global.tile."
                    "mbarrier::complete_tx::bytes [$0], [$1, {1}], [${2}];",
                    rank, operandList(2, rank), rank + 2);
  std::string constraints = "r,l," + repeated("r,", rank) + "r,~{memory}";
  auto emit = [&](Value map, ArrayRef<Value> start, Value row) {
    Value first = add(to, mul(row, i32(type.getPanelRowBytes())));
    for (int64_t col = 0; col < type.getCols(); col += type.getPanelCols()) {
      SmallVector<Value> args{add(first, i32(panelBytesBefore(type, col))),
                              map};
      // A descriptor counts dimensions from the contiguous one.
      llvm::append_range(args, llvm::reverse(start));
      args[2] = add(args[2], i32(col));
      if (type.getLead())
        args[2] = arith::AndIOp::create(
            b, loc(), args[2], i32(-static_cast<int32_t>(type.getLead())));
      args.push_back(barrier);
      inlineAsm({}, args, text, constraints);
    }
  };
  forEachPiece(load.getMap(), load.getIndices(), type.getRows(), emit);
}

void RoleEmitter::emitTmaStore(TmaStoreOp store) {
  BufferType type = store.getBuffer().getType();
  int64_t rank = store.getMap().getType().getRank();
  Value from = bufferAddress(store.getBuffer());
  StringRef opcode = tile::addsToMemory(store)
                         ? "cp.reduce.async.bulk.tensor.{0}d.global."
                           "shared::cta.add.tile.bulk_group [$0, {1}], [${2}];"
                         : "cp.async.bulk.tensor.{0}d.global.shared::cta."
                           "bulk_group [$0, {1}], [${2}];";
  std::string text =
      llvm::formatv(opcode.data(), rank, operandList(1, rank), rank + 1);
  std::string constraints = "l," + repeated("r,", rank) + "r,~{memory}";
  auto emit = [&](Value map, ArrayRef<Value> start, Value row) {
    Value first = add(from, mul(row, i32(type.getPanelRowBytes())));
    for (int64_t col = 0; col < type.getCols(); col += type.getPanelCols()) {
      SmallVector<Value> args{map};
      llvm::append_range(args, llvm::reverse(start));
      args[1] = add(args[1], i32(col));
      args.push_back(add(first, i32(panelBytesBefore(type, col))));
      inlineAsm({}, args, text, constraints);
    }
  };
  forEachPiece(store.getMap(), store.getIndices(), type.getRows(), emit);
  inlineAsm({}, {}, "cp.async.bulk.commit_group;", "~{memory}");
}

void RoleEmitter::emitClear(ClearOp clear) {
  BufferType type = clear.getBuffer().getType();
  AxisLayoutAttr axis =
      layoutOf(clear.getPresence().front().getType()).getAxes()[0];
  Value zero =
      LLVM::ZeroOp::create(b, loc(), VectorType::get(4, b.getI32Type()));
  for (int64_t reg = 0; reg < axis.getNumRegs(); ++reg) {
    SmallVector<Value> conditions;
    for (Value p : clear.getPresence())
      conditions.push_back(lanes(p)[reg]);
    Value absent =
        arith::XOrIOp::create(b, loc(), conjunction(conditions),
                              arith::ConstantIntOp::create(b, loc(), 1, 1));
    auto branch = scf::IfOp::create(b, loc(), TypeRange(), absent, false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value row = add(threadPart(axis), i32(axis.regOffset(reg)));
    if (type.isVector()) {
      Type element = type.getElementType();
      LLVM::StoreOp::create(b, loc(), LLVM::ZeroOp::create(b, loc(), element),
                            sharedAddress(type, bufferBases[clear.getBuffer()],
                                          /*row=*/i32(0), /*col=*/row),
                            lanes::bytesOf(element));
      continue;
    }
    static constexpr int64_t chunk = 8;
    for (int64_t col = 0; col < type.getCols(); col += chunk)
      LLVM::StoreOp::create(
          b, loc(), zero,
          sharedAddress(type, bufferBases[clear.getBuffer()], row, i32(col)),
          /*alignment=*/16);
  }
}

void RoleEmitter::emitBulkLoad(BulkLoadOp load) {
  SmallVector<Value> indices;
  for (Value index : load.getIndices())
    indices.push_back(lane1(index));
  inlineAsm({},
            {bufferAddress(load.getBuffer()),
             elementPointer(load.getTensor(), indices),
             i32(load.getBuffer().getType().getBytes()),
             wordAddress(load.getBarrier(), lane1(load.getStage()),
                         /*bytes=*/8)},
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
            "[$0], [$1], $2, [$3];",
            "r,l,r,r,~{memory}");
}

void RoleEmitter::emitBulkReduce(BulkReduceOp reduce) {
  SmallVector<Value> indices;
  for (Value index : reduce.getIndices())
    indices.push_back(lane1(index));
  inlineAsm({},
            {elementPointer(reduce.getTensor(), indices),
             bufferAddress(reduce.getBuffer()),
             i32(reduce.getBuffer().getType().getBytes())},
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [$0], "
            "[$1], $2;\ncp.async.bulk.commit_group;",
            "l,r,r,~{memory}");
}

} // namespace selvedge::sm90
