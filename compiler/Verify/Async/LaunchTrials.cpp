// The sizes for which the launches of a variant are executed.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/LaunchTrials.h"

#include "compiler/Verify/Async/TrialMaker.h"
#include "dialect/Tile/Limits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <random>
#include <set>

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

static SmallVector<Attribute> indexAttrs(MLIRContext *context,
                                         ArrayRef<int64_t> sizes) {
  Builder b(context);
  return llvm::map_to_vector(
      sizes, [&](int64_t size) -> Attribute { return b.getIndexAttr(size); });
}

/// The tiles along each range of a kernel; none of a grid that divides by 0,
/// which is not launched.
static std::optional<SmallVector<int64_t>>
tilesByRange(LaunchOp launch, ArrayRef<int64_t> sizes) {
  SmallVector<Attribute> counts;
  if (failed(launch.getGrid().constantFold(
          indexAttrs(launch.getContext(), sizes), counts)))
    return std::nullopt;
  // A range may begin behind the end of a dim.
  return llvm::map_to_vector(counts, [](Attribute count) {
    return std::max<int64_t>(0, cast<IntegerAttr>(count).getInt());
  });
}

static int64_t saturatingProduct(ArrayRef<int64_t> counts) {
  uint64_t product = 1;
  for (int64_t count : counts)
    product = llvm::SaturatingMultiply<uint64_t>(product, count);
  return static_cast<int64_t>(std::min<uint64_t>(product, INT64_MAX));
}

int64_t LaunchTrial::numTiles(LaunchOp launch) const {
  std::optional<SmallVector<int64_t>> counts = tilesByRange(launch, sizes);
  return counts ? saturatingProduct(*counts) : 0;
}

int64_t LaunchTrial::blocksOf(LaunchOp launch, int64_t tiles) const {
  return launch.getPersistent() ? std::min(tiles, blocks) : tiles;
}

int64_t LaunchTrial::numBlocks(LaunchOp launch) const {
  return blocksOf(launch, numTiles(launch));
}

/// The `number`th scalar of an op. Where the first one is negative, every
/// second one is as far above zero, and as far again: between two there is
/// room.
static int64_t callersInteger(int64_t callers, unsigned number) {
  return (callers < 0 && number % 2 != 0 ? -2 * callers : callers) + number;
}

std::optional<int64_t> callersInteger(int64_t callers, BlockArgument argument) {
  auto kernel = dyn_cast<tile::KernelOp>(argument.getOwner()->getParentOp());
  if (!kernel || !argument.getType().isInteger())
    return std::nullopt;
  // A truth value is any of both.
  if (!argument.getType().isInteger(32))
    return callers;
  tile::ProgramOp program = kernel.getProgram();
  return callersInteger(callers, argument.getArgNumber() -
                                     program.getDims().size() -
                                     program.getTensors().size());
}

Trial LaunchTrial::of(LaunchOp launch, KernelOp kernel, int64_t block) const {
  Trial trial;
  auto plan = launch->getParentOfType<PlanOp>();
  ArrayAttr names = plan.getDims(), scalars = plan.getScalars();
  for (auto [attr, argument] :
       llvm::zip(kernel.getArgs(), kernel.getBody().getArguments()))
    if (auto dim = dyn_cast<DimArgAttr>(attr))
      trial.dims.push_back(
          {argument, sizes[llvm::find(names, dim.getDim()) - names.begin()]});
    else if (auto own = dyn_cast<ScalarArgAttr>(attr);
             own && argument.getType().isInteger(32))
      for (auto [i, scalar] :
           llvm::enumerate(scalars.getAsRange<tile::ScalarArgAttr>()))
        if (scalar.getName() == own.getScalar())
          trial.scalars.push_back({argument, callersInteger(callers, i)});
  trial.block = block;
  trial.blocks = numBlocks(launch);
  trial.tiles = numTiles(launch);
  trial.samples.assign(samples.begin(), samples.end());
  trial.samples.push_back(callers);
  trial.callers = callers;
  trial.hasOptionals = hasOptionals;
  trial.takesOthers = takesOthers;
  return trial;
}

