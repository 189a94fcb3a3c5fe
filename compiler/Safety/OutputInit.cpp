// tile-output-init: outputs are total.
// SPDX-License-Identifier: MIT
#include "compiler/Safety/Passes.h"
#include "compiler/Safety/Segments.h"
#include "compiler/Safety/StoreCoverage.h"
#include "dialect/Tile/Accumulate.h"
#include "dialect/Tile/Provenance.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace selvedge::safety {

#define GEN_PASS_DEF_TILEOUTPUTINIT
#include "compiler/Safety/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// The longest rows that are a tile's as a whole.
constexpr int64_t mostWholeRow = 1024;

/// Computes expressions of dims.
using EmitExpr = llvm::function_ref<Value(AffineExpr)>;

/// Adds what says that a row is one of `rows`.
void addRowBounds(OpBuilder &b, Location loc, ProgramOp program, Block &body,
                  EmitExpr emit, const RowSet &rows, ArrayRef<Value> indices,
                  SmallVectorImpl<Value> &inside) {
  using arith::CmpIPredicate;
  Value row = indices[rows.dim];
  auto splat = [&](Value v) { return broadcastTo(b, loc, v, row.getType()); };
  auto compare = [&](CmpIPredicate predicate, Value lhs, Value rhs) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, lhs, splat(rhs));
  };
  if (rows.kind == RowSet::Kind::BehindParts) {
    Value length = arith::ConstantIntOp::create(b, loc, rows.length, 32);
    Value part = arith::DivUIOp::create(b, loc, row, splat(length));
    inside.push_back(compare(CmpIPredicate::sge, part, emit(rows.parts)));
    return;
  }
  auto end = [&](Value number) -> Value {
    unsigned dims = program.getDims().size();
    return LoadOp::create(b, loc, b.getI32Type(),
                          body.getArgument(dims + rows.ends),
                          ValueRange(number), ValueRange());
  };
  if (rows.kind == RowSet::Kind::BehindSegment) {
    Value number = indices[rows.segment],
          one = arith::ConstantIntOp::create(b, loc, 1, 32),
          first = end(number),
          last = end(arith::AddIOp::create(b, loc, number, one));
    Value length = arith::SubIOp::create(b, loc, last, first);
    inside.push_back(compare(CmpIPredicate::sge, row, length));
    return;
  }
  AffineExpr count =
      program.getTensorArg(rows.ends).getShape().getResult(0) - 1;
  auto compareWithEnd = [&](CmpIPredicate predicate, AffineExpr number) {
    return compare(predicate, row, end(emit(number)));
  };
  AffineExpr zero = getAffineConstantExpr(0, program.getContext());
  if (rows.kind == RowSet::Kind::Segments) {
    inside.push_back(compareWithEnd(CmpIPredicate::sge, zero));
    inside.push_back(compareWithEnd(CmpIPredicate::slt, count));
    return;
  }
  Value before = compareWithEnd(CmpIPredicate::slt, zero),
        behind = compareWithEnd(CmpIPredicate::sge, count);
  inside.push_back(arith::OrIOp::create(b, loc, before, behind));
}

