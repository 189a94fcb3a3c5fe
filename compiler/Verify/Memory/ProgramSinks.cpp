// What the program says of each product and reduction of a kernel.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/ProgramSinks.h"

#include "compiler/Verify/Arithmetic/Facts.h"
#include "compiler/Verify/Arithmetic/PredicateWords.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::tile;

std::string nameOfReduction(Combine kind, StringAttr axis) {
  return (stringifyCombine(kind) + " over " + axis.getValue()).str();
}

std::string nameOfProduct(StringAttr axis) {
  return "product over " + axis.str();
}

void collectMasks(Value value, SmallVectorImpl<Value> &conditions) {
  value = strip(value);
  Operation *def = value.getDefiningOp();
  if (auto select = dyn_cast_or_null<arith::SelectOp>(def)) {
    auto absent =
        dyn_cast_or_null<FloatAttr>(constantOf(strip(select.getFalseValue())));
    bool isMask = absent && absent.getValue().isInfinity() &&
                  absent.getValue().isNegative();
    if (!isMask)
      return;
    conditions.push_back(select.getCondition());
    collectMasks(select.getTrueValue(), conditions);
  } else if (isa_and_nonnull<arith::MulFOp>(def)) {
    for (Value factor : def->getOperands())
      collectMasks(factor, conditions);
  }
}

std::string nameOfLoad(StringRef tensor) { return ("load of " + tensor).str(); }

ProgramSinks::ProgramSinks(KernelOp kernel) : kernel(kernel), names(kernel) {
  kernel.walk([&](Operation *op) {
    if (auto dot = dyn_cast<DotOp>(op)) {
      // A predicate of several axes belongs to all products together.
      if (dot.getOver().size() == 1)
        add(nameOfProduct(cast<StringAttr>(dot.getOver()[0])),
            dot.getPresence());
    } else if (auto step = dyn_cast<SoftmaxUpdateOp>(op)) {
      for (Combine kind : {Combine::Max, Combine::Add})
        add(nameOfReduction(kind, step.getOverAttr()), step.getPresence(),
            kind == Combine::Max ? step.getScores() : Value());
    } else if (auto load = dyn_cast<LoadOp>(op)) {
      if (isTile(load.getType()))
        add(nameOfLoad(tensorName(load.getTensor())), load.getPresence());
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      if (reduce.getOver().size() == 1)
        add(nameOfReduction(reduce.getKind(),
                            cast<StringAttr>(reduce.getOver()[0])),
            reduce.getPresence(),
            reduce.getKind() == Combine::Max ? reduce.getSource() : Value());
      else
        // Which of them a predicate belongs to lowering decides.
        for (auto axis : reduce.getOver().getAsRange<StringAttr>())
          sinks[nameOfReduction(reduce.getKind(), axis)].clear();
    }
  });
  // What the program itself shifts lies at several places.
  llvm::DenseMap<std::pair<Block *, StringAttr>, Value> starts;
  kernel.walk([&](RangeOp range) {
    StringAttr axis = axesOf(range.getType()).front();
    auto [known, isNew] =
        starts.try_emplace({range->getBlock(), axis}, range.getStart());
    if (!isNew && known->second != range.getStart())
      shifted.insert(axis);
  });
  auto noteSum = [&](ValueRange indices) {
    for (Value index : indices)
      if (isTile(index.getType()) &&
          isa_and_nonnull<arith::AddIOp, arith::SubIOp>(
              strip(index).getDefiningOp()))
        shifted.insert_range(axesOf(index.getType()));
  };
  kernel.walk([&](LoadOp load) { noteSum(load.getIndices()); });
  kernel.walk([&](StoreOp store) { noteSum(store.getIndices()); });
  // What a step need not test is a part of what others do.
  PredicateWords words(names);
  for (auto &[sink, presences] : sinks) {
    std::vector<std::set<std::string>> said;
    for (const Presence &presence : presences) {
      std::set<std::string> &list = said.emplace_back();
      for (Value p : presence)
        list.insert(words.of(p));
    }
    std::vector<Presence> kept;
    for (size_t i = 0; i < presences.size(); ++i) {
      bool isPart = false;
      for (size_t other = 0; other < presences.size(); ++other)
        isPart |= said[other].size() > said[i].size() &&
                  llvm::includes(said[other], said[i]);
      bool isKnown = llvm::is_contained(ArrayRef(said).take_front(i), said[i]);
      if (!isPart && !isKnown)
        kept.push_back(presences[i]);
    }
    presences = std::move(kept);
  }
}

void ProgramSinks::add(const std::string &sink, ValueRange presence,
                       Value maximised) {
  Presence &conditions = sinks[sink].emplace_back(presence);
  if (maximised)
    collectMasks(maximised, conditions);
}

