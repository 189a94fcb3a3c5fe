// Emits the code of one thread of a kernel with roles: TMA and `stmatrix`.
// SPDX-License-Identifier: MIT
#include "compiler/Target/SM90/RoleEmitter.h"
#include "dialect/Tile/Accumulate.h"

#include "llvm/Support/FormatVariadic.h"

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

SmallVector<Value> RoleEmitter::boxStart(Value map, ValueRange indices) {
  SmallVector<Value> start =
      llvm::map_to_vector(indices, [&](Value index) { return lane1(index); });
  ArrayAttr args = kernel.getArgs();
  PairsAttr pairs =
      cast<TensorMapArgAttr>(args[cast<BlockArgument>(map).getArgNumber()])
          .getPairs();
  if (!pairs)
    return start;
  const auto *by =
      llvm::find(args, DimArgAttr::get(kernel.getContext(), pairs.getBy()));
  Value &outer = start[pairs.getOuter()];
  outer = arith::DivUIOp::create(
      b, loc(), outer, lane1(kernel.getBody().getArgument(by - args.begin())));
  return start;
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
  SmallVector<Value> start = boxStart(load.getMap(), load.getIndices());
  for (int64_t col = 0; col < type.getCols(); col += type.getPanelCols()) {
    SmallVector<Value> args{
        add(to, i32(col * type.getRows() * type.getPanelRowBytes() /
                    type.getPanelCols())),
        lane1(load.getMap())};
    // A descriptor counts dimensions from the contiguous one.
    llvm::append_range(args, llvm::reverse(start));
    args[2] = add(args[2], i32(col));
    args.push_back(barrier);
    inlineAsm({}, args, text, constraints);
  }
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
  SmallVector<Value> start = boxStart(store.getMap(), store.getIndices());
  for (int64_t col = 0; col < type.getCols(); col += type.getPanelCols()) {
    SmallVector<Value> args{lane1(store.getMap())};
    llvm::append_range(args, llvm::reverse(start));
    args[1] = add(args[1], i32(col));
    args.push_back(
        add(from, i32(col * type.getRows() * type.getPanelRowBytes() /
                      type.getPanelCols())));
    inlineAsm({}, args, text, constraints);
  }
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
