// What the program says of each product and reduction of a kernel.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/ProgramSinks.h"

#include "compiler/Verify/Arithmetic/Facts.h"
#include "compiler/Verify/Arithmetic/PredicateWords.h"
#include "compiler/Verify/Async/LaunchTrials.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"
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

/// A product that tensor cores do not take becomes a sum.
static std::string keyOf(StringRef sink) {
  bool isProduct = sink.consume_front("product");
  return ((isProduct ? "add" : "") + sink).str();
}

ProgramSinks::ProgramSinks(KernelOp kernel, bool hasParts)
    : kernel(kernel), names(kernel), tensors(kernel), hasParts(hasParts) {
  kernel.walk([&](Operation *op) {
    if (auto dot = dyn_cast<DotOp>(op)) {
      for (auto axis : dot.getOver().getAsRange<StringAttr>())
        add(op, axis, nameOfProduct(axis), {dot.getLhs(), dot.getRhs()},
            dot.getOver().size() == 1 ? std::optional(dot.getPresence())
                                      : std::nullopt);
    } else if (auto step = dyn_cast<SoftmaxUpdateOp>(op)) {
      StringAttr axis = step.getOverAttr();
      add(op, axis, nameOfReduction(Combine::Max, axis), step.getScores(),
          step.getPresence(), step.getScores());
      add(op, axis, nameOfReduction(Combine::Add, axis), step.getWeights(),
          step.getPresence());
    } else if (auto load = dyn_cast<LoadOp>(op)) {
      if (isTile(load.getType()))
        add(op, {}, nameOfLoad(tensorName(load.getTensor())), {},
            load.getPresence());
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      for (auto axis : reduce.getOver().getAsRange<StringAttr>())
        add(op, axis, nameOfReduction(reduce.getKind(), axis),
            reduce.getSource(),
            reduce.getOver().size() == 1 ? std::optional(reduce.getPresence())
                                         : std::nullopt,
            reduce.getKind() == Combine::Max ? reduce.getSource() : Value());
    }
  });
  findShifted();
  if (hasParts)
    dropParts();
  for (auto &[name, all] : sinks)
    for (Sink &sink : all)
      findPlaces(sink);
  addStores();
}

/// Whether the regions around it are loops along an axis.
static bool isLoopedAlong(Operation *op, StringAttr axis) {
  for (Operation *at = op->getParentOp(); !isa<KernelOp>(at);
       at = at->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(at);
    if (!loop ||
        llvm::none_of(loop.getInductionVar().getUsers(), [&](Operation *user) {
          auto range = dyn_cast<RangeOp>(user);
          return range && llvm::is_contained(axesOf(range.getType()), axis);
        }))
      return false;
  }
  return true;
}

void ProgramSinks::add(Operation *op, StringAttr over, const std::string &name,
                       ValueRange sources, std::optional<ValueRange> presence,
                       Value maximised) {
  Sink sink{.sources = tensors.of(sources),
            .tileSources = tensors.ofTiles(sources),
            .anySide = tensors.ofAnySide(sources),
            .withoutSteps = isa<ReduceOp>(op)
                                ? std::optional(tensors.withoutSteps(
                                      cast<ReduceOp>(op).getSource()))
                                : std::nullopt,
            .presence = std::nullopt,
            .op = op,
            .over = over,
            .name = name,
            .isAlone = isLoopedAlong(op, over)};
  if (presence) {
    sink.presence.emplace(*presence);
    SmallVector<Value> masks;
    if (maximised)
      collectMasks(maximised, masks);
    llvm::append_range(*sink.presence, masks);
  }
  sinks[keyOf(name)].push_back(std::move(sink));
}

void ProgramSinks::addStores() {
  llvm::DenseMap<Operation *, SmallVector<const Sink *, 2>> made;
  forEachSink([&](const Sink &sink) { made[sink.op].push_back(&sink); });
  kernel.walk([&](StoreOp store) {
    Store &known = stores[tensorName(store.getTensor())].emplace_back();
    known.sources = tensors.of(store.getValue());
    known.withoutSteps = tensors.withoutSteps(store.getValue());
    tensors.walk(store.getValue(), [&](Operation *op) {
      if (auto of = made.find(op); of != made.end())
        known.sinks.insert_range(of->second);
    });
  });
}

