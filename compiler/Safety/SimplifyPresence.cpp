// tile-simplify-presence: predicates that bound sizes make true.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/CountedPairs.h"
#include "compiler/Analysis/LinearIndex.h"
#include "compiler/Safety/Passes.h"
#include "compiler/Safety/Predicates.h"
#include "dialect/Tile/Provenance.h"

#include "mlir/IR/Matchers.h"

namespace selvedge::safety {

#define GEN_PASS_DEF_TILESIMPLIFYPRESENCE
#include "compiler/Safety/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// Closed interval of an i32 value.
struct Interval {
  int64_t lo, hi;
};

std::optional<Interval> intervalOf(Value v) {
  Operation *def = v.getDefiningOp();
  if (!def) {
    auto argument = cast<BlockArgument>(v);
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return std::nullopt;
    std::optional<Interval> low = intervalOf(loop.getLowerBound()),
                            high = intervalOf(loop.getUpperBound());
    return low && high ? std::optional(Interval{low->lo, high->hi - 1})
                       : std::nullopt;
  }
  if (auto c = dyn_cast<arith::ConstantIntOp>(def))
    return Interval{c.value(), c.value()};
  if (isa<SplatOp, BroadcastOp>(def))
    return intervalOf(def->getOperand(0));
  if (auto range = dyn_cast<RangeOp>(def)) {
    std::optional<Interval> start = intervalOf(range.getStart());
    int64_t size = cast<RankedTensorType>(range.getType()).getDimSize(0);
    if (!start || ShapedType::isDynamic(size))
      return std::nullopt;
    return Interval{start->lo, start->hi + size - 1};
  }
  if (isa<arith::AddIOp, arith::SubIOp>(def)) {
    std::optional<Interval> a = intervalOf(def->getOperand(0)),
                            b = intervalOf(def->getOperand(1));
    if (!a || !b)
      return std::nullopt;
    Interval sum = isa<arith::AddIOp>(def)
                       ? Interval{a->lo + b->lo, a->hi + b->hi}
                       : Interval{a->lo - b->hi, a->hi - b->lo};
    bool wraps = sum.lo < INT32_MIN || sum.hi > INT32_MAX;
    return wraps ? std::nullopt : std::optional(sum);
  }
  return std::nullopt;
}

/// Whether `index` is the place of a block of one element along a range of the
/// kernel, and `bound` the range's extent: there is a block for each.
bool isBlockInside(Value index, Value bound) {
  auto range = index.getDefiningOp<RangeOp>();
  if (!range || cast<RankedTensorType>(range.getType()).getDimSize(0) != 1)
    return false;
  auto place = dyn_cast<BlockArgument>(range.getStart()),
       extent = dyn_cast<BlockArgument>(analysis::source(bound));
  auto kernel =
      place ? dyn_cast<KernelOp>(place.getOwner()->getParentOp()) : KernelOp();
  if (!kernel || !extent || extent.getOwner() != place.getOwner())
    return false;
  for (auto [i, attr] : llvm::enumerate(kernel.getRanges())) {
    auto size = dyn_cast<AffineSymbolExpr>(
        cast<IterAttr>(attr).getExtent().getResult(0));
    if (kernel.getCoord(i) == place)
      return size && kernel.getDimArg(size.getPosition()) == extent;
  }
  return false;
}

/// Whether `index` is the first number of pairs that 32 bits count.
bool isOfCountedPairs(Value index) {
  auto quotient = index.getDefiningOp<arith::DivUIOp>();
  auto range =
      quotient ? quotient.getLhs().getDefiningOp<RangeOp>() : RangeOp();
  return range && analysis::countsPairs(range).value_or(false);
}

bool isTrue(Value v) {
  if (v.getDefiningOp<KnownOp>())
    return true;
  if (auto repeated = v.getDefiningOp();
      isa_and_nonnull<SplatOp, BroadcastOp>(repeated))
    return isTrue(repeated->getOperand(0));
  if (auto constant = v.getDefiningOp<arith::ConstantOp>())
    return constant.getValue() == BoolAttr::get(v.getContext(), true);
  if (auto both = v.getDefiningOp<arith::AndIOp>())
    return isTrue(both.getLhs()) && isTrue(both.getRhs());
  if (auto either = v.getDefiningOp<arith::OrIOp>())
    return isTrue(either.getLhs()) || isTrue(either.getRhs());
  auto compare = v.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return false;
  if (compare.getPredicate() == arith::CmpIPredicate::slt &&
      isBlockInside(compare.getLhs(), compare.getRhs()))
    return true;
  if (compare.getPredicate() == arith::CmpIPredicate::sge &&
      matchPattern(analysis::source(compare.getRhs()), m_Zero()) &&
      isOfCountedPairs(compare.getLhs()))
    return true;
  std::optional<Interval> a = intervalOf(compare.getLhs()),
                          b = intervalOf(compare.getRhs());
  if (!a || !b)
    return false;
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::slt:
    return a->hi < b->lo;
  case arith::CmpIPredicate::sle:
    return a->hi <= b->lo;
  case arith::CmpIPredicate::sgt:
    return a->lo > b->hi;
  case arith::CmpIPredicate::sge:
    return a->lo >= b->hi;
  default:
    return false;
  }
}

