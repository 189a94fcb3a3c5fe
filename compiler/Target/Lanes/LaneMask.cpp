// Conditions of the elements of an accumulator, a bit each.
// SPDX-License-Identifier: MIT
#include "compiler/Target/Lanes/LaneEmitter.h"

namespace selvedge::lanes {

using namespace mlir;
using namespace selvedge::sm;

namespace {

constexpr int64_t wordBits = 32;

/// A condition of a tile: columns from the greatest start of a row to its least
/// end, and only in some rows.
struct Window {
  /// `range < end` or `range >= end`, of columns and a scalar.
  struct Scalar {
    RangeOp columns;
    Value end;
    bool isStart;
  };
  /// `first - second <= most`: one is the columns, the other the rows.
  struct Distance {
    RangeOp first, second;
    Value most;
    bool isStart;
  };
  SmallVector<Scalar, 2> scalars;
  SmallVector<Distance, 2> distances;
  /// Of one bit per row.
  SmallVector<Value, 2> rows;

  /// Whether a compare per column, for all rows, is not enough.
  bool differsByElement() const {
    return !distances.empty() || scalars.size() > 1;
  }
};

/// The axis of an accumulator whose elements a thread has most of: pairs of
/// neighbours eight apart, in order.
int columnAxis(LayoutAttr layout) {
  if (layout.getAxes().size() != 2)
    return -1;
  auto isOfPairs = [](AxisLayoutAttr axis) {
    int64_t count = axis.getNumRegs();
    for (int64_t reg = 0; reg < count; ++reg)
      if (axis.regOffset(reg) != reg / 2 * 8 + reg % 2)
        return false;
    return count >= 8 && count % 2 == 0;
  };
  for (int at : {0, 1})
    if (isOfPairs(layout.getAxes()[at]))
      return at;
  return -1;
}

RangeOp rangeAlong(Value spread, StringAttr axis) {
  auto broadcast = spread.getDefiningOp<BroadcastOp>();
  auto range = broadcast ? broadcast.getSource().getDefiningOp<RangeOp>()
                         : spread.getDefiningOp<RangeOp>();
  return range && layoutOf(range.getType()).getAxes()[0].getName() == axis
             ? range
             : RangeOp();
}

/// Adds what `condition` says to the window; false where it is no such window.
bool addTo(Window &window, Value condition, StringAttr rowAxis,
           StringAttr colAxis) {
  auto addRows = [&](Value v) {
    LayoutAttr layout = layoutOf(v.getType());
    bool isOfRows = !layout || (layout.getAxes().size() == 1 &&
                                layout.getAxes()[0].getName() == rowAxis);
    if (isOfRows)
      window.rows.push_back(v);
    return isOfRows;
  };
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return addRows(condition) ||
           (addTo(window, both.getLhs(), rowAxis, colAxis) &&
            addTo(window, both.getRhs(), rowAxis, colAxis));
  if (auto spread = condition.getDefiningOp<BroadcastOp>())
    return addRows(spread.getSource()) ||
           addTo(window, spread.getSource(), rowAxis, colAxis);
  if (auto splat = condition.getDefiningOp<SplatOp>())
    return addRows(splat.getValue());
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return false;
  auto limit = compare.getRhs().getDefiningOp<SplatOp>();
  if (!limit)
    return addRows(condition);
  using Predicate = arith::CmpIPredicate;
  Predicate predicate = compare.getPredicate();
  if (RangeOp columns = rangeAlong(compare.getLhs(), colAxis)) {
    bool isKnown = predicate == Predicate::slt || predicate == Predicate::sge;
    if (isKnown)
      window.scalars.push_back(
          {columns, limit.getValue(), predicate == Predicate::sge});
    return isKnown;
  }
  auto distance = compare.getLhs().getDefiningOp<arith::SubIOp>();
  if (!distance || predicate != Predicate::sle)
    return addRows(condition);
  for (bool isStart : {false, true})
    if (RangeOp first =
            rangeAlong(distance.getLhs(), isStart ? rowAxis : colAxis))
      if (RangeOp second =
              rangeAlong(distance.getRhs(), isStart ? colAxis : rowAxis)) {
        window.distances.push_back({first, second, limit.getValue(), isStart});
        return true;
      }
  return false;
}

} // namespace

/// How many of a thread's columns, of which there are `count`, lie ahead of
/// `limit`, where the first one has the index `first`.
Value LaneEmitter::columnsUpTo(Value first, Value limit, int64_t count) {
  // Of the two the difference fits in an unsigned word.
  Value isAny =
      arith::CmpIOp::create(b, loc(), arith::CmpIPredicate::slt, first, limit);
  Value width = arith::MinUIOp::create(
      b, loc(), arith::SubIOp::create(b, loc(), limit, first), i32(4 * count));
  width = arith::SelectOp::create(b, loc(), isAny, width, i32(0));
  Value pairs = arith::ShRUIOp::create(b, loc(), width, i32(3));
  Value rest = arith::MinUIOp::create(
      b, loc(), arith::AndIOp::create(b, loc(), width, i32(7)), i32(2));
  return add(arith::ShLIOp::create(b, loc(), pairs, i32(1)), rest);
}

/// The lowest `count` bits of a word, of at most as many as it has.
Value LaneEmitter::lowestBits(Value count) {
  Value all = i32(-1);
  Value isAll = arith::CmpIOp::create(b, loc(), arith::CmpIPredicate::uge,
                                      count, i32(wordBits));
  Value shift = arith::AndIOp::create(b, loc(), count, i32(wordBits - 1));
  Value some = add(arith::ShLIOp::create(b, loc(), i32(1), shift), all);
  return arith::SelectOp::create(b, loc(), isAll, all, some);
}

/// Per row of a thread the words of its columns' bits; empty where compares of
/// elements do as well.
LaneEmitter::MaskWords LaneEmitter::maskWords(Value condition) {
  LayoutAttr layout = layoutOf(condition.getType());
  int colAt = columnAxis(layout);
  if (colAt < 0)
    return {};
  AxisLayoutAttr cols = layout.getAxes()[colAt],
                 rows = layout.getAxes()[1 - colAt];
  Window window;
  if (!addTo(window, condition, rows.getName(), cols.getName()) ||
      !window.differsByElement())
    return {};
  // Each select computes its words anew: kept from one to the next they would
  // take registers beside products.
  llvm::DenseMap<Value, Value> copies;
  auto anew = [&](RangeOp range) {
    Value &copy = copies[range];
    if (!copy)
      copy =
          inlineAsm(b.getI32Type(), {lane1(range)}, "mov.b32 $0, $1;", "=r,r");
    return copy;
  };
  int64_t count = cols.getNumRegs();
  Value from = i32(0), to = i32(count);
  auto narrow = [&](bool isStart, Value first, Value limit) {
    Value ahead = columnsUpTo(first, limit, count);
    if (isStart)
      from = arith::MaxUIOp::create(b, loc(), from, ahead);
    else
      to = arith::MinUIOp::create(b, loc(), to, ahead);
  };
  for (Window::Scalar scalar : window.scalars)
    narrow(scalar.isStart, anew(scalar.columns), lane1(scalar.end));
  Value fromOfAll = from, toOfAll = to;
  MaskWords masks{colAt, {}};
  for (int64_t row = 0; row < rows.getNumRegs(); ++row) {
    from = fromOfAll;
    to = toOfAll;
    for (Window::Distance distance : window.distances) {
      // A row that lies `most` behind a column, or ahead of it, still counts.
      Value columns = anew(distance.isStart ? distance.second : distance.first),
            own =
                lanes(distance.isStart ? distance.first : distance.second)[row],
            most = lane1(distance.most);
      if (!distance.isStart)
        most = arith::XOrIOp::create(b, loc(), most, i32(-1));
      narrow(distance.isStart, most,
             arith::SubIOp::create(b, loc(), own, columns));
    }
    Value isRow = conjunction(llvm::map_to_vector(
        window.rows, [&](Value v) { return elementOf(v, row); }));
    SmallVector<Value> &words = masks.words.emplace_back();
    for (int64_t first = 0; first < count; first += wordBits) {
      auto inWord = [&](Value v) -> Value {
        if (first == 0)
          return v;
        return arith::SubIOp::create(
            b, loc(), arith::MaxUIOp::create(b, loc(), v, i32(first)),
            i32(first));
      };
      Value word = arith::AndIOp::create(
          b, loc(), lowestBits(inWord(to)),
          arith::XOrIOp::create(b, loc(), lowestBits(inWord(from)), i32(-1)));
      if (isRow)
        word = arith::SelectOp::create(b, loc(), isRow, word, i32(0));
      words.push_back(word);
    }
  }
  return masks;
}

/// A select of f32 elements by bits; false where compares do as well. ptxas
/// turns seven tests of bits into one instruction. It keeps compares of a whole
/// tile, which a second select needs, too, bit by bit.
bool LaneEmitter::selectByBits(arith::SelectOp select) {
  Value condition = select.getCondition();
  if (!layoutOf(condition.getType()) ||
      !getElementTypeOrSelf(select.getType()).isF32())
    return false;
  MaskWords masks = maskWords(condition);
  if (masks.words.empty())
    return false;
  LayoutAttr layout = layoutOf(select.getType());
  Registers result;
  for (int64_t reg = 0; reg < layout.getNumRegs(); ++reg) {
    SmallVector<int64_t> place = layout.unflatten(reg);
    int64_t col = place[masks.colAxis], row = place[1 - masks.colAxis];
    auto bit = static_cast<int32_t>(uint32_t(1) << col % wordBits);
    // LLVM would move the bit to the right first.
    Value isIn = inlineAsm(
        b.getI1Type(), {masks.words[row][col / wordBits], i32(bit)},
        "{ .reg .b32 bit; and.b32 bit, $1, $2; setp.ne.u32 $0, bit, 0; }",
        "=b,r,n");
    result.push_back(arith::SelectOp::create(
        b, loc(), isIn, elementOf(select.getTrueValue(), reg),
        elementOf(select.getFalseValue(), reg)));
  }
  lanes(select) = result;
  return true;
}

} // namespace selvedge::lanes
