// Which integers in memory number the elements of a tensor.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/NumberedDims.h"

#include "compiler/Verify/Arithmetic/Facts.h"
#include "compiler/Verify/Arithmetic/PredicateWords.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

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

namespace {

/// A number in memory, and how many elements each number stands for.
struct BlockNumber {
  LoadOp load;
  int64_t size;
};

} // namespace

/// The number of the block in which a range begins: a multiple of it, cut to
/// what exists.
static std::optional<BlockNumber> blockNumber(Value start) {
  start = strip(start);
  if (auto argument = dyn_cast<BlockArgument>(start)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar()
               ? blockNumber(loop.getLowerBound())
               : std::nullopt;
  }
  if (auto product = start.getDefiningOp<arith::MulIOp>()) {
    LoadOp load = loadedNumber(product.getLhs());
    std::optional<int64_t> size = getConstantIntValue(product.getRhs());
    return load && size && *size > 1 ? std::optional(BlockNumber{load, *size})
                                     : std::nullopt;
  }
  Operation *def = start.getDefiningOp();
  if (isa_and_nonnull<arith::SelectOp, arith::MaxSIOp, arith::MinSIOp,
                      arith::AddIOp>(def))
    for (Value operand : def->getOperands())
      if (std::optional<BlockNumber> number = blockNumber(operand))
        return number;
  return std::nullopt;
}

std::vector<NumberedDim> numberedDimsOf(KernelOp kernel) {
  std::vector<NumberedDim> found;
  auto note = [&](Value tensor, ValueRange indices) {
    for (auto [i, index] : llvm::enumerate(indices)) {
      auto dim = static_cast<unsigned>(i);
      if (LoadOp load = loadedNumber(index))
        found.push_back(
            {tensorName(load.getTensor()), tensorName(tensor), dim, 1});
      else if (auto range = strip(index).getDefiningOp<RangeOp>())
        if (std::optional<BlockNumber> number = blockNumber(range.getStart()))
          found.push_back({tensorName(number->load.getTensor()),
                           tensorName(tensor), dim, number->size});
    }
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
