// Kernels that store the init of an output or a temp.
// SPDX-License-Identifier: MIT
#include "compiler/Safety/InitKernel.h"
#include "compiler/Safety/Identities.h"
#include "dialect/Tile/Limits.h"
#include "dialect/Tile/Provenance.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::safety {
namespace {

using namespace mlir;
using namespace selvedge::tile;
using arith::CmpIPredicate;

/// The longest rows that are a tile's as a whole.
constexpr int64_t mostWholeRow = 1024;

/// Emits one init kernel.
class InitKernel {
public:
  InitKernel(ProgramOp program, unsigned tensor, std::optional<RowSet> rows)
      : program(program), tensor(tensor), arg(program.getTensorArg(tensor)),
        shape(arg.getShape()), rows(std::move(rows)), loc(program.getLoc()),
        b(OpBuilder::atBlockBegin(&program.getBody().front())) {
    chooseRanges();
  }

  void emit(const std::string &reason) {
    createKernel();
    Value isBroken = areOfSegments() ? emitIsBroken() : Value();
    emitIndices();
    if (rows)
      addRowBounds(isBroken);
    enterLoops();
    emitStore(reason);
    b.setInsertionPointToEnd(&kernel.getBody().front());
    ReturnOp::create(b, loc);
  }

private:
  /// How the indices of a dimension are made.
  enum class Runs {
    Range,  ///< a range of the kernel, one index per tile
    Blocks, ///< a range of the kernel, several indices per tile
    Loop,   ///< a loop in the kernel
    Whole   ///< all of the dimension in each tile
  };

  bool areOfSegments() const {
    return rows && rows->kind != RowSet::Kind::BehindParts;
  }
  StringAttr nameOf(unsigned dim) { return b.getStringAttr("x" + Twine(dim)); }
  bool isTiled(unsigned dim) const {
    return runs[dim] == Runs::Blocks || runs[dim] == Runs::Whole;
  }

  /// Tiles are parts of rows, or several rows where these have a constant
  /// length: a head is too little for a thread block.
  void chooseRanges() {
    unsigned rank = shape.getNumResults();
    bool areOfSegment = rows && rows->kind == RowSet::Kind::BehindSegment;
    auto length = dyn_cast<AffineConstantExpr>(shape.getResult(rank - 1));
    bool hasWholeRows = !areOfSegment && rank > 1 && length &&
                        length.getValue() > 0 &&
                        length.getValue() <= mostWholeRow;
    unsigned numOthers = hasWholeRows ? rank - 1 : rank;
    // A block of rows that others store, as most are, costs one look at what
    // says so.
    runs.assign(numOthers, areOfSegments() ? Runs::Loop : Runs::Range);
    runs.resize(rank, Runs::Whole);
    if (areOfSegment)
      runs[rows->segment] = Runs::Range;
    runs[rows && rows->dim < numOthers ? rows->dim : numOthers - 1] =
        Runs::Blocks;
  }

  void createKernel() {
    MLIRContext *ctx = program.getContext();
    StringAttr block = b.getStringAttr("BI");
    SmallVector<Attribute> ranges, axes;
    for (auto [dim, how] : llvm::enumerate(runs)) {
      bool isBlocks = how == Runs::Blocks;
      AffineMap extent = shape.getSubMap({static_cast<unsigned>(dim)});
      if (isBlocks || how == Runs::Range)
        ranges.push_back(IterAttr::get(ctx, nameOf(dim), extent,
                                       isBlocks ? block : StringAttr()));
      if (isBlocks)
        axes.push_back(AxisAttr::get(ctx, nameOf(dim), block, 0));
      else if (how == Runs::Whole)
        axes.push_back(AxisAttr::get(ctx, nameOf(dim), StringAttr(),
                                     extent.getSingleConstantResult()));
    }
    if (areOfSegments())
      axes.push_back(AxisAttr::get(ctx, endsAxis(), endsBlock(), 0));
    kernel =
        KernelOp::create(b, loc, ("init_" + arg.getName().getValue()).str(),
                         b.getArrayAttr(ranges), b.getArrayAttr(axes),
                         DictionaryAttr(), IntegerAttr());
    Block &body = kernel.getBody().emplaceBlock();
    auto first = *std::next(program.getBody().getOps<KernelOp>().begin());
    for (unsigned i = 0; i < program.getNumSharedArgs(); ++i)
      body.addArgument(first.getBody().getArgument(i).getType(), loc);
    for (unsigned i = 0; i < ranges.size(); ++i)
      body.addArgument(b.getI32Type(), loc);
    b.setInsertionPointToStart(&body);
  }