Trial LaunchTrial::ofSome(LaunchOp launch, KernelOp kernel,
                          int64_t block) const {
  // More than a ring of a kernel without roles has slots.
  constexpr int64_t mostTrips = 6;
  Trial trial = of(launch, kernel, block);
  if (!kernel.hasRoles())
    trial.mostTrips = mostTrips;
  return trial;
}

SmallVector<int64_t> LaunchTrial::someBlocks(LaunchOp launch) const {
  int64_t count = numBlocks(launch);
  return count > 5 ? SmallVector<int64_t>{count - 1, count / 2, 0, count - 2, 1}
                   : llvm::to_vector(llvm::seq(count));
}

SmallVector<int64_t> LaunchTrial::cornerBlocks(LaunchOp launch) const {
  constexpr size_t mostCorners = 16;
  std::optional<SmallVector<int64_t>> counts = tilesByRange(launch, sizes);
  int64_t tiles = counts ? saturatingProduct(*counts) : 0;
  if (tiles == 0 || tiles > tile::maxExtent)
    return {};
  SmallVector<int64_t> corners{0};
  // The last range varies first.
  int64_t stride = 1;
  for (int64_t count : llvm::reverse(*counts)) {
    if (count > 1 && corners.size() < mostCorners)
      for (int64_t corner : SmallVector<int64_t>(corners))
        corners.push_back(corner + (count - 1) * stride);
    stride *= count;
  }
  int64_t most = blocksOf(launch, tiles);
  llvm::erase_if(corners, [&](int64_t block) { return block >= most; });
  return corners;
}

/// Whether a dim is part of what `expr` divides, if it divides at all: a
/// number of parts is not what is cut.
static bool isDivided(AffineExpr expr, unsigned symbol) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return expr.isFunctionOfSymbol(symbol);
  bool isSumOrProduct = llvm::is_contained(
      {AffineExprKind::Add, AffineExprKind::Mul}, binary.getKind());
  return isDivided(binary.getLHS(), symbol) ||
         (isSumOrProduct && isDivided(binary.getRHS(), symbol));
}

/// The largest block into which a grid cuts a dim.
static int64_t blockOf(AffineMap grid, unsigned symbol) {
  int64_t block = 1;
  for (AffineExpr count : grid.getResults())
    count.walk([&](AffineExpr expr) {
      auto quotient = dyn_cast<AffineBinaryOpExpr>(expr);
      if (!quotient || quotient.getKind() != AffineExprKind::CeilDiv ||
          !isDivided(quotient.getLHS(), symbol))
        return;
      if (auto by = dyn_cast<AffineConstantExpr>(quotient.getRHS()))
        block = std::max(block, by.getValue());
    });
  return block;
}

bool isTaken(VariantOp variant, const LaunchTrial &trial) {
  std::optional<AffineMap> conditions = variant.getConditions();
  SmallVector<Attribute> results;
  return !conditions ||
         (succeeded(conditions->constantFold(
              indexAttrs(variant.getContext(), trial.sizes), results)) &&
          llvm::all_of(results, [](Attribute result) {
            return !cast<IntegerAttr>(result).getValue().isNegative();
          }));
}

/// Whether a grid cuts pairs, one number of which is a dim, into blocks.
static bool cutsPairs(AffineMap grid, unsigned symbol) {
  bool cuts = false;
  for (AffineExpr count : grid.getResults())
    count.walk([&](AffineExpr expr) {
      auto quotient = dyn_cast<AffineBinaryOpExpr>(expr);
      auto pairs = quotient && quotient.getKind() == AffineExprKind::CeilDiv
                       ? dyn_cast<AffineBinaryOpExpr>(quotient.getLHS())
                       : AffineBinaryOpExpr(nullptr);
      cuts |= pairs && pairs.getKind() == AffineExprKind::Mul &&
              isa<AffineSymbolExpr>(pairs.getLHS()) &&
              isa<AffineSymbolExpr>(pairs.getRHS()) &&
              pairs.isFunctionOfSymbol(symbol);
    });
  return cuts;
}

