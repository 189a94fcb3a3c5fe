// tile-output-init: outputs are total.
// SPDX-License-Identifier: MIT
#include "compiler/Safety/Passes.h"
#include "compiler/Safety/Predicates.h"
#include "dialect/Tile/Accumulate.h"
#include "dialect/Tile/Provenance.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"

namespace selvedge::safety {

#define GEN_PASS_DEF_TILEOUTPUTINIT
#include "compiler/Safety/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// Decides whether one store writes every element of its tensor.
class Coverage {
public:
  explicit Coverage(StoreOp store)
      : store(store), kernel(store->getParentOfType<KernelOp>()) {}

  /// Why it does not, or nothing if it does.
  std::optional<std::string> gap() {
    SmallVector<Value> iterations;
    for (unsigned i = 0; i < kernel.getRanges().size(); ++i)
      iterations.push_back(kernel.getCoord(i));
    for (Operation *op = store->getParentOp(); op != kernel;
         op = op->getParentOp()) {
      auto loop = dyn_cast<scf::ForOp>(op);
      if (!loop)
        return "its store stands in a branch";
      iterations.push_back(loop.getInductionVar());
    }
    AffineMap shape = kernel.getTensorArgOf(store.getTensor()).getShape();
    for (auto [dim, index, extent] :
         llvm::enumerate(store.getIndices(), shape.getResults()))
      if (!spans(index, extent))
        return "its store does not run over all of dimension " +
               std::to_string(dim);
    for (auto [axis, parts] : halves)
      if (parts != 3)
        return "its store uses half of the indices of a range";
    if (!llvm::all_of(iterations,
                      [&](Value v) { return used.contains(v) || runsOnce(v); }))
      return "its store stands in a loop that may be empty";
    if (!llvm::all_of(store.getPresence(), [&](Value p) {
          return isShapeBound(p, shape) || isOfFirst(p);
        }))
      return "its store leaves out lanes inside the shape";
    return std::nullopt;
  }

private:
  /// The kernel range of a coordinate; null for other values.
  IterAttr rangeOf(Value v) {
    auto argument = dyn_cast<BlockArgument>(v);
    unsigned shared = kernel.getProgram().getNumSharedArgs();
    if (!argument || argument.getOwner() != &kernel.getBody().front() ||
        argument.getArgNumber() < shared)
      return {};
    return cast<IterAttr>(kernel.getRanges()[argument.getArgNumber() - shared]);
  }

  /// Whether `v` is the coordinate of a range that is never empty.
  bool runsOnce(Value v) {
    IterAttr range = rangeOf(v);
    auto extent =
        range ? dyn_cast<AffineConstantExpr>(range.getExtent().getResult(0))
              : AffineConstantExpr();
    return extent && extent.getValue() > 0;
  }

  /// Whether `p` only leaves out iterations of a range that no index uses, but
  /// not the first one.
  bool isOfFirst(Value p) {
    auto compare = p.getDefiningOp<arith::CmpIOp>();
    return compare && compare.getPredicate() == arith::CmpIPredicate::slt &&
           matchPattern(compare.getRhs(), m_One()) &&
           runsOnce(compare.getLhs()) && !used.contains(compare.getLhs());
  }