void ProgramSinks::forEachSink(
    llvm::function_ref<void(const Sink &)> visit) const {
  for (const auto &[name, all] : sinks)
    for (const Sink &sink : all)
      if (sink.over)
        visit(sink);
}

/// Whether a part of a sum may be taken for where a range begins. Not of pairs:
/// what a range leaves by a number that nobody knows begins nowhere else.
static bool movesRange(Value sum) {
  SetVector<Value> parts;
  parts.insert(strip(sum));
  for (size_t i = 0; i < parts.size(); ++i) {
    Operation *def = parts[i].getDefiningOp();
    if (isa_and_nonnull<RangeOp>(def))
      return true;
    if (!def || !isTile(parts[i].getType()))
      continue;
    bool isOfPair = isa<arith::DivUIOp, arith::RemUIOp>(def) &&
                    !constantOf(strip(def->getOperand(1)));
    if (isOfPair)
      continue;
    for (Value operand : def->getOperands())
      parts.insert(strip(operand));
  }
  return false;
}

/// What the program itself shifts lies at several places.
void ProgramSinks::findShifted() {
  llvm::DenseMap<std::pair<Block *, StringAttr>, Value> starts;
  kernel.walk([&](RangeOp range) {
    StringAttr axis = axesOf(range.getType()).front();
    auto [known, isNew] =
        starts.try_emplace({range->getBlock(), axis}, range.getStart());
    if (!isNew && known->second != range.getStart())
      severalStarts.insert(axis);
  });
  // Columns of a group that a loop goes through: `x[i, g*P +: P]`.
  for (auto [place, start] : starts) {
    auto [block, axis] = place;
    for (Operation *at = block->getParentOp(); at != kernel;
         at = at->getParentOp())
      if (Value outer = starts.lookup({at->getBlock(), axis});
          outer && outer != start &&
          getAsOpFoldResult(outer) != getAsOpFoldResult(start))
        severalStarts.insert(axis);
  }
  shifted = severalStarts;
  // Those of slices may stand in different blocks.
  llvm::DenseMap<StringAttr, int64_t> constants;
  kernel.walk([&](RangeOp range) {
    StringAttr axis = axesOf(range.getType()).front();
    if (std::optional<int64_t> start = getConstantIntValue(range.getStart()))
      if (constants.try_emplace(axis, *start).first->second != *start)
        severalStarts.insert(axis);
  });
  auto noteSum = [&](ValueRange indices) {
    for (Value index : indices)
      if (isTile(index.getType()) &&
          isa_and_nonnull<arith::AddIOp, arith::SubIOp>(
              strip(index).getDefiningOp()) &&
          movesRange(index))
        shifted.insert_range(axesOf(index.getType()));
  };
  kernel.walk([&](LoadOp load) { noteSum(load.getIndices()); });
  kernel.walk([&](StoreOp store) { noteSum(store.getIndices()); });
}

void ProgramSinks::dropParts() {
  PredicateWords words(names);
  for (auto &[name, all] : sinks) {
    std::vector<std::set<std::string>> said;
    for (const Sink &sink : all) {
      std::set<std::string> &list = said.emplace_back();
      if (sink.presence)
        for (Value p : *sink.presence)
          list.insert(words.of(p));
    }
    std::vector<Sink> kept;
    for (size_t i = 0; i < all.size(); ++i) {
      bool isPart = false;
      for (size_t other = 0; other < all.size(); ++other)
        isPart |= all[other].sources == all[i].sources &&
                  said[other].size() > said[i].size() &&
                  llvm::includes(said[other], said[i]);
      if (!isPart || !all[i].presence)
        kept.push_back(all[i]);
    }
    all = std::move(kept);
  }
}

void ProgramSinks::findPlaces(Sink &sink) const {
  SetVector<Value> made;
  if (sink.presence)
    made.insert_range(*sink.presence);
  SetVector<StringAttr> found;
  for (size_t i = 0; i < made.size(); ++i) {
    Operation *def = made[i].getDefiningOp();
    if (StringAttr name = coordinateOf(made[i]))
      found.insert(name);
    else if (auto range = dyn_cast_or_null<RangeOp>(def))
      found.insert(axesOf(range.getType()).front());
    else if (def)
      made.insert_range(def->getOperands());
  }
  sink.places.assign(found.begin(), found.end());
}