/// The conditions that trials may fail. Others say that 32 bits count pairs:
/// trials have fewer.
static SmallVector<AffineExpr> decidingConditions(VariantOp variant) {
  auto isCounted = [](AffineExpr condition) {
    auto sum = dyn_cast<AffineBinaryOpExpr>(condition);
    auto most = sum && sum.getKind() == AffineExprKind::Add
                    ? dyn_cast<AffineConstantExpr>(sum.getRHS())
                    : AffineConstantExpr(nullptr);
    return most && most.getValue() == tile::maxExtent;
  };
  std::optional<AffineMap> conditions = variant.getConditions();
  SmallVector<AffineExpr> deciding(conditions ? conditions->getResults()
                                              : ArrayRef<AffineExpr>());
  llvm::erase_if(deciding, isCounted);
  return deciding;
}

bool dependsOn(VariantOp variant, unsigned symbol) {
  return llvm::any_of(decidingConditions(variant), [&](AffineExpr condition) {
    return condition.isFunctionOfSymbol(symbol);
  });
}

/// Changes sizes on which the variant depends until it is taken, if some do.
static bool findTaken(VariantOp variant, LaunchTrial &trial, size_t first = 0,
                      Prefers prefers = Prefers::Given) {
  if (!variant.getConditions() || first == trial.sizes.size())
    return isTaken(variant, trial);
  int64_t given = trial.sizes[first];
  if (!dependsOn(variant, first))
    return findTaken(variant, trial, first + 1, prefers);
  SmallVector<int64_t> choices{given};
  // Of rows as many as there may be, of what else it depends on little.
  auto counts = [&](unsigned symbol) { return dependsOn(variant, symbol); };
  bool isFirst = llvm::none_of(llvm::seq<unsigned>(0, first), counts);
  if (prefers != Prefers::Given && isFirst)
    // A variant may be for fewer rows than a block has.
    choices.append({given - 1, 64, 32, 16, 8, 4, 2});
  else if (prefers == Prefers::Even)
    choices = {2, 4, 8, 16, 32, 64, given};
  else if (prefers == Prefers::Many)
    choices = {64, 32, 16, 8, 4, 2, given};
  // Of a dim that counts alone as many blocks as possible.
  if (llvm::count_if(llvm::seq<unsigned>(0, trial.sizes.size()), counts) == 1)
    for (int64_t part = given / 2; part > 0; part /= 2)
      choices.push_back(part | 1);
  choices.append({9, 4, 2, 1, 2049, 4097, 16385});
  for (int64_t size : choices) {
    trial.sizes[first] = size;
    if (findTaken(variant, trial, first + 1, prefers))
      return true;
  }
  trial.sizes[first] = given;
  return false;
}

/// What a count of tiles is divided from: what is cut, or the count itself.
static AffineExpr dividendOf(AffineExpr count) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(count);
  return binary && binary.getKind() == AffineExprKind::CeilDiv ? binary.getLHS()
                                                               : count;
}

/// Raises sizes of dims that a range begins behind: `3..M` has as many elements
/// as the trial has of others.
static void raiseBegins(ArrayRef<std::pair<LaunchOp, KernelOp>> launches,
                        LaunchTrial &trial) {
  for (auto [launch, kernel] : launches) {
    AffineMap grid = launch.getGrid();
    for (AffineExpr count : grid.getResults()) {
      AffineMap dividend =
          AffineMap::get(0, grid.getNumSymbols(), dividendOf(count));
      auto valueWith = [&](unsigned symbol, int64_t size) {
        SmallVector<int64_t> sizes(trial.sizes);
        sizes[symbol] = size;
        SmallVector<Attribute> value;
        return succeeded(dividend.constantFold(
                   indexAttrs(grid.getContext(), sizes), value))
                   ? cast<IntegerAttr>(value.front()).getInt()
                   : 0;
      };
      for (auto [symbol, size] : llvm::enumerate(trial.sizes))
        if (int64_t least = valueWith(symbol, 0);
            least < 0 && valueWith(symbol, size) > least &&
            valueWith(symbol, size) <= 0)
          size -= least;
    }
  }
}

