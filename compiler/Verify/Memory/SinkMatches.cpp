// Which product, reduction or load of the program each of a kernel is.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/SinkMatches.h"

#include "compiler/Verify/Arithmetic/Facts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::verify {

using namespace mlir;

using namespace selvedge::sm;

using Axes = SmallVector<std::pair<StringAttr, int64_t>, 2>;

static void addAxes(Value value, Axes &axes) {
  auto add = [&](StringAttr axis, int64_t extent) {
    if (llvm::none_of(axes, [&](auto &known) { return known.first == axis; }))
      axes.push_back({axis, extent});
  };
  if (auto buffer = dyn_cast<BufferType>(value.getType())) {
    for (auto [axis, extent] : buffer.getAxes())
      add(axis, extent);
  } else if (auto tile = dyn_cast<RankedTensorType>(value.getType())) {
    for (auto [axis, extent] :
         llvm::zip_equal(axisNames(tile), tile.getShape()))
      add(axis, extent);
  }
}

Axes SinkUse::axes() const {
  Axes axes;
  for (Value source : sources)
    addAxes(source, axes);
  return axes;
}

SmallVector<SinkUse, 1> sinksOf(Operation *op) {
  using Uses = SmallVector<SinkUse, 1>;
  return llvm::TypeSwitch<Operation *, Uses>(op)
      .Case<ReduceOp, FoldOp>([](auto reduce) {
        SinkUse use{nameOfReduction(reduce.getKind(), reduce.getOverAttr()),
                    reduce.getOverAttr(),
                    {reduce.getSource()}};
        llvm::append_range(use.presence, reduce.getPresence());
        return Uses{std::move(use)};
      })
      .Case([](ContributesOp part) {
        SinkUse use{nameOfProduct(part.getOverAttr()),
                    part.getOverAttr(),
                    {part.getSource()}};
        llvm::append_range(use.presence, part.getPresence());
        use.isPart = true;
        return Uses{std::move(use)};
      })
      .Case([](MmaOp mma) {
        SinkUse use{nameOfProduct(mma.getOverAttr()),
                    mma.getOverAttr(),
                    {mma.getLhs(), mma.getRhs()}};
        llvm::append_range(use.presence, mma.getPresence());
        return Uses{std::move(use)};
      })
      .Case([](WgmmaOp product) {
        Uses uses;
        for (auto pair : product.getPairs()) {
          SinkUse use{
              nameOfProduct(pair.over), pair.over, {pair.lhs, pair.rhs}};
          // Those of the first pair.
          if (uses.empty())
            llvm::append_range(use.presence, product.getPresence());
          uses.push_back(std::move(use));
        }
        return uses;
      })
      .Default([](Operation *) { return Uses(); });
}

/// Whether data decide if an operation is executed.
static bool dependsOnData(Operation *op) {
  SetVector<Value> made;
  for (Operation *at = op->getParentOp(); !isa<KernelOp>(at);
       at = at->getParentOp()) {
    if (auto branch = dyn_cast<scf::IfOp>(at))
      made.insert(branch.getCondition());
    else if (!isa<scf::ForOp>(at))
      return true;
  }
  for (size_t i = 0; i < made.size(); ++i) {
    if (!made[i].getType().isIntOrIndex())
      return true;
    if (Operation *def = made[i].getDefiningOp()) {
      if (def->getNumRegions() != 0 || isa<AnyOp>(def))
        return true;
      made.insert_range(def->getOperands());
    }
  }
  return false;
}

/// Whether lanes that are summed up twice change what is summed up.
static bool isSum(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<ReduceOp, FoldOp>(
          [](auto reduce) { return reduce.getKind() == tile::Combine::Add; })
      .Default([](Operation *other) { return isa<MmaOp>(other); });
}

