// The sizes for which a kernel with roles is executed.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/Trials.h"

#include "compiler/Verify/Async/KernelDims.h"
#include "compiler/Verify/Async/LaunchTrials.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

static StringAttr dimOf(KernelOp kernel, Value argument) {
  return cast<DimArgAttr>(
             kernel.getArgs()[cast<BlockArgument>(argument).getArgNumber()])
      .getDim();
}

/// Only plans are looked at: other kernels may be in the hands of other
/// threads.
LaunchOp launchOf(KernelOp kernel) {
  LaunchOp found;
  for (auto plan : kernel->getParentOfType<ModuleOp>().getOps<PlanOp>())
    plan.walk([&](LaunchOp launch) {
      if (launch.getKernel() == kernel.getSymName())
        found = launch;
    });
  return found;
}

AffineExpr extentOf(LaunchOp launch, StringAttr name, size_t dim) {
  auto plan = launch->getParentOfType<PlanOp>();
  for (auto tensor : plan.getTensors().getAsRange<tile::TensorArgAttr>())
    if (tensor.getName() == name && dim < tensor.getShape().getNumResults())
      return tensor.getShape().getResult(dim);
  return {};
}

/// The dims of the launch's plan; those that the kernel does not know are 1.
static SmallVector<Attribute> symbolsOf(LaunchOp launch, const Trial &trial,
                                        KernelOp kernel) {
  Builder b(launch.getContext());
  SmallVector<Attribute> symbols;
  for (Attribute name : launch->getParentOfType<PlanOp>().getDims()) {
    int64_t size = 1;
    for (auto [value, given] : trial.dims)
      if (value && dimOf(kernel, value) == name)
        size = given;
    symbols.push_back(b.getIndexAttr(size));
  }
  return symbols;
}

/// The thread blocks of a launch with these dimensions; none where its grid
/// divides by 0.
static int64_t gridOf(LaunchOp launch, const Trial &trial, KernelOp kernel) {
  SmallVector<Attribute> counts;
  if (failed(launch.getGrid().constantFold(symbolsOf(launch, trial, kernel),
                                           counts)))
    return 0;
  int64_t blocks = 1;
  for (Attribute count : counts)
    blocks *= cast<IntegerAttr>(count).getInt();
  return blocks;
}

/// The first thread block; of a launch the second of two that share the tiles,
/// or the last one where each has one.
static void addBlocks(std::vector<Trial> &trials, Trial trial, KernelOp kernel,
                      LaunchOp launch, std::optional<size_t> firstSample) {
  llvm::erase_if(trial.dims, [](const auto &dim) { return !dim.first; });
  int64_t tiles = launch ? gridOf(launch, trial, kernel) : 1;
  bool isPersistent = !launch || launch.getPersistent();
  if (launch)
    trial.tiles = tiles;
  // Without tiles nothing is launched.
  if (tiles == 0)
    return;
  // Not all paths are tried: each sample comes first in some trials.
  auto add = [&](int64_t block, int64_t blocks) {
    size_t first = firstSample.value_or(trials.size());
    Trial &added = trials.emplace_back(trial);
    added.block = block;
    added.blocks = blocks;
    if (!added.samples.empty())
      std::rotate(added.samples.begin(),
                  added.samples.begin() + first % added.samples.size(),
                  added.samples.end());
  };
  add(0, isPersistent ? 1 : tiles);
  if (tiles < 2)
    return;
  add(isPersistent ? 1 : tiles - 1, isPersistent ? 2 : tiles);
}

/// Whether the caller promises of some tensor that it holds ends of segments.
static bool hasSegments(LaunchOp launch) {
  if (!launch)
    return false;
  auto promises = launch->getParentOfType<PlanOp>().getPromises();
  return llvm::any_of(
      promises.getAsRange<tile::RequireAttr>(),
      [](tile::RequireAttr promise) { return promise.getOrdered(); });
}

/// Whether a launch with these dimensions would take the kernel.
static bool isLaunched(LaunchOp launch, const Trial &trial, KernelOp kernel) {
  std::optional<AffineMap> conditions =
      launch ? launch->getParentOfType<VariantOp>().getConditions()
             : std::nullopt;
  if (!conditions)
    return true;
  SmallVector<Attribute> results;
  return succeeded(conditions->constantFold(symbolsOf(launch, trial, kernel),
                                            results)) &&
         llvm::all_of(results, [](Attribute result) {
           return !cast<IntegerAttr>(result).getValue().isNegative();
         });
}

