// Which product, reduction or load of the program each of a kernel is.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/SinkMatches.h"

#include "compiler/Verify/Arithmetic/Facts.h"

#include "llvm/ADT/SetVector.h"

namespace selvedge::verify {

using namespace mlir;

void SinkMatches::startTrial() {
  for (auto &entry : matches)
    entry.second.compared.clear();
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
                                     const ProgramSinks::Lanes &found) const {
  Match match;
  match.candidates = program.find(
      found.sink, found.isLoad ? SourceTensors::Names() : tensors.of(sources));
  findScalars(found.presence, match.scalars);
  SetVector<StringAttr> places;
  for (auto [axis, extent] : found.axes)
    places.insert(axis);
  for (const ProgramSinks::Sink *sink : match.candidates)
    places.insert_range(sink->places);
  match.places.assign(places.begin(), places.end());
  return match;
}

std::string SinkMatches::check(Operation *op, ValueRange sources,
                               const ProgramSinks::Lanes &found,
                               const Places &places, GlobalMemory &memory,
                               int64_t callers, LaneTiles::Scalars scalars) {
  auto [entry, isNew] = matches.try_emplace({op, sources.front()});
  Match &match = entry->second;
  if (isNew)
    match = find(sources, found);
  if (match.candidates.empty())
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

} // namespace selvedge::verify
