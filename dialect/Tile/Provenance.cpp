// Why a safety operation exists, carried by its location.
// SPDX-License-Identifier: MIT
#include "dialect/Tile/Provenance.h"

#include "mlir/IR/Location.h"

using namespace mlir;

namespace selvedge::tile {

/// The part of `loc` that carries a note.
static FusedLoc carrier(Location loc) {
  FusedLoc found;
  loc->walk([&](Location part) {
    auto fused = dyn_cast<FusedLoc>(part);
    auto data = fused ? dyn_cast_or_null<DictionaryAttr>(fused.getMetadata())
                      : DictionaryAttr();
    if (!data || !data.contains("safety"))
      return WalkResult::advance();
    found = fused;
    return WalkResult::interrupt();
  });
  return found;
}

Location withoutNote(Location loc) {
  FusedLoc fused = carrier(loc);
  if (!fused)
    return loc;
  return fused.getLocations().empty() ? UnknownLoc::get(loc.getContext())
                                      : fused.getLocations().front();
}

Location withNote(Location loc, const SafetyNote &note,
                  std::optional<Location> consumer) {
  if (!consumer)
    consumer = consumerOf(loc);
  Builder b(loc.getContext());
  SmallVector<NamedAttribute> data{
      b.getNamedAttr("safety", b.getStringAttr(note.kind)),
      b.getNamedAttr("id", b.getStringAttr(note.id)),
      b.getNamedAttr("subject", b.getStringAttr(note.subject)),
      b.getNamedAttr("reason", b.getStringAttr(note.reason))};
  if (!note.proved.empty())
    data.push_back(
        b.getNamedAttr("proved", b.getDenseI64ArrayAttr(note.proved)));
  if (!note.byLoop.empty())
    data.push_back(
        b.getNamedAttr("by_loop", b.getDenseI64ArrayAttr(note.byLoop)));
  if (!note.byPredicate.empty())
    data.push_back(b.getNamedAttr("by_predicate",
                                  b.getDenseI64ArrayAttr(note.byPredicate)));
  if (!note.byExtent.empty())
    data.push_back(
        b.getNamedAttr("by_extent", b.getDenseI64ArrayAttr(note.byExtent)));
  if (!note.untested.empty())
    data.push_back(
        b.getNamedAttr("untested", b.getDenseI64ArrayAttr(note.untested)));
  SmallVector<Location> places{withoutNote(loc)};
  if (consumer && withoutNote(*consumer) != places.front())
    places.push_back(withoutNote(*consumer));
  return FusedLoc::get(places, b.getDictionaryAttr(data), b.getContext());
}

std::optional<SafetyNote> noteOf(Location loc) {
  FusedLoc fused = carrier(loc);
  if (!fused)
    return std::nullopt;
  auto data = cast<DictionaryAttr>(fused.getMetadata());
  auto text = [&](StringRef key) {
    auto value = data.getAs<StringAttr>(key);
    return value ? value.str() : std::string();
  };
  SafetyNote note{text("id"), text("safety"), text("subject"), text("reason")};
  if (auto proved = data.getAs<DenseI64ArrayAttr>("proved"))
    llvm::append_range(note.proved, proved.asArrayRef());
  if (auto byLoop = data.getAs<DenseI64ArrayAttr>("by_loop"))
    llvm::append_range(note.byLoop, byLoop.asArrayRef());
  if (auto byPredicate = data.getAs<DenseI64ArrayAttr>("by_predicate"))
    llvm::append_range(note.byPredicate, byPredicate.asArrayRef());
  if (auto byExtent = data.getAs<DenseI64ArrayAttr>("by_extent"))
    llvm::append_range(note.byExtent, byExtent.asArrayRef());
  if (auto untested = data.getAs<DenseI64ArrayAttr>("untested"))
    llvm::append_range(note.untested, untested.asArrayRef());
  return note;
}

std::optional<Location> consumerOf(Location loc) {
  FusedLoc fused = carrier(loc);
  if (!fused || fused.getLocations().size() < 2)
    return std::nullopt;
  return fused.getLocations().back();
}

/// The place that a predicate began with. `proved` is sorted; every entry at or
/// before the place moves it up by one.
static int64_t originalPosition(const SafetyNote &note, unsigned position) {
  int64_t original = position;
  for (int64_t gone : note.proved)
    original += gone <= original;
  return original;
}

Location withExtents(Location loc, ArrayRef<unsigned> positions) {
  std::optional<SafetyNote> note = noteOf(loc);
  if (!note)
    return loc;
  note->byExtent.clear();
  for (unsigned position : positions)
    note->byExtent.push_back(originalPosition(*note, position));
  return withNote(loc, *note);
}

void noteProved(Operation *op, unsigned position, Proof proof) {
  std::optional<SafetyNote> note = noteOf(op->getLoc());
  if (!note)
    return;
  int64_t original = originalPosition(*note, position);
  auto add = [&](SmallVector<int64_t> &list) {
    list.insert(llvm::upper_bound(list, original), original);
  };
  add(note->proved);
  if (proof == Proof::ByLoop)
    add(note->byLoop);
  else if (proof == Proof::ByPredicate)
    add(note->byPredicate);
  op->setLoc(withNote(op->getLoc(), *note));
}

std::string NoteIds::next(Operation *op, StringRef kind) {
  auto kernel = dyn_cast<KernelOp>(op);
  if (!kernel)
    kernel = op->getParentOfType<KernelOp>();
  std::string prefix =
      kernel ? (kernel.getSymName() + "." + kind).str() : kind.str();
  return (prefix + Twine(counts[prefix]++)).str();
}

} // namespace selvedge::tile