ProgramSinks::Candidates ProgramSinks::find(StringRef name,
                                            const SourceTensors::Names &sources,
                                            bool isPart) const {
  Candidates candidates;
  auto known = sinks.find(keyOf(name));
  if (known == sinks.end())
    return candidates;
  // An operand is masked by integers that decide what the product has.
  if (isPart && !sources.empty())
    for (const Sink &sink : known->second)
      if (sink.name == name && areOfMore(sources, sink.sources, isPart))
        candidates.push_back(&sink);
  if (!candidates.empty())
    return candidates;
  for (const Sink &sink : known->second)
    if (sink.sources == sources)
      candidates.push_back(&sink);
  if (candidates.empty())
    for (const Sink &sink : known->second)
      if (!sink.sources.empty() && areOfMore(sources, sink.sources))
        candidates.push_back(&sink);
  // A sum of constants alone is none of the program.
  if (candidates.empty() && !sources.empty())
    for (const Sink &sink : known->second)
      if (llvm::includes(sink.sources, sources) &&
          llvm::includes(sources, sink.tileSources))
        candidates.push_back(&sink);
  return candidates;
}

bool ProgramSinks::areOfMore(const SourceTensors::Names &found,
                             const SourceTensors::Names &names,
                             bool isPart) const {
  auto isInteger = [&](const std::string &name) {
    return llvm::any_of(
        kernel.getProgram().getTensors().getAsRange<TensorArgAttr>(),
        [&](TensorArgAttr tensor) {
          return tensor.getName() == name &&
                 tensor.getElementType().isInteger();
        });
  };
  return (isPart || llvm::includes(found, names)) &&
         llvm::all_of(found, [&](const std::string &name) {
           return names.contains(name) || isInteger(name);
         });
}

StringAttr ProgramSinks::coordinateOf(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  unsigned shared = kernel.getProgram().getNumSharedArgs();
  if (!argument || argument.getOwner()->getParentOp() != kernel ||
      argument.getArgNumber() < shared)
    return {};
  auto range =
      cast<IterAttr>(kernel.getRanges()[argument.getArgNumber() - shared]);
  return StringAttr::get(kernel.getContext(), "@" + range.getName().getValue());
}

std::optional<int64_t> ProgramSinks::scalarOf(Value value, Places::Number place,
                                              const Places &places,
                                              const GlobalMemory &memory,
                                              int64_t callers) const {
  if (value.getDefiningOp<IsPresentOp>())
    return memory.hasOptionals();
  if (StringAttr name = coordinateOf(value))
    return places.find(place, name);
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner()->getParentOp() != kernel)
    return std::nullopt;
  if (argument.getArgNumber() < kernel.getProgram().getDims().size())
    return memory.sizeOf(argument.getArgNumber());
  return callersInteger(callers, argument);
}

std::optional<int64_t> ProgramSinks::countOf(StringAttr axis,
                                             Places::Number place,
                                             const Places &places,
                                             const GlobalMemory &memory) const {
  for (auto range : kernel.getRanges().getAsRange<IterAttr>())
    if (range.getName() == axis)
      if (std::optional<int64_t> start = places.find(place, axis))
        if (std::optional<int64_t> extent = memory.extentOf(range.getExtent()))
          return *extent - *start;
  return std::nullopt;
}

namespace {

/// Which lanes of a sink are compared: all that a row sees, of the first,
/// middle and last row; of long ones a part.
class ComparedLanes {
public:
  using Counts = llvm::function_ref<std::optional<int64_t>(StringAttr)>;

  ComparedLanes(const ProgramSinks::Lanes &found, Counts startOf,
                Counts countOf, ArrayRef<int64_t> ends) {
    for (auto [axis, extent] : found.axes) {
      std::vector<int64_t> &lanes = byAxis[axis];
      if (axis == found.over) {
        lanes = ofRow(extent, startOf(axis).value_or(0), ends);
      } else {
        int64_t last = std::min(countOf(axis).value_or(extent), extent) - 1;
        lanes = {0, extent / 2, std::max<int64_t>(0, last)};
      }
    }
  }

