// Whether a store writes every element of its tensor.
// SPDX-License-Identifier: MIT
#include "compiler/Safety/StoreCoverage.h"
#include "compiler/Safety/Predicates.h"
#include "compiler/Safety/Segments.h"
#include "dialect/Tile/Limits.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"

namespace selvedge::safety {
namespace {

using namespace mlir;
using namespace selvedge::tile;

/// Decides whether one store writes every element of its tensor.
class Coverage {
public:
  /// With `takesSome` rows of one dimension may be left out.
  explicit Coverage(StoreOp store, bool takesSome = false)
      : store(store), kernel(store->getParentOfType<KernelOp>()),
        takesSome(takesSome) {}

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
    if (takesSome)
      findRowsOfEach(shape);
    for (auto [dim, index, extent] :
         llvm::enumerate(store.getIndices(), shape.getResults()))
      if (!isOfEachSegment(dim) && !spansSegments(dim, index, extent) &&
          !spansParts(dim, index, extent) && !spans(index, extent))
        return "its store does not run over all of dimension " +
               std::to_string(dim);
    for (auto [axis, parts] : halves)
      if (parts != 3)
        return "its store uses half of the indices of a range";
    if (!llvm::all_of(iterations,
                      [&](Value v) { return used.contains(v) || runsOnce(v); }))
      return "its store stands in a loop that may be empty";
    if (!llvm::all_of(store.getPresence(), [&](Value p) {
          return isShapeBound(p, shape) || isPairBound(p) || isOfFirst(p) ||
                 isSegmentBound(p) || isPartBound(p);
        }))
      return "its store leaves out lanes inside the shape";
    return std::nullopt;
  }

  std::optional<RowSet> getLeft() const { return left; }

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

  /// Whether `index` takes the rows of all segments of 0..extent: the kernel's
  /// range over their tiles.
  bool spansSegments(unsigned dim, Value index, AffineExpr extent) {
    auto rows = index.getDefiningOp<RangeOp>();
    std::optional<unsigned> ends;
    if (takesSome && !left && rows)
      ends = useTiles(rows, extent);
    if (!ends)
      return false;
    segmentRow = index;
    left = RowSet{RowSet::Kind::NoSegment, dim, *ends};
    return true;
  }

  /// Notes where the store takes, of each segment, all rows counted from its
  /// first one, and another dimension has the segments' numbers.
  ///
  ///     tile.store %v, %o[%b, ..., %i - %first] where(%i < %end, %b < B, ...)
  void findRowsOfEach(AffineMap shape) {
    for (auto [dim, index] : llvm::enumerate(store.getIndices())) {
      auto row = index.getDefiningOp<arith::SubIOp>();
      auto lanes = row ? row.getLhs().getDefiningOp<RangeOp>() : RangeOp();
      for (Value p : lanes ? store.getPresence() : ValueRange()) {
        std::optional<SegmentBound> bound = segmentBoundOf(kernel, p);
        auto number = bound ? llvm::find(store.getIndices(), bound->number)
                            : store.getIndices().end();
        if (number == store.getIndices().end() ||
            bound->row != lanes.getResult() ||
            !isFirstRow(kernel, row.getRhs(), *bound) ||
            !useTilesOf(lanes, bound->ends))
          continue;
        unsigned segment = number - store.getIndices().begin();
        AffineMap numEnds =
            kernel.getProgram().getTensorArg(bound->ends).getShape();
        if (shape.getResult(segment) + 1 != numEnds.getResult(0))
          continue;
        segmentRow = lanes;
        left = RowSet{RowSet::Kind::BehindSegment, static_cast<unsigned>(dim),
                      bound->ends, segment};
        return;
      }
    }
  }

  /// Whether the indices in a dimension are rows counted from the first one of
  /// their segment, or the segments' numbers.
  bool isOfEachSegment(unsigned dim) {
    return left && left->kind == RowSet::Kind::BehindSegment &&
           (dim == left->dim || dim == left->segment);
  }