/// Whether what is reduced are sums, or maxima, of the same axis that threads
/// have made: nothing but these, what they were scaled by, and what they began
/// with.
static bool isOfParts(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce)
    return false;
  StringAttr over = reduce.getOverAttr();
  SetVector<Value> made;
  auto add = [&](Value value) {
    if (llvm::is_contained(axisNames(value.getType()), over))
      made.insert(value);
  };
  add(reduce.getSource());
  bool isFolded = false;
  for (size_t i = 0; i < made.size(); ++i) {
    if (visitHandedOn(made[i], add))
      continue;
    Operation *def = made[i].getDefiningOp();
    auto fold = dyn_cast<FoldOp>(def);
    if (fold && fold.getOver() == over && fold.getKind() == reduce.getKind())
      isFolded = true;
    else if (isa<arith::AddFOp, arith::AddIOp, arith::MulFOp,
                 arith::MaximumFOp>(def))
      llvm::for_each(def->getOperands(), add);
    else if (!isa<SplatOp, BroadcastOp>(def) ||
             llvm::is_contained(axisNames(def->getOperand(0).getType()), over))
      return false;
  }
  return isFolded;
}

SinkMatches::SinkMatches(KernelOp kernel, const ProgramSinks &program)
    : program(program), tensors(kernel) {
  llvm::DenseSet<const ProgramSinks::Sink *> whole;
  // Those that are never executed, too.
  kernel.walk([&](Operation *op) {
    for (const SinkUse &use : sinksOf(op)) {
      Axes axes = use.axes();
      ProgramSinks::Lanes lanes{use.name, use.over, axes, 0,
                                llvm::to_vector(use.presence)};
      Match match = find(use.sources, lanes, use.isPart);
      match.over = use.over;
      match.axes = std::move(axes);
      match.isOfParts = isOfParts(op);
      // Tiles that a thread block takes one after the other may seem to lie at
      // one place.
      bool isOneTile = !kernel.hasRoles();
      if (isOneTile && program.isWhole() && !match.candidates.empty() &&
          isSum(op) && !dependsOnData(op) &&
          llvm::all_of(match.candidates, [](auto *s) { return s->isAlone; })) {
        match.counted = match.candidates.front();
        match.most = match.candidates.size();
      }
      SourceTensors::Names names = tensors.of(use.sources);
      for (const ProgramSinks::Sink *sink : match.candidates)
        if (sink->sources == names)
          whole.insert(sink);
      matches.insert({{op, use.sources.front()}, std::move(match)});
    }
  });
  kernel.walk([&](Operation *op) {
    for (const SinkUse &use : sinksOf(op))
      addSides(matches[{op, use.sources.front()}], use, whole);
  });
}

/// A step in which one side of a choice is known sums up that side alone, and
/// rows without steps sum up what the sum began with. Some other one must sum
/// up all.
void SinkMatches::addSides(
    Match &match, const SinkUse &use,
    const llvm::DenseSet<const ProgramSinks::Sink *> &whole) {
  if (!match.candidates.empty())
    return;
  SourceTensors::Names names = tensors.of(use.sources);
  SetVector<StringAttr> all(match.places.begin(), match.places.end());
  program.forEachSink([&](const ProgramSinks::Sink &sink) {
    bool isSide = !names.empty() && llvm::includes(sink.sources, names) &&
                  llvm::includes(names, sink.anySide);
    // What rows have for which no loop runs a step.
    bool isOfNoStep = names.empty() && sink.withoutSteps == names;
    if (sink.name != use.name || !whole.contains(&sink) ||
        !(isSide || isOfNoStep))
      return;
    match.candidates.push_back(&sink);
    all.insert_range(sink.places);
  });
  match.places.assign(all.begin(), all.end());
}

void SinkMatches::startTrial() {
  for (auto &[key, match] : matches) {
    match.compared.clear();
    match.executed.clear();
  }
  for (auto &[op, stored] : stores)
    stored.places.clear();
}

