// Loads, stores and copies in verify-sm-padding.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Sm/SmPadding.h"
#include "dialect/Tile/Accumulate.h"

#include "compiler/Verify/Arithmetic/LayoutCoverage.h"
#include "compiler/Verify/Async/Trials.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

LogicalResult SmPadding::checkIndices(Operation *op, ValueRange indices,
                                      ValueRange presence) {
  for (Value index : indices)
    for (const Fact &fact : of(index)) {
      if (fact.origin != Origin::Absent || isExcluded(presence, fact))
        continue;
      // Where a step of a loop begins may depend on a number that does not
      // exist, as the loop's bounds do: it loads other data, no garbage. That a
      // load has the program's predicates verify-sm-demands proves.
      bool isStep = axisNames(fact.predicate.getType()).empty() &&
                    fact.state != State::Garbage;
      auto access = dyn_cast<tile::TensorAccessOpInterface>(op);
      if (isStep && !(access && access.isStore()))
        continue;
      return refuse(op, fact.predicate,
                    "a presence that excludes the absent lanes of the indices");
    }
  return success();
}

bool SmPadding::isExcluded(ValueRange presence, const Fact &fact) const {
  if (excludes(presence, fact))
    return true;
  bool isFalse = false;
  for (Value p : presence)
    conjuncts(p, [&](Value part) {
      isFalse |= llvm::any_of(of(part), [&](const Fact &known) {
        return known.origin == Origin::Absent && known.state == State::Zero &&
               known.isTotal() && isSame(known.predicate, fact.predicate);
      });
    });
  return isFalse;
}

Facts SmPadding::absentLanes(ValueRange presence, ArrayRef<int64_t> garbage) {
  Facts result;
  for (auto [i, p] : llvm::enumerate(presence)) {
    bool isAny = llvm::is_contained(garbage, static_cast<int64_t>(i));
    State state = isAny ? State::Garbage : State::Zero;
    conjuncts(p, [&](Value part) {
      addFact(result, {part, state});
      // It is false wherever that of which it is made does not exist.
      if (!isAny)
        for (const Fact &fact : of(part))
          if (fact.origin == Origin::Absent && fact.state == State::Zero &&
              fact.isTotal())
            addFact(result, {fact.predicate, State::Zero});
    });
  }
  return result;
}

LogicalResult SmPadding::visitLoad(LoadOp load, bool check) {
  facts[load] = absentLanes(load.getPresence());
  if (!check)
    return success();
  return success(
      succeeded(checkIndices(load, load.getIndices(), load.getPresence())) &&
      succeeded(checkVector(load, load.getIndices(), load.getVector())));
}

LogicalResult SmPadding::checkStore(StoreOp store) {
  return success(
      succeeded(
          demandPresent(store, store.getValue(), store.getPresence(),
                        "a presence that excludes the value's absent lanes")) &&
      succeeded(checkIndices(store, store.getIndices(), store.getPresence())) &&
      succeeded(checkVector(store, store.getIndices(), store.getVector())));
}

template <typename Copy>
LogicalResult SmPadding::visitCopy(Copy copy, bool check) {
  memory[copy.getBuffer()] = absentLanes(copy.getPresence(), copy.getGarbage());
  if (!check)
    return success();
  for (Value operand : llvm::concat<Value>(llvm::to_vector(copy.getIndices()),
                                           llvm::to_vector(copy.getPresence())))
    if (LayoutAttr layout = layoutOf(operand.getType()))
      for (AxisLayoutAttr axis : layout.getAxes())
        if (!llvm::is_contained(copy.getLayout().getAxes(), axis))
          return copy.emitOpError("expects indices and presence laid out "
                                  "as 'layout', but got ")
                 << axis;
  return success(
      succeeded(checkTarget(copy, copy.getBuffer(), copy.getLayout())) &&
      succeeded(checkIndices(copy, copy.getIndices(), copy.getTested())) &&
      succeeded(checkVector(copy, copy.getIndices(), copy.getVector())));
}

template LogicalResult SmPadding::visitCopy(CopyOp copy, bool check);
template LogicalResult SmPadding::visitCopy(CopyAsyncOp copy, bool check);

/// Whether `op` stands behind an operation that says that `predicate` is true
/// in all lanes, which verify-sm-async demands.
static bool isClaimed(Operation *op, Value predicate) {
  for (; !isa<KernelOp>(op); op = op->getParentOp())
    for (auto whole : op->getBlock()->getOps<WholeOp>())
      if (whole->isBeforeInBlock(op) &&
          llvm::any_of(whole.getPresence(), [&](Value p) {
            bool isSaid = false;
            conjuncts(p,
                      [&](Value part) { isSaid |= isSame(part, predicate); });
            return isSaid;
          }))
        return true;
  return false;
}