std::optional<int64_t> ProgramSinks::scalarOf(Value value, Places::Number place,
                                              const Places &places,
                                              const GlobalMemory &memory,
                                              int64_t callers) const {
  if (value.getDefiningOp<IsPresentOp>())
    return 1;
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner()->getParentOp() != kernel)
    return std::nullopt;
  ProgramOp program = kernel.getProgram();
  unsigned number = argument.getArgNumber(), dims = program.getDims().size(),
           shared = program.getNumSharedArgs();
  if (number < dims)
    return memory.sizeOf(number);
  if (number >= shared) {
    auto range = cast<IterAttr>(kernel.getRanges()[number - shared]);
    auto name =
        StringAttr::get(kernel.getContext(), "@" + range.getName().getValue());
    return places.find(place, name);
  }
  if (argument.getType().isInteger())
    return callers;
  return std::nullopt;
}

std::string ProgramSinks::check(const Lanes &found, const Places &places,
                                const GlobalMemory &memory, int64_t callers,
                                LaneTiles::Scalars scalars,
                                LaneTiles::Elements elements) const {
  auto known = sinks.find(found.sink);
  if (known == sinks.end() || known->second.empty())
    return "";
  auto startOf = [&](StringAttr axis) {
    return places.find(found.place, axis);
  };
  // How many lanes along an axis of the kernel's exist.
  auto countOf = [&](StringAttr axis) -> std::optional<int64_t> {
    for (auto range : kernel.getRanges().getAsRange<IterAttr>())
      if (std::optional<int64_t> start = startOf(axis);
          start && range.getName() == axis)
        if (std::optional<int64_t> extent = memory.extentOf(range.getExtent()))
          return *extent - *start;
    return std::nullopt;
  };
  // All that a row sees is compared, of the first, middle and last row; of
  // long ones a part.
  constexpr int64_t longest = 256;
  auto lanesOf = [&](StringAttr axis) -> std::optional<SmallVector<int64_t>> {
    for (auto [name, extent] : found.axes) {
      if (name != axis)
        continue;
      if (axis != found.over) {
        int64_t last = std::min(countOf(axis).value_or(extent), extent) - 1;
        return SmallVector<int64_t>{0, extent / 2, std::max<int64_t>(0, last)};
      }
      int64_t step = extent > longest ? extent / (longest / 2) : 1;
      std::set<int64_t> lanes{extent - 1};
      for (int64_t lane = 0; lane < extent; lane += step)
        lanes.insert(lane);
      // Where a dim or a length ends.
      for (int64_t end : memory.getEnds())
        for (int64_t index : {end - 1, end})
          if (int64_t lane = index - startOf(axis).value_or(0);
              lane >= 0 && lane < extent)
            lanes.insert(lane);
      return SmallVector<int64_t>(lanes.begin(), lanes.end());
    }
    return std::nullopt;
  };
  auto programScalar = [&](Value value) {
    return scalarOf(value, found.place, places, memory, callers);
  };
  auto element = [&](Value tensor, ArrayRef<int64_t> indices) {
    return memory.elementOf(tensorName(tensor), indices);
  };
  LaneTiles here(scalars, elements), program(programScalar, element);
  here.select(lanesOf, nullptr);
  program.select(lanesOf, startOf);
  // Rows past the end contribute to nothing that is stored.
  std::vector<LaneTile> existing;
  for (auto [axis, extent] : found.axes)
    if (std::optional<int64_t> count = countOf(axis)) {
      SmallVector<int64_t> lanes = *lanesOf(axis);
      LaneTile &tile = existing.emplace_back();
      tile.axes = {axis};
      tile.extents = {static_cast<int64_t>(lanes.size())};
      tile.values.clear();
      for (int64_t lane : lanes)
        tile.values.push_back(lane < *count);
    }
  std::string wrong;
  for (const Presence &presence : known->second) {
    SmallVector<const LaneTile *> tiles;
    LaneSpace space;
    auto use = [&](const LaneTile &tile) {
      tiles.push_back(&tile);
      space.add(tile);
    };
    for (const LaneTile &tile : existing)
      use(tile);
    for (Value p : found.presence)
      use(here.of(p));
    for (Value p : presence)
      use(program.of(p));
    size_t numExisting = existing.size(),
           numHere = numExisting + found.presence.size();
    wrong.clear();
    for (LaneWalk lane(space, tiles); lane.isInside() && wrong.empty();
         lane.next()) {
      auto all = [&](size_t from, size_t to) {
        int64_t value = 1;
        for (size_t i = from; i < to; ++i) {
          if (lane.at(i) == 0)
            return int64_t(0);
          if (lane.at(i) == LaneTile::unknown)
            value = LaneTile::unknown;
        }
        return value;
      };
      int64_t isHere = all(numExisting, numHere),
              isThere = all(numHere, tiles.size());
      if (all(0, numExisting) == 0 || isHere == LaneTile::unknown ||
          isThere == LaneTile::unknown || isHere == isThere)
        continue;
      if (isThere && found.mayBeFewer)
        continue;
      wrong = isHere ? "some that the program leaves out"
                     : "some missing that the program has";
    }
    if (wrong.empty())
      return "";
  }
  return wrong;
}

} // namespace selvedge::verify
