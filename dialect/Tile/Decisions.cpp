// What the plan decided for a kernel, carried by the kernel's location.
// SPDX-License-Identifier: MIT
#include "dialect/Tile/Decisions.h"

#include "mlir/IR/Location.h"

using namespace mlir;

namespace selvedge::tile {

constexpr StringRef planKey = "plan";

/// The decisions that `loc` itself carries; null for other locations.
static ArrayAttr carried(Location loc) {
  auto fused = dyn_cast<FusedLoc>(loc);
  auto data = fused ? dyn_cast_or_null<DictionaryAttr>(fused.getMetadata())
                    : DictionaryAttr();
  return data ? data.getAs<ArrayAttr>(planKey) : ArrayAttr();
}

Location withoutDecisions(Location loc) {
  if (!carried(loc))
    return loc;
  ArrayRef<Location> places = cast<FusedLoc>(loc).getLocations();
  return places.empty() ? UnknownLoc::get(loc.getContext()) : places.front();
}

llvm::SmallVector<Decision> decisionsOf(Location loc) {
  SmallVector<Decision> decisions;
  ArrayAttr list = carried(loc);
  if (!list)
    return decisions;
  for (auto entry : list.getAsRange<DictionaryAttr>()) {
    auto text = [&](StringRef key) {
      auto value = entry.getAs<StringAttr>(key);
      return value ? value.str() : std::string();
    };
    decisions.push_back({text("what"), text("choice"), text("why")});
  }
  return decisions;
}

Location withDecision(Location loc, const Decision &decision) {
  Builder b(loc.getContext());
  SmallVector<Decision> decisions = decisionsOf(loc);
  llvm::erase_if(decisions, [&](const Decision &old) {
    return old.what == decision.what;
  });
  decisions.push_back(decision);
  SmallVector<Attribute> list;
  for (const Decision &d : decisions)
    list.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("what", b.getStringAttr(d.what)),
         b.getNamedAttr("choice", b.getStringAttr(d.choice)),
         b.getNamedAttr("why", b.getStringAttr(d.why))}));
  return FusedLoc::get(
      {withoutDecisions(loc)},
      b.getDictionaryAttr(b.getNamedAttr(planKey, b.getArrayAttr(list))),
      b.getContext());
}

void noteDecision(Operation *kernel, const Decision &decision) {
  kernel->setLoc(withDecision(kernel->getLoc(), decision));
}

} // namespace selvedge::tile