/// A slot that says what it holds is read by others, too: what is written there
/// must be zero where it says so, and may lack no other lanes.
LogicalResult SmPadding::checkMeant(StageOp stage, SlotOp slot) {
  const Facts &source = of(stage.getSource());
  SmallVector<Value> meant;
  for (auto [i, p] : llvm::enumerate(slot.getPresence())) {
    bool isAny = llvm::is_contained(slot.getGarbage(), static_cast<int64_t>(i));
    Value wrong;
    conjuncts(p, [&](Value part) {
      meant.push_back(part);
      if (!isAny && stateAt(source, part) != State::Zero &&
          !isClaimed(stage, part))
        wrong = part;
    });
    if (wrong)
      return refuse(stage, wrong, "zero at lanes that the slot does not have");
  }
  for (const Fact &fact : source)
    if (fact.origin == Origin::Absent && !excludes(meant, fact))
      return refuse(stage, fact.predicate,
                    "a slot that says which lanes of the tile are absent");
  return success();
}

LogicalResult SmPadding::visitStage(StageOp stage, bool check) {
  auto slot = stage.getBuffer().getDefiningOp<SlotOp>();
  bool isMeant = slot && !slot.getIndices().empty();
  if (!isMeant)
    memory[stage.getBuffer()] = Facts(of(stage.getSource()));
  described.insert(stage.getBuffer());
  if (!check)
    return success();
  if (isMeant && failed(checkMeant(stage, slot)))
    return failure();
  return checkTarget(stage, stage.getBuffer(),
                     layoutOf(stage.getSource().getType()));
}

void SmPadding::visitSlot(SlotOp slot) {
  memory[slot] = absentLanes(slot.getPresence(), slot.getGarbage());
  if (!slot.getIndices().empty())
    described.insert(slot);
}

LogicalResult SmPadding::visitRead(ReadOp read, bool check) {
  auto known = memory.find(read.getBuffer());
  facts[read] = known == memory.end() ? Facts() : Facts(known->second);
  if (check && !described.contains(read.getBuffer()))
    return read.emitOpError("expects a buffer that says which of its elements "
                            "exist, but got ")
           << read.getBuffer();
  return success();
}

LogicalResult SmPadding::visitPanel(PanelOp panel, bool check) {
  Value whole = panel.getBuffer();
  auto known = memory.find(whole);
  if (known == memory.end())
    return success();
  Facts facts = known->second;
  if (check)
    for (const Fact &fact : facts)
      if (mentions(fact.predicate, panel.getType().getColAxis()))
        return refuse(panel, fact.predicate,
                      "a buffer of which all columns exist");
  memory[panel] = facts;
  if (described.contains(whole))
    described.insert(panel);
  return success();
}

