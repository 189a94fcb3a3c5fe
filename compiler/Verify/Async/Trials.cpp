// The sizes for which a kernel with roles is executed.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/Trials.h"

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

namespace {

/// A dimension, and the largest and the least constant, but 1, by which it, or
/// a sum or bound made of it, is divided, or in steps of which a loop goes up
/// to it.
struct Dim {
  Value value;
  int64_t block = 1, step = 0;
};

} // namespace

static Dim measure(Value value) {
  Dim dim{value};
  // What it is taken from counts no steps of it.
  llvm::DenseSet<Value> less;
  SetVector<Value> made;
  made.insert(value);
  for (size_t i = 0; i < made.size(); ++i)
    for (OpOperand &use : made[i].getUses()) {
      Operation *user = use.getOwner();
      std::optional<int64_t> divisor;
      if (auto loop = dyn_cast<scf::ForOp>(user)) {
        if (use.get() == loop.getUpperBound())
          divisor = getConstantIntValue(loop.getStep());
      } else if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp,
                     arith::FloorDivSIOp, arith::DivSIOp, arith::DivUIOp>(
                     user)) {
        if (use.getOperandNumber() == 0)
          divisor = getConstantIntValue(user->getOperand(1));
      } else if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp,
                     arith::MaxSIOp, arith::ExtSIOp, arith::TruncIOp>(user)) {
        Value result = user->getResult(0);
        made.insert(result);
        bool isTaken = isa<arith::SubIOp>(user) && use.getOperandNumber() == 1;
        if (isTaken || less.contains(use.get()))
          less.insert(result);
      }
      if (!divisor || *divisor <= 1)
        continue;
      if (!less.contains(use.get()))
        dim.step = dim.step ? std::min(dim.step, *divisor) : *divisor;
      dim.block = std::max(dim.block, *divisor);
    }
  return dim;
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
      if (dimOf(kernel, value) == name)
        size = given;
    symbols.push_back(b.getIndexAttr(size));
  }
  return symbols;
}

/// The thread blocks of a launch with these dimensions.
static int64_t gridOf(LaunchOp launch, const Trial &trial, KernelOp kernel) {
  SmallVector<Attribute> counts;
  if (failed(launch.getGrid().constantFold(symbolsOf(launch, trial, kernel),
                                           counts)))
    return 1;
  int64_t blocks = 1;
  for (Attribute count : counts)
    blocks *= cast<IntegerAttr>(count).getInt();
  return blocks;
}

/// The first thread block; of a launch the second of two that share the tiles,
/// or the last one where each has one.
static void addBlocks(std::vector<Trial> &trials, Trial trial, KernelOp kernel,
                      LaunchOp launch, std::optional<size_t> firstSample) {
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
  if (!launch)
    return false;
  std::optional<AffineMap> conditions =
      launch->getParentOfType<VariantOp>().getConditions();
  return conditions &&
         conditions->isFunctionOfSymbol(symbolOf(launch, kernel, dim));
}

/// Gives dimensions, from the `first` on, values for which the kernel is
/// launched: more than one block of pairs, the last one not full, if possible.
static bool findLaunched(LaunchOp launch, Trial &trial, KernelOp kernel,
                         size_t first) {
  if (first == trial.dims.size())
    return isLaunched(launch, trial, kernel);
  int64_t &size = trial.dims[first].second;
  int64_t given = size;
  if (!isConditioned(launch, kernel, trial.dims[first].first))
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

/// Whether the caller gives integers, such as the length of a window.
static bool hasCallersIntegers(KernelOp kernel) {
  return llvm::any_of(
      llvm::zip(kernel.getArgs(), kernel.getBody().getArguments()),
      [](auto pair) {
        auto [attr, argument] = pair;
        return isa<ScalarArgAttr>(attr) && argument.getType().isInteger();
      });
}

namespace {

/// The dimensions of a kernel: those that it cuts into blocks; others, first
/// those along which lengths differ; last those that its launch depends on.
struct Dims {
  SmallVector<Dim> all;
  size_t numCut = 0, numUncut = 0;
};

} // namespace

static Dims dimsOf(KernelOp kernel, LaunchOp launch) {
  Dims dims;
  SmallVector<Dim> uncut, fixed;
  for (auto [attr, argument] :
       llvm::zip(kernel.getArgs(), kernel.getBody().getArguments()))
    if (isa<DimArgAttr>(attr)) {
      Dim dim = measure(argument);
      if (isConditioned(launch, kernel, argument))
        fixed.push_back({argument, 1, 1});
      else
        (dim.block > 1 ? dims.all : uncut).push_back(dim);
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
  if (kernel.getBody().getOps<RoleOp>().empty())
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

std::vector<Trial> makeTrials(KernelOp kernel, int64_t longCount,
                              bool nonempty) {
  if (kernel.getBody().getOps<RoleOp>().empty())
    return {Trial()};
  LaunchOp launch = launchOf(kernel);
  auto [dims, numCut, numUncut] = dimsOf(kernel, launch);
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
    int64_t largest = 0;
    for (auto [value, size] : trial.dims)
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
      if (dim.block > 1 && given.second > 0) {
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
  llvm::append_range(trials, more);
  return trials;
}

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

std::string Trial::str(KernelOp kernel) const {
  std::string text;
  for (auto [value, size] : dims)
    text += llvm::formatv("{0} = {1}, ", dimOf(kernel, value).getValue(), size);
  if (block)
    text += llvm::formatv("block {0} of {1}", *block, *blocks);
  return text;
}

} // namespace selvedge::verify
