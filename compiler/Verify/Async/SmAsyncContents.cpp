// Which tile a slot holds, and which of its elements exist.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/Facts.h"
#include "compiler/Verify/Async/SmAsyncRules.h"

#include "llvm/Support/MathExtras.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

using Key = LaneExpressions::Key;
using Condition = Contents::Condition;

/// Predicates that are the same for all lanes.
static SmallVector<Value> scalarsOf(ValueRange presence) {
  return llvm::filter_to_vector(presence,
                                [](Value p) { return !layoutOf(p.getType()); });
}

static SmallVector<Condition> conditionsOf(LaneExpressions &expressions,
                                           Agent &agent, ValueRange presence,
                                           ArrayRef<int64_t> garbage = {}) {
  SmallVector<Condition> result;
  SmallVector<Value> scalars = scalarsOf(presence);
  for (auto [i, p] : llvm::enumerate(presence)) {
    bool isAny = llvm::is_contained(garbage, static_cast<int64_t>(i));
    conjuncts(p, [&](Value part) {
      Key key = expressions.of(agent, part, scalars);
      result.push_back({key, part, expressions.isTrue(agent, part), isAny});
    });
  }
  return result;
}

/// The first element of a tile that is there; none where an index is gathered.
static SmallVector<Key> startOf(LaneExpressions &expressions, Agent &agent,
                                ValueRange indices, ValueRange presence) {
  SmallVector<Key> result;
  SmallVector<Value> scalars = scalarsOf(presence);
  for (Value index : indices) {
    if (auto range = index.getDefiningOp<RangeOp>())
      index = range.getStart();
    if (!index.getType().isInteger())
      return {};
    result.push_back(expressions.of(agent, index, scalars));
  }
  return result;
}

static std::optional<Slot> slotOfBuffer(Agent &agent, Value buffer) {
  Tracked tracked = agent.values.lookup(buffer);
  return tracked.kind == Tracked::Kind::Buffer && tracked.stage >= 0
             ? std::optional(Slot{tracked.id, tracked.stage})
             : std::nullopt;
}

void SmAsyncRules::overwrite(Agent &agent, Value buffer) {
  if (std::optional<Slot> slot = slotOfBuffer(agent, buffer))
    contents.erase(*slot);
}

void SmAsyncRules::fill(Agent &agent, Value buffer, ValueRange indices,
                        ValueRange presence, ArrayRef<int64_t> garbage,
                        Operation *op) {
  std::optional<Slot> slot = slotOfBuffer(agent, buffer);
  // Buffers of their own are filled and read in program order.
  if (!slot || !buffer.getDefiningOp<SlotOp>() || memberOf(agent).warp != 0)
    return;
  Contents filled{startOf(expressions, agent, indices, presence),
                  conditionsOf(expressions, agent, presence, garbage),
                  {},
                  op};
  for (const Condition &condition : filled.presence)
    if (!condition.isAny)
      filled.zeros.push_back(condition.key);
  filled.tile = cast<BufferType>(buffer.getType());
  contents[*slot] = std::move(filled);
}

std::optional<Key> SmAsyncRules::dimArgument(Agent &agent, Attribute name) {
  for (auto [attr, argument] :
       llvm::zip_equal(kernel.getArgs(), kernel.getBody().getArguments()))
    if (auto given = dyn_cast<DimArgAttr>(attr);
        given && given.getDim() == name)
      return expressions.of(agent, argument);
  return {};
}

std::optional<Key> SmAsyncRules::extentOfTensor(Agent &agent, StringAttr tensor,
                                                size_t dim) {
  if (!launch)
    launch = launchOf(kernel);
  AffineExpr extent = launch ? extentOf(launch, tensor, dim) : AffineExpr();
  if (auto number = dyn_cast_or_null<AffineConstantExpr>(extent))
    return expressions.constant(number.getValue());
  auto symbol = dyn_cast_or_null<AffineSymbolExpr>(extent);
  if (!symbol)
    return {};
  return dimArgument(
      agent, launch->getParentOfType<PlanOp>().getDims()[symbol.getPosition()]);
}

bool SmAsyncRules::beginsWithPair(Agent &agent, Operation *op, Value map,
                                  ValueRange indices, BufferType type) {
  auto argument = dyn_cast<BlockArgument>(map);
  auto attr = argument ? dyn_cast<TensorMapArgAttr>(
                             kernel.getArgs()[argument.getArgNumber()])
                       : TensorMapArgAttr();
  PairsAttr pairs = attr ? attr.getPairs() : PairsAttr();
  if (!pairs)
    return true;
  if (!llvm::isPowerOf2_64(type.getRows())) {
    op->emitOpError("expects a power of two as the rows of a box of pairs, "
                    "found ")
        << type.getRows();
    return false;
  }
  Key start = expressions.of(agent, indices[pairs.getOuter()]);
  std::optional<int64_t> first = expressions.knownOf(start);
  if (first && *first % type.getRows() == 0)
    return true;
  op->emitOpError("expects a box of pairs to begin at a multiple of its ")
      << type.getRows() << " rows, found " << expressions.str(start) << " ("
      << agent.where().str() << ")";
  return false;
}

