// Where the tiles of sm, forms async and roles, lie in the program's tensors.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/Facts.h"
#include "compiler/Verify/Arithmetic/PredicateWords.h"
#include "compiler/Verify/Async/SmAsyncRules.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

using Number = Places::Number;

void SmAsyncRules::findHeldTensors() {
  auto add = [&](Value buffer, std::string tensor, std::optional<size_t> rowDim,
                 size_t colDim) {
    if (auto slot = buffer.getDefiningOp<SlotOp>())
      held[tilesOf(slot.getRing(), slot.getType())] = {std::move(tensor),
                                                       rowDim, colDim};
  };
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<TmaLoadOp>(op)) {
      auto argument = cast<BlockArgument>(load.getMap());
      auto map =
          cast<TensorMapArgAttr>(kernel.getArgs()[argument.getArgNumber()]);
      add(load.getBuffer(), map.getTensor().str(),
          load.getBuffer().getType().getRowDimension(map.getBox()),
          load.getIndices().size() - 1);
    }
    if (auto copy = dyn_cast<CopyAsyncOp>(op)) {
      auto dimOf = [&](StringAttr axis) -> size_t {
        return llvm::find_if(copy.getIndices(),
                             [&](Value index) {
                               return llvm::is_contained(
                                   axisNames(index.getType()), axis);
                             }) -
               copy.getIndices().begin();
      };
      BufferType type = copy.getBuffer().getType();
      add(copy.getBuffer(), tensorName(copy.getTensor()),
          dimOf(type.getRowAxis()), dimOf(type.getColAxis()));
    }
  });
}

LogicalResult SmAsyncRules::joinPlace(Operation *op, Number place,
                                      Number &joined) {
  StringAttr conflict;
  if (std::optional<Number> both = places.join(joined, place, conflict)) {
    joined = *both;
    return success();
  }
  return memory->refuse(op->emitOpError("expects lanes at one place of '")
                        << conflict.getValue() << "', found "
                        << *places.find(joined, conflict) << " and "
                        << *places.find(place, conflict));
}

LogicalResult SmAsyncRules::joinPlaces(Agent &agent, Operation *op,
                                       ValueRange values, Number &joined) {
  for (Value value : values)
    if (Number place = agent.values.lookup(value).place)
      if (failed(joinPlace(op, place, joined)))
        return failure();
  return success();
}

Number SmAsyncRules::placeOfIndex(Agent &agent, StringRef tensor, size_t dim,
                                  Value index) {
  if (!index.getType().isInteger())
    return agent.values.lookup(index).place;
  StringAttr name = sinks ? sinks->nameOfIndex(index.getContext(), tensor, dim)
                          : StringAttr();
  std::optional<int64_t> at = scalarOf(agent, index);
  return !name || !at ? 0 : places.of(name, *at);
}

LogicalResult SmAsyncRules::joinIndices(Agent &agent, Operation *op,
                                        StringRef tensor, ValueRange indices,
                                        Number &joined) {
  for (auto [dim, index] : llvm::enumerate(indices))
    if (failed(joinPlace(op, placeOfIndex(agent, tensor, dim, index), joined)))
      return failure();
  return success();
}

LogicalResult SmAsyncRules::joinBox(Agent &agent, Operation *op,
                                    StringRef tensor, ValueRange indices,
                                    BufferType type,
                                    std::optional<size_t> rowDim, size_t colDim,
                                    Number &joined) {
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value start = index;
    if (auto range = index.getDefiningOp<RangeOp>())
      start = range.getStart();
    StringAttr axis = dim == rowDim   ? type.getRowAxis()
                      : dim == colDim ? type.getColAxis()
                                      : StringAttr();
    std::optional<int64_t> at =
        start.getType().isInteger() ? scalarOf(agent, start) : std::nullopt;
    Number place = !axis ? placeOfIndex(agent, tensor, dim, index)
                   : at  ? placeAlong(axis, *at)
                         : 0;
    if (failed(joinPlace(op, place, joined)))
      return failure();
  }
  return success();
}

