// Integer tiles of an executed kernel, lane by lane.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/LaneTiles.h"

#include "compiler/Verify/Arithmetic/Facts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace selvedge::verify {

using namespace mlir;

int64_t LaneTile::strideOf(StringAttr axis) const {
  int64_t stride = 1;
  for (size_t i = axes.size(); i-- > 0; stride *= extents[i])
    if (axes[i] == axis)
      return stride;
  return 0;
}

void LaneSpace::add(const LaneTile &tile) {
  for (auto [axis, extent] : llvm::zip_equal(tile.axes, tile.extents))
    if (!llvm::is_contained(axes, axis)) {
      axes.push_back(axis);
      extents.push_back(extent);
    }
}

int64_t LaneSpace::size() const {
  int64_t size = 1;
  for (int64_t extent : extents)
    size *= extent;
  return size;
}

void LaneSpace::putLongestLast() {
  if (axes.empty())
    return;
  auto longest = llvm::max_element(extents) - extents.begin();
  std::swap(axes[longest], axes.back());
  std::swap(extents[longest], extents.back());
}

LaneWalk::LaneWalk(const LaneSpace &space, ArrayRef<const LaneTile *> tiles)
    : tiles(tiles), extents(space.extents), index(space.extents.size(), 0),
      offsets(tiles.size(), 0), count(space.size()) {
  for (StringAttr axis : space.axes)
    for (const LaneTile *tile : tiles)
      strides.push_back(tile->strideOf(axis));
}

void LaneWalk::next() {
  ++lane;
  for (size_t axis = extents.size(); axis-- > 0;) {
    bool isOver = ++index[axis] == extents[axis];
    int64_t steps = isOver ? 1 - extents[axis] : 1;
    const int64_t *stride = strides.data() + axis * offsets.size();
    for (int64_t &offset : offsets)
      offset += steps * *stride++;
    if (!isOver)
      return;
    index[axis] = 0;
  }
}

void forEachRow(LaneSpace space, ArrayRef<const LaneTile *> tiles,
                llvm::function_ref<void(ArrayRef<LaneRow>, int64_t)> visit) {
  int64_t count = 1;
  SmallVector<LaneRow, 4> rows(tiles.size(), {nullptr, 0});
  if (!space.axes.empty()) {
    for (auto [row, tile] : llvm::zip_equal(rows, tiles))
      row.stride = tile->strideOf(space.axes.back());
    count = space.extents.back();
    space.axes.pop_back();
    space.extents.pop_back();
  }
  if (count == 0)
    return;
  for (LaneWalk walk(space, tiles); walk.isInside(); walk.next()) {
    for (auto [number, row] : llvm::enumerate(rows))
      row.from = walk.from(number);
    visit(rows, count);
  }
}

const LaneTile &LaneTiles::of(Value value) {
  if (auto it = known.find(value); it != known.end())
    return *it->second;
  Value source = sourceOf(value);
  const LaneTile *tile =
      source ? &of(source)
             : computed.emplace_back(new LaneTile(compute(value))).get();
  work += tile->values.size();
  return *(known[value] = tile);
}

Value LaneTiles::sourceOf(Value value) {
  Operation *def = value.getDefiningOp();
  bool isHandedOn =
      isa<RankedTensorType>(value.getType()) &&
      isa_and_nonnull<sm::SplatOp, tile::SplatOp, sm::BroadcastOp,
                      tile::BroadcastOp, sm::RelayoutOp, tile::KnownOp>(def) &&
      !constantOf(value);
  return isHandedOn ? def->getOperand(0) : Value();
}

/// The tile of a scalar.
static LaneTile scalarTile(std::optional<int64_t> value) {
  LaneTile tile;
  if (value)
    tile.values.front() = *value;
  return tile;
}

static bool isTruth(Value value) {
  return getElementTypeOrSelf(value.getType()).isInteger(1);
}

LaneTile LaneTiles::compute(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (auto number = dyn_cast_or_null<IntegerAttr>(constantOf(value)))
    return scalarTile(isTruth(value) ? !number.getValue().isZero()
                                     : number.getValue().getSExtValue());
  if (auto number = dyn_cast_or_null<FloatAttr>(constantOf(value)))
    return scalarTile(bitsOf(number.getValueAsDouble()));
  if (!type)
    if (std::optional<int64_t> scalar = scalars(value))
      return scalarTile(isTruth(value) ? *scalar & 1 : *scalar);
  Operation *def = value.getDefiningOp();
  return def ? computeOp(def) : LaneTile();
}