/// The place of a dimension among those of the launch's plan.
static unsigned symbolOf(LaunchOp launch, KernelOp kernel, Value dim) {
  ArrayAttr names = launch->getParentOfType<PlanOp>().getDims();
  return llvm::find(names, dimOf(kernel, dim)) - names.begin();
}

/// Whether the launch depends on the dimension.
static bool isConditioned(LaunchOp launch, KernelOp kernel, Value dim) {
  return launch && dependsOn(launch->getParentOfType<VariantOp>(),
                             symbolOf(launch, kernel, dim));
}

/// Gives dimensions, from the `first` on, values for which the kernel is
/// launched: more than one block of pairs, the last one not full, if possible.
static bool findLaunched(LaunchOp launch, Trial &trial, KernelOp kernel,
                         size_t first) {
  if (first == trial.dims.size())
    return isLaunched(launch, trial, kernel);
  int64_t &size = trial.dims[first].second;
  int64_t given = size;
  Value dim = trial.dims[first].first;
  if (!dim || !isConditioned(launch, kernel, dim))
    return findLaunched(launch, trial, kernel, first + 1);
  for (int64_t value : {int64_t(9), int64_t(16), int64_t(8), given}) {
    // Of equal sizes one would pass for another.
    bool isTaken =
        llvm::any_of(ArrayRef(trial.dims).take_front(first),
                     [&](const auto &dim) { return dim.second == value; });
    if (isTaken && value != given)
      continue;
    size = value;
    if (findLaunched(launch, trial, kernel, first + 1))
      return true;
  }
  return false;
}

/// Whether tensors of integers that the kernel reads, such as lengths, have the
/// dimension: what it says may differ from tile to tile along it.
static bool hasIntegersAlong(LaunchOp launch, KernelOp kernel, Value dim) {
  if (!launch)
    return false;
  auto plan = launch->getParentOfType<PlanOp>();
  unsigned symbol = symbolOf(launch, kernel, dim);
  return llvm::any_of(plan.getTensors().getAsRange<tile::TensorArgAttr>(),
                      [&](tile::TensorArgAttr tensor) {
                        return tensor.getElementType().isInteger() &&
                               tensor.getShape().isFunctionOfSymbol(symbol);
                      });
}

namespace {

/// The dimensions of a kernel: those that it cuts into blocks; others, first
/// those along which lengths differ; last those that its launch depends on.
/// Where what the kernel loads is cut into steps and no dimension bounds it, as
/// the lengths of sequences in pages, that is the last one cut, without a
/// value: what is loaded is then as large as it.
struct Dims {
  SmallVector<Dim> all;
  size_t numCut = 0, numUncut = 0;
  bool hasLengths = false;
};

} // namespace

/// Where integers that a kernel loads are cut into steps, and no dimension is;
/// none where they are not.
static std::optional<Dim> measureLengths(KernelOp kernel, ArrayRef<Dim> dims) {
  Dim lengths;
  kernel.walk([&](LoadOp load) {
    if (!load.getType().isInteger(32))
      return;
    Dim loaded = measure(load.getResult());
    if (loaded.step == 0)
      return;
    lengths.block = std::max(lengths.block, loaded.block);
    lengths.step =
        std::min(lengths.step ? lengths.step : loaded.step, loaded.step);
    lengths.steps.insert_range(loaded.steps);
  });
  bool areBounded = llvm::any_of(dims, [&](const Dim &dim) {
    return llvm::any_of(
        dim.steps, [&](Operation *op) { return lengths.steps.contains(op); });
  });
  return lengths.step && !areBounded ? std::optional(lengths) : std::nullopt;
}

static Dims dimsOf(KernelOp kernel, LaunchOp launch) {
  Dims dims;
  SmallVector<Dim> uncut, fixed;
  for (auto [attr, argument] :
       llvm::zip(kernel.getArgs(), kernel.getBody().getArguments()))
    if (isa<DimArgAttr>(attr)) {
      Dim dim =
          launch ? measure(argument, launch, symbolOf(launch, kernel, argument))
                 : measure(argument);
      if (isConditioned(launch, kernel, argument))
        fixed.push_back({argument, 1, 1});
      else
        (dim.block > 1 ? dims.all : uncut).push_back(dim);
    }
  auto given = llvm::to_vector(llvm::concat<Dim>(dims.all, uncut, fixed));
  if (std::optional<Dim> lengths = measureLengths(kernel, given)) {
    dims.all.push_back(*lengths);
    dims.hasLengths = true;
  }
  dims.numCut = dims.all.size();
  // Rows and keys of self-attention are tiles and steps of one dimension: what
  // goes round the rings are steps.
  for (Dim &dim : dims.all)
    if (dim.step == 0)
      dim.step = dim.block;
  dims.numUncut = uncut.size();
  for (bool differ : {true, false})
    llvm::copy_if(uncut, std::back_inserter(dims.all), [&](const Dim &dim) {
      return hasIntegersAlong(launch, kernel, dim.value) == differ;
    });
  llvm::append_range(dims.all, fixed);
  return dims;
}