/// Adds a kernel that stores the output's init over its whole shape, before all
/// others; or over some rows. Its tiles are parts of rows, or several rows
/// where these have a constant length: a head is too little for a thread block.
void addInitKernel(ProgramOp program, unsigned tensor,
                   const std::string &reason, std::optional<RowSet> rows) {
  MLIRContext *ctx = program.getContext();
  TensorArgAttr arg = program.getTensorArg(tensor);
  AffineMap shape = arg.getShape();
  unsigned rank = shape.getNumResults();
  OpBuilder b = OpBuilder::atBlockBegin(&program.getBody().front());
  Location loc = program.getLoc();
  auto rowLength = dyn_cast<AffineConstantExpr>(shape.getResult(rank - 1));
  // The number of a segment is that of its tile.
  bool areOfSegment = rows && rows->kind == RowSet::Kind::BehindSegment;
  bool hasWholeRows = !areOfSegment && rank > 1 && rowLength &&
                      rowLength.getValue() > 0 &&
                      rowLength.getValue() <= mostWholeRow;
  unsigned numRanges = hasWholeRows ? rank - 1 : rank;
  // A tile is many rows that others may store.
  unsigned tiledDim = rows && rows->dim < numRanges ? rows->dim : numRanges - 1;
  StringAttr block = b.getStringAttr("BI");
  SmallVector<Attribute> ranges, axes;
  SmallVector<StringAttr> names;
  for (unsigned d = 0; d < rank; ++d) {
    names.push_back(b.getStringAttr("x" + Twine(d)));
    bool isTiled = d == tiledDim;
    if (d < numRanges)
      ranges.push_back(IterAttr::get(ctx, names[d], shape.getSubMap({d}),
                                     isTiled ? block : StringAttr()));
    if (isTiled)
      axes.push_back(AxisAttr::get(ctx, names[d], block, 0));
    else if (d >= numRanges)
      axes.push_back(
          AxisAttr::get(ctx, names[d], StringAttr(), rowLength.getValue()));
  }
  auto kernel =
      KernelOp::create(b, loc, ("init_" + arg.getName().getValue()).str(),
                       b.getArrayAttr(ranges), b.getArrayAttr(axes),
                       DictionaryAttr(), IntegerAttr());
  Block &body = kernel.getBody().emplaceBlock();
  auto first = *std::next(program.getBody().getOps<KernelOp>().begin());
  for (unsigned i = 0; i < program.getNumSharedArgs(); ++i)
    body.addArgument(first.getBody().getArgument(i).getType(), loc);
  for (unsigned d = 0; d < numRanges; ++d)
    body.addArgument(b.getI32Type(), loc);
  b.setInsertionPointToStart(&body);
  auto emitted = [&](auto &self, AffineExpr expr) -> Value {
    if (auto c = dyn_cast<AffineConstantExpr>(expr))
      return arith::ConstantIntOp::create(b, loc, c.getValue(), 32);
    if (auto s = dyn_cast<AffineSymbolExpr>(expr))
      return body.getArgument(s.getPosition());
    auto binary = cast<AffineBinaryOpExpr>(expr);
    Value x = self(self, binary.getLHS()), y = self(self, binary.getRHS());
    if (binary.getKind() == AffineExprKind::Add)
      return arith::AddIOp::create(b, loc, x, y);
    if (binary.getKind() == AffineExprKind::Mul)
      return arith::MulIOp::create(b, loc, x, y);
    if (binary.getKind() == AffineExprKind::FloorDiv)
      return arith::FloorDivSIOp::create(b, loc, x, y);
    if (binary.getKind() == AffineExprKind::CeilDiv)
      return arith::CeilDivSIOp::create(b, loc, x, y);
    return arith::RemSIOp::create(b, loc, x, y);
  };
  auto emit = [&](AffineExpr expr) { return emitted(emitted, expr); };
  unsigned coords = program.getNumSharedArgs();
  SmallVector<Value> indices, inside;
  for (unsigned d = 0; d < rank; ++d) {
    if (d < numRanges && d != tiledDim) {
      indices.push_back(body.getArgument(coords + d));
      continue;
    }
    Type lanes = tileType(b.getI32Type(), {names[d]}, {ShapedType::kDynamic});
    Value start = d < numRanges
                      ? Value(body.getArgument(coords + d))
                      : Value(arith::ConstantIntOp::create(b, loc, 0, 32));
    indices.push_back(RangeOp::create(b, loc, lanes, start));
    Value extent = SplatOp::create(b, loc, lanes, emit(shape.getResult(d)));
    inside.push_back(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                           indices.back(), extent));
  }
  if (rows)
    addRowBounds(b, loc, program, body, emit, *rows, indices, inside);
  SmallVector<StringAttr> tiled{names[tiledDim]};
  llvm::append_range(tiled, ArrayRef(names).drop_front(numRanges));
  Type element = signlessOf(arg.getElementType());
  Type tile = tileType(
      element, tiled, SmallVector<int64_t>(tiled.size(), ShapedType::kDynamic));
  TypedAttr value;
  if (auto floating = dyn_cast<FloatType>(element)) {
    APFloat init = cast<FloatAttr>(arg.getInit()).getValue();
    bool losesInfo = false;
    init.convert(floating.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
    value = FloatAttr::get(floating, init);
  } else {
    value = b.getIntegerAttr(
        element, isa<IntegerAttr>(arg.getInit())
                     ? cast<IntegerAttr>(arg.getInit()).getInt()
                     : static_cast<int64_t>(
                           cast<FloatAttr>(arg.getInit()).getValueAsDouble()));
  }
  Value stored =
      SplatOp::create(b, loc, tile, arith::ConstantOp::create(b, loc, value));
  SafetyNote note{
      NoteIds().next(kernel, "init"), "init", arg.getName().str(), reason, {}};
  StoreOp::create(b, withNote(loc, note), stored,
                  body.getArgument(program.getDims().size() + tensor), indices,
                  inside);
  ReturnOp::create(b, loc);
}