LaneTile LaneTiles::computeRange(RankedTensorType type, Value start) {
  StringAttr axis = axisNames(type).front();
  std::optional<int64_t> first;
  if (selectedStarts)
    first = selectedStarts(axis);
  else if (const LaneTile &from = of(start);
           from.values.size() == 1 && from.values.front() != LaneTile::unknown)
    first = from.values.front();
  std::optional<SmallVector<int64_t>> lanes =
      selectedLanes ? selectedLanes(axis) : std::nullopt;
  if (!lanes && !type.isDynamicDim(0))
    lanes = llvm::to_vector(llvm::seq<int64_t>(0, type.getDimSize(0)));
  LaneTile tile;
  if (!first || !lanes)
    return tile;
  tile.axes = {axis};
  tile.extents = {static_cast<int64_t>(lanes->size())};
  tile.values.clear();
  for (int64_t lane : *lanes)
    tile.values.push_back(*first + lane);
  return tile;
}

LaneTile LaneTiles::computeOp(Operation *def) {
  return llvm::TypeSwitch<Operation *, LaneTile>(def)
      .Case<sm::RangeOp, tile::RangeOp>([&](auto op) {
        return computeRange(cast<RankedTensorType>(op.getType()),
                            op.getStart());
      })
      .Case<sm::SplatOp, tile::SplatOp, sm::BroadcastOp, tile::BroadcastOp,
            sm::RelayoutOp, tile::KnownOp>(
          [&](auto op) { return of(op->getOperand(0)); })
      .Case<sm::LoadOp, tile::LoadOp>([&](auto load) {
        return computeLoad(load, load.getTensor(), load.getIndices(),
                           load.getPresence());
      })
      .Case([&](sm::ReduceOp op) {
        return computeReduce(op, op.getSource(), op.getOverAttr());
      })
      .Default([&](Operation *op) { return computeArith(op); });
}

/// A tile of all lanes of a space, whose values are to be written.
static LaneTile tileOver(const LaneSpace &space) {
  LaneTile tile{
      llvm::to_vector<2>(space.axes), llvm::to_vector<2>(space.extents), {}};
  tile.values.resize_for_overwrite(space.size());
  return tile;
}

/// Row by row, of the values of some tiles.
template <typename Compute>
static LaneTile computeRows(ArrayRef<const LaneTile *> tiles, Compute compute) {
  LaneSpace space;
  for (const LaneTile *tile : tiles)
    space.add(*tile);
  space.putLongestLast();
  LaneTile result = tileOver(space);
  int64_t *next = result.values.data();
  forEachRow(space, tiles, [&](ArrayRef<LaneRow> rows, int64_t count) {
    compute(rows, MutableArrayRef(next, count));
    next += count;
  });
  return result;
}

/// Whether both of two conditions hold, one of which may be unknown.
static int64_t areBoth(int64_t a, int64_t b) {
  return a == 0 || b == 0 ? 0 : a == LaneTile::unknown ? a : b;
}

LaneTile LaneTiles::computeLoad(Operation *load, Value tensor,
                                ValueRange indices, ValueRange presence) {
  SmallVector<const LaneTile *> tiles;
  for (ValueRange operands : {indices, presence})
    for (Value operand : operands)
      tiles.push_back(&of(operand));
  SmallVector<int64_t> index(indices.size());
  return computeRows(
      tiles, [&](ArrayRef<LaneRow> rows, MutableArrayRef<int64_t> values) {
        llvm::fill(values, 1);
        for (LaneRow condition : rows.drop_front(index.size()))
          for (auto [lane, value] : llvm::enumerate(values))
            value = areBoth(value, condition[lane]);
        for (auto [lane, value] : llvm::enumerate(values)) {
          // Absent lanes hold 0.
          if (value == 0 || value == LaneTile::unknown)
            continue;
          bool isKnown = true;
          for (auto [number, row] : llvm::zip_first(index, rows)) {
            number = row[lane];
            isKnown &= number != LaneTile::unknown;
          }
          std::optional<int64_t> element =
              isKnown ? elements(tensor, index) : std::nullopt;
          value = element.value_or(LaneTile::unknown);
        }
      });
}