/// What makes the elements of `v`: null for an argument.
Operation *makerOf(Value v) {
  Operation *def = v.getDefiningOp();
  while (isa_and_nonnull<SplatOp, BroadcastOp>(def))
    def = def->getOperand(0).getDefiningOp();
  return def;
}

/// Whether a loop's part, not a size, makes `v` true.
bool isKnown(Value v) { return isa_and_nonnull<KnownOp>(makerOf(v)); }

/// Whether a part of a loop, where `at` stands, makes the opposite of `v` true.
bool isFalseAt(Value v, Operation *at) {
  auto compare = dyn_cast_or_null<arith::CmpIOp>(makerOf(v));
  return compare && llvm::any_of(*at->getBlock(), [&](Operation &op) {
           auto known = dyn_cast<KnownOp>(op);
           auto opposite =
               known ? known->getOperand(0).getDefiningOp<arith::CmpIOp>()
                     : arith::CmpIOp();
           return opposite &&
                  opposite.getPredicate() ==
                      arith::invertPredicate(compare.getPredicate()) &&
                  sameExpression(opposite.getLhs(), compare.getLhs()) &&
                  sameExpression(opposite.getRhs(), compare.getRhs());
         });
}

/// Positions in a list whose element `gone` has been erased.
SmallVector<int64_t> without(ArrayRef<int64_t> positions, int64_t gone) {
  SmallVector<int64_t> left;
  for (int64_t position : positions)
    if (position != gone)
      left.push_back(position - (position > gone));
  return left;
}

void drop(Operation *op, MutableOperandRange &presence, unsigned position,
          Proof proof) {
  presence.erase(position);
  noteProved(op, position, proof);
  if (auto load = dyn_cast<LoadOp>(op))
    load.setGarbage(without(load.getGarbage(), position));
}

void dropTrue(Operation *op, MutableOperandRange presence) {
  for (unsigned i = presence.size(); i-- > 0;)
    if (isTrue(presence[i].get()))
      drop(op, presence, i,
           isKnown(presence[i].get()) ? Proof::ByLoop : Proof::ByLanes);
}

/// The load whose absent lanes, which are 0, `condition` is false for: it
/// compares them with a constant.
LoadOp falseAtZeroOf(Value condition) {
  Operation *compare = analysis::source(condition).getDefiningOp();
  if (!isa_and_nonnull<arith::CmpIOp, arith::CmpFOp>(compare))
    return {};
  LoadOp load;
  TypedAttr sides[2];
  for (unsigned i : {0, 1}) {
    Value side = analysis::source(compare->getOperand(i));
    if (matchPattern(side, m_Constant(&sides[i]))) {
      if (auto repeated = dyn_cast<SplatElementsAttr>(sides[i]))
        sides[i] = repeated.getSplatValue<TypedAttr>();
      continue;
    }
    // Two loaded numbers need not both be there.
    auto loaded = side.getDefiningOp<LoadOp>();
    if (!loaded || load)
      return {};
    load = loaded;
    sides[i] = OpBuilder(compare).getZeroAttr(getElementTypeOrSelf(side));
  }
  auto numbers = dyn_cast<arith::CmpFOp>(compare);
  bool holds =
      numbers ? arith::applyCmpPredicate(numbers.getPredicate(),
                                         cast<FloatAttr>(sides[0]).getValue(),
                                         cast<FloatAttr>(sides[1]).getValue())
              : arith::applyCmpPredicate(
                    cast<arith::CmpIOp>(compare).getPredicate(),
                    cast<IntegerAttr>(sides[0]).getValue(),
                    cast<IntegerAttr>(sides[1]).getValue());
  return holds ? LoadOp() : load;
}