/// Of a slot that registers are written to: where its rows and columns start.
LogicalResult SmAsyncRules::joinStaged(Agent &agent, SlotOp slot,
                                       Number &joined) {
  BufferType type = slot.getType();
  for (auto [axis, start] :
       llvm::zip(ArrayRef<StringAttr>{type.getRowAxis(), type.getColAxis()},
                 slot.getIndices()))
    if (std::optional<int64_t> at = scalarOf(agent, start))
      if (failed(joinPlace(slot, placeAlong(axis, *at), joined)))
        return failure();
  return success();
}

/// The ranges of an axis that the program shifts from which predicates are
/// made: indices may begin elsewhere, but what says which lanes exist counts
/// them as the program does.
static SmallVector<RangeOp, 2> shiftedRanges(ValueRange presence,
                                             const ProgramSinks &program) {
  SmallVector<RangeOp, 2> ranges;
  SetVector<Value> made(presence.begin(), presence.end());
  for (size_t i = 0; i < made.size(); ++i) {
    Operation *def = made[i].getDefiningOp();
    if (!def || !layoutOf(made[i].getType()))
      continue;
    if (auto range = dyn_cast<RangeOp>(def)) {
      StringAttr axis = axisNames(range.getType()).front();
      if (program.isShifted(axis) && program.hasOneStart(axis))
        ranges.push_back(range);
    } else if (def->getNumRegions() == 0) {
      made.insert_range(def->getOperands());
    }
  }
  return ranges;
}

Number SmAsyncRules::withShifted(Agent &agent, Operation *op,
                                 ValueRange presence, Number place) {
  auto [known, isNew] = rangesOfPresence.try_emplace(op);
  if (isNew)
    known->second = shiftedRanges(presence, sinks->getProgram());
  llvm::MapVector<StringAttr, std::optional<int64_t>> starts;
  for (RangeOp range : known->second) {
    std::optional<int64_t> start = scalarOf(agent, range.getStart());
    auto [at, isFirst] =
        starts.insert({axisNames(range.getType()).front(), start});
    if (!isFirst && at->second != start)
      at->second = std::nullopt;
  }
  StringAttr conflict;
  for (auto [axis, start] : starts)
    if (start)
      place =
          places.join(place, places.of(axis, *start), conflict).value_or(place);
  return place;
}

static bool isMaximum(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<ReduceOp, FoldOp>(
          [](auto reduce) { return reduce.getKind() == tile::Combine::Max; })
      .Default([](Operation *) { return false; });
}

LogicalResult SmAsyncRules::checkSink(Agent &agent, Operation *op,
                                      const std::string &sink, StringAttr over,
                                      ValueRange operands, ValueRange presence,
                                      Number place) {
  if (!sinks)
    return success();
  bool isLoad = isa<LoadOp, CopyOp, CopyAsyncOp, SlotOp>(op);
  place = withShifted(agent, op, presence, place);
  ProgramSinks::Lanes lanes{sink,  over, {}, place, llvm::to_vector(presence),
                            isLoad};
  // What a mask removes is no less than what the presence says, and no more.
  if (isMaximum(op))
    collectMasks(op->getOperand(0), lanes.presence);
  auto add = [&](StringAttr axis, int64_t extent) {
    if (llvm::none_of(lanes.axes,
                      [&](const auto &known) { return known.first == axis; }))
      lanes.axes.push_back({axis, extent});
  };
  for (Value operand : operands)
    if (auto buffer = dyn_cast<BufferType>(operand.getType())) {
      for (auto [axis, extent] : buffer.getAxes())
        add(axis, extent);
    } else if (auto tile = dyn_cast<RankedTensorType>(operand.getType())) {
      for (auto [axis, extent] :
           llvm::zip_equal(axisNames(tile), tile.getShape()))
        add(axis, extent);
    }
  std::string wrong =
      sinks->check(op, operands, lanes, *memory, trial.callers.value_or(0),
                   [&](Value value) { return scalarOf(agent, value); });
  if (wrong.empty())
    return success();
  return memory->refuse(op->emitOpError("expects the lanes of the program's ")
                        << sink << ", found " << wrong << " at "
                        << places.str(place));
}

LogicalResult SmAsyncRules::checkLoad(Agent &agent, Operation *op,
                                      const std::string &tensor, Value loaded,
                                      ValueRange presence, Number place) {
  // A tile that does not exist as a whole is loaded ahead of what needs it.
  for (Value p : presence)
    if (p.getType().isInteger() && scalarOf(agent, p).value_or(0) == 0)
      return success();
  return checkSink(agent, op, nameOfLoad(tensor),
                   axisNames(loaded.getType()).front(), loaded, presence,
                   place);
}

