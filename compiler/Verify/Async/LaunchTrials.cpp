// The sizes for which the launches of a variant are executed.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/LaunchTrials.h"

#include "compiler/Verify/Async/KernelDims.h"
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

int64_t LaunchTrial::numTiles(LaunchOp launch) const {
  SmallVector<Attribute> counts;
  // A grid that divides by 0 is not launched.
  if (failed(launch.getGrid().constantFold(
          indexAttrs(launch.getContext(), sizes), counts)))
    return 0;
  // A range may begin behind the end of a dim.
  uint64_t tiles = 1;
  for (Attribute count : counts)
    tiles = llvm::SaturatingMultiply<uint64_t>(
        tiles, std::max<int64_t>(0, cast<IntegerAttr>(count).getInt()));
  return static_cast<int64_t>(std::min<uint64_t>(tiles, INT64_MAX));
}

int64_t LaunchTrial::numBlocks(LaunchOp launch) const {
  int64_t tiles = numTiles(launch);
  return launch.getPersistent() ? std::min(tiles, blocks) : tiles;
}

/// The `number`th scalar of an op.
static int64_t callersInteger(int64_t callers, unsigned number) {
  return callers + number;
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

/// Changes sizes on which the variant depends until it is taken, if some do.
static bool findTaken(VariantOp variant, LaunchTrial &trial, size_t first = 0,
                      bool prefersEven = false) {
  std::optional<AffineMap> conditions = variant.getConditions();
  if (!conditions || first == trial.sizes.size())
    return isTaken(variant, trial);
  int64_t given = trial.sizes[first];
  if (!conditions->isFunctionOfSymbol(first))
    return findTaken(variant, trial, first + 1, prefersEven);
  SmallVector<int64_t> choices{given};
  // Of rows as many as there may be, of what else it depends on little.
  bool isFirst = llvm::none_of(llvm::seq<unsigned>(0, first), [&](unsigned s) {
    return conditions->isFunctionOfSymbol(s);
  });
  if (prefersEven && isFirst)
    // A variant may be for fewer rows than a block has.
    choices.append({given - 1, 64, 32, 16, 8, 4, 2});
  else if (prefersEven)
    choices = {2, 4, 8, 16, 32, 64, given};
  // Of a dim that counts alone as many blocks as possible.
  auto counts = [&](unsigned symbol) {
    return conditions->isFunctionOfSymbol(symbol);
  };
  if (llvm::count_if(llvm::seq<unsigned>(0, trial.sizes.size()), counts) == 1)
    for (int64_t part = given / 2; part > 0; part /= 2)
      choices.push_back(part | 1);
  choices.append({9, 4, 2, 1, 2049, 4097, 16385});
  for (int64_t size : choices) {
    trial.sizes[first] = size;
    if (findTaken(variant, trial, first + 1, prefersEven))
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

namespace {

/// The trials of one scale.
class TrialMaker {
public:
  TrialMaker(VariantOp variant,
             ArrayRef<std::pair<LaunchOp, KernelOp>> launches, unsigned scale);

  /// Dims that these launches take and do not cut, and others do: what ends in
  /// them is long.
  void noteLimits(ArrayRef<std::pair<LaunchOp, KernelOp>> others);
  std::vector<LaunchTrial> run(ArrayRef<unsigned> rows);
  /// Whether the variant takes one kind of rows only: pairs with a number that
  /// divides a block.
  bool hasPairs() {
    std::optional<AffineMap> conditions = variant.getConditions();
    return conditions && conditions->getNumResults() == 1;
  }
  /// Of such rows the last of a tile see the first key of a step that the first
  /// do not.
  std::optional<LaunchTrial> ofPairs();
  std::optional<LaunchTrial> further(unsigned number);
  /// Those that come first; `isLast` says that there are no more.
  std::optional<LaunchTrial> directed(unsigned number, bool &isLast);
  std::optional<LaunchTrial> ofSteps(unsigned number, bool &isLast);
  std::optional<LaunchTrial> ofLimits(unsigned number);

private:
  static constexpr int64_t off = 3; // less than a row of any product
  /// The first scale of which no step is whole.
  static constexpr unsigned smallScale = 4;

  static bool isCut(const Dim &dim) { return dim.block > 1; }
  /// Whether a dim is one number of pairs that are cut.
  bool isOfPairs(unsigned symbol) const {
    return llvm::any_of(launches, [&](const auto &launched) {
      return cutsPairs(LaunchOp(launched.first).getGrid(), symbol);
    });
  }
  /// Whether something differs along a dim, such as lengths.
  bool hasIntegers(unsigned symbol) const;
  bool hasSegments() const;
  /// As many heads and the like as the scale has, or as there are lengths.
  int64_t nextUncut(unsigned symbol, int64_t lengths);
  int64_t stepOf(const Dim &dim) const {
    return dim.step ? dim.step : dim.block;
  }
  int64_t twoBlocks(const Dim &dim) const;
  int64_t partOfBlock(const Dim &dim) const;
  /// The trial, with sizes that the variant is taken for and that ranges have
  /// elements of; none if there are no such sizes.
  std::optional<LaunchTrial> taken(LaunchTrial trial,
                                   bool prefersEven = false) const {
    raiseBegins(launches, trial);
    return findTaken(variant, trial, /*first=*/0, prefersEven)
               ? std::optional(std::move(trial))
               : std::nullopt;
  }
  void add(llvm::function_ref<int64_t(const Dim &)> sizeOf, int64_t blocks,
           ArrayRef<int64_t> samples, int64_t callers,
           bool hasOptionals = true);
  /// Two blocks of a dim, and little of all others.
  void addRows(unsigned symbol);
  void addNone(unsigned symbol);

  VariantOp variant;
  ArrayRef<std::pair<LaunchOp, KernelOp>> launches;
  unsigned scale, kind = 0;
  /// Of the trial at hand: dims that are not cut, and whether one of them has
  /// as many elements as there are lengths.
  unsigned uncut = 0;
  bool hasLengths = false;
  SmallVector<Dim> dims;
  SmallVector<bool> areLimits;
  /// What is cut last is what steps take.
  const Dim *last = nullptr, *first = nullptr;
  /// Of all dims that are cut, at the largest scale.
  int64_t largest = 0;
  std::vector<LaunchTrial> trials;
};

} // namespace

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
      }
  }
  // Launches of few thread blocks: what one takes a row at a time another, that
  // initialises, takes in long pieces.
  constexpr int64_t mostBlocks = 32;
  for (auto [dim, block] : llvm::zip_equal(dims, least))
    if (block < dim.block / mostBlocks)
      dim.block = block;
  for (const Dim &dim : dims)
    if (isCut(dim)) {
      first = first ? first : &dim;
      last = &dim;
      largest = std::max(largest, 2 * dim.block - off);
    }
}