namespace {

enum class Kind {
  Compare,
  Add,
  Sub,
  Mul,
  And,
  Or,
  XOr,
  MinS,
  MaxS,
  MinU,
  MaxU,
  DivS,
  RemS,
  FloorDivS,
  CeilDivS,
  DivU,
  RemU,
  CeilDivU,
  Other
};

/// An operation on integers of a width, in 64 bits. What it is, is looked up
/// once for all lanes.
struct Arithmetic {
  Kind kind;
  unsigned width;
  arith::CmpIPredicate predicate = {};

  int64_t wrapped(int64_t value) const {
    return width == 1 ? value & 1 : llvm::SignExtend64(value, width);
  }
  uint64_t bits(int64_t value) const {
    return value & llvm::maskTrailingOnes<uint64_t>(width);
  }
  bool compare(int64_t a, int64_t b) const {
    return arith::applyCmpPredicate(predicate, APInt(width, bits(a)),
                                    APInt(width, bits(b)));
  }
  /// Of known operands.
  std::optional<int64_t> operator()(int64_t a, int64_t b) const;
  /// Of operands one of which may be unknown.
  int64_t partly(int64_t a, int64_t b) const;
  /// Of all lanes.
  LaneTile of(ArrayRef<const LaneTile *> tiles) const;
};

} // namespace

static Kind kindOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Kind>(op)
      .Case([](sm::ReduceOp op) {
        return op.getKind() == tile::Combine::Max   ? Kind::MaxS
               : op.getKind() == tile::Combine::Min ? Kind::MinS
                                                    : Kind::Add;
      })
      .Case([](arith::CmpIOp) { return Kind::Compare; })
      .Case([](arith::AddIOp) { return Kind::Add; })
      .Case([](arith::SubIOp) { return Kind::Sub; })
      .Case([](arith::MulIOp) { return Kind::Mul; })
      .Case([](arith::AndIOp) { return Kind::And; })
      .Case([](arith::OrIOp) { return Kind::Or; })
      .Case([](arith::XOrIOp) { return Kind::XOr; })
      .Case([](arith::MinSIOp) { return Kind::MinS; })
      .Case([](arith::MaxSIOp) { return Kind::MaxS; })
      .Case([](arith::MinUIOp) { return Kind::MinU; })
      .Case([](arith::MaxUIOp) { return Kind::MaxU; })
      .Case([](arith::DivSIOp) { return Kind::DivS; })
      .Case([](arith::RemSIOp) { return Kind::RemS; })
      .Case([](arith::FloorDivSIOp) { return Kind::FloorDivS; })
      .Case([](arith::CeilDivSIOp) { return Kind::CeilDivS; })
      .Case([](arith::DivUIOp) { return Kind::DivU; })
      .Case([](arith::RemUIOp) { return Kind::RemU; })
      .Case([](arith::CeilDivUIOp) { return Kind::CeilDivU; })
      .Default([](Operation *) { return Kind::Other; });
}

std::optional<int64_t> Arithmetic::operator()(int64_t a, int64_t b) const {
  using Result = std::optional<int64_t>;
  auto divided = [&](auto compute) {
    return b == 0 ? Result() : Result(wrapped(compute()));
  };
  switch (kind) {
  case Kind::Compare:
    return compare(a, b);
  case Kind::Add:
    return wrapped(a + b);
  case Kind::Sub:
    return wrapped(a - b);
  case Kind::Mul:
    return wrapped(a * b);
  case Kind::And:
    return a & b;
  case Kind::Or:
    return a | b;
  case Kind::XOr:
    return a ^ b;
  case Kind::MinS:
    return std::min(a, b);
  case Kind::MaxS:
    return std::max(a, b);
  case Kind::MinU:
    return bits(a) < bits(b) ? a : b;
  case Kind::MaxU:
    return bits(a) < bits(b) ? b : a;
  case Kind::DivS:
    return divided([&] { return a / b; });
  case Kind::RemS:
    return divided([&] { return a % b; });
  case Kind::FloorDivS:
    return divided([&] { return llvm::divideFloorSigned(a, b); });
  case Kind::CeilDivS:
    return divided([&] { return llvm::divideCeilSigned(a, b); });
  case Kind::DivU:
    return divided([&] { return bits(a) / bits(b); });
  case Kind::RemU:
    return divided([&] { return bits(a) % bits(b); });
  case Kind::CeilDivU:
    return divided([&] { return llvm::divideCeil(bits(a), bits(b)); });
  case Kind::Other:
    return std::nullopt;
  }
  llvm_unreachable("unknown kind");
}