LogicalResult SmAsyncRules::noteExecuted(Agent &agent, Operation *op,
                                         const SinkUse &use, Number place) {
  Value source = use.sources.front();
  sinks->noteExecuted(op, source, place);
  // One of the arms between which data decide.
  if (llvm::any_of(agent.frames, [](const Agent::Frame &frame) {
        return frame.arm != Agent::Frame::OneArm;
      }))
    return success();
  if (sinks->countExecuted(op, source, place, agent.actor))
    return success();
  return memory->refuse(op->emitOpError("expects the lanes of the program's ")
                        << use.name << " once, found them again at "
                        << places.str(place));
}

bool SmAsyncRules::isNowhere(Agent &agent, Value predicate) {
  if (predicate.getType().isInteger())
    return scalarOf(agent, predicate).value_or(0) == 0;
  // Those of rows take little work.
  if (axisNames(predicate.getType()).size() != 1)
    return false;
  return withLanes(agent, [&](LaneTiles &lanes) {
    bool isNowhere = llvm::all_of(lanes.of(predicate).values,
                                  [](int64_t value) { return value == 0; });
    memory->addWork(lanes.getWork());
    return isNowhere;
  });
}

LogicalResult SmAsyncRules::followStore(Operation *op, Value stored,
                                        const std::string &tensor,
                                        Number place) {
  if (!sinks)
    return success();
  sinks->noteStored(op, stored, tensor, place);
  std::string wrong = sinks->checkStored(stagedBefore(op, stored), tensor);
  return wrong.empty() ? success() : memory->refuse(op->emitOpError(wrong));
}