void TrialMaker::noteLimits(ArrayRef<std::pair<LaunchOp, KernelOp>> others) {
  TrialMaker all(variant, others, scale);
  ArrayAttr names = variant->getParentOfType<PlanOp>().getDims();
  for (auto [launch, kernel] : launches)
    for (Attribute attr : kernel.getArgs())
      if (auto name = dyn_cast<DimArgAttr>(attr)) {
        size_t symbol = llvm::find(names, name.getDim()) - names.begin();
        areLimits[symbol] = !isCut(dims[symbol]) && isCut(all.dims[symbol]);
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
/// behind the last one.
void TrialMaker::addNone(unsigned symbol) {
  bool isCounted = llvm::any_of(launches, [&](const auto &launched) {
    LaunchOp launch = launched.first;
    return launch.getGrid().isFunctionOfSymbol(symbol);
  });
  // Of what is cut last, and of rows, others have nothing.
  if (isCut(dims[symbol]) ? isCounted || &dims[symbol] == last : !isCounted)
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
  bool isCounted = llvm::any_of(launches, [&](const auto &launched) {
    LaunchOp launch = launched.first;
    return launch.getGrid().isFunctionOfSymbol(symbol);
  });
  int64_t block = dims[symbol].block;
  if (!isCounted)
    for (const Dim &dim : dims)
      block = std::max(block, std::min(dim.block, mostRows));
  LaunchTrial trial;
  trial.sizes.assign(dims.size(), 1);
  // What is cut the other trials have blocks of: it may be small.
  int64_t size = scale == 0                         ? 2 * block - off
                 : scale < smallScale || !isCounted ? block + 1
                                                    : 0;
  trial.sizes[symbol] = std::max<int64_t>(2, size);
  trial.samples = {1, 1};
  trial.kind = kind++;
  if (isTaken(variant, trial))
    trials.push_back(std::move(trial));
}

/// What kernels add to integers, so that something is there from that size on.
static SmallVector<int64_t>
thresholdsOf(ArrayRef<std::pair<LaunchOp, KernelOp>> launches) {
  constexpr int64_t most = 4096; // of which a trial is not too long
  std::set<int64_t> found;
  for (auto [launch, kernel] : launches)
    kernel.walk([&](Operation *op) {
      if (!isa<arith::AddIOp, arith::SubIOp>(op))
        return;
      for (Value operand : op->getOperands())
        if (std::optional<int64_t> number = getConstantIntValue(operand))
          if (int64_t size = std::abs(*number) + 1; size > 2 && size <= most)
            found.insert(size);
    });
  return {found.begin(), found.end()};
}

/// The constant steps of a kernel's loops, the largest first, and the arguments
/// that bounds are made of.
static SmallVector<int64_t> stepsOf(KernelOp kernel,
                                    llvm::SmallPtrSetImpl<Value> &ends) {
  constexpr int64_t most = 1024; // of which a trial is not too long
  std::set<int64_t, std::greater<>> steps;
  SmallVector<Value> open;
  kernel.walk([&](scf::ForOp loop) {
    if (std::optional<int64_t> step = getConstantIntValue(loop.getStep());
        step && *step > 1 && *step <= most)
      steps.insert(*step);
    open.push_back(loop.getUpperBound());
  });
  llvm::SmallPtrSet<Value, 32> seen;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation *def = value.getDefiningOp();
    if (!seen.insert(value).second)
      continue;
    if (!def)
      ends.insert(value);
    else if (isa<arith::ArithDialect>(def->getDialect()))
      llvm::append_range(open, def->getOperands());
  }
  return {steps.begin(), steps.end()};
}

std::optional<LaunchTrial> TrialMaker::directed(unsigned number, bool &isLast) {
  int64_t step = last ? stepOf(*last) : 1, block = 1;
  for (const Dim &dim : dims)
    block = std::max({block, dim.block, stepOf(dim)});
  int64_t whole = llvm::alignTo(block, step) + 3 * step,
          odd = whole - 3 * step / 2;
  LaunchTrial trial;
  // The last row is of no segment.
  int64_t rest = hasSegments() ? 1 : 0;
  auto take = [&](llvm::function_ref<int64_t(const Dim &)> sizeOf,
                  ArrayRef<int64_t> samples, int64_t callers) {
    // Of pairs one number has all rows.
    unsigned pair = 0;
    for (auto [symbol, dim] : llvm::enumerate(dims))
      trial.sizes.push_back(
          areLimits[symbol] ? whole
          : !isCut(dim) || (isOfPairs(symbol) && pair++ % 2 != number % 2)
              ? 1
              : sizeOf(dim) + rest);
    trial.samples.assign(samples.begin(), samples.end());
    trial.callers = callers;
  };
  // The last dim of what holds them.
  auto takeList = [&](int64_t count) {
    for (unsigned symbol = dims.size(); symbol-- > 0;)
      if (!isCut(dims[symbol]) && hasIntegers(symbol)) {
        trial.sizes[symbol] = count;
        break;
      }
  };
  auto takeLengths = [&](int64_t count) {
    for (unsigned symbol = 0; symbol < dims.size(); ++symbol)
      if (!isCut(dims[symbol]) && hasIntegers(symbol)) {
        trial.sizes[symbol] = count;
        break;
      }
  };
  auto oneTile = [&](const Dim &dim) {
    return &dim == last ? whole : dim.block;
  };
  constexpr unsigned numShapes = 18;
  constexpr int64_t manyBlocks = 64;
  switch (number) {
  case 0: // all rows of a tile, the only one of its block, see steps whole
    take(oneTile, {whole}, 3 * step);
    trial.blocks = manyBlocks;
    break;
  case 1: // rows without anything; of segments those with queries alone
    take([&](const Dim &dim) { return rest || &dim == first ? dim.block : 0; },
         {rest * block, 0}, 0);
    trial.turn = 1;
    break;
  case 2: // lists of steps that end inside
    take([&](const Dim &dim) { return &dim == last ? step / 4 : 1; },
         {whole, 0, step - 1}, 1);
    takeList(3);
    break;
  case 3: // one step, and rows of several tiles
    take([&](const Dim &dim) { return &dim == last ? step : dim.block + 1; },
         {step, 0, step}, 0);
    break;
  case 4: // numbers in memory of which some select a step
    take(oneTile, {3, 0, 1}, step);
    takeList(3);
    break;
  case 5: // a tile that others of the block follow, at an odd half of a step
    take([&](const Dim &dim) { return &dim == last ? odd : dim.block; }, {odd},
         step);
    for (unsigned symbol = 0; symbol < dims.size(); ++symbol)
      if (!isCut(dims[symbol]) && !hasIntegers(symbol)) {
        trial.sizes[symbol] = 2;
        break;
      }
    break;
  case 6: // few rows, with a step that is not whole
    take([&](const Dim &dim) { return &dim == last ? whole - 1 : 1; },
         {whole - 1, 0, step}, whole);
    break;
  case 7: // a segment without keys, behind one with
    if (!hasSegments())
      return std::nullopt;
    take([&](const Dim &dim) { return 3 * block; }, {block, block, 0}, block);
    takeList(3);
    trial.turn = 1;
    break;
  case 8: // rows of several tiles, and a part of a step; whole steps; both
  case 9:
  case 10:
    take(
        [&](const Dim &dim) {
          return &dim == last
                     ? std::array{step - 1, 2 * step, 2 * step + 1}[number - 8]
                     : dim.block + 1;
        },
        {2 * step + 1}, step);
    break;
  case 11: // nothing behind something, where lengths are less than nothing
    // Ends of segments are promised to ascend.
    if (hasSegments())
      return std::nullopt;
    take(oneTile, {whole, -whole, whole}, step);
    takeLengths(3);
    break;
  case 12: // lengths that end long before what there is, short of a step
    take(oneTile, {2 * step - 2, step / 2 + 1, 0}, step);
    break;
  case 13: // several steps along whatever steps are taken
    take([&](const Dim &) { return whole; }, {whole}, 3 * step);
    break;
  case 14: // pages of several steps behind one row
    take([&](const Dim &) { return 1; }, {whole}, 3 * step);
    takeList(whole);
    break;
  case 15: // parts of whole steps alone, of several heads and lengths
    take([&](const Dim &dim) { return &dim == last ? 12 * step : 1; },
         {12 * step, 9 * step + step / 2, 4 * step}, step);
    for (unsigned symbol = 0; symbol < dims.size(); ++symbol)
      if (!isCut(dims[symbol]))
        trial.sizes[symbol] = 2;
    takeList(12 * step);
    takeLengths(3);
    break;
  case 16: // of tensors of numbers one says where steps begin, others the end
    take(oneTile, {whole, step / 4 + 1, whole - 1}, step);
    trial.turn = 1;
    break;
  case 17:
    take(oneTile, {step / 4 + 1, whole, whole - 1}, step);
    trial.turn = 1;
    break;
  default:
    SmallVector<int64_t> sizes = thresholdsOf(launches);
    number -= numShapes;
    if (number >= 2 * sizes.size()) {
      // Lengths at and beside other steps than those of what is cut last: whole
      // ones, of one row; a part of one, and both; one tile behind the other.
      number -= 2 * sizes.size();
      SmallVector<int64_t> others;
      for (auto [launch, kernel] : launches) {
        llvm::SmallPtrSet<Value, 8> ends;
        for (int64_t other : stepsOf(kernel, ends))
          if (other != step && !llvm::is_contained(others, other))
            others.push_back(other);
      }
      isLast = number >= 2 * others.size();
      if (isLast)
        return std::nullopt;
      int64_t by = others[number / 2];
      if (number % 2 == 0)
        take([&](const Dim &) { return 1; }, {2 * by, 3 * by, by - 1}, 2 * by);
      else
        take(oneTile, {by - 1, 3 * by, 1, 0, by + 1}, 2 * by);
      takeList(whole / 4);
      takeLengths(5);
      break;
    }
    int64_t size = sizes[number % sizes.size()];
    // Of these sizes, and of rows of several tiles with whole steps behind the
    // constant.
    if (number < sizes.size())
      take([&](const Dim &) { return size; }, {size, 0, size}, size);
    else
      take(
          [&](const Dim &dim) {
            return &dim == last ? 2 * step + size - 1 : dim.block + 1;
          },
          {2 * step + size - 1}, step);
  }
  return taken(std::move(trial), /*prefersEven=*/true);
}

std::optional<LaunchTrial> TrialMaker::ofPairs() {
  LaunchTrial trial;
  for (auto [symbol, dim] : llvm::enumerate(dims))
    trial.sizes.push_back(variant.getConditions()->isFunctionOfSymbol(symbol)
                              ? 4
                          : isCut(dim)          ? 8
                          : hasIntegers(symbol) ? 3
                                                : 1);
  trial.samples.assign(3, last ? stepOf(*last) + 1 : 1);
  return taken(std::move(trial));
}

std::optional<LaunchTrial> TrialMaker::further(unsigned number) {
  // The same numbers on every machine.
  std::minstd_rand random(number + 1);
  auto oneOf = [&](ArrayRef<int64_t> choices) {
    return choices[random() % choices.size()];
  };
  // Even ones where vectors are wide, and others.
  auto near = [&](int64_t unit) {
    int64_t most = 2 + number / 16;
    return std::max<int64_t>(0, unit * oneOf({0, 1, 1, 2, most}) +
                                    oneOf({0, 0, 1, -1, -8, 8}));
  };
  // Some differ from a few rows that see several steps.
  auto isUsual = [&] { return random() % 8 < 5; };
  int64_t step = last ? stepOf(*last) : 1, all = 3 * step + 1;
  // Conditions are often of what divides a block.
  std::optional<AffineMap> conditions = variant.getConditions();
  LaunchTrial trial;
  for (auto [symbol, dim] : llvm::enumerate(dims)) {
    if (!isCut(dim) && conditions && conditions->isFunctionOfSymbol(symbol))
      trial.sizes.push_back(oneOf({2, 4, 8, 16, 32, 64}));
    else if (!isCut(dim))
      trial.sizes.push_back(oneOf({1, 1, 1, hasIntegers(symbol) ? 3 : 2}));
    else if (isUsual())
      trial.sizes.push_back(
          &dim == last ? all : oneOf({1, partOfBlock(dim), partOfBlock(dim)}));
    else
      trial.sizes.push_back(
          near(oneOf({dim.block, stepOf(dim), dim.block / 4})));
  }
  trial.blocks = oneOf({1, 2});
  for (unsigned i = 0; i < 3; ++i)
    trial.samples.push_back(isUsual() ? all : near(step));
  trial.callers = oneOf({0, 1, step - 1, step + 1, 2 * step, all, all + step});
  trial.hasOptionals = random() % 4 != 0;
  // Queries without keys, too.
  if (hasSegments() && number % 2 != 0) {
    trial.turn = 1;
    trial.samples[1] = 0;
  }
  return taken(std::move(trial));
}

std::optional<LaunchTrial> TrialMaker::ofSteps(unsigned number, bool &isLast) {
  auto [launch, kernel] = launches.front();
  ArrayAttr names = variant->getParentOfType<PlanOp>().getDims();
  llvm::SmallPtrSet<Value, 8> values;
  SmallVector<int64_t> steps = stepsOf(kernel, values);
  SmallVector<size_t> ends;
  for (auto [attr, argument] :
       llvm::zip(kernel.getArgs(), kernel.getBody().getArguments()))
    if (auto dim = dyn_cast<DimArgAttr>(attr); dim && values.contains(argument))
      ends.push_back(llvm::find(names, dim.getDim()) - names.begin());
  // Whole steps, and such that loops that continue each other have a part; all
  // ends, and each alone.
  constexpr unsigned numSizes = 4;
  unsigned numWays = ends.size() > 1 ? ends.size() + 1 : ends.size(),
           size = number % numSizes, way = number / numSizes;
  isLast = numWays == 0 || way >= numWays * steps.size();
  if (isLast)
    return std::nullopt;
  int64_t step = steps[way / numWays],
          length = std::array{3 * step + step / 2, 4 * step + 1, 2 * step,
                              step + 1}[size] +
                   (hasSegments() ? 1 : 0);
  LaunchTrial trial;
  for (const Dim &dim : dims)
    trial.sizes.push_back(dim.block);
  for (auto [i, end] : llvm::enumerate(ends))
    if (way % numWays == 0 || way % numWays == i + 1)
      trial.sizes[end] = length;
  // From nothing to all, where one tensor says where another one's begins.
  trial.samples = {length, 0, step};
  if (size % 2 != 0)
    std::swap(trial.samples[0], trial.samples[1]);
  trial.callers = size % 2 == 0 ? 2 * step + step / 2 : step;
  trial.takesOthers = size % 2 != 0;
  trial.turn = 1;
  return taken(std::move(trial), /*prefersEven=*/true);
}

/// The numbers that a kernel compares integers with, or adds to them, from 2 to
/// what extents may be.
static SmallVector<int64_t> limitsOf(KernelOp kernel) {
  std::set<int64_t> found;
  kernel.walk([&](Operation *op) {
    if (!isa<arith::CmpIOp, arith::AddIOp, arith::SubIOp>(op))
      return;
    for (Value operand : op->getOperands())
      if (std::optional<int64_t> number = getConstantIntValue(operand))
        if (int64_t limit = std::abs(*number);
            limit > 1 && limit + 2 <= tile::maxExtent)
          found.insert(limit);
  });
  // What is compared with a large number is the rarest.
  return {found.rbegin(), found.rend()};
}

std::optional<LaunchTrial> TrialMaker::ofLimits(unsigned number) {
  SmallVector<int64_t> limits = limitsOf(launches.front().second);
  // In memory, and along each dim.
  unsigned numWays = dims.size() + 1, way = number % numWays;
  if (number >= limits.size() * numWays)
    return std::nullopt;
  int64_t limit = limits[number / numWays], step = last ? stepOf(*last) : 1;
  LaunchTrial trial;
  unsigned pair = 0;
  for (auto [symbol, dim] : llvm::enumerate(dims))
    trial.sizes.push_back(!isCut(dim) || (isOfPairs(symbol) && pair++ % 2 != 0)
                              ? 1
                          : &dim == last ? std::max(dim.block, step)
                                         : dim.block);
  trial.samples = {limit + 1, limit - 1, limit};
  trial.callers = limit + 1;
  // A tile for each thread block, whatever the launch.
  trial.blocks = std::numeric_limits<int64_t>::max();
  if (way > 0) {
    trial.sizes[way - 1] = limit + 2;
    trial.samples = {step, 1, 0};
    trial.callers = step;
  }
  return taken(std::move(trial), /*prefersEven=*/true);
}

std::optional<LaunchTrial>
makeTrialAtLimit(VariantOp variant, std::pair<LaunchOp, KernelOp> unreached,
                 unsigned number) {
  return TrialMaker(variant, unreached, /*scale=*/0).ofLimits(number);
}

std::optional<LaunchTrial>
makeTrialOfSome(VariantOp variant,
                ArrayRef<std::pair<LaunchOp, KernelOp>> launches,
                std::pair<LaunchOp, KernelOp> unreached, unsigned number) {
  bool isLast = false;
  std::optional<LaunchTrial> trial =
      TrialMaker(variant, unreached, /*scale=*/0).ofSteps(number, isLast);
  if (!isLast)
    return trial;
  trial = makeFurtherTrial(variant, launches, unreached, number);
  if (trial)
    trial->takesOthers = true;
  return trial;
}

std::optional<LaunchTrial>
makeFurtherTrial(VariantOp variant,
                 ArrayRef<std::pair<LaunchOp, KernelOp>> launches,
                 std::pair<LaunchOp, KernelOp> unreached, unsigned number) {
  TrialMaker maker(variant, unreached, /*scale=*/0);
  if (maker.hasPairs() && number-- == 0)
    return maker.ofPairs();
  maker.noteLimits(launches);
  bool isLast = false;
  std::optional<LaunchTrial> trial = maker.directed(number, isLast);
  return isLast ? TrialMaker(variant, launches, /*scale=*/0).further(number)
                : trial;
}

std::vector<LaunchTrial>
makeLaunchTrials(VariantOp variant,
                 ArrayRef<std::pair<LaunchOp, KernelOp>> launches,
                 ArrayRef<unsigned> rows, unsigned scale) {
  return TrialMaker(variant, launches, scale).run(rows);
}

} // namespace selvedge::verify