  std::optional<SmallVector<int64_t>> of(StringAttr axis) const {
    auto lanes = byAxis.find(axis);
    if (lanes == byAxis.end())
      return std::nullopt;
    return llvm::to_vector(lanes->second);
  }

private:
  static std::vector<int64_t> ofRow(int64_t extent, int64_t start,
                                    ArrayRef<int64_t> ends) {
    constexpr int64_t longest = 256;
    int64_t step = extent > longest ? extent / (longest / 2) : 1;
    std::vector<int64_t> lanes{extent - 1};
    for (int64_t lane = 0; lane < extent; lane += step)
      lanes.push_back(lane);
    // Where a dim or a length ends.
    for (int64_t end : ends)
      for (int64_t lane : {end - 1 - start, end - start})
        if (lane >= 0 && lane < extent)
          lanes.push_back(lane);
    llvm::sort(lanes);
    lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
    return lanes;
  }

  llvm::DenseMap<StringAttr, std::vector<int64_t>> byAxis;
};

/// Compares presences lane by lane.
class PresenceComparison {
public:
  PresenceComparison(LaneTiles &here, LaneTiles &program,
                     ArrayRef<LaneTile> existing, bool isLoad)
      : here(here), program(program), existing(existing), isLoad(isLoad) {}

  /// What is wrong; empty for nothing.
  std::string run(ValueRange found, ValueRange expected, uint64_t &work) {
    SmallVector<const LaneTile *> tiles;
    LaneSpace space;
    auto use = [&](const LaneTile &tile) {
      tiles.push_back(&tile);
      space.add(tile);
    };
    // Rows past the end contribute to nothing that is stored.
    llvm::for_each(existing, use);
    for (Value p : found)
      use(here.of(p));
    size_t numHere = tiles.size();
    for (Value p : expected)
      use(program.of(p));
    work += space.size();
    for (LaneWalk lane(space, tiles); lane.isInside(); lane.next()) {
      int64_t isHere = all(lane, existing.size(), numHere),
              isThere = all(lane, numHere, tiles.size());
      if (isHere == LaneTile::unknown || isThere == LaneTile::unknown ||
          isHere == isThere || (isThere && isLoad) ||
          all(lane, 0, existing.size()) == 0)
        continue;
      return isHere ? "some that the program leaves out"
                    : "some missing that the program has";
    }
    return "";
  }

private:
  /// The conjunction of some tiles.
  static int64_t all(const LaneWalk &lane, size_t from, size_t to) {
    int64_t value = 1;
    for (size_t i = from; i < to; ++i) {
      if (lane.at(i) == 0)
        return 0;
      if (lane.at(i) == LaneTile::unknown)
        value = LaneTile::unknown;
    }
    return value;
  }

  LaneTiles &here, &program;
  ArrayRef<LaneTile> existing;
  bool isLoad;
};

} // namespace

std::string ProgramSinks::check(const Lanes &found, Candidates &candidates,
                                const Places &places,
                                const GlobalMemory &memory, int64_t callers,
                                LaneTiles::Scalars scalars,
                                uint64_t &work) const {
  auto startOf = [&](StringAttr axis) {
    return places.find(found.place, axis);
  };
  auto count = [&](StringAttr axis) {
    return countOf(axis, found.place, places, memory);
  };
  ComparedLanes compared(found, startOf, count, memory.getEnds());
  auto lanesOf = [&](StringAttr axis) { return compared.of(axis); };
  auto programScalar = [&](Value value) {
    return scalarOf(value, found.place, places, memory, callers);
  };
  KnownElements element(memory);
  LaneTiles here(scalars, element), program(programScalar, element);
  here.select(lanesOf, nullptr);
  program.select(lanesOf, startOf);
  std::vector<LaneTile> existing;
  for (auto [axis, extent] : found.axes)
    if (std::optional<int64_t> present = count(axis)) {
      LaneTile &tile = existing.emplace_back();
      tile.axes = {axis};
      tile.values.clear();
      SmallVector<int64_t> chosen = *lanesOf(axis);
      for (int64_t lane : chosen)
        tile.values.push_back(lane < *present);
      tile.extents = {static_cast<int64_t>(tile.values.size())};
    }
  PresenceComparison comparison(here, program, existing, found.isLoad);
  std::string wrong;
  Candidates kept;
  for (const Sink *sink : candidates) {
    std::string difference =
        sink->presence ? comparison.run(found.presence, *sink->presence, work)
                       : "";
    if (difference.empty())
      kept.push_back(sink);
    else
      wrong = difference;
  }
  work += here.getWork() + program.getWork();
  if (kept.empty())
    return wrong;
  candidates = std::move(kept);
  return "";
}