/// Zeros arrive beyond the tensor's extents, and nowhere else.
void SmAsyncRules::fillByTma(Agent &agent, TmaLoadOp op) {
  std::optional<Slot> slot = slotOfBuffer(agent, op.getBuffer());
  auto map = dyn_cast<BlockArgument>(op.getMap());
  if (!slot || !map)
    return;
  Contents filled{
      startOf(expressions, agent, op.getIndices(), op.getPresence()),
      conditionsOf(expressions, agent, op.getPresence()),
      {},
      op};
  BufferType type = op.getBuffer().getType();
  auto box = cast<TensorMapArgAttr>(kernel.getArgs()[map.getArgNumber()]);
  std::optional<size_t> rowDim = type.getRowDimension(box.getBox());
  for (auto [dim, start] : llvm::enumerate(op.getIndices())) {
    bool isLast = dim + 1 == op.getIndices().size();
    std::optional<Key> extent = extentOfTensor(agent, box.getTensor(), dim);
    if (!extent)
      continue;
    // One place: all of a box that lies outside.
    if (!isLast && dim != rowDim) {
      filled.zeros.append({expressions.lessThan(filled.indices[dim], *extent),
                           expressions.isAtLeastZero(filled.indices[dim])});
      continue;
    }
    Key index = expressions.lane(isLast ? type.getColAxis() : type.getRowAxis(),
                                 filled.indices[dim]);
    Key divisor = expressions.constant(1);
    if (PairsAttr pairs = box.getPairs();
        pairs && static_cast<size_t>(pairs.getOuter()) == dim) {
      std::optional<Key> by = dimArgument(agent, pairs.getBy());
      if (!by)
        continue;
      divisor = *by;
      index = expressions.quotient(index, divisor);
    }
    Key key = expressions.lessThan(index, *extent);
    filled.zeros.push_back(key);
    bool isKnown = llvm::any_of(
        filled.presence, [&](const Condition &c) { return c.key == key; });
    int64_t size = isLast ? type.getCols() : type.getRows();
    if (!isKnown &&
        !expressions.isInside(filled.indices[dim], size, *extent, divisor))
      filled.presence.push_back({key, Value()});
  }
  filled.tile = type;
  contents[*slot] = std::move(filled);
}

void SmAsyncRules::clear(Agent &agent, ClearOp op) {
  std::optional<Slot> slot = slotOfBuffer(agent, op.getBuffer());
  auto held = slot ? contents.find(*slot) : contents.end();
  if (held == contents.end())
    return;
  for (const Condition &condition :
       conditionsOf(expressions, agent, op.getPresence()))
    if (!llvm::is_contained(held->second.zeros, condition.key))
      held->second.zeros.push_back(condition.key);
}

void SmAsyncRules::claim(Agent &agent, SlotOp op) {
  // The warps of a warpgroup read the same.
  if (op.getIndices().empty() || memberOf(agent).warp != 0)
    return;
  memberOf(agent).claims[op] = {
      startOf(expressions, agent, op.getIndices(), op.getPresence()),
      conditionsOf(expressions, agent, op.getPresence(), op.getGarbage())};
}

static std::string list(const LaneExpressions &expressions,
                        ArrayRef<Key> keys) {
  return "[" +
         llvm::join(llvm::map_range(
                        keys, [&](Key key) { return expressions.str(key); }),
                    ", ") +
         "]";
}

/// Whether both are tiles along the same axes: of the same tensor, then.
static bool hasSameAxes(BufferType a, BufferType b) {
  return a.getRowAxis() == b.getRowAxis() && a.getColAxis() == b.getColAxis();
}

Progress SmAsyncRules::checkContents(Agent &agent, Operation *op,
                                     Value buffer) {
  auto said = memberOf(agent).claims.find(buffer);
  std::optional<Slot> slot = slotOfBuffer(agent, buffer);
  if (!slot)
    return Progress::Advanced;
  auto held = contents.find(*slot);
  auto report = [&](const Twine &expected, const Twine &found,
                    Value predicate) {
    InFlightDiagnostic error = op->emitOpError("expects ")
                               << nameOf(*slot) << " to hold " << expected
                               << ", found " << found << " ("
                               << agent.where().str() << ")";
    if (predicate)
      error.attachNote(predicate.getLoc()) << "by this predicate";
    if (held != contents.end() && held->second.filledBy)
      error.attachNote(held->second.filledBy->getLoc()) << "it was filled here";
    attachNotes(error, rings[slot->buffer]);
    return Progress::Failed;
  };
  auto type = cast<BufferType>(buffer.getType());
  if (held != contents.end() && !hasSameAxes(held->second.tile, type))
    return report("a tile along '" + type.getRowAxis().getValue() + "' and '" +
                      type.getColAxis().getValue() + "'",
                  "one along '" + held->second.tile.getRowAxis().getValue() +
                      "' and '" + held->second.tile.getColAxis().getValue() +
                      "'",
                  {});
  if (said == memberOf(agent).claims.end())
    return Progress::Advanced;
  const Contents &meant = said->second;
  std::string at = list(expressions, meant.indices);
  if (held == contents.end())
    return report("the tile at " + at, "that no copy brought one", {});
  const Contents &is = held->second;
  if (is.indices != meant.indices)
    return report("the tile at " + at,
                  "that at " + list(expressions, is.indices), {});
  auto isSaid = [&](const Condition &condition) {
    return llvm::any_of(meant.presence, [&](const Condition &other) {
      return other.key == condition.key;
    });
  };
  // A tile that does not exist as a whole has no place in the loop.
  auto isScalar = [](const Condition &condition) {
    return condition.predicate && !layoutOf(condition.predicate.getType());
  };
  for (const Condition &condition : is.presence)
    if (!condition.isTrue && !isScalar(condition) && !isSaid(condition))
      return report("elements of which all that are read exist",
                    "some that the copy knows to be absent",
                    condition.predicate);
  for (const Condition &condition : meant.presence)
    if (!condition.isTrue && !condition.isAny &&
        !llvm::is_contained(is.zeros, condition.key))
      return report("zero at elements that do not exist",
                    "what the copy brought", condition.predicate);
  return Progress::Advanced;
}

} // namespace selvedge::verify