LogicalResult SmAsyncRules::follow(Agent &agent, Operation *op) {
  auto set = [&](Value value, Number place) {
    if (place != 0 || agent.values.lookup(value).place != 0)
      agent.values[value].place = place;
    return success();
  };
  Number place = 0;
  /// A product or reduction: its operands agree, and what is left of them is
  /// the result's.
  auto sink = [&](const SinkUse &use, bool isChecked) -> LogicalResult {
    if (failed(joinPlaces(agent, op, use.sources, place)))
      return failure();
    if (sinks && failed(noteExecuted(agent, op, use, place)))
      return failure();
    if ((isChecked && failed(checkSink(agent, op, use.name, use.over,
                                       use.sources, use.presence, place))) ||
        failed(joinPlaces(agent, op, use.presence, place)))
      return failure();
    place = places.without(place, use.over);
    return success();
  };
  auto isTile = [](Value value) {
    return layoutOf(value.getType()) != nullptr;
  };
  auto plain = [&]() -> LogicalResult {
    if (op->getNumResults() == 0 || llvm::none_of(op->getResults(), isTile))
      return success();
    if (failed(joinPlaces(agent, op, op->getOperands(), place)))
      return failure();
    for (Value result : op->getResults())
      (void)set(result, place);
    return success();
  };
  // Most of what is executed is arithmetic.
  if (op->getDialect() != kernel->getDialect())
    return plain();
  // A product that lags has its demand where its operand is made.
  auto isDemanded = [&](ValueRange presence) {
    return !memberOf(agent).role || !presence.empty();
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](RangeOp range) {
        std::optional<int64_t> start = scalarOf(agent, range.getStart());
        StringAttr axis = axisNames(range.getType()).front();
        return set(range, start ? placeAlong(axis, *start) : 0);
      })
      .Case([&](LoadOp load) {
        if (!isTile(load))
          return success();
        if (failed(joinIndices(agent, op, tensorName(load.getTensor()),
                               load.getIndices(), place)) ||
            failed(joinPlaces(agent, op, load.getPresence(), place)) ||
            failed(checkLoad(agent, op, tensorName(load.getTensor()), load,
                             load.getPresence(), place)))
          return LogicalResult(failure());
        return set(load, place);
      })
      .Case<CopyOp, CopyAsyncOp>([&](auto copy) {
        if (failed(joinIndices(agent, op, tensorName(copy.getTensor()),
                               copy.getIndices(), place)) ||
            failed(joinPlaces(agent, op, copy.getPresence(), place)) ||
            failed(checkLoad(agent, op, tensorName(copy.getTensor()),
                             copy.getBuffer(), copy.getPresence(), place)))
          return LogicalResult(failure());
        return set(copy.getBuffer(), place);
      })
      .Case([&](StoreOp store) {
        std::string tensor = tensorName(store.getTensor());
        if (failed(joinIndices(agent, op, tensor, store.getIndices(), place)) ||
            failed(joinPlaces(agent, op, store.getPresence(), place)) ||
            failed(joinPlaces(agent, op, store.getValue(), place)))
          return LogicalResult(failure());
        // A tile that does not exist as a whole may have been left out.
        if (llvm::any_of(store.getPresence(),
                         [&](Value p) { return isNowhere(agent, p); }))
          return success();
        return followStore(op, store.getValue(), tensor, place);
      })
      .Case([&](SlotOp slot) {
        auto tensor = held.find(tilesOf(slot.getRing(), slot.getType()));
        if (slot.getIndices().empty())
          return success();
        if (tensor == held.end())
          return succeeded(joinStaged(agent, slot, place))
                     ? set(slot, place)
                     : LogicalResult(failure());
        if (failed(joinBox(agent, op, tensor->second.tensor, slot.getIndices(),
                           slot.getType(), tensor->second.rowDim,
                           tensor->second.colDim, place)) ||
            failed(checkLoad(agent, op, tensor->second.tensor, slot,
                             slot.getPresence(), place)))
          return LogicalResult(failure());
        return set(slot, place);
      })
      .Case([&](TmaStoreOp store) {
        auto argument = cast<BlockArgument>(store.getMap());
        auto map =
            cast<TensorMapArgAttr>(kernel.getArgs()[argument.getArgNumber()]);
        BufferType type = store.getBuffer().getType();
        if (failed(joinBox(agent, op, map.getTensor(), store.getIndices(), type,
                           type.getRowDimension(map.getBox()),
                           store.getIndices().size() - 1, place)) ||
            failed(joinPlaces(agent, op, store.getBuffer(), place)))
          return LogicalResult(failure());
        return followStore(op, store.getBuffer(), map.getTensor().str(), place);
      })
      .Case([&](PanelOp panel) {
        Number whole = agent.values.lookup(panel.getBuffer()).place;
        std::optional<int64_t> number = scalarOf(agent, panel.getNumber());
        BufferType type = panel.getType();
        return set(panel, number ? places.shifted(whole, type.getColAxis(),
                                                  *number * type.getCols())
                                 : places.without(whole, type.getColAxis()));
      })
      .Case<StageOp, StageFragmentOp>([&](auto stage) {
        // What a slot is said to hold is what is written there.
        auto slot = stage.getBuffer().template getDefiningOp<SlotOp>();
        if (slot && !slot.getIndices().empty())
          place = agent.values.lookup(slot).place;
        if (failed(joinPlaces(agent, op, stage.getSource(), place)))
          return LogicalResult(failure());
        return set(stage.getBuffer(), place);
      })
      .Case([&](ReadOp read) {
        return set(read, agent.values.lookup(read.getBuffer()).place);
      })
      .Case([&](ColumnsOp columns) {
        return set(columns, places.shifted(
                                agent.values.lookup(columns.getSource()).place,
                                columns.getOverAttr(),
                                static_cast<int64_t>(columns.getFrom())));
      })
      .Case<ReduceOp, FoldOp, MmaOp>([&](auto made) -> LogicalResult {
        for (const SinkUse &use : sinksOf(op))
          if (failed(sink(use, !isa<MmaOp>(op) || isDemanded(use.presence))))
            return failure();
        if (auto mma = dyn_cast<MmaOp>(op))
          if (failed(joinPlaces(agent, op, mma.getInit(), place)))
            return failure();
        return set(made, place);
      })
      .Case([&](ContributesOp) {
        return sink(sinksOf(op).front(), /*isChecked=*/true);
      })
      .Case([&](WgmmaOp product) -> LogicalResult {
        for (const SinkUse &use : sinksOf(op))
          if (failed(sink(use, isDemanded(use.presence))))
            return failure();
        if (product.getInit() &&
            failed(joinPlaces(agent, op, product.getInit(), place)))
          return failure();
        return set(product.getResult(), place);
      })
      .Default([&](Operation *) { return plain(); });
}

} // namespace selvedge::verify