namespace {

/// Which rows and lanes of a sum findMissing() looks at, as indices of axes.
class SampledLanes {
public:
  /// The first, middle and last row that exists, of each axis.
  void addRows(StringAttr axis, int64_t start, int64_t count) {
    std::set<int64_t> rows;
    if (count > 0)
      rows = {start, start + count / 2, start + count - 1};
    byAxis[axis].assign(rows.begin(), rows.end());
  }
  /// Of a sum the first and last lane of each step, and where something ends.
  void addSum(StringAttr axis, ArrayRef<ProgramSinks::Executed> executed,
              ArrayRef<int64_t> ends) {
    int64_t all = 1;
    for (int64_t end : ends)
      all = std::max(all, end + 1);
    std::set<int64_t> lanes, steps;
    for (const ProgramSinks::Executed &found : executed)
      for (auto [name, extent] : found.axes)
        if (name == axis)
          steps.insert(extent);
    if (steps.empty())
      steps.insert(1);
    for (int64_t step : steps)
      for (int64_t lane = 0; lane < all; lane += step)
        lanes.insert({lane, lane + step - 1});
    for (int64_t end : ends)
      lanes.insert({std::max<int64_t>(0, end - 1), std::max<int64_t>(0, end)});
    byAxis[axis].assign(lanes.begin(), lanes.end());
  }

  std::optional<SmallVector<int64_t>> of(StringAttr axis) const {
    auto lanes = byAxis.find(axis);
    if (lanes == byAxis.end())
      return std::nullopt;
    return llvm::to_vector(lanes->second);
  }
  /// A tile of the indices themselves.
  LaneTile tileOf(StringAttr axis) const {
    LaneTile tile;
    tile.axes = {axis};
    llvm::append_range(tile.values = {}, byAxis.find(axis)->second);
    tile.extents = {static_cast<int64_t>(tile.values.size())};
    return tile;
  }

private:
  llvm::DenseMap<StringAttr, std::vector<int64_t>> byAxis;
};

} // namespace

namespace {

/// Which lanes were executed, as boxes of indices of some axes.
class ExecutedBoxes {
public:
  using Indices = ArrayRef<std::pair<StringAttr, int64_t>>;

  /// Those that may have what is asked for: indices of axes are among those of
  /// `tiles`, which come first, and coordinates are as given.
  ExecutedBoxes(ArrayRef<ProgramSinks::Executed> executed, const Places &places,
                ArrayRef<LaneTile> tiles, Indices indices)
      : numAxes(indices.size()) {
    SmallVector<Range> asked;
    for (auto [i, index] : llvm::enumerate(indices)) {
      if (i >= tiles.size()) {
        asked.push_back({index.second, index.second + 1});
        continue;
      }
      ArrayRef<int64_t> lanes = tiles[i].values;
      asked.push_back(lanes.empty() ? Range{0, 0}
                                    : Range{*llvm::min_element(lanes),
                                            *llvm::max_element(lanes) + 1});
    }
    for (const ProgramSinks::Executed &lanes : executed) {
      size_t first = ranges.size();
      for (auto [i, index] : llvm::enumerate(indices)) {
        Range range = rangeOf(lanes, places, index.first);
        if (range.second <= asked[i].first || asked[i].second <= range.first)
          break;
        ranges.push_back(range);
      }
      if (ranges.size() != first + numAxes)
        ranges.truncate(first);
    }
  }

  bool cover(Indices indices) {
    auto covers = [&](size_t first) {
      for (size_t i = 0; i < numAxes; ++i)
        if (indices[i].second < ranges[first + i].first ||
            indices[i].second >= ranges[first + i].second)
          return false;
      return true;
    };
    // Lanes that follow each other are often of one box.
    if (last < ranges.size() && covers(last))
      return true;
    for (last = 0; last < ranges.size(); last += numAxes)
      if (covers(last))
        return true;
    return false;
  }

private:
  using Range = std::pair<int64_t, int64_t>;

  /// The indices of an axis that lanes have; all where that is not known.
  static Range rangeOf(const ProgramSinks::Executed &lanes,
                       const Places &places, StringAttr axis) {
    std::optional<int64_t> start = places.find(lanes.place, axis);
    if (!start)
      return {INT64_MIN, INT64_MAX};
    auto extent = llvm::find_if(
        lanes.axes, [&](const auto &known) { return known.first == axis; });
    // The same coordinate, or one of the lanes.
    return {*start, *start + (extent == lanes.axes.end() ? 1 : extent->second)};
  }

