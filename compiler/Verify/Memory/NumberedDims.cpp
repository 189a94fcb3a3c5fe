// Which integers in memory number the elements of a tensor.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/NumberedDims.h"

#include "compiler/Verify/Arithmetic/Facts.h"
#include "compiler/Verify/Arithmetic/PredicateWords.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::tile;

/// The load that an index is, or that it chooses where that exists; else null.
static LoadOp loadedNumber(Value index) {
  index = strip(index);
  if (auto select = index.getDefiningOp<arith::SelectOp>()) {
    LoadOp load = loadedNumber(select.getTrueValue());
    return load ? load : loadedNumber(select.getFalseValue());
  }
  return index.getDefiningOp<LoadOp>();
}

std::vector<NumberedDim> numberedDimsOf(KernelOp kernel) {
  std::vector<NumberedDim> found;
  auto note = [&](Value tensor, ValueRange indices) {
    for (auto [dim, index] : llvm::enumerate(indices))
      if (LoadOp load = loadedNumber(index))
        found.push_back({tensorName(load.getTensor()), tensorName(tensor),
                         static_cast<unsigned>(dim)});
  };
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      note(load.getTensor(), load.getIndices());
    else if (auto store = dyn_cast<StoreOp>(op))
      note(store.getTensor(), store.getIndices());
  });
  return found;
}

} // namespace selvedge::verify