  /// Whether lanes run over the tiles of all segments that `ends` cuts, which
  /// nothing else uses. If so, notes how many rows there are.
  bool useTilesOf(RangeOp lanes, unsigned ends) {
    ProgramOp program = kernel.getProgram();
    StringAttr name = program.getTensorArg(ends).getName();
    for (auto promise : program.getPromises().getAsRange<RequireAttr>()) {
      AffineExpr rows = promise.getHi().getResult(0);
      if (promise.getTensor() != name || !promise.getOrdered() ||
          useTiles(lanes, rows) != ends)
        continue;
      segmentRows = rows;
      return true;
    }
    return false;
  }

  /// Where lanes run over the tiles of all segments of 0..extent, which nothing
  /// else uses: the input of their ends.
  std::optional<unsigned> useTiles(RangeOp lanes, AffineExpr extent) {
    StringAttr axis = axesOf(lanes.getType())[0];
    std::optional<SegmentTiles> tiles = segmentTilesOf(kernel, axis, extent);
    if (!tiles || !isFirstUse(axis) || !isFirstUse(tiles->coord))
      return std::nullopt;
    return tiles->ends;
  }

  /// Whether `p` only says that a row lies before the end of its segment, or
  /// that this is one of them. Of rows that are counted from the first one it
  /// may also say that they are not negative, inside of the shape, or in what
  /// is cut into segments.
  bool isSegmentBound(Value p) {
    if (!segmentRow)
      return false;
    auto compare = p.getDefiningOp<arith::CmpIOp>();
    if (segmentRows && compare && compare.getLhs() == segmentRow) {
      Value bound = withoutSplat(compare.getRhs()), first = firstOfSegment();
      AffineExpr rows = kernel.getTensorArgOf(store.getTensor())
                            .getShape()
                            .getResult(left->dim);
      if (compare.getPredicate() == arith::CmpIPredicate::sge
              ? bound == first
              : compare.getPredicate() == arith::CmpIPredicate::slt &&
                    (isExtent(bound, segmentRows) || isSum(bound, first, rows)))
        return true;
    }
    return llvm::any_of(store.getPresence(), [&](Value bound) {
      std::optional<SegmentBound> segment = segmentBoundOf(kernel, bound);
      return segment && segment->row == segmentRow &&
             segment->ends == left->ends &&
             (p == bound || sameExpression(p, segment->exists));
    });
  }

  /// What rows are counted from.
  Value firstOfSegment() {
    Value row = store.getIndices()[left->dim];
    return withoutSplat(row.getDefiningOp<arith::SubIOp>().getRhs());
  }

  /// Whether `sum` is `first` and an extent, or the nearest i32.
  bool isSum(Value sum, Value first, AffineExpr extent) {
    unsigned firsts = 0, extents = 0;
    auto collect = [&](auto &self, Value v) -> bool {
      Operation *op = v.getDefiningOp();
      if (isa_and_nonnull<arith::AddIOp>(op))
        return self(self, op->getOperand(0)) && self(self, op->getOperand(1));
      if (auto extended = dyn_cast_if_present<arith::ExtSIOp>(op))
        v = extended.getIn();
      firsts += v == first;
      extents += isExtent(v, extent);
      return v == first || isExtent(v, extent) || matchPattern(v, m_Zero());
    };
    auto isLimit = [](Value v, int64_t limit) {
      APInt number;
      return matchPattern(v, m_ConstantInt(&number)) &&
             number.getSExtValue() == limit;
    };
    auto narrowed = sum.getDefiningOp<arith::TruncIOp>();
    auto least = narrowed ? narrowed.getIn().getDefiningOp<arith::MinSIOp>()
                          : arith::MinSIOp();
    auto most = least ? least.getLhs().getDefiningOp<arith::MaxSIOp>()
                      : arith::MaxSIOp();
    return most &&
           isLimit(least.getRhs(), std::numeric_limits<int32_t>::max()) &&
           isLimit(most.getRhs(), std::numeric_limits<int32_t>::min()) &&
           collect(collect, most.getLhs()) && firsts == 1 && extents == 1;
  }

  /// Lanes of part `number` of `count` parts of `length` indices, one behind
  /// the other.
  struct Parts {
    RangeOp lanes;
    Value number, within;
    AffineExpr count;
    int64_t length;
  };