int64_t Arithmetic::partly(int64_t a, int64_t b) const {
  bool isKnown = a != LaneTile::unknown && b != LaneTile::unknown;
  if (isKnown)
    return (*this)(a, b).value_or(LaneTile::unknown);
  if (kind == Kind::And && (a == 0 || b == 0))
    return 0;
  if (kind == Kind::Or && width == 1 && (a == 1 || b == 1))
    return 1;
  return LaneTile::unknown;
}

/// The lanes of two tiles, each two of which `compute` makes one of.
template <typename Compute>
static LaneTile computePairs(ArrayRef<const LaneTile *> tiles,
                             Compute compute) {
  return computeRows(
      tiles, [&](ArrayRef<LaneRow> rows, MutableArrayRef<int64_t> values) {
        LaneRow a = rows[0], b = rows[1];
        for (auto [lane, value] : llvm::enumerate(values))
          value = compute(a[lane], b[lane]);
      });
}

LaneTile Arithmetic::of(ArrayRef<const LaneTile *> tiles) const {
  // What programs are full of, in loops of its own: a known lane is in the
  // range of its width, truth values are 0 and 1.
  auto each = [&](auto compute) {
    return computePairs(tiles, [&](int64_t x, int64_t y) -> int64_t {
      bool isKnown = x != LaneTile::unknown && y != LaneTile::unknown;
      return LLVM_LIKELY(isKnown) ? compute(x, y) : partly(x, y);
    });
  };
  if (width > 1 && width < 64) {
    auto extended = [shift = 64 - width](int64_t value) {
      return static_cast<int64_t>(static_cast<uint64_t>(value) << shift) >>
             shift;
    };
    auto unsignedOf = [mask = llvm::maskTrailingOnes<uint64_t>(width)](
                          int64_t value) { return value & mask; };
    switch (kind) {
    case Kind::Add:
      return each([&](int64_t x, int64_t y) { return extended(x + y); });
    case Kind::Sub:
      return each([&](int64_t x, int64_t y) { return extended(x - y); });
    case Kind::Mul:
      return each([&](int64_t x, int64_t y) { return extended(x * y); });
    case Kind::Compare:
      switch (predicate) {
      case arith::CmpIPredicate::slt:
        return each(
            [&](int64_t x, int64_t y) { return extended(x) < extended(y); });
      case arith::CmpIPredicate::sle:
        return each(
            [&](int64_t x, int64_t y) { return extended(x) <= extended(y); });
      case arith::CmpIPredicate::sgt:
        return each(
            [&](int64_t x, int64_t y) { return extended(x) > extended(y); });
      case arith::CmpIPredicate::sge:
        return each(
            [&](int64_t x, int64_t y) { return extended(x) >= extended(y); });
      case arith::CmpIPredicate::eq:
        return each([&](int64_t x, int64_t y) {
          return unsignedOf(x) == unsignedOf(y);
        });
      case arith::CmpIPredicate::ult:
        return each([&](int64_t x, int64_t y) {
          return unsignedOf(x) < unsignedOf(y);
        });
      default:
        break;
      }
      break;
    default:
      break;
    }
  }
  switch (kind) {
  case Kind::And:
    return each([](int64_t x, int64_t y) { return x & y; });
  case Kind::Or:
    return each([](int64_t x, int64_t y) { return x | y; });
  case Kind::MinS:
    return each([](int64_t x, int64_t y) { return std::min(x, y); });
  case Kind::MaxS:
    return each([](int64_t x, int64_t y) { return std::max(x, y); });
  default:
    return computePairs(tiles,
                        [&](int64_t x, int64_t y) { return partly(x, y); });
  }
}