  /// Whether the scalar `v` is the extent `expr`.
  bool isExtent(Value v, AffineExpr expr) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return v == kernel.getDimArg(symbol.getPosition());
    if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
      auto c = v.getDefiningOp<arith::ConstantIntOp>();
      return c && c.value() == constant.getValue();
    }
    auto product = dyn_cast<AffineBinaryOpExpr>(expr);
    auto mul = v.getDefiningOp<arith::MulIOp>();
    return product && product.getKind() == AffineExprKind::Mul && mul &&
           ((isExtent(mul.getLhs(), product.getLHS()) &&
             isExtent(mul.getRhs(), product.getRHS())) ||
            (isExtent(mul.getLhs(), product.getRHS()) &&
             isExtent(mul.getRhs(), product.getLHS())));
  }

  /// Whether no index so far was made of `part`, a scalar or the name of an
  /// axis: two that run together cover a diagonal.
  bool isFirstUse(Value part) { return used.insert(part).second; }
  bool isFirstUse(StringAttr axis) { return usedAxes.insert(axis).second; }

  /// Whether `start` takes the first index of every block of 0..extent.
  bool startsBlocks(Value start, AxisAttr axis, AffineExpr extent) {
    if (IterAttr iter = rangeOf(start))
      return iter.getBlock() && iter.getBlock() == axis.getBlock() &&
             iter.getExtent().getResult(0) == extent && isFirstUse(start);
    auto loop = scf::getForInductionVarOwner(start);
    if (!loop || !loop->isProperAncestor(store))
      return false;
    auto step = loop.getStep().getDefiningOp<BlockSizeOp>();
    return step && step.getBlockAttr() == axis.getBlock() &&
           matchPattern(loop.getLowerBound(), m_Zero()) &&
           isExtent(loop.getUpperBound(), extent) && isFirstUse(start);
  }

  /// Whether `index` takes every value of 0..extent over the iterations and the
  /// tile's lanes, whatever the indices before it are.
  bool spans(Value index, AffineExpr extent) {
    if (IterAttr iter = rangeOf(index))
      return !iter.getBlock() && iter.getExtent().getResult(0) == extent &&
             isFirstUse(index);
    if (auto range = index.getDefiningOp<RangeOp>()) {
      StringAttr name = axesOf(range.getType())[0];
      auto axes = kernel.getAxes().getAsRange<AxisAttr>();
      AxisAttr axis =
          *llvm::find_if(axes, [&](AxisAttr a) { return a.getName() == name; });
      if (!isFirstUse(name))
        return false;
      if (axis.getBlock())
        return startsBlocks(range.getStart(), axis, extent);
      auto constant = dyn_cast<AffineConstantExpr>(extent);
      return constant && axis.getExtent() == constant.getValue() &&
             matchPattern(range.getStart(), m_Zero());
    }
    if (isa_and_nonnull<arith::DivUIOp, arith::RemUIOp>(
            index.getDefiningOp())) {
      std::optional<Digit> digit = digitOf(index);
      return digit && digit->extent == extent && take(*digit);
    }
    // A pair (g, u) on a dimension G*R: g * R + u.
    auto sum = index.getDefiningOp<arith::AddIOp>();
    auto product =
        sum ? withoutSplat(sum.getLhs()).getDefiningOp<arith::MulIOp>()
            : arith::MulIOp();
    if (!product)
      return false;
    IterAttr outer = rangeOf(product.getLhs());
    std::optional<Digit> inner = digitOf(sum.getRhs());
    if (!outer || !inner || outer.getBlock())
      return false;
    AffineExpr outerExtent = outer.getExtent().getResult(0);
    return isExtent(product.getRhs(), inner->extent) &&
           (outerExtent * inner->extent == extent ||
            inner->extent * outerExtent == extent) &&
           isFirstUse(product.getLhs()) && take(*inner);
  }

  /// A number that takes every value of 0..extent: a coordinate, the lanes of a
  /// range by blocks, or the quotient or remainder of such a range over a
  /// product by one of its factors.
  struct Digit {
    Value start;
    AffineExpr extent;
    /// Of lanes: the axis, and what of its number.
    StringAttr axis = {};
    bool isQuotient = false, isWhole = false;
  };

  std::optional<Digit> digitOf(Value v) {
    if (IterAttr iter = rangeOf(v)) {
      if (iter.getBlock())
        return std::nullopt;
      return Digit{v, iter.getExtent().getResult(0)};
    }
    Operation *def = v.getDefiningOp();
    if (auto lanes = dyn_cast_if_present<RangeOp>(def)) {
      IterAttr iter = rangeOf(lanes.getStart());
      if (!iter || !iter.getBlock())
        return std::nullopt;
      return Digit{lanes.getStart(), iter.getExtent().getResult(0),
                   axesOf(lanes.getType())[0], /*isQuotient=*/false,
                   /*isWhole=*/true};
    }
    if (!isa_and_nonnull<arith::DivUIOp, arith::RemUIOp>(def))
      return std::nullopt;
    auto range = def->getOperand(0).getDefiningOp<RangeOp>();
    IterAttr iter = range ? rangeOf(range.getStart()) : IterAttr();
    auto product = dyn_cast_or_null<AffineBinaryOpExpr>(
        iter ? iter.getExtent().getResult(0) : AffineExpr());
    if (!product || !iter.getBlock() ||
        product.getKind() != AffineExprKind::Mul)
      return std::nullopt;
    bool isQuotient = isa<arith::DivUIOp>(def);
    for (auto [count, other] : {std::pair(product.getRHS(), product.getLHS()),
                                std::pair(product.getLHS(), product.getRHS())})
      if (isExtent(withoutSplat(def->getOperand(1)), count))
        return Digit{range.getStart(), isQuotient ? other : count,
                     axesOf(range.getType())[0], isQuotient};
    return std::nullopt;
  }

  /// Whether it is the first use of the digit. A range has two.
  bool take(const Digit &digit) {
    if (digit.isWhole)
      wholeDigits[digit.axis] = digit.extent;
    if (!digit.axis || digit.isWhole)
      return isFirstUse(digit.start) && (!digit.axis || isFirstUse(digit.axis));
    auto [parts, isNew] = halves.insert({digit.axis, 0});
    unsigned part = digit.isQuotient ? 1 : 2;
    if (isNew ? !isFirstUse(digit.axis) || !isFirstUse(digit.start)
              : (parts->second & part) != 0)
      return false;
    parts->second |= part;
    return true;
  }

  static Value withoutSplat(Value v) {
    auto splat = v.getDefiningOp<SplatOp>();
    return splat ? splat.getValue() : v;
  }

  /// Whether `p` only says that one of the store's indices is inside the shape.
  bool isShapeBound(Value p, AffineMap shape) {
    auto compare = p.getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt)
      return false;
    Value bound = compare.getRhs();
    if (auto splat = bound.getDefiningOp<SplatOp>())
      bound = splat.getValue();
    for (auto [index, extent] :
         llvm::zip_equal(store.getIndices(), shape.getResults()))
      if (sameExpression(compare.getLhs(), index) && isExtent(bound, extent))
        return true;
    // Of a pair's second number.
    auto lanes = compare.getLhs().getDefiningOp<RangeOp>();
    AffineExpr extent =
        lanes ? wholeDigits.lookup(axesOf(lanes.getType())[0]) : AffineExpr();
    return extent && isExtent(bound, extent);
  }

  StoreOp store;
  KernelOp kernel;
  llvm::DenseSet<Value> used;
  llvm::DenseSet<StringAttr> usedAxes;
  /// Which of quotient (1) and remainder (2) of an axis were used.
  llvm::DenseMap<StringAttr, unsigned> halves;
  /// Extents of the axes that are the second number of a pair.
  llvm::DenseMap<StringAttr, AffineExpr> wholeDigits;
};

