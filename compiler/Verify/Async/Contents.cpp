// Expressions over lanes, in terms of an execution's numbers.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/Contents.h"

#include "compiler/Verify/Arithmetic/Facts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

namespace selvedge::verify {

using namespace mlir;

namespace {
/// First word of a node that is no operation.
enum Leaf : uint64_t {
  Known,
  Unknown,
  Opaque,
  Lane,
  Compare,
  Quotient,
  Element,
  Real
};
} // namespace

static uint64_t bits(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

LaneExpressions::Key LaneExpressions::add(Node node) {
  auto [at, isNew] = keys.try_emplace(std::tuple_cat(node), nodes.size());
  if (isNew)
    nodes.push_back(node);
  return at->second;
}

LaneExpressions::Key LaneExpressions::constant(int64_t value) {
  return add({Known, static_cast<uint64_t>(value)});
}

LaneExpressions::Key LaneExpressions::lane(StringAttr axis, Key start) {
  return add({Lane, bits(axis.getAsOpaquePointer()), start});
}

LaneExpressions::Key LaneExpressions::quotient(Key a, Key b) {
  return add({Quotient, a, b});
}

LaneExpressions::Key LaneExpressions::lessThan(Key index, Key bound) {
  // Lanes that begin at a known number are counted from it: a box clipped at
  // its tensor's end has the columns that a range of fewer has.
  if (nodes[index][0] == Lane)
    if (std::optional<int64_t> start = knownOf(nodes[index][2]),
        end = knownOf(bound);
        start && end) {
      Node lanes = nodes[index];
      lanes[2] = constant(0);
      index = add(lanes);
      bound = constant(*end - *start);
    }
  return add({Compare, static_cast<uint64_t>(arith::CmpIPredicate::slt), index,
              bound});
}

LaneExpressions::Key LaneExpressions::isAtLeastZero(Key index) {
  return add({Compare, static_cast<uint64_t>(arith::CmpIPredicate::sge), index,
              constant(0)});
}

/// What lies at the load's indices in a tensor that the kernel never writes,
/// and zero where a predicate is false. One that is true everywhere, or given,
/// is none.
LaneExpressions::Key LaneExpressions::element(Agent &agent, sm::LoadOp load,
                                              ValueRange given) {
  Key key = add({Element, bits(load.getTensor().getAsOpaquePointer())});
  for (Value index : load.getIndices()) {
    Key at = of(agent, index, given);
    key = add({Element, 1, key, at});
  }
  SmallVector<Key> absent;
  for (Value p : load.getPresence())
    if (!isTrue(agent, p) && !llvm::is_contained(given, p))
      absent.push_back(of(agent, p, given));
  llvm::sort(absent);
  for (Key p : absent)
    key = add({Element, 2, key, p});
  return key;
}

std::optional<int64_t> LaneExpressions::known(Agent &agent, Value scalar) {
  Tracked tracked = agent.values.lookup(scalar);
  return tracked.kind == Tracked::Kind::Integer ? integers.known(tracked.id)
                                                : std::nullopt;
}

LaneExpressions::Key LaneExpressions::of(Agent &agent, Value value,
                                         ValueRange given) {
  value = strip(value);
  if (Attribute number = constantOf(value); isa_and_nonnull<FloatAttr>(number))
    return add({Real, bits(number.getAsOpaquePointer())});
  if (!sm::layoutOf(value.getType())) {
    if (std::optional<int64_t> number = known(agent, value))
      return constant(*number);
    // A copy that runs ahead has loaded it, too, where it tests more.
    if (auto load = value.getDefiningOp<sm::LoadOp>(); load && isStable(load))
      return element(agent, load, given);
    // An argument of the kernel is the same before something has asked for its
    // number and afterwards.
    auto argument = dyn_cast<BlockArgument>(value);
    bool isOfKernel =
        argument && isa<sm::KernelOp>(argument.getOwner()->getParentOp());
    Tracked tracked = agent.values.lookup(value);
    return tracked.kind == Tracked::Kind::Integer && !isOfKernel
               ? add({Unknown, tracked.id})
               : add({Opaque, bits(value.getAsOpaquePointer())});
  }
  Operation *def = value.getDefiningOp();
  // One of two tiles, as a scalar says.
  if (auto either = dyn_cast_or_null<arith::OrIOp>(def))
    for (auto [side, other] : {std::pair(either.getLhs(), either.getRhs()),
                               std::pair(either.getRhs(), either.getLhs())})
      if (Value scalar = strip(side); !sm::layoutOf(scalar.getType()))
        if (std::optional<int64_t> number = known(agent, scalar))
          return *number != 0 ? constant(1) : of(agent, other, given);
  if (auto load = dyn_cast_or_null<sm::LoadOp>(def); load && isStable(load))
    return element(agent, load, given);
  bool isExpression = def && isMemoryEffectFree(def) &&
                      def->getNumRegions() == 0 && def->getNumOperands() <= 3;
  if (!isExpression)
    return add({Opaque, bits(value.getAsOpaquePointer())});
  if (auto range = dyn_cast<sm::RangeOp>(def)) {
    Key start = of(agent, range.getStart());
    return lane(axisNames(range.getType()).front(), start);
  }
  if (isa<arith::DivUIOp>(def)) {
    Key a = of(agent, def->getOperand(0), given),
        b = of(agent, def->getOperand(1), given);
    return quotient(a, b);
  }
  Node node{bits(def->getName().getAsOpaquePointer()), 0, 0, 0, 0};
  for (auto [i, operand] : llvm::enumerate(def->getOperands()))
    node[i + 2] = of(agent, operand, given);
  if (auto compare = dyn_cast<arith::CmpIOp>(def)) {
    if (compare.getPredicate() == arith::CmpIPredicate::slt)
      return lessThan(node[2], node[3]);
    node = {Compare, static_cast<uint64_t>(compare.getPredicate()), node[2],
            node[3]};
  } else if (auto number = dyn_cast<arith::ConstantOp>(def))
    node[1] = bits(number.getValue().getAsOpaquePointer());
  else
    node[1] = bits(def->getAttrDictionary().getAsOpaquePointer());
  return add(node);
}

std::optional<int64_t> LaneExpressions::atLane(Agent &agent, Value value,
                                               const Lanes &lanes) {
  value = strip(value);
  if (!sm::layoutOf(value.getType()))
    return known(agent, value);
  Operation *def = value.getDefiningOp();
  if (auto range = dyn_cast_or_null<sm::RangeOp>(def)) {
    std::optional<int64_t> start = known(agent, range.getStart());
    return start
               ? std::optional(*start +
                               lanes.lookup(axisNames(range.getType()).front()))
               : std::nullopt;
  }
  if (!def || def->getNumOperands() != 2 || def->getNumRegions() != 0)
    return std::nullopt;
  std::optional<int64_t> a = atLane(agent, def->getOperand(0), lanes),
                         b = atLane(agent, def->getOperand(1), lanes);
  if (!a || !b)
    return std::nullopt;
  if (isa<arith::AddIOp>(def))
    return *a + *b;
  if (isa<arith::SubIOp>(def))
    return *a - *b;
  if (isa<arith::DivUIOp>(def) && *a >= 0 && *b > 0)
    return *a / *b;
  if (isa<arith::FloorDivSIOp>(def) && *b > 0)
    return llvm::divideFloorSigned(*a, *b);
  return std::nullopt;
}

std::optional<bool> LaneExpressions::compareAt(Agent &agent,
                                               arith::CmpIOp compare,
                                               const Lanes &lanes) {
  std::optional<int64_t> a = atLane(agent, compare.getLhs(), lanes),
                         b = atLane(agent, compare.getRhs(), lanes);
  if (!a || !b)
    return std::nullopt;
  return arith::applyCmpPredicate(compare.getPredicate(), APInt(64, *a, true),
                                  APInt(64, *b, true));
}

/// Whether a number grows by the same from lane to lane.
static bool isLinear(Value value) {
  Operation *def = strip(value).getDefiningOp();
  return !def || !sm::layoutOf(value.getType()) ||
         (!isa<arith::DivUIOp, arith::FloorDivSIOp>(def) &&
          llvm::all_of(def->getOperands(), isLinear));
}

namespace {

/// How a number changes from lane to lane of an axis, and its negation.
enum class Slope { None, Up, Down, Any };
Slope flipped(Slope s) {
  return s == Slope::Up ? Slope::Down : s == Slope::Down ? Slope::Up : s;
}
Slope sum(Slope a, Slope b) {
  return a == b || b == Slope::None ? a : a == Slope::None ? b : Slope::Any;
}

} // namespace

static Slope slopeOf(Value value, StringAttr axis) {
  value = strip(value);
  if (!llvm::is_contained(axisNames(value.getType()), axis))
    return Slope::None;
  Operation *def = value.getDefiningOp();
  if (!def)
    return Slope::Any;
  auto in = [&](unsigned i) { return slopeOf(def->getOperand(i), axis); };
  if (isa<sm::RangeOp>(def))
    return Slope::Up;
  if (isa<arith::AddIOp>(def))
    return sum(in(0), in(1));
  if (isa<arith::SubIOp>(def))
    return sum(in(0), flipped(in(1)));
  // The divisor is positive, and what DivUIOp divides not negative (atLane).
  if (isa<arith::DivUIOp, arith::FloorDivSIOp>(def) && in(1) == Slope::None)
    return in(0);
  return Slope::Any;
}

static bool isOrder(arith::CmpIOp compare) {
  return !llvm::is_contained(
      {arith::CmpIPredicate::eq, arith::CmpIPredicate::ne},
      compare.getPredicate());
}

/// Whether two numbers have the least and the greatest difference in corners.
static bool isExtremeInCorners(arith::CmpIOp compare) {
  return (isLinear(compare.getLhs()) && isLinear(compare.getRhs())) ||
         llvm::none_of(axisNames(compare.getType()), [&](StringAttr axis) {
           return sum(slopeOf(compare.getLhs(), axis),
                      flipped(slopeOf(compare.getRhs(), axis))) == Slope::Any;
         });
}

/// Whether an order of two such numbers is `expected` in all lanes: it is if it
/// is in all corners.
bool LaneExpressions::isEverywhere(Agent &agent, arith::CmpIOp compare,
                                   bool expected) {
  if (!isOrder(compare) || !isExtremeInCorners(compare))
    return false;
  auto tile = cast<RankedTensorType>(compare.getType());
  auto axes = axisNames(tile);
  for (uint64_t corner = 0; corner < uint64_t(1) << axes.size(); ++corner) {
    Lanes lanes;
    for (auto [i, axis] : llvm::enumerate(axes))
      lanes[axis] = corner >> i & 1 ? tile.getDimSize(i) - 1 : 0;
    if (compareAt(agent, compare, lanes) != expected)
      return false;
  }
  return true;
}

bool LaneExpressions::isTrue(Agent &agent, Value predicate) {
  predicate = strip(predicate);
  auto tile = dyn_cast<RankedTensorType>(predicate.getType());
  if (!tile)
    return known(agent, predicate).value_or(0) != 0;
  if (auto either = predicate.getDefiningOp<arith::OrIOp>())
    return isTrue(agent, either.getLhs()) || isTrue(agent, either.getRhs());
  auto compare = predicate.getDefiningOp<arith::CmpIOp>();
  if (!compare || !isOrder(compare))
    return false;
  if (isEverywhere(agent, compare, true))
    return true;
  // Where corners do not tell every lane is tried.
  if (tile.getRank() != 1 || isExtremeInCorners(compare))
    return false;
  StringAttr axis = axisNames(tile).front();
  for (int64_t lane = 0; lane < tile.getDimSize(0); ++lane)
    if (!compareAt(agent, compare, Lanes{{axis, lane}}).value_or(false))
      return false;
  return true;
}

bool LaneExpressions::isFalse(Agent &agent, Value predicate) {
  predicate = strip(predicate);
  if (!isa<RankedTensorType>(predicate.getType()))
    return known(agent, predicate) == 0;
  if (auto both = predicate.getDefiningOp<arith::AndIOp>())
    return isFalse(agent, both.getLhs()) || isFalse(agent, both.getRhs());
  auto compare = predicate.getDefiningOp<arith::CmpIOp>();
  return compare && isEverywhere(agent, compare, false);
}

bool LaneExpressions::isInside(Key start, int64_t size, Key bound,
                               Key divisor) const {
  std::optional<int64_t> from = knownOf(start), to = knownOf(bound),
                         by = knownOf(divisor);
  return from && to && by && *by > 0 && *from >= 0 &&
         (*from + size - 1) / *by < *to;
}

std::optional<int64_t> LaneExpressions::knownOf(Key key) const {
  if (nodes[key][0] != Known)
    return std::nullopt;
  return static_cast<int64_t>(nodes[key][1]);
}

std::string LaneExpressions::str(Key key) const {
  std::optional<int64_t> number = knownOf(key);
  return number ? std::to_string(*number) : "?";
}

} // namespace selvedge::verify