/// Why an init kernel stores these rows.
std::string wordsOf(RowSet::Kind kind) {
  switch (kind) {
  case RowSet::Kind::NoSegment:
    return "rows of no segment";
  case RowSet::Kind::BehindSegment:
    return "rows behind a segment";
  case RowSet::Kind::Segments:
    return "rows from the first segment to the last one";
  case RowSet::Kind::BehindParts:
    return "rows behind the last part";
  }
}

/// Why a tensor is not covered, and the store that might have.
struct Gap {
  std::string reason;
  Location loc;
  /// Of the only store the rows that it leaves out, if it does no others.
  std::optional<RowSet> left = {};
};

struct TileOutputInitPass : impl::TileOutputInitBase<TileOutputInitPass> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    llvm::SmallDenseSet<Attribute> covered;
    llvm::SmallDenseMap<Attribute, Gap> gaps;
    llvm::SmallDenseMap<Attribute, unsigned> numStores;
    // What is added to holds something before.
    llvm::SmallDenseMap<Attribute, KernelOp> firstAdds;
    program.walk([&](StoreOp store) {
      auto kernel = store->getParentOfType<KernelOp>();
      StringAttr tensor = kernel.getTensorArgOf(store.getTensor()).getName();
      if (addsToMemory(store)) {
        firstAdds.try_emplace(tensor, kernel);
        return;
      }
      std::optional<std::string> gap = coverageGap(store);
      if (!gap && firstAdds.contains(tensor))
        gap = "kernels add to it before the one that stores it";
      if (gap)
        gaps.insert_or_assign(
            tensor,
            Gap{*gap, store.getLoc(),
                ++numStores[tensor] == 1 ? leftRowsOf(store) : std::nullopt});
      else
        covered.insert(tensor);
      if (std::optional<SafetyNote> note = noteOf(store.getLoc())) {
        note->reason = gap ? "" : "covers";
        store->setLoc(withNote(store.getLoc(), *note));
      }
    });
    for (unsigned i = 0; i < program.getTensors().size(); ++i) {
      TensorArgAttr arg = program.getTensorArg(i);
      bool isStored = arg.getRole() == Role::Out || arg.getRole() == Role::Temp;
      if (!isStored || covered.contains(arg.getName()) ||
          isa_and_nonnull<StringAttr>(arg.getInit()))
        continue;
      auto gap = gaps.find(arg.getName());
      std::string reason =
          gap == gaps.end() ? "no kernel stores it" : gap->second.reason;
      if (!arg.getInit()) {
        emitError(gap == gaps.end() ? program.getLoc() : gap->second.loc)
            << "expects "
            << (arg.getRole() == Role::Temp ? "temp '" : "output '")
            << arg.getName().getValue()
            << "' to have an out_init: its stores do not provably cover it ("
            << reason << ")";
        return signalPassFailure();
      }
      std::optional<RowSet> rows;
      // Of a temp all is defined that kernels use, and so is what they add to.
      if (arg.getRole() == Role::Temp)
        if (std::optional<SegmentRows> used = segmentRowsUsed(program, arg))
          rows = RowSet{RowSet::Kind::Segments, used->dim, used->ends};
      if (gap != gaps.end() && arg.getRole() == Role::Out &&
          !firstAdds.contains(arg.getName()))
        rows = gap->second.left;
      if (rows)
        reason = wordsOf(rows->kind);
      addInitKernel(program, i, reason, rows);
    }
  }
};

} // namespace
} // namespace selvedge::safety