/// The longest rows that are a tile's as a whole.
constexpr int64_t mostWholeRow = 1024;

/// Adds a kernel that stores the output's init over its whole shape, before all
/// others. Its tiles are parts of rows, or several rows where these have a
/// constant length: a head is too little for a thread block.
void addInitKernel(ProgramOp program, unsigned tensor,
                   const std::string &reason) {
  MLIRContext *ctx = program.getContext();
  TensorArgAttr arg = program.getTensorArg(tensor);
  AffineMap shape = arg.getShape();
  unsigned rank = shape.getNumResults();
  OpBuilder b = OpBuilder::atBlockBegin(&program.getBody().front());
  Location loc = program.getLoc();
  auto rowLength = dyn_cast<AffineConstantExpr>(shape.getResult(rank - 1));
  bool hasWholeRows = rank > 1 && rowLength && rowLength.getValue() > 0 &&
                      rowLength.getValue() <= mostWholeRow;
  unsigned numRanges = hasWholeRows ? rank - 1 : rank;
  StringAttr block = b.getStringAttr("BI");
  SmallVector<Attribute> ranges, axes;
  SmallVector<StringAttr> names;
  for (unsigned d = 0; d < rank; ++d) {
    names.push_back(b.getStringAttr("x" + Twine(d)));
    bool isTiled = d + 1 == numRanges;
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
  auto emit = [&](auto &self, AffineExpr expr) -> Value {
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
  unsigned coords = program.getNumSharedArgs();
  SmallVector<Value> indices, inside;
  for (unsigned d = 0; d < rank; ++d) {
    if (d + 1 < numRanges) {
      indices.push_back(body.getArgument(coords + d));
      continue;
    }
    Type lanes = tileType(b.getI32Type(), {names[d]}, {ShapedType::kDynamic});
    Value start = d < numRanges
                      ? Value(body.getArgument(coords + d))
                      : Value(arith::ConstantIntOp::create(b, loc, 0, 32));
    indices.push_back(RangeOp::create(b, loc, lanes, start));
    Value extent =
        SplatOp::create(b, loc, lanes, emit(emit, shape.getResult(d)));
    inside.push_back(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                           indices.back(), extent));
  }
  ArrayRef<StringAttr> tiled = ArrayRef(names).drop_front(numRanges - 1);
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

struct TileOutputInitPass : impl::TileOutputInitBase<TileOutputInitPass> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    llvm::SmallDenseSet<Attribute> covered;
    llvm::SmallDenseMap<Attribute, std::string> gaps;
    // What is added to holds something before.
    llvm::SmallDenseMap<Attribute, KernelOp> firstAdds;
    program.walk([&](StoreOp store) {
      auto kernel = store->getParentOfType<KernelOp>();
      StringAttr tensor = kernel.getTensorArgOf(store.getTensor()).getName();
      if (addsToMemory(store)) {
        firstAdds.try_emplace(tensor, kernel);
        return;
      }
      std::optional<std::string> gap = Coverage(store).gap();
      if (!gap && firstAdds.contains(tensor))
        gap = "kernels add to it before the one that stores it";
      if (gap)
        gaps[tensor] = *gap;
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
      if (!arg.getInit()) {
        auto gap = gaps.find(arg.getName());
        program.emitOpError("expects ")
            << (arg.getRole() == Role::Temp ? "temp " : "output ")
            << arg.getName()
            << " to have an out_init: its stores do not provably cover it ("
            << (gap == gaps.end() ? "no kernel stores it" : gap->second) << ")";
        return signalPassFailure();
      }
      auto gap = gaps.find(arg.getName());
      addInitKernel(program, i,
                    gap == gaps.end() ? "no kernel stores it" : gap->second);
    }
  }
};

} // namespace
} // namespace selvedge::safety