  StringAttr endsAxis() { return b.getStringAttr("b"); }
  StringAttr endsBlock() { return b.getStringAttr("BB"); }

  Value constant(int64_t number) {
    return arith::ConstantIntOp::create(b, loc, number, 32);
  }

  /// Computes an expression of dims.
  Value emit(AffineExpr expr) {
    if (auto c = dyn_cast<AffineConstantExpr>(expr))
      return constant(c.getValue());
    if (auto s = dyn_cast<AffineSymbolExpr>(expr))
      return kernel.getBody().getArgument(s.getPosition());
    auto binary = cast<AffineBinaryOpExpr>(expr);
    Value x = emit(binary.getLHS()), y = emit(binary.getRHS());
    if (binary.getKind() == AffineExprKind::Add)
      return arith::AddIOp::create(b, loc, x, y);
    if (binary.getKind() == AffineExprKind::Mul)
      return arith::MulIOp::create(b, loc, x, y);
    if (binary.getKind() == AffineExprKind::FloorDiv)
      return arith::FloorDivSIOp::create(b, loc, x, y);
    if (binary.getKind() == AffineExprKind::CeilDiv)
      return arith::CeilDivSIOp::create(b, loc, x, y);
    return arith::RemSIOp::create(b, loc, x, y);
  }

  /// Compares with a scalar.
  Value compare(CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(b, loc, predicate, lhs,
                                 broadcastTo(b, loc, rhs, lhs.getType()));
  }
  Value either(Value x, Value y) {
    return arith::OrIOp::create(b, loc, x, broadcastTo(b, loc, y, x.getType()));
  }

  Value loadEnds(Type type, Value number, ValueRange presence = {}) {
    unsigned dims = program.getDims().size();
    return LoadOp::create(b, loc, type,
                          kernel.getBody().getArgument(dims + rows->ends),
                          ValueRange(number), presence);
  }
  Value loadEnd(Value number) { return loadEnds(b.getI32Type(), number); }

  /// How many segments there are.
  AffineExpr count() {
    return program.getTensorArg(rows->ends).getShape().getResult(0) - 1;
  }

  /// Whether segments begin before the first row, end behind the last one, or
  /// go back.
  Value emitIsBroken() {
    auto promises = program.getPromises().getAsRange<RequireAttr>();
    RequireAttr promise = *llvm::find_if(promises, [&](RequireAttr promise) {
      return promise.getOrdered() &&
             promise.getTensor() == program.getTensorArg(rows->ends).getName();
    });
    Value zero = constant(0), one = constant(1), number = emit(count());
    Value before = compare(CmpIPredicate::slt, loadEnd(zero),
                           emit(promise.getLo().getResult(0))),
          behind = compare(CmpIPredicate::sgt, loadEnd(number),
                           emit(promise.getHi().getResult(0)));
    Value init =
        arith::SelectOp::create(b, loc, either(before, behind), one, zero);
    Value last = arith::MinSIOp::create(b, loc, number, constant(maxExtent));
    Value step = BlockSizeOp::create(b, loc, b.getI32Type(), endsBlock());
    auto loop = scf::ForOp::create(b, loc, zero, last, step, ValueRange(init));
    emitGoBack(loop, number);
    return compare(CmpIPredicate::sgt, loop.getResult(0), zero);
  }

  /// The body of a loop over segments: 1 where one ends before it begins.
  void emitGoBack(scf::ForOp loop, Value count) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Type lanes = tileType(b.getI32Type(), {endsAxis()}, {ShapedType::kDynamic});
    auto splat = [&](int64_t number) -> Value {
      return SplatOp::create(b, loc, lanes, constant(number));
    };
    Value at = RangeOp::create(b, loc, lanes, loop.getInductionVar());
    Value isThere = compare(CmpIPredicate::slt, at, count);
    Value next = arith::AddIOp::create(b, loc, at, splat(1));
    Value goesBack = arith::CmpIOp::create(b, loc, CmpIPredicate::sgt,
                                           loadEnds(lanes, at, isThere),
                                           loadEnds(lanes, next, isThere));
    Value marks = arith::SelectOp::create(b, loc, goesBack, splat(1), splat(0));
    Value least = arith::ConstantOp::create(
        b, loc, identityOf(Combine::Max, b.getI32Type()));
    marks = arith::SelectOp::create(b, loc, isThere, marks,
                                    SplatOp::create(b, loc, lanes, least));
    Value most =
        ReduceOp::create(b, loc, b.getI32Type(), Combine::Max, marks,
                         b.getArrayAttr(endsAxis()), ValueRange(isThere));
    Value carried =
        arith::MaxSIOp::create(b, loc, loop.getRegionIterArg(0), most);
    scf::YieldOp::create(b, loc, carried);
  }

