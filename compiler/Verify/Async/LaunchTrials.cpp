// The sizes for which the launches of a variant are executed.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/LaunchTrials.h"

#include "compiler/Verify/Async/KernelDims.h"

#include "llvm/ADT/STLExtras.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

static SmallVector<Attribute> indexAttrs(MLIRContext *context,
                                         ArrayRef<int64_t> sizes) {
  Builder b(context);
  return llvm::map_to_vector(
      sizes, [&](int64_t size) -> Attribute { return b.getIndexAttr(size); });
}

int64_t LaunchTrial::numTiles(LaunchOp launch) const {
  SmallVector<Attribute> counts;
  (void)launch.getGrid().constantFold(indexAttrs(launch.getContext(), sizes),
                                      counts);
  int64_t tiles = 1;
  for (Attribute count : counts)
    tiles *= cast<IntegerAttr>(count).getInt();
  return tiles;
}

int64_t LaunchTrial::numBlocks(LaunchOp launch) const {
  int64_t tiles = numTiles(launch);
  return launch.getPersistent() ? std::min(tiles, blocks) : tiles;
}

Trial LaunchTrial::of(LaunchOp launch, KernelOp kernel, int64_t block) const {
  Trial trial;
  ArrayAttr names = launch->getParentOfType<PlanOp>().getDims();
  for (auto [attr, argument] :
       llvm::zip(kernel.getArgs(), kernel.getBody().getArguments()))
    if (auto dim = dyn_cast<DimArgAttr>(attr))
      trial.dims.push_back(
          {argument, sizes[llvm::find(names, dim.getDim()) - names.begin()]});
  trial.block = block;
  trial.blocks = numBlocks(launch);
  trial.tiles = numTiles(launch);
  trial.samples.assign(samples.begin(), samples.end());
  trial.samples.push_back(callers);
  trial.callers = callers;
  return trial;
}

/// The largest block into which a grid cuts a dim.
static int64_t blockOf(AffineMap grid, unsigned symbol) {
  int64_t block = 1;
  for (AffineExpr count : grid.getResults())
    count.walk([&](AffineExpr expr) {
      auto quotient = dyn_cast<AffineBinaryOpExpr>(expr);
      if (!quotient || quotient.getKind() != AffineExprKind::CeilDiv ||
          !quotient.getLHS().isFunctionOfSymbol(symbol))
        return;
      if (auto by = dyn_cast<AffineConstantExpr>(quotient.getRHS()))
        block = std::max(block, by.getValue());
    });
  return block;
}

/// Changes sizes on which the variant depends until it is taken, if some do.
static bool findTaken(VariantOp variant, LaunchTrial &trial, size_t first) {
  std::optional<AffineMap> conditions = variant.getConditions();
  auto isTaken = [&] {
    SmallVector<Attribute> results;
    return succeeded(conditions->constantFold(
               indexAttrs(variant.getContext(), trial.sizes), results)) &&
           llvm::all_of(results, [](Attribute result) {
             return !cast<IntegerAttr>(result).getValue().isNegative();
           });
  };
  if (!conditions || first == trial.sizes.size())
    return !conditions || isTaken();
  int64_t given = trial.sizes[first];
  if (!conditions->isFunctionOfSymbol(first))
    return findTaken(variant, trial, first + 1);
  for (int64_t size : {given, int64_t(9), int64_t(4), int64_t(2), int64_t(1),
                       int64_t(2049), int64_t(4097), int64_t(16385)}) {
    trial.sizes[first] = size;
    if (findTaken(variant, trial, first + 1))
      return true;
  }
  trial.sizes[first] = given;
  return false;
}

std::vector<LaunchTrial>
makeLaunchTrials(VariantOp variant,
                 ArrayRef<std::pair<LaunchOp, KernelOp>> launches) {
  auto plan = variant->getParentOfType<PlanOp>();
  SmallVector<Dim> dims(plan.getDims().size());
  // The least block into which a grid cuts each.
  SmallVector<int64_t> least(dims.size(), INT64_MAX);
  for (auto [launch, kernel] : launches) {
    for (auto [symbol, dim] : llvm::enumerate(dims)) {
      int64_t block = blockOf(launch.getGrid(), symbol);
      dim.block = std::max(dim.block, block);
      if (launch.getGrid().isFunctionOfSymbol(symbol))
        least[symbol] = std::min(least[symbol], block);
    }
    for (auto [attr, argument] :
         llvm::zip(kernel.getArgs(), kernel.getBody().getArguments()))
      if (auto name = dyn_cast<DimArgAttr>(attr)) {
        Dim &dim = dims[llvm::find(plan.getDims(), name.getDim()) -
                        plan.getDims().begin()];
        Dim measured = measure(argument);
        dim.block = std::max(dim.block, measured.block);
        dim.step = std::max(dim.step, measured.step);
      }
  }
  // Launches of few thread blocks: what one takes a row at a time another, that
  // initialises, takes in long pieces.
  constexpr int64_t mostBlocks = 32;
  for (auto [dim, block] : llvm::zip_equal(dims, least))
    if (block < dim.block / mostBlocks)
      dim.block = block;
  // What differs along a dim, such as lengths, takes three values.
  auto hasIntegers = [&](unsigned symbol) {
    return llvm::any_of(plan.getTensors().getAsRange<tile::TensorArgAttr>(),
                        [&](tile::TensorArgAttr tensor) {
                          return tensor.getElementType().isInteger() &&
                                 tensor.getShape().isFunctionOfSymbol(symbol);
                        });
  };
  constexpr int64_t off = 3; // less than a row of any product
  auto isCut = [](const Dim &dim) { return dim.block > 1; };
  const Dim *last = nullptr;
  int64_t largest = 0;
  for (const Dim &dim : dims)
    if (isCut(dim)) {
      last = &dim;
      largest = std::max(largest, 2 * dim.block - off);
    }
  std::vector<LaunchTrial> trials;
  auto add = [&](auto sizeOf, int64_t blocks, ArrayRef<int64_t> samples,
                 int64_t callers) {
    LaunchTrial trial;
    int64_t others = 2;
    for (auto [symbol, dim] : llvm::enumerate(dims))
      // Of equal sizes one would pass for another.
      trial.sizes.push_back(isCut(dim) ? sizeOf(dim)
                            : hasIntegers(symbol)
                                ? 3
                                : std::exchange(others, 5 - others));
    trial.blocks = blocks;
    trial.samples.assign(samples.begin(), samples.end());
    trial.callers = callers;
    if (findTaken(variant, trial, 0))
      trials.push_back(std::move(trial));
  };
  // Steps of all kinds: as many as two blocks of rows have, and another one.
  int64_t step = last ? (last->step ? last->step : last->block) : 1,
          all = std::max<int64_t>(2, largest + step);
  auto twoBlocks = [&](const Dim &dim) {
    return &dim == last ? all : 2 * dim.block - off;
  };
  // A window as long as the rows has steps that are all in it, and others.
  add(twoBlocks, 1, {all, 0, step + 1}, largest);
  if (llvm::any_of(launches, [](const auto &launched) {
        return hasCallersIntegers(launched.second);
      }))
    add(twoBlocks, 1, {all, 0, step + 1}, step - 1);
  add(
      [&](const Dim &dim) {
        return &dim == last ? 2 * dim.block
                            : std::max<int64_t>(1, dim.block / 4);
      },
      2, {step - 1, 2 * step - 1, step}, step + 1);
  if (last)
    add([&](const Dim &dim) { return &dim == last ? 0 : dim.block; }, 2, {0, 0},
        1);
  return trials;
}

} // namespace selvedge::verify