std::vector<Trial> makeFurtherTrials(KernelOp kernel) {
  if (!kernel.hasRoles())
    return {};
  LaunchOp launch = launchOf(kernel);
  Dims dims = dimsOf(kernel, launch);
  std::vector<Trial> trials;
  if (dims.numCut == 0)
    return trials;
  constexpr int64_t off = 3; // less than a row of any product
  size_t last = dims.numCut - 1;
  int64_t step = dims.all[last].step;
  for (int64_t steps : {2, 3})
    for (int64_t part : {4, 1}) {
      Trial trial;
      for (auto [i, dim] : llvm::enumerate(dims.all))
        trial.dims.push_back(
            {dim.value, i == last ? steps * dim.block - off
                                  : std::max<int64_t>(1, dim.block / part)});
      if (!findLaunched(launch, trial, kernel, 0))
        continue;
      int64_t size = steps * step - off;
      trial.samples = {step + off, size, size - step / 2};
      for (size_t turn = 0; turn < trial.samples.size(); ++turn)
        addBlocks(trials, trial, kernel, launch, turn);
    }
  return trials;
}

/// Of the first dimensions, those of rows, takes as few as make `most` tiles:
/// where a dimension is steps and, times another, rows, as many steps as go
/// round the rings are many more tiles than do.
static void shorten(Trial &trial, LaunchOp launch, KernelOp kernel,
                    size_t numRows, int64_t most) {
  for (size_t i = 0; i < numRows; ++i) {
    int64_t &size = trial.dims[i].second;
    while (size > 1 && gridOf(launch, trial, kernel) > most) {
      int64_t given = std::exchange(size, size / 2);
      if (isLaunched(launch, trial, kernel))
        continue;
      size = given;
      break;
    }
  }
}