/// Drops predicates that another one implies: a mask from memory is false where
/// nothing is loaded of it.
void dropImplied(LoadOp load) {
  MutableOperandRange presence = load.getPresenceMutable();
  for (unsigned i = presence.size(); i-- > 0;)
    for (Value other : load.getTested()) {
      LoadOp mask = falseAtZeroOf(other);
      if (!mask || other == load.getPresence()[i] ||
          llvm::none_of(mask.getTested(), [&](Value p) {
            return implies(p, load.getPresence()[i]);
          }))
        continue;
      mask.setFill(Fill::Zero);
      drop(load, presence, i, Proof::ByPredicate);
      break;
    }
}

/// Notes which predicates of a mask are true. The obligations' conjunctions
/// lean to the left: the last predicate is the right side of the outermost one.
void noteMask(arith::SelectOp select) {
  SmallVector<Value> parts;
  Value rest = select.getCondition();
  while (auto both = rest.getDefiningOp<arith::AndIOp>()) {
    parts.push_back(both.getRhs());
    rest = both.getLhs();
  }
  parts.push_back(rest);
  for (auto [fromLast, part] : llvm::enumerate(parts))
    if (isTrue(part))
      noteProved(select, parts.size() - 1 - fromLast,
                 isKnown(part) ? Proof::ByLoop : Proof::ByLanes);
}

struct TileSimplifyPresencePass
    : impl::TileSimplifyPresenceBase<TileSimplifyPresencePass> {
  void runOnOperation() override {
    getOperation()->walk([](arith::SelectOp select) {
      if (noteOf(select.getLoc()))
        noteMask(select);
    });
    getOperation()->walk([](Operation *op) {
      if (auto load = dyn_cast<LoadOp>(op))
        dropTrue(load, load.getPresenceMutable());
      else if (auto store = dyn_cast<StoreOp>(op))
        dropTrue(store, store.getPresenceMutable());
      else if (auto dot = dyn_cast<DotOp>(op))
        dropTrue(dot, dot.getPresenceMutable());
      else if (auto reduce = dyn_cast<ReduceOp>(op))
        dropTrue(reduce, reduce.getPresenceMutable());
      else if (auto both = dyn_cast<arith::AndIOp>(op);
               both && both.getType() == both.getLhs().getType()) {
        if (isTrue(both.getLhs()))
          both.replaceAllUsesWith(both.getRhs());
        else if (isTrue(both.getRhs()))
          both.replaceAllUsesWith(both.getLhs());
      } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
        bool holds = isTrue(select.getCondition());
        if (!holds && !isFalseAt(select.getCondition(), select))
          return;
        select.replaceAllUsesWith(holds ? select.getTrueValue()
                                        : select.getFalseValue());
        select.erase();
      }
    });
    getOperation()->walk([](ProgramOp program) {
      if (!program.isForBulkCopies())
        program.walk(dropImplied);
    });
    // What is left stands inside other conditions; it has been proved.
    getOperation()->walk([](KnownOp known) {
      OpBuilder b(known);
      TypedAttr holds = b.getBoolAttr(true);
      if (auto tile = dyn_cast<ShapedType>(known.getType()))
        holds = SplatElementsAttr::get(tile, true);
      known.replaceAllUsesWith(
          arith::ConstantOp::create(b, known.getLoc(), holds).getResult());
      known.erase();
    });
  }
};

} // namespace
} // namespace selvedge::safety