  /// `within + max(number * length, 0)`, both ranges of the kernel.
  std::optional<Parts> partsOf(RangeOp lanes) {
    auto start = lanes.getStart().getDefiningOp<arith::AddIOp>();
    auto first = start ? start.getRhs().getDefiningOp<arith::MaxSIOp>()
                       : arith::MaxSIOp();
    auto product =
        first ? first.getLhs().getDefiningOp<arith::MulIOp>() : arith::MulIOp();
    APInt length;
    if (!product || !matchPattern(first.getRhs(), m_Zero()) ||
        !matchPattern(product.getRhs(), m_ConstantInt(&length)) ||
        !length.isStrictlyPositive())
      return std::nullopt;
    IterAttr numbers = rangeOf(product.getLhs()),
             within = rangeOf(start.getLhs());
    if (!numbers || numbers.getBlock() || !within || !within.getBlock() ||
        within.getExtent().getResult(0) !=
            getAffineConstantExpr(length.getSExtValue(), kernel.getContext()))
      return std::nullopt;
    return Parts{lanes, product.getLhs(), start.getLhs(),
                 numbers.getExtent().getResult(0), length.getSExtValue()};
  }

  /// Whether `index` takes all rows of parts, which end at the extent or behind
  /// it; or before it, where rows may be left out.
  bool spansParts(unsigned dim, Value index, AffineExpr extent) {
    auto lanes = index.getDefiningOp<RangeOp>();
    std::optional<Parts> found = lanes ? partsOf(lanes) : std::nullopt;
    if (!found || parts)
      return false;
    bool coversAll =
        found->count == (extent + found->length - 1).floorDiv(found->length) ||
        found->count == extent.ceilDiv(found->length);
    bool isNumber = isa<AffineSymbolExpr, AffineConstantExpr>(found->count);
    if ((!coversAll && (!takesSome || left || !isNumber)) ||
        !isFirstUse(axesOf(lanes.getType())[0]) || !isFirstUse(found->number) ||
        !isFirstUse(found->within))
      return false;
    parts = found;
    if (!coversAll)
      left = RowSet{.kind = RowSet::Kind::BehindParts,
                    .dim = dim,
                    .parts = found->count,
                    .length = found->length};
    return true;
  }

  /// Whether `p` only says that an index lies in its part, is not negative, or
  /// that the part begins below `maxExtent`.
  bool isPartBound(Value p) {
    auto compare = p.getDefiningOp<arith::CmpIOp>();
    if (!compare || !parts)
      return false;
    Value bound = withoutSplat(compare.getRhs());
    APInt most;
    if (compare.getLhs() == parts->number)
      return compare.getPredicate() == arith::CmpIPredicate::sle &&
             matchPattern(bound, m_ConstantInt(&most)) &&
             most.getSExtValue() >= (maxExtent - 1) / parts->length;
    if (compare.getLhs() != parts->lanes.getResult())
      return false;
    if (compare.getPredicate() == arith::CmpIPredicate::sge)
      return matchPattern(bound, m_Zero());
    auto end = bound.getDefiningOp<arith::AddIOp>();
    auto first =
        end ? end.getLhs().getDefiningOp<arith::MulIOp>() : arith::MulIOp();
    auto isLength = [&](Value v) {
      APInt length;
      return matchPattern(v, m_ConstantInt(&length)) &&
             length.getSExtValue() == parts->length;
    };
    return compare.getPredicate() == arith::CmpIPredicate::slt && first &&
           first.getLhs() == parts->number && isLength(first.getRhs()) &&
           isLength(end.getRhs());
  }