/// A conversion of a known lane; unknown for other operations. What narrowing
/// rounds is not.
static int64_t converted(Operation *op, int64_t value) {
  auto widthOf = [](Value v) {
    return getElementTypeOrSelf(v.getType()).getIntOrFloatBitWidth();
  };
  unsigned from = widthOf(op->getOperand(0)), to = widthOf(op->getResult(0));
  uint64_t bits = value & llvm::maskTrailingOnes<uint64_t>(from);
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case([&](arith::ExtSIOp) { return from == 1 ? -value : value; })
      .Case([&](arith::ExtUIOp) { return static_cast<int64_t>(bits); })
      .Case([&](arith::TruncIOp) {
        return to == 1 ? value & 1 : llvm::SignExtend64(value, to);
      })
      .Case([&](arith::SIToFPOp) {
        return LaneTiles::bitsOf(from == 1 ? -value : value);
      })
      .Case([&](arith::UIToFPOp) { return LaneTiles::bitsOf(bits); })
      .Case([&](arith::FPToSIOp) {
        llvm::APSInt integer(to, /*isUnsigned=*/false);
        bool isExact = false;
        llvm::APFloat(llvm::bit_cast<double>(value))
            .convertToInteger(integer, llvm::APFloat::rmTowardZero, &isExact);
        return integer.getExtValue();
      })
      .Case<arith::ExtFOp, sm::ConvertOp, tile::ConvertOp>(
          [&](auto) { return value; })
      .Default([](Operation *) { return LaneTile::unknown; });
}

LaneTile LaneTiles::computeReduce(Operation *op, Value source,
                                  StringAttr over) {
  Type element = getElementTypeOrSelf(source.getType());
  const LaneTile &tile = of(source);
  if (!element.isInteger() || !llvm::is_contained(tile.axes, over))
    return {};
  Arithmetic combine{kindOf(op), element.getIntOrFloatBitWidth()};
  LaneSpace space;
  for (auto [axis, extent] : llvm::zip_equal(tile.axes, tile.extents))
    if (axis != over) {
      space.axes.push_back(axis);
      space.extents.push_back(extent);
    }
  LaneTile result = tileOver(space);
  int64_t *next = result.values.data();
  int64_t count = tile.extents[llvm::find(tile.axes, over) - tile.axes.begin()],
          stride = tile.strideOf(over);
  const LaneTile *tiles[] = {&tile};
  for (LaneWalk lane(space, tiles); lane.isInside(); lane.next()) {
    int64_t sum = *lane.from(0);
    for (int64_t i = 1; i < count; ++i)
      sum = combine.partly(sum, lane.from(0)[i * stride]);
    *next++ = sum;
  }
  return result;
}

LaneTile LaneTiles::computeArith(Operation *op) {
  constexpr int64_t unknown = LaneTile::unknown;
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return {};
  auto operands = [&] {
    SmallVector<const LaneTile *, 3> tiles;
    for (Value operand : op->getOperands())
      tiles.push_back(&of(operand));
    return tiles;
  };
  if (isa<arith::SelectOp>(op))
    return computeRows(operands(), [](ArrayRef<LaneRow> rows,
                                      MutableArrayRef<int64_t> values) {
      LaneRow condition = rows[0], yes = rows[1], no = rows[2];
      for (auto [lane, value] : llvm::enumerate(values))
        if (condition[lane] != unknown)
          value = condition[lane] != 0 ? yes[lane] : no[lane];
        else
          value = yes[lane] == no[lane] ? yes[lane] : unknown;
    });
  if (op->getNumOperands() == 1)
    return computeRows(operands(), [&](ArrayRef<LaneRow> rows,
                                       MutableArrayRef<int64_t> values) {
      LaneRow from = rows[0];
      for (auto [lane, value] : llvm::enumerate(values))
        value = from[lane] == unknown ? unknown : converted(op, from[lane]);
    });
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return computePairs(operands(), [&](int64_t a, int64_t b) {
      if (a == unknown || b == unknown)
        return unknown;
      return int64_t(arith::applyCmpPredicate(
          compare.getPredicate(), llvm::APFloat(llvm::bit_cast<double>(a)),
          llvm::APFloat(llvm::bit_cast<double>(b))));
    });
  bool isArithmetic = op->getNumOperands() == 2 &&
                      isa<arith::ArithDialect>(op->getDialect()) &&
                      llvm::all_of(op->getOperandTypes(), [](Type type) {
                        return getElementTypeOrSelf(type).isInteger();
                      });
  if (!isArithmetic)
    return {};
  Arithmetic arithmetic{kindOf(op),
                        getElementTypeOrSelf(op->getOperand(0).getType())
                            .getIntOrFloatBitWidth()};
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    arithmetic.predicate = compare.getPredicate();
  return arithmetic.of(operands());
}

} // namespace selvedge::verify
