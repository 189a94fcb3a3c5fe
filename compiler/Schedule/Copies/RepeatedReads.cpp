// Rows of tensors that a kernel reads in one loop after another.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Copies/RepeatedReads.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::tile;

namespace {

/// A tensor, the dimension along which a loop reads it, the other indices.
using Rows = std::pair<std::pair<Value, unsigned>, SmallVector<Value>>;

/// The rows that a load in `loop` reads, and the axis along which it does so;
/// none unless the loop gives the range of exactly one index.
std::optional<std::pair<Rows, StringAttr>> rowsOf(LoadOp load,
                                                  scf::ForOp loop) {
  Rows rows{{load.getTensor(), 0}, {}};
  StringAttr axis;
  for (auto [dim, index] : llvm::enumerate(load.getIndices())) {
    auto range = index.getDefiningOp<RangeOp>();
    if (range && range.getStart() == loop.getInductionVar()) {
      if (axis)
        return std::nullopt;
      axis = axesOf(range.getType())[0];
      rows.first.second = dim;
    } else if (!loop.isDefinedOutsideOfLoop(index)) {
      return std::nullopt;
    } else {
      rows.second.push_back(index);
    }
  }
  if (!axis)
    return std::nullopt;
  return std::pair{rows, axis};
}

} // namespace

SmallVector<RepeatedRead> findRepeatedReads(KernelOp kernel) {
  using Passes = llvm::MapVector<StringAttr, SmallVector<LoadOp>>;
  SmallVector<std::pair<Rows, Passes>> found;
  for (auto loop : kernel.getBody().getOps<scf::ForOp>())
    for (auto load : loop.getBody()->getOps<LoadOp>()) {
      auto rows = rowsOf(load, loop);
      if (!rows)
        continue;
      auto known = llvm::find_if(
          found, [&](const auto &entry) { return entry.first == rows->first; });
      if (known == found.end()) {
        found.push_back({rows->first, {}});
        known = std::prev(found.end());
      }
      known->second[rows->second].push_back(load);
    }
  SmallVector<RepeatedRead> repeated;
  for (auto &[rows, passes] : found)
    if (passes.size() > 1)
      repeated.push_back({rows.first.first, rows.first.second,
                          llvm::to_vector(llvm::make_second_range(passes))});
  return repeated;
}

SmallVector<RepeatedRead> findOwnRows(KernelOp kernel) {
  SmallVector<RepeatedRead> own = findRepeatedReads(kernel);
  llvm::erase_if(own, [&](const RepeatedRead &read) {
    llvm::SmallPtrSet<Attribute, 4> axes;
    LoadOp load = read.passes.front().front();
    for (Value index : load.getIndices())
      if (isTile(index.getType()))
        axes.insert_range(axesOf(index.getType()));
    return llvm::any_of(
        kernel.getRanges().getAsRange<IterAttr>(), [&](IterAttr range) {
          return range.getBlock() && !axes.contains(range.getName());
        });
  });
  return own;
}

CacheHints::CacheHints(KernelOp kernel) {
  SmallVector<RepeatedRead> repeated = findRepeatedReads(kernel);
  for (const RepeatedRead &read : repeated)
    for (const auto &pass : read.passes)
      for (LoadOp load : pass)
        hints[load] = &pass == &read.passes.back() ? sm::Cache::EvictFirst
                                                   : sm::Cache::EvictLast;
  if (repeated.empty())
    return;
  kernel.walk([&](StoreOp store) {
    if (llvm::none_of(store.getTensor().getUsers(), llvm::IsaPred<LoadOp>))
      hints[store] = sm::Cache::Streaming;
  });
}

std::optional<sm::Cache> CacheHints::of(Operation *access) const {
  auto found = hints.find(access);
  return found == hints.end() ? std::nullopt : std::optional(found->second);
}

} // namespace selvedge::schedule
