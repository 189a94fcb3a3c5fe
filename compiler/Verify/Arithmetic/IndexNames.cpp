// What the numbers by which a kernel indexes tensors are called.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/IndexNames.h"

#include "compiler/Verify/Arithmetic/Facts.h"
#include "compiler/Verify/Arithmetic/PredicateWords.h"
#include "compiler/Verify/Memory/RingTiles.h"

namespace selvedge::verify {

using namespace mlir;

/// Calls `visit` with tensor, dimension and number of each scalar index by
/// which `op` accesses a tensor.
static void
visitIndices(Operation *op,
             llvm::function_ref<void(Value tensor, size_t dim, Value)> visit) {
  if (auto access = dyn_cast<tile::TensorAccessOpInterface>(op))
    for (auto [dim, index] : llvm::enumerate(access.getIndices()))
      if (index.getType().isInteger())
        visit(access.getAccessed(), dim, index);
}

/// Integers that are loaded.
static bool loadsIntegers(Operation *op) {
  return isa<tile::LoadOp, sm::LoadOp>(op) &&
         getElementTypeOrSelf(op->getResult(0).getType()).isInteger();
}

IndexNames::IndexNames(tile::KernelOp kernel) {
  for (auto [i, attr] : llvm::enumerate(kernel.getRanges())) {
    auto range = cast<tile::IterAttr>(attr);
    // What has one value only may become a constant.
    auto one = dyn_cast<AffineConstantExpr>(range.getExtent().getResult(0));
    if (!range.getBlock() && (!one || one.getValue() != 1))
      names[kernel.getCoord(i)] = range.getName().str();
  }
  kernel.walk([&](Operation *op) {
    if (!loadsIntegers(op))
      visitIndices(op, [&](Value tensor, size_t dim, Value index) {
        std::string name = names.lookup(index);
        auto [place, isNew] =
            places.try_emplace({tensorName(tensor), dim}, name);
        if (!isNew && place->second != name)
          place->second.clear();
      });
  });
  kernel.walk([&](Operation *op) {
    if (loadsIntegers(op))
      visitIndices(op, [&](Value tensor, size_t dim, Value index) {
        std::string name = names.lookup(index);
        bool isKnown =
            !name.empty() && llvm::any_of(places, [&](const auto &place) {
              return place.second == name;
            });
        auto [at, isNew] =
            named.try_emplace({tensorName(tensor), dim}, isKnown);
        at->second &= isKnown;
      });
  });
}

IndexNames::IndexNames(sm::KernelOp kernel, const IndexNames &source)
    : places(source.places), named(source.named) {
  // What slots hold.
  llvm::DenseMap<RingTiles, Value> held;
  kernel.walk([&](Operation *op) {
    auto access = dyn_cast<tile::TensorAccessOpInterface>(op);
    if (auto fill = dyn_cast<sm::BufferFillOpInterface>(op); fill && access)
      if (auto slot = fill.getBuffer().getDefiningOp<sm::SlotOp>())
        held[tilesOf(slot.getRing(), slot.getType())] = access.getAccessed();
    if (!loadsIntegers(op))
      visitIndices(op, [&](Value tensor, size_t dim, Value index) {
        noteUse(tensorName(tensor), dim, index);
      });
  });
  kernel.walk([&](sm::SlotOp slot) {
    if (Value tensor = held.lookup(tilesOf(slot.getRing(), slot.getType())))
      for (auto [dim, index] : llvm::enumerate(slot.getIndices()))
        if (index.getType().isInteger())
          noteUse(tensorName(tensor), dim, index);
  });
  // What is called something where it has come is called so where it is sent.
  llvm::DenseMap<Value, std::string> sent;
  for (const auto &[index, name] : names)
    if (Value posted = postedWord(index)) {
      // The same one of several on every machine.
      std::string &known = sent[posted];
      if (known.empty() || name < known)
        known = name;
    }
  for (const auto &[posted, name] : sent)
    names.try_emplace(posted, name);
}

void IndexNames::noteUse(StringRef tensor, size_t dim, Value index) {
  auto place = places.find({tensor.str(), dim});
  if (place != places.end() && !place->second.empty())
    names.try_emplace(index, place->second);
}

bool IndexNames::isNamed(StringRef tensor, size_t dim) const {
  auto at = named.find({tensor.str(), dim});
  return at != named.end() && at->second;
}

std::string IndexNames::ofPlace(StringRef tensor, size_t dim) const {
  auto place = places.find({tensor.str(), dim});
  return place == places.end() ? "" : place->second;
}

bool IndexNames::isCoordinate(Value index) const {
  return !constantOf(index) && names.contains(index);
}

std::string IndexNames::of(Value index) const {
  if (auto it = names.find(index); it != names.end())
    return it->second;
  // Carried from where another tile was.
  if (auto it = names.find(postedWord(index)); it != names.end())
    return it->second;
  auto number = dyn_cast_or_null<IntegerAttr>(constantOf(index));
  return number ? std::to_string(number.getInt()) : "_";
}

} // namespace selvedge::verify