/// The part of a predicate that `columns` takes; the predicate where it knows
/// nothing of that axis, null where it is no expression of it.
static Value columnsOf(Value predicate, ColumnsOp columns, Block &into) {
  if (!mentions(predicate, columns.getOverAttr()))
    return predicate;
  Operation *def = predicate.getDefiningOp();
  if (!def || !isStable(def))
    return {};
  IRMapping operands;
  for (Value operand : def->getOperands()) {
    Value part = columnsOf(operand, columns, into);
    if (!part)
      return {};
    operands.map(operand, part);
  }
  OpBuilder b(def->getContext());
  b.setInsertionPointToEnd(&into);
  Operation *clone = b.clone(*def, operands);
  auto type = cast<RankedTensorType>(predicate.getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<AxisLayoutAttr> axes(layoutOf(type).getAxes());
  LayoutAttr cut = layoutOf(columns.getType());
  int64_t position = cut.indexOf(columns.getOverAttr());
  for (auto [axis, extent] : llvm::zip_equal(axes, shape))
    if (axis.getName() == columns.getOverAttr()) {
      axis = cut.getAxes()[position];
      extent = cast<RankedTensorType>(columns.getType()).getDimSize(position);
    }
  auto part = RankedTensorType::get(shape, type.getElementType(),
                                    LayoutAttr::get(b.getContext(), axes));
  clone->getResult(0).setType(part);
  if (auto constant = dyn_cast<arith::ConstantOp>(clone))
    constant.setValueAttr(
        cast<DenseElementsAttr>(constant.getValue()).resizeSplat(part));
  if (auto range = dyn_cast<RangeOp>(clone); range && columns.getFrom() != 0) {
    b.setInsertionPoint(range);
    Value from =
        arith::ConstantIntOp::create(b, def->getLoc(), columns.getFrom(), 32);
    range.getStartMutable().assign(
        arith::AddIOp::create(b, def->getLoc(), range.getStart(), from));
  }
  return clone->getResult(0);
}

void SmPadding::visitColumns(ColumnsOp columns) {
  Facts result;
  for (Fact fact : of(columns.getSource())) {
    if (Value part = columnsOf(fact.predicate, columns, renamed))
      fact.predicate = part;
    addFact(result, fact);
  }
  facts[columns] = result;
}

/// A sum without what adds nothing.
static Value withoutZero(Value v) {
  auto sum = v.getDefiningOp<arith::AddIOp>();
  return sum && matchPattern(sum.getRhs(), m_Zero()) ? sum.getLhs() : v;
}

LogicalResult SmPadding::checkTarget(Operation *op, Value buffer,
                                     LayoutAttr layout) {
  constexpr int64_t warpgroupWarps = 4;
  auto type = cast<BufferType>(buffer.getType());
  bool isSlot = buffer.getDefiningOp<SlotOp>() != nullptr;
  if ((!isSlot && !buffer.getDefiningOp<AllocOp>()) || type.getStages() != 1)
    return op->emitOpError("expects a buffer of its own or one stage of a "
                           "ring, but got ")
           << type;
  return checkCoverage(op, layout, type,
                       op->getParentOfType<RoleOp>() ? warpgroupWarps
                                                     : kernel.getWarps());
}

/// Whether zero may be added to lanes that the program leaves out: it may
/// change the sign of another zero, which nobody sees in a temp.
static bool addsToTemp(TmaStoreOp store, KernelOp kernel) {
  LaunchOp launch = launchOf(kernel);
  if (!launch || !tile::addsToMemory(store))
    return false;
  auto map = cast<TensorMapArgAttr>(
      kernel.getArgs()[cast<BlockArgument>(store.getMap()).getArgNumber()]);
  auto plan = launch->getParentOfType<PlanOp>();
  return llvm::any_of(plan.getTensors().getAsRange<tile::TensorArgAttr>(),
                      [&](tile::TensorArgAttr tensor) {
                        return tensor.getName() == map.getTensor() &&
                               tensor.getRole() == tile::Role::Temp;
                      });
}

LogicalResult SmPadding::checkTmaStore(TmaStoreOp store) {
  auto staged = memory.find(store.getBuffer());
  if (staged == memory.end() || !described.contains(store.getBuffer()))
    return store.emitOpError("expects a buffer that every path has written in "
                             "this iteration, but got ")
           << store.getBuffer();
  auto addsNothing = [&](const Fact &fact) {
    return fact.state == State::Zero && addsToTemp(store, kernel);
  };
  for (const Fact &fact : staged->second)
    if (fact.origin == Origin::Absent && !addsNothing(fact) &&
        !isClipped(store, fact.predicate) && !isClaimed(store, fact.predicate))
      return refuse(store, fact.predicate,
                    "absent lanes of the value to lie outside of the tensor");
  return checkIndices(store, store.getIndices(), {});
}

bool SmPadding::isDim(Value value, Attribute name) {
  auto argument = dyn_cast<BlockArgument>(strip(value));
  if (!argument || argument.getOwner() != &kernel.getBody().front())
    return false;
  auto given = dyn_cast<DimArgAttr>(kernel.getArgs()[argument.getArgNumber()]);
  return given && given.getDim() == name;
}

bool SmPadding::isClipped(TmaStoreOp store, Value predicate) {
  auto compare = strip(predicate).getDefiningOp<arith::CmpIOp>();
  LaunchOp launch = launchOf(kernel);
  if (!compare || !launch ||
      compare.getPredicate() != arith::CmpIPredicate::slt)
    return false;
  Value index = strip(compare.getLhs()), bound = strip(compare.getRhs());
  auto map = cast<TensorMapArgAttr>(
      kernel.getArgs()[cast<BlockArgument>(store.getMap()).getArgNumber()]);
  auto quotient = index.getDefiningOp<arith::DivUIOp>();
  PairsAttr pairs = quotient ? map.getPairs() : PairsAttr();
  if (quotient) {
    if (!pairs || !isDim(quotient.getRhs(), pairs.getBy()))
      return false;
    index = strip(quotient.getLhs());
  }
  auto range = index.getDefiningOp<RangeOp>();
  if (!range)
    return false;
  BufferType type = store.getBuffer().getType();
  StringAttr axis = axisNames(range.getType()).front();
  for (auto [dim, index] : llvm::enumerate(store.getIndices())) {
    bool isLast = dim + 1 == store.getIndices().size();
    StringAttr stored = isLast ? type.getColAxis()
                        : type.getRowDimension(map.getBox()) == dim
                            ? type.getRowAxis()
                            : StringAttr();
    AffineExpr extent = extentOf(launch, map.getTensor(), dim);
    // What the tensor map divides is the predicate's quotient, and no other.
    bool isPair =
        map.getPairs() && static_cast<size_t>(map.getPairs().getOuter()) == dim;
    if (stored != axis || !extent || isPair != static_cast<bool>(pairs) ||
        !isSame(range.getStart(), withoutZero(index)))
      continue;
    if (auto number = dyn_cast<AffineConstantExpr>(extent)) {
      auto constant = bound.getDefiningOp<arith::ConstantIntOp>();
      return constant && constant.value() == number.getValue();
    }
    auto symbol = dyn_cast<AffineSymbolExpr>(extent);
    return symbol && isDim(bound, launch->getParentOfType<PlanOp>()
                                      .getDims()[symbol.getPosition()]);
  }
  return false;
}

} // namespace selvedge::verify