/// The scalar integers of which tiles are functions.
static void findScalars(ValueRange tiles, SmallVectorImpl<Value> &scalars) {
  SetVector<Value> made(tiles.begin(), tiles.end());
  for (size_t i = 0; i < made.size(); ++i) {
    Value value = made[i];
    Operation *def = value.getDefiningOp();
    if (constantOf(value))
      continue;
    if (value.getType().isIntOrIndex())
      scalars.push_back(value);
    else if (def && def->getNumRegions() == 0)
      made.insert_range(def->getOperands());
  }
}

SinkMatches::Match SinkMatches::find(ValueRange sources,
                                     const ProgramSinks::Lanes &found,
                                     bool isPart) const {
  Match match;
  match.candidates = program.find(
      found.sink, found.isLoad ? SourceTensors::Names() : tensors.of(sources),
      isPart);
  findScalars(found.presence, match.scalars);
  SetVector<StringAttr> places;
  for (auto [axis, extent] : found.axes)
    places.insert(axis);
  for (const ProgramSinks::Sink *sink : match.candidates)
    places.insert_range(sink->places);
  match.places.assign(places.begin(), places.end());
  return match;
}

static std::string listOf(const SourceTensors::Names &names) {
  return names.empty() ? "no tensor" : "'" + llvm::join(names, "', '") + "'";
}

/// Whether the program has a sum of that name, whatever it sums up; a product
/// may have become a sum.
static bool hasSink(const ProgramSinks &program, StringRef name) {
  auto sumOf = [](StringRef words) {
    return words.consume_front("product") ? "add" + words.str() : words.str();
  };
  bool isFound = false;
  program.forEachSink([&](const ProgramSinks::Sink &sink) {
    isFound |= sumOf(sink.name) == sumOf(name);
  });
  return isFound;
}

std::string SinkMatches::check(Operation *op, ValueRange sources,
                               const ProgramSinks::Lanes &found,
                               GlobalMemory &memory, int64_t callers,
                               LaneTiles::Scalars scalars) {
  auto [entry, isNew] = matches.insert({{op, sources.front()}, Match()});
  Match &match = entry->second;
  if (isNew)
    match = find(sources, found, /*isPart=*/false);
  if (match.candidates.empty()) {
    if (found.isLoad)
      return "none of that tensor";
    // A sum of constants alone is none of the program, nor is one along an axis
    // that lowering has made.
    SourceTensors::Names names = tensors.of(sources);
    return names.empty() || !hasSink(program, found.sink)
               ? ""
               : "none of " + listOf(names);
  }
  // Lanes were compared where each thread took its own.
  if (match.isOfParts)
    return "";
  std::vector<int64_t> key;
  bool isKnown = true;
  for (Value value : match.scalars) {
    std::optional<int64_t> scalar = scalars(value);
    isKnown &= scalar.has_value();
    key.push_back(scalar.value_or(0));
  }
  for (StringAttr name : match.places)
    key.push_back(places.find(found.place, name).value_or(LaneTile::unknown));
  // What follows from other numbers is compared each time.
  if (isKnown && !match.compared.insert(std::move(key)).second)
    return "";
  uint64_t work = 0;
  std::string wrong = program.check(found, match.candidates, places, memory,
                                    callers, scalars, work);
  memory.addWork(work);
  return wrong;
}

void SinkMatches::noteExecuted(Operation *op, Value firstSource,
                               Places::Number place) {
  if (auto known = matches.find({op, firstSource}); known != matches.end())
    known->second.executed.insert(place);
}

bool SinkMatches::countExecuted(Operation *op, Value firstSource,
                                Places::Number place, unsigned agent) {
  auto known = matches.find({op, firstSource});
  if (known == matches.end() || !known->second.counted ||
      !places.find(place, known->second.over))
    return true;
  const Match &match = known->second;
  return ++counts[{match.counted, place, agent}] <= match.most;
}

void SinkMatches::noteStored(Operation *op, Value stored, StringRef tensor,
                             Places::Number place) {
  Stored &known = stores[op];
  if (known.axes.empty()) {
    known.tensor = tensor.str();
    addAxes(stored, known.axes);
  }
  known.places.insert(place);
}