  /// Makes the indices that are no loop's, and the bounds of lanes.
  void emitIndices() {
    unsigned coord = program.getNumSharedArgs();
    indices.resize(runs.size());
    for (auto [dim, how] : llvm::enumerate(runs)) {
      if (how == Runs::Loop)
        continue;
      Value start = how == Runs::Whole
                        ? constant(0)
                        : Value(kernel.getBody().getArgument(coord++));
      indices[dim] = start;
      if (how == Runs::Range)
        continue;
      Type lanes =
          tileType(b.getI32Type(), {nameOf(dim)}, {ShapedType::kDynamic});
      indices[dim] = RangeOp::create(b, loc, lanes, start);
      inside.push_back(compare(CmpIPredicate::slt, indices[dim],
                               emit(shape.getResult(dim))));
    }
  }

  /// Adds the condition that a row is one of `rows`, or all are.
  void addRowBounds(Value isBroken) {
    Value row = indices[rows->dim];
    auto add = [&](Value isOne) { inside.push_back(either(isOne, isBroken)); };
    AffineExpr zero = getAffineConstantExpr(0, program.getContext());
    switch (rows->kind) {
    case RowSet::Kind::BehindParts: {
      Value length = constant(rows->length);
      Value part = arith::DivUIOp::create(
          b, loc, row, broadcastTo(b, loc, length, row.getType()));
      inside.push_back(compare(CmpIPredicate::sge, part, emit(rows->parts)));
      return;
    }
    case RowSet::Kind::BehindSegment: {
      Value number = indices[rows->segment], first = loadEnd(number),
            next = arith::AddIOp::create(b, loc, number, constant(1));
      Value length = arith::SubIOp::create(b, loc, loadEnd(next), first);
      add(compare(CmpIPredicate::sge, row, length));
      return;
    }
    case RowSet::Kind::Segments:
      add(compare(CmpIPredicate::sge, row, loadEnd(emit(zero))));
      add(compare(CmpIPredicate::slt, row, loadEnd(emit(count()))));
      return;
    case RowSet::Kind::NoSegment:
      add(either(compare(CmpIPredicate::slt, row, loadEnd(emit(zero))),
                 compare(CmpIPredicate::sge, row, loadEnd(emit(count())))));
      return;
    }
  }

  void enterLoops() {
    for (auto [dim, how] : llvm::enumerate(runs)) {
      if (how != Runs::Loop)
        continue;
      auto loop = scf::ForOp::create(b, loc, constant(0),
                                     emit(shape.getResult(dim)), constant(1));
      indices[dim] = loop.getInductionVar();
      b.setInsertionPointToStart(loop.getBody());
    }
  }

  /// The init as an element of the tensor.
  TypedAttr initValue(Type element) {
    auto floating = dyn_cast<FloatType>(element);
    if (!floating)
      return b.getIntegerAttr(
          element,
          isa<IntegerAttr>(arg.getInit())
              ? cast<IntegerAttr>(arg.getInit()).getInt()
              : static_cast<int64_t>(
                    cast<FloatAttr>(arg.getInit()).getValueAsDouble()));
    APFloat init = cast<FloatAttr>(arg.getInit()).getValue();
    bool losesInfo = false;
    init.convert(floating.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
    return FloatAttr::get(floating, init);
  }

  void emitStore(const std::string &reason) {
    SmallVector<StringAttr> axes;
    for (unsigned dim = 0; dim < runs.size(); ++dim)
      if (isTiled(dim))
        axes.push_back(nameOf(dim));
    Type element = signlessOf(arg.getElementType());
    Type tile = tileType(
        element, axes, SmallVector<int64_t>(axes.size(), ShapedType::kDynamic));
    Value value = arith::ConstantOp::create(b, loc, initValue(element));
    SafetyNote note{NoteIds().next(kernel, "init"),
                    "init",
                    arg.getName().str(),
                    reason,
                    {}};
    StoreOp::create(
        b, withNote(loc, note), SplatOp::create(b, loc, tile, value),
        kernel.getBody().getArgument(program.getDims().size() + tensor),
        indices, inside);
  }

  ProgramOp program;
  unsigned tensor;
  TensorArgAttr arg;
  AffineMap shape;
  std::optional<RowSet> rows;
  Location loc;
  OpBuilder b;
  SmallVector<Runs> runs;
  KernelOp kernel;
  SmallVector<Value> indices, inside;
};

} // namespace

void addInitKernel(ProgramOp program, unsigned tensor,
                   const std::string &reason, std::optional<RowSet> rows) {
  InitKernel(program, tensor, std::move(rows)).emit(reason);
}

} // namespace selvedge::safety