  /// Whether the scalar `v` is the extent `expr`, which is `maxExtent` at most.
  bool isExtent(Value v, AffineExpr expr) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return v == kernel.getDimArg(symbol.getPosition());
    if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
      auto c = v.getDefiningOp<arith::ConstantIntOp>();
      return c && c.value() == constant.getValue();
    }
    Operation *def = v.getDefiningOp();
    APInt limit;
    if (auto least = dyn_cast_if_present<arith::MinSIOp>(def))
      return matchPattern(least.getRhs(), m_ConstantInt(&limit)) &&
             limit.getSExtValue() == maxExtent &&
             isExtent(least.getLhs(), expr);
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary || !def || !isOperation(def, binary.getKind()))
      return false;
    Value lhs = def->getOperand(0), rhs = def->getOperand(1);
    return (isExtent(lhs, binary.getLHS()) && isExtent(rhs, binary.getRHS())) ||
           (def->hasTrait<OpTrait::IsCommutative>() &&
            isExtent(lhs, binary.getRHS()) && isExtent(rhs, binary.getLHS()));
  }

  /// Whether `op` computes an affine expression of this kind.
  static bool isOperation(Operation *op, AffineExprKind kind) {
    switch (kind) {
    case AffineExprKind::Add:
      return isa<arith::AddIOp>(op);
    case AffineExprKind::Mul:
      return isa<arith::MulIOp>(op);
    case AffineExprKind::FloorDiv:
      return isa<arith::FloorDivSIOp>(op);
    case AffineExprKind::CeilDiv:
      return isa<arith::CeilDivSIOp>(op);
    default:
      return false;
    }
  }

  /// Whether no index so far was made of `part`, a scalar or the name of an
  /// axis: two that run together cover a diagonal.
  bool isFirstUse(Value part) { return used.insert(part).second; }
  bool isFirstUse(StringAttr axis) { return usedAxes.insert(axis).second; }

  /// The loop around the store whose index `v` is, if it starts at 0.
  scf::ForOp loopFromZero(Value v) {
    auto loop = scf::getForInductionVarOwner(v);
    return loop && loop->isProperAncestor(store) &&
                   matchPattern(loop.getLowerBound(), m_Zero())
               ? loop
               : scf::ForOp();
  }

  /// Whether the scalar `v` takes every number of 0..extent.
  bool counts(Value v, AffineExpr extent) {
    if (IterAttr iter = rangeOf(v))
      return !iter.getBlock() && iter.getExtent().getResult(0) == extent;
    scf::ForOp loop = loopFromZero(v);
    return loop && matchPattern(loop.getStep(), m_One()) &&
           isExtent(loop.getUpperBound(), extent);
  }

  /// Whether `start` takes the first index of every block of 0..extent.
  bool startsBlocks(Value start, AxisAttr axis, AffineExpr extent) {
    if (IterAttr iter = rangeOf(start))
      return iter.getBlock() && iter.getBlock() == axis.getBlock() &&
             iter.getExtent().getResult(0) == extent && isFirstUse(start);
    scf::ForOp loop = loopFromZero(start);
    auto step = loop ? loop.getStep().getDefiningOp<BlockSizeOp>() : nullptr;
    return step && step.getBlockAttr() == axis.getBlock() &&
           isExtent(loop.getUpperBound(), extent) && isFirstUse(start);
  }

  /// Whether slices of `length` lanes, one behind the other, are all of
  /// 0..extent: `x * C +: C` where x takes every value of 0..extent / C.
  bool spansSlices(RangeOp slice, int64_t length, AffineExpr extent) {
    auto first = slice.getStart().getDefiningOp<arith::MulIOp>();
    if (!first || !extent.isMultipleOf(length))
      return false;
    for (auto [number, by] : {std::pair(first.getLhs(), first.getRhs()),
                              std::pair(first.getRhs(), first.getLhs())}) {
      APInt times;
      if (matchPattern(by, m_ConstantInt(&times)) &&
          times.getSExtValue() == length &&
          counts(number, extent.floorDiv(length)))
        return isFirstUse(number);
    }
    return false;
  }

  /// Whether `v` is the last of 0..extent.
  bool isLast(Value v, AffineExpr extent) {
    APInt number;
    if (auto constant = dyn_cast<AffineConstantExpr>(extent))
      return matchPattern(v, m_ConstantInt(&number)) &&
             number.getSExtValue() == constant.getValue() - 1;
    Operation *def = v.getDefiningOp();
    if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(def) ||
        !matchPattern(def->getOperand(1), m_ConstantInt(&number)))
      return false;
    return isExtent(def->getOperand(0), extent) &&
           number.getSExtValue() == (isa<arith::AddIOp>(def) ? -1 : 1);
  }

  /// Whether `index` takes every value of 0..extent over the iterations and the
  /// tile's lanes, whatever the indices before it are.
  bool spans(Value index, AffineExpr extent) {
    if (counts(index, extent))
      return isFirstUse(index);
    // The only element.
    if (extent == 1 && matchPattern(index, m_Zero()))
      return true;
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
      if (constant && axis.getExtent() == constant.getValue() &&
          matchPattern(range.getStart(), m_Zero()))
        return true;
      return spansSlices(range, axis.getExtent(), extent);
    }
    // From the last one to the first.
    if (auto rest = index.getDefiningOp<arith::SubIOp>())
      return isLast(rest.getLhs(), extent) && counts(rest.getRhs(), extent) &&
             isFirstUse(rest.getRhs());
    if (isa_and_nonnull<arith::DivUIOp, arith::RemUIOp>(
            index.getDefiningOp())) {
      std::optional<Digit> digit = digitOf(index, extent);
      return digit && take(*digit);
    }
    // A pair (g, u) on a dimension G*R: g * R + u.
    auto sum = index.getDefiningOp<arith::AddIOp>();
    auto product =
        sum ? withoutSplat(sum.getLhs()).getDefiningOp<arith::MulIOp>()
            : arith::MulIOp();
    if (!product)
      return false;
    auto factors = dyn_cast<AffineBinaryOpExpr>(extent);
    if (!factors || factors.getKind() != AffineExprKind::Mul)
      return false;
    for (auto [outer, inner] : {std::pair(factors.getLHS(), factors.getRHS()),
                                std::pair(factors.getRHS(), factors.getLHS())})
      if (counts(product.getLhs(), outer) && isExtent(product.getRhs(), inner))
        if (std::optional<Digit> digit = digitOf(sum.getRhs(), inner))
          return isFirstUse(product.getLhs()) && take(*digit);
    return false;
  }

  /// A number that takes every value of 0..extent: a counter, the lanes of a
  /// range by blocks, or the quotient or remainder of such a range over a
  /// product by one of its factors.
  struct Digit {
    Value start;
    AffineExpr extent;
    /// Of lanes: the axis, and what of its number.
    StringAttr axis = {};
    bool isQuotient = false, isWhole = false;
  };

  std::optional<Digit> digitOf(Value v, AffineExpr extent) {
    if (counts(v, extent))
      return Digit{v, extent};
    Operation *def = v.getDefiningOp();
    if (auto lanes = dyn_cast_if_present<RangeOp>(def)) {
      IterAttr iter = rangeOf(lanes.getStart());
      if (!iter || !iter.getBlock() || iter.getExtent().getResult(0) != extent)
        return std::nullopt;
      return Digit{lanes.getStart(), extent, axesOf(lanes.getType())[0],
                   /*isQuotient=*/false, /*isWhole=*/true};
    }
    auto range = pairsOf(v);
    if (!range || !llvm::is_contained(extentsOf(v), extent))
      return std::nullopt;
    return Digit{range.getStart(), extent, axesOf(range.getType())[0],
                 isa<arith::DivUIOp>(def)};
  }

  /// The range of pairs by blocks that `v` is the quotient or the remainder of;
  /// null for other values.
  RangeOp pairsOf(Value v) {
    Operation *def = v.getDefiningOp();
    if (!isa_and_nonnull<arith::DivUIOp, arith::RemUIOp>(def))
      return {};
    auto range = def->getOperand(0).getDefiningOp<RangeOp>();
    IterAttr iter = range ? rangeOf(range.getStart()) : IterAttr();
    return iter && iter.getBlock() ? range : RangeOp();
  }

  /// What the quotient or the remainder of a range of pairs is less than: one
  /// factor of the range's extent, if the divisor is the other one.
  SmallVector<AffineExpr, 2> extentsOf(Value v) {
    IterAttr iter = rangeOf(pairsOf(v).getStart());
    auto product = dyn_cast<AffineBinaryOpExpr>(iter.getExtent().getResult(0));
    SmallVector<AffineExpr, 2> extents;
    if (!product || product.getKind() != AffineExprKind::Mul)
      return extents;
    Operation *def = v.getDefiningOp();
    for (auto [count, other] : {std::pair(product.getRHS(), product.getLHS()),
                                std::pair(product.getLHS(), product.getRHS())})
      if (isExtent(withoutSplat(def->getOperand(1)), count))
        extents.push_back(isa<arith::DivUIOp>(def) ? other : count);
    return extents;
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

  /// Whether a range has as many lanes as `bound`, counted from 0.
  bool isOfAllLanes(RangeOp lanes, Value bound) {
    APInt end;
    AxisAttr axis = *llvm::find_if(
        kernel.getAxes().getAsRange<AxisAttr>(),
        [&](AxisAttr a) { return a.getName() == axesOf(lanes.getType())[0]; });
    return !axis.getBlock() && matchPattern(lanes.getStart(), m_Zero()) &&
           matchPattern(bound, m_ConstantInt(&end)) &&
           axis.getExtent() <= end.getSExtValue();
  }

  /// Whether `p` only says that one of the store's indices is inside the shape.
  bool isShapeBound(Value p, AffineMap shape) {
    auto compare = p.getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt)
      return false;
    Value bound = withoutSplat(compare.getRhs());
    for (auto [index, extent] :
         llvm::zip_equal(store.getIndices(), shape.getResults()))
      if (sameExpression(compare.getLhs(), index) && isExtent(bound, extent))
        return true;
    // Of a pair's second number, or of a slice, of which all lanes are there.
    auto lanes = compare.getLhs().getDefiningOp<RangeOp>();
    if (lanes && isOfAllLanes(lanes, bound))
      return true;
    AffineExpr extent =
        lanes ? wholeDigits.lookup(axesOf(lanes.getType())[0]) : AffineExpr();
    return extent && isExtent(bound, extent);
  }

  /// Whether `p` only says that a pair is one of its range, or one of its
  /// numbers inside of its extent. The indices use both.
  bool isPairBound(Value p) {
    auto compare = p.getDefiningOp<arith::CmpIOp>();
    if (!compare)
      return false;
    Value lhs = compare.getLhs(), bound = withoutSplat(compare.getRhs());
    RangeOp range = pairsOf(lhs);
    if (compare.getPredicate() == arith::CmpIPredicate::sge)
      return range && matchPattern(bound, m_Zero());
    if (compare.getPredicate() != arith::CmpIPredicate::slt)
      return false;
    if (range)
      return llvm::any_of(extentsOf(lhs), [&](AffineExpr extent) {
        return isExtent(bound, extent);
      });
    range = lhs.getDefiningOp<RangeOp>();
    if (!range || !halves.contains(axesOf(range.getType())[0]))
      return false;
    AffineExpr extent = rangeOf(range.getStart()).getExtent().getResult(0);
    // More pairs than 32 bits count wrap.
    return isExtent(bound, extent) && kernel.getProgram().hasExtent(extent);
  }

  StoreOp store;
  KernelOp kernel;
  bool takesSome;
  std::optional<RowSet> left;
  std::optional<Parts> parts;
  /// Lanes of the rows of segments, and the extent that these cut where rows
  /// are counted from the first one of a segment.
  Value segmentRow;
  AffineExpr segmentRows;
  llvm::DenseSet<Value> used;
  llvm::DenseSet<StringAttr> usedAxes;
  /// Which of quotient (1) and remainder (2) of an axis were used.
  llvm::DenseMap<StringAttr, unsigned> halves;
  /// Extents of the axes that are the second number of a pair.
  llvm::DenseMap<StringAttr, AffineExpr> wholeDigits;
};

} // namespace

std::optional<std::string> coverageGap(StoreOp store) {
  return Coverage(store).gap();
}

std::optional<RowSet> leftRowsOf(StoreOp store) {
  Coverage coverage(store, /*takesSome=*/true);
  return coverage.gap() ? std::nullopt : coverage.getLeft();
}

} // namespace selvedge::safety