StringAttr SinkMatches::nameOfIndex(MLIRContext *context, StringRef tensor,
                                    size_t dim) {
  auto &known = names[tensor];
  if (dim >= known.size())
    known.resize(dim + 1);
  if (!known[dim]) {
    std::string name = program.getNames().ofPlace(tensor, dim);
    known[dim] =
        name.empty() ? StringAttr() : StringAttr::get(context, "@" + name);
  }
  return *known[dim];
}

const std::string &SinkMatches::checkStored(Value stored, StringRef tensor) {
  auto [known, isNew] =
      compared.try_emplace({stored.getAsOpaquePointer(), tensor.str()});
  if (isNew)
    known->second = compareStored(stored, tensor);
  return known->second;
}

std::string SinkMatches::compareStored(Value stored, StringRef tensor) const {
  ArrayRef<ProgramSinks::Store> known = program.storesTo(tensor);
  if (known.empty())
    return "";
  SourceTensors::Names names = tensors.of(stored);
  // Rows that no step contributes to: findMissing() looks at those.
  if (names.empty())
    return "";
  if (llvm::any_of(known, [&](auto &s) {
        return program.areOfMore(names, s.sources) || names == s.withoutSteps;
      }))
    return "";
  return "expects what the program stores to '" + tensor.str() +
         "', which is made of " + listOf(known.front().sources) +
         ", found what is made of " + listOf(names);
}

std::vector<ProgramSinks::Executed>
SinkMatches::findRows(const ProgramSinks::Sink &sink,
                      ArrayRef<const Match *> found) {
  std::vector<ProgramSinks::Executed> rows;
  std::set<std::pair<const void *, Places::Number>> seen;
  auto add = [&](const Axes &axes, Places::Number place) {
    if (seen.insert({&axes, place}).second)
      rows.push_back({place, axes});
  };
  for (const Match *match : found)
    for (Places::Number place : match->executed)
      add(match->axes, places.without(place, sink.over));
  if (!sink.isAlone)
    return rows;
  for (const auto &[op, stored] : stores) {
    ArrayRef<ProgramSinks::Store> known = program.storesTo(stored.tensor);
    if (known.empty() || !llvm::all_of(known, [&](auto &store) {
          return store.sinks.contains(&sink);
        }))
      continue;
    for (Places::Number place : stored.places)
      if (llvm::all_of(sink.places, [&](StringAttr name) {
            return name == sink.over || places.find(place, name);
          }))
        add(stored.axes, places.without(place, sink.over));
  }
  return rows;
}

std::optional<SinkMatches::Missing>
SinkMatches::findMissing(GlobalMemory &memory, int64_t callers) {
  std::optional<Missing> missing;
  if (!program.isWhole())
    return missing;
  program.forEachSink([&](const ProgramSinks::Sink &sink) {
    if (missing || !sink.presence || program.isShifted(sink.over))
      return;
    SmallVector<const Match *> found;
    Operation *op = nullptr;
    std::vector<ProgramSinks::Executed> executed;
    for (auto &[key, match] : matches)
      if (match.over == sink.over &&
          llvm::is_contained(match.candidates, &sink)) {
        found.push_back(&match);
        op = op ? op : key.first;
        for (Places::Number place : match.executed) {
          // Of lanes that nobody knows nothing can be missing.
          if (!places.find(place, sink.over))
            return;
          executed.push_back({place, match.axes});
        }
      }
    uint64_t work = 0;
    if (op)
      for (const ProgramSinks::Executed &rows : findRows(sink, found)) {
        std::string place = program.findMissing(sink, rows, executed, places,
                                                memory, callers, work);
        if (!place.empty()) {
          missing = {op, sink.name, place};
          break;
        }
      }
    memory.addWork(work);
  });
  return missing;
}

} // namespace selvedge::verify