  size_t numAxes, last = 0;
  SmallVector<Range, 0> ranges;
};

} // namespace

/// The indices that the loop around a sink, or the range without one, runs
/// over; none where that is not known.
static std::optional<std::pair<int64_t, int64_t>>
lanesOfLoop(const ProgramSinks::Sink &sink,
            llvm::function_ref<int64_t(Value)> valueOf) {
  auto isAlong = [&](Operation *op) {
    auto range = dyn_cast<RangeOp>(op);
    return range && llvm::is_contained(axesOf(range.getType()), sink.over);
  };
  for (auto loop = sink.op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    if (llvm::any_of(loop.getInductionVar().getUsers(), isAlong)) {
      int64_t from = valueOf(loop.getLowerBound()),
              to = valueOf(loop.getUpperBound());
      if (from == LaneTile::unknown || to == LaneTile::unknown)
        return std::nullopt;
      return std::pair(from, to);
    }
  std::pair<int64_t, int64_t> run(INT64_MAX, INT64_MAX);
  bool isKnown = true;
  sink.op->getParentOfType<KernelOp>().walk([&](RangeOp range) {
    if (!isAlong(range))
      return;
    int64_t start = valueOf(range.getStart());
    isKnown &= start != LaneTile::unknown;
    run.first = std::min(run.first, start);
  });
  return isKnown ? std::optional(run) : std::nullopt;
}

std::string ProgramSinks::findMissing(const Sink &sink, const Executed &at,
                                      ArrayRef<Executed> executed,
                                      Places &places,
                                      const GlobalMemory &memory,
                                      int64_t callers, uint64_t &work) const {
  SampledLanes sampled;
  SmallVector<std::pair<StringAttr, int64_t>> indices;
  std::vector<LaneTile> tiles;
  auto addAxis = [&](StringAttr axis) {
    tiles.push_back(sampled.tileOf(axis));
    indices.push_back({axis, 0});
  };
  for (auto [axis, extent] : at.axes) {
    std::optional<int64_t> start = places.find(at.place, axis);
    if (axis == sink.over || !start)
      continue;
    int64_t exist = countOf(axis, at.place, places, memory).value_or(extent);
    sampled.addRows(axis, *start, std::min(exist, extent));
    addAxis(axis);
  }
  sampled.addSum(sink.over, executed, memory.getEnds());
  addAxis(sink.over);
  size_t numAxes = tiles.size();
  for (StringAttr name : sink.places)
    if (std::optional<int64_t> number = places.find(at.place, name);
        number && name.getValue().starts_with("@"))
      indices.push_back({name, *number});
  auto scalar = [&](Value value) {
    return scalarOf(value, at.place, places, memory, callers);
  };
  KnownElements element(memory);
  LaneTiles program(scalar, element);
  program.select([&](StringAttr axis) { return sampled.of(axis); },
                 [](StringAttr) { return std::optional<int64_t>(0); });
  // What a loop begins with no predicate says.
  std::optional<std::pair<int64_t, int64_t>> run = lanesOfLoop(
      sink, [&](Value bound) { return program.of(bound).values.front(); });
  if (!run)
    return "";
  SmallVector<const LaneTile *> used;
  LaneSpace space;
  for (const LaneTile &tile : tiles) {
    used.push_back(&tile);
    space.add(tile);
  }
  for (Value p : *sink.presence) {
    used.push_back(&program.of(p));
    space.add(*used.back());
  }
  work += program.getWork() + space.size();
  ExecutedBoxes boxes(executed, places, tiles, indices);
  for (LaneWalk lane(space, used); lane.isInside(); lane.next()) {
    bool isPresent = true;
    for (size_t i = numAxes; i < used.size(); ++i)
      isPresent &= lane.at(i) != 0 && lane.at(i) != LaneTile::unknown;
    int64_t summed = lane.at(numAxes - 1);
    if (!isPresent || summed < run->first || summed >= run->second)
      continue;
    for (size_t i = 0; i < numAxes; ++i)
      indices[i].second = lane.at(i);
    work += executed.size();
    if (boxes.cover(indices))
      continue;
    std::string words;
    for (auto [name, index] : indices)
      words += ((words.empty() ? "" : ", ") + name.getValue() + " = " +
                llvm::Twine(index))
                   .str();
    return words;
  }
  return "";
}

} // namespace selvedge::verify