std::string LaunchTrial::str(PlanOp plan) const {
  std::string text;
  for (auto [name, size] : llvm::zip_equal(plan.getDims(), sizes))
    text += (text.empty() ? "" : ", ") +
            llvm::formatv("{0} = {1}", cast<StringAttr>(name).getValue(), size)
                .str();
  return text;
}

/// Whether a kernel reads a tensor.
static bool reads(KernelOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return isa<LoadOp, CopyOp, CopyAsyncOp, TmaLoadOp, BulkLoadOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

TrialMaker::TrialMaker(VariantOp variant,
                       ArrayRef<std::pair<LaunchOp, KernelOp>> launches,
                       unsigned scale)
    : variant(variant), launches(launches), scale(scale) {
  auto plan = variant->getParentOfType<PlanOp>();
  dims.resize(plan.getDims().size());
  areLimits.assign(dims.size(), false);
  // What only initialises takes rows in pieces of its own.
  bool hasReaders = llvm::any_of(
      launches, [](const auto &launched) { return reads(launched.second); });
  // The least block into which a grid cuts each.
  SmallVector<int64_t> least(dims.size(), INT64_MAX);
  for (auto [launch, kernel] : launches) {
    if (hasReaders && !reads(kernel))
      continue;
    for (auto [symbol, dim] : llvm::enumerate(dims)) {
      int64_t block = blockOf(launch.getGrid(), symbol);
      dim.block = std::max(dim.block, block);
      if (launch.getGrid().isFunctionOfSymbol(symbol))
        least[symbol] = std::min(least[symbol], block);
    }
    for (auto [attr, argument] :
         llvm::zip(kernel.getArgs(), kernel.getBody().getArguments()))
      if (auto name = dyn_cast<DimArgAttr>(attr)) {
        size_t symbol =
            llvm::find(plan.getDims(), name.getDim()) - plan.getDims().begin();
        Dim &dim = dims[symbol];
        Dim measured = measure(argument, launch, symbol);
        dim.block = std::max(dim.block, measured.block);
        dim.step = std::max(dim.step, measured.step);
        dim.perElement = std::max(dim.perElement, measured.perElement);
      }
  }
  // No length is kept in pages up to whose number a loop goes.
  for (auto [launch, kernel] : launches)
    for (size_t symbol : dimsOfEnds(kernel)) {
      dims[symbol].isLoopEnd = true;
      dims[symbol].perElement = 1;
    }
  // Launches of few thread blocks: what one takes a row at a time another, that
  // initialises, takes in long pieces.
  constexpr int64_t mostBlocks = 32;
  for (auto [dim, block] : llvm::zip_equal(dims, least))
    if (block < dim.block / mostBlocks)
      dim.block = block;
  SmallVector<size_t> cut;
  for (auto [symbol, dim] : llvm::enumerate(dims))
    if (isCut(dim))
      cut.push_back(symbol);
  // Parts of a split range are tiles of one kernel and steps of another: what
  // has no tiles of its own is long, and they are few.
  auto areTiles = [&](size_t symbol) {
    return llvm::any_of(launches, [&](const auto &launched) {
      return hasTilesOfItsOwn(launched.first, symbol);
    });
  };
  if (!llvm::all_of(cut, areTiles))
    llvm::erase_if(cut, areTiles);
  for (size_t symbol : cut) {
    first = first ? first : &dims[symbol];
    last = &dims[symbol];
    largest = std::max(largest, 2 * dims[symbol].block - off);
  }
}

bool TrialMaker::isOfPairs(unsigned symbol) const {
  return llvm::any_of(launches, [&](const auto &launched) {
    return cutsPairs(LaunchOp(launched.first).getGrid(), symbol);
  });
}

SmallVector<bool> TrialMaker::single(bool first) const {
  SmallVector<bool> found;
  bool isFirst = true;
  for (auto [symbol, dim] : llvm::enumerate(dims)) {
    bool isNumber = isCut(dim) && isOfPairs(symbol);
    found.push_back(!isCut(dim) || (isNumber && isFirst == first));
    isFirst ^= isNumber;
  }
  return found;
}

std::optional<LaunchTrial> TrialMaker::taken(LaunchTrial trial,
                                             Prefers prefers) const {
  raiseBegins(launches, trial);
  return findTaken(variant, trial, /*first=*/0, prefers)
             ? std::optional(std::move(trial))
             : std::nullopt;
}

void TrialMaker::noteLimits(ArrayRef<std::pair<LaunchOp, KernelOp>> others) {
  TrialMaker all(variant, others, scale);
  ArrayAttr names = variant->getParentOfType<PlanOp>().getDims();
  for (auto [launch, kernel] : launches)
    for (Attribute attr : kernel.getArgs())
      if (auto name = dyn_cast<DimArgAttr>(attr)) {
        size_t symbol = llvm::find(names, name.getDim()) - names.begin();
        areLimits[symbol] = !isCut(dims[symbol]) && !isCounted(symbol) &&
                            isCut(all.dims[symbol]);
      }
}

bool TrialMaker::hasIntegers(unsigned symbol) const {
  auto tensors = variant->getParentOfType<PlanOp>().getTensors();
  return llvm::any_of(tensors.getAsRange<tile::TensorArgAttr>(),
                      [&](tile::TensorArgAttr tensor) {
                        return tensor.getElementType().isInteger() &&
                               tensor.getShape().isFunctionOfSymbol(symbol);
                      });
}

bool TrialMaker::isCounted(unsigned symbol) const {
  return llvm::any_of(launches, [&](const auto &launched) {
    LaunchOp launch = launched.first;
    return launch.getGrid().isFunctionOfSymbol(symbol);
  });
}

bool TrialMaker::hasSegments() const {
  auto promises = variant->getParentOfType<PlanOp>().getPromises();
  return llvm::any_of(
      promises.getAsRange<tile::RequireAttr>(),
      [](tile::RequireAttr promise) { return promise.getOrdered(); });
}

int64_t TrialMaker::nextUncut(unsigned symbol, int64_t lengths) {
  // That several dims are indexed as the program says the first trial tells.
  bool hasFew = scale > 0 || kind > 0;
  if (scale < 2 && hasIntegers(symbol) &&
      !(std::exchange(hasLengths, true) && hasFew))
    return lengths;
  return uncut++ == 0 || !hasFew ? 2 : 1;
}

int64_t TrialMaker::twoBlocks(const Dim &dim) const {
  // Steps of all kinds: as many as two blocks of rows have, and another one.
  if (scale == 0)
    return &dim == last ? std::max<int64_t>(2, largest + stepOf(dim))
                        : 2 * dim.block - off;
  if (scale >= smallScale)
    return scale == smallScale && &dim == last
               ? std::max<int64_t>(1, stepOf(dim) / 2 + 1)
               : std::min<int64_t>(dim.block, off);
  if (&dim == last && dim.step)
    return (4 - scale) * dim.step + 1;
  bool isWhole = scale == 1 && (&dim == first || &dim == last);
  int64_t size = std::max<int64_t>(1, (isWhole ? 2 : 1) * dim.block - off);
  return scale + 1 == smallScale ? std::min<int64_t>(size, off) : size;
}

int64_t TrialMaker::partOfBlock(const Dim &dim) const {
  if (scale >= smallScale)
    return twoBlocks(dim);
  if (&dim == last)
    return 2 * (scale == 0 ? dim.block : stepOf(dim));
  int64_t size = std::max<int64_t>(1, dim.block / 4);
  return scale + 1 == smallScale ? std::min<int64_t>(size, off) : size;
}

void TrialMaker::add(llvm::function_ref<int64_t(const Dim &)> sizeOf,
                     int64_t blocks, ArrayRef<int64_t> samples, int64_t callers,
                     bool hasOptionals) {
  LaunchTrial trial;
  uncut = 0;
  hasLengths = false;
  for (auto [symbol, dim] : llvm::enumerate(dims))
    trial.sizes.push_back(isCut(dim) ? sizeOf(dim)
                                     : nextUncut(symbol, samples.size()));
  trial.blocks = blocks;
  trial.samples.assign(samples.begin(), samples.end());
  trial.callers = callers;
  trial.hasOptionals = hasOptionals;
  trial.kind = kind++;
  if (std::optional<LaunchTrial> found = taken(std::move(trial)))
    trials.push_back(std::move(*found));
}

std::vector<LaunchTrial> TrialMaker::run(ArrayRef<unsigned> rows) {
  auto plan = variant->getParentOfType<PlanOp>();
  auto two = [&](const Dim &dim) { return twoBlocks(dim); };
  auto part = [&](const Dim &dim) { return partOfBlock(dim); };
  int64_t step = last ? stepOf(*last) : 1, all = last ? two(*last) : 2;
  // A window as long as the rows has steps that are all in it, and others.
  int64_t window = scale == 0 ? largest : all - step;
  add(two, 1, {all, 0, step + 1}, window);
  if (llvm::any_of(launches, [](const auto &launched) {
        return hasCallersIntegers(launched.second);
      }))
    add(two, 1, {all, 0, step + 1}, step - 1);
  // One after the other: no step after an even number of them, then one, all of
  // it or not, and two, of the second one only the first key.
  add(part, 2, {2 * step - 1, 0, step - 1, 2 * step, step, step + 1}, step + 1);
  // Segments of queries are not those of keys, nor one length another.
  if (!trials.empty())
    trials.back().turn = 1;
  if (llvm::any_of(
          plan.getTensors().getAsRange<tile::TensorArgAttr>(),
          [](tile::TensorArgAttr tensor) { return tensor.getIsOptional(); }))
    add(part, 2, {step + 1, 0, step}, step, /*hasOptionals=*/false);
  if (last) {
    add([&](const Dim &dim) { return &dim == last ? step + 1 : part(dim); }, 1,
        {step + 1, 0, step}, 0);
    add([&](const Dim &dim) { return &dim == last ? 0 : part(dim); }, 2, {0, 0},
        1);
  }
  for (unsigned symbol : rows)
    addRows(symbol);
  for (unsigned symbol = 0; symbol < dims.size(); ++symbol)
    addNone(symbol);
  return std::move(trials);
}

/// Without parts, of which `symbol` counts the tiles of a launch, every row is
/// behind the last one; without pages, of which it counts the steps.
void TrialMaker::addNone(unsigned symbol) {
  // Of what is cut last, and of rows, others have nothing.
  if (isCut(dims[symbol]) ? isCounted(symbol) || &dims[symbol] == last
                          : !isCounted(symbol) && !dims[symbol].isLoopEnd)
    return;
  LaunchTrial trial;
  for (const Dim &dim : dims)
    trial.sizes.push_back(isCut(dim) ? partOfBlock(dim) : 1);
  trial.sizes[symbol] = 0;
  trial.samples = {1, 1};
  trial.kind = kind++;
  if (isTaken(variant, trial))
    trials.push_back(std::move(trial));
}

void TrialMaker::addRows(unsigned symbol) {
  // Of a dim that the kernel does not cut, but should: not where each row has a
  // block of its own.
  constexpr int64_t mostRows = 256;
  int64_t block = dims[symbol].block;
  if (!isCounted(symbol))
    for (const Dim &dim : dims)
      block = std::max(block, std::min(dim.block, mostRows));
  LaunchTrial trial;
  trial.sizes.assign(dims.size(), 1);
  // What is cut the other trials have blocks of: it may be small.
  int64_t size = scale == 0                                 ? 2 * block - off
                 : scale < smallScale || !isCounted(symbol) ? block + 1
                                                            : 0;
  trial.sizes[symbol] = std::max<int64_t>(2, size);
  trial.samples = {1, 1};
  trial.kind = kind++;
  if (isTaken(variant, trial))
    trials.push_back(std::move(trial));
}

std::vector<LaunchTrial>
makeLaunchTrials(VariantOp variant,
                 ArrayRef<std::pair<LaunchOp, KernelOp>> launches,
                 ArrayRef<unsigned> rows, unsigned scale) {
  return TrialMaker(variant, launches, scale).run(rows);
}

} // namespace selvedge::verify