std::vector<Trial> makeTrials(KernelOp kernel, int64_t longCount,
                              bool nonempty) {
  if (!kernel.hasRoles())
    return {Trial()};
  LaunchOp launch = launchOf(kernel);
  auto [dims, numCut, numUncut, hasLengths] = dimsOf(kernel, launch);
  // Where fewer than two are cut, others give a thread block its tiles.
  size_t varied = std::min(std::max<size_t>(2, numCut), numCut + numUncut);
  SmallVector<int64_t> choices{1, 2, 3, longCount};
  if (!nonempty)
    choices.push_back(0);
  // Where tiles and steps are of one dimension a tile has several steps: so
  // many fewer tiles go round the rings.
  int64_t longTiles = longCount;
  if (numCut == 1 && dims[0].step < dims[0].block)
    longTiles = std::min<int64_t>(
        longCount,
        2 + llvm::divideCeil(longCount * dims[0].step, dims[0].block));
  // One of each dimension that is not cut, or `others` of the first such.
  auto sized = [&](ArrayRef<size_t> counts, int64_t others) {
    Trial trial;
    for (auto [i, dim] : llvm::enumerate(dims)) {
      bool isOther = i == varied && i < numCut + numUncut;
      int64_t count = i < varied ? choices[counts[i]] : isOther ? others : 1;
      // Two blocks, the second one not full.
      bool isPartial = dim.block > 1 && count == 2;
      int64_t size = dim.block * count - isPartial;
      if (i < varied && count == longCount)
        size = i < numCut ? dim.step * count : longTiles;
      trial.dims.push_back({dim.value, size});
    }
    return trial;
  };
  std::vector<Trial> trials, more;
  auto add = [&](std::vector<Trial> &list, Trial trial, bool eachFirst) {
    if (!findLaunched(launch, trial, kernel, 0))
      return;
    if (launch)
      shorten(trial, launch, kernel, std::max<size_t>(1, numCut) - 1,
              4 * longCount);
    int64_t largest = 0;
    for (auto [value, size] : trial.dims)
      if (!hasLengths || !value)
        largest = std::max(largest, size);
    // All of a dim, and one short of it: of a block its last row is absent.
    llvm::SetVector<int64_t> samples;
    samples.insert(0);
    // Half and an eighth: where a causal limit goes through the corners of
    // blocks, a row of them has one partial step; elsewhere it has two.
    int64_t middle = largest / 2 + largest / 8;
    samples.insert(middle);
    // What is cut last is what steps take: one step, and that not whole.
    if (numCut > 0 && dims[numCut - 1].step < largest)
      samples.insert(dims[numCut - 1].step - 1);
    for (const auto &[dim, given] : llvm::zip(dims, trial.dims))
      if (dim.block > 1 && given.second > 0 && (!hasLengths || !dim.value)) {
        samples.insert(given.second - 1);
        samples.insert(given.second);
      }
    // One after the other they begin with the largest, before the middle: the
    // tile with two partial steps then finds rings that have wrapped.
    if (trial.alternates && samples.remove(largest)) {
      samples.remove(0);
      trial.samples = {largest};
      llvm::append_range(trial.samples, samples);
      trial.samples.push_back(0);
    } else {
      trial.samples.assign(samples.begin(), samples.end());
    }
    if (!eachFirst)
      return addBlocks(list, trial, kernel, launch, std::nullopt);
    for (size_t turn = 0; turn < trial.samples.size(); ++turn)
      addBlocks(list, trial, kernel, launch, turn);
    bool hasSteps =
        numCut > 0 && trial.dims[numCut - 1].second > dims[numCut - 1].step;
    if (!trial.alternates || !hasSteps || !hasCallersIntegers(kernel))
      return;
    // Windows of several steps, and of less than one, where there are several.
    int64_t part = dims[numCut - 1].step - 1;
    for (size_t turn = 0; turn < trial.samples.size(); ++turn) {
      trial.callers = turn % 2 == 0 && llvm::is_contained(trial.samples, part)
                          ? part
                          : middle;
      addBlocks(list, trial, kernel, launch, turn);
    }
  };
  SmallVector<size_t> counts(varied, 0);
  while (true) {
    auto isExtreme = [&](size_t i) {
      return choices[i] == longCount || choices[i] == 0;
    };
    bool isLegal = llvm::none_of(counts, isExtreme) ||
                   (llvm::count_if(counts, isExtreme) == 1 &&
                    llvm::all_of(counts, [&](size_t i) { return i != 2; }));
    if (isLegal)
      add(trials, sized(counts, 1), false);
    // One block of rows, and of steps one or as many as go round the rings:
    // there what a tile leaves to the next depends on lengths most.
    size_t last = counts.empty() ? 0 : counts.back();
    bool isRow = llvm::all_of(
        ArrayRef(counts).take_front(varied - std::min<size_t>(varied, 1)),
        [](size_t i) { return i == 0; });
    if (isRow && !counts.empty() &&
        (choices[last] == 1 || choices[last] == longCount)) {
      add(more, sized(counts, choices[last] == 1 ? 2 : 1), true);
      if (choices[last] == longCount) {
        Trial trial = sized(counts, 2);
        trial.alternates = true;
        add(more, trial, true);
      }
    }
    size_t i = 0;
    while (i < varied && ++counts[i] == choices.size())
      counts[i++] = 0;
    if (i == varied)
      break;
  }
  // Of few rows the first warpgroup, too, has something in the last step.
  for (size_t row = 0; row + 1 < numCut; ++row) {
    SmallVector<size_t> blocks(varied, 0);
    blocks.back() = 1;
    Trial trial = sized(blocks, 1);
    trial.dims[row].second = std::max<int64_t>(1, dims[row].block / 4);
    add(more, trial, true);
  }
  // Of a short segment's only tile some rows are absent, or all of a warpgroup.
  if (numCut > 0 && hasSegments(launch))
    for (int64_t rows : {dims[0].block - 3, dims[0].block / 4}) {
      SmallVector<size_t> blocks(varied, 0);
      blocks.back() = 1;
      Trial trial = sized(blocks, 1);
      trial.alternates = true;
      trial.samples = {0, rows};
      for (size_t turn : {0, 1})
        addBlocks(more, trial, kernel, launch, turn);
    }
  llvm::append_range(trials, more);
  return trials;
}

std::string Trial::str(KernelOp kernel) const {
  std::string text;
  for (auto [value, size] : dims)
    text += llvm::formatv("{0} = {1}, ", dimOf(kernel, value).getValue(), size);
  if (block)
    text += llvm::formatv("block {0} of {1}", *block, *blocks);
  return text;
}

} // namespace selvedge::verify
