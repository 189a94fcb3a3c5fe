// Sizes that look for what the first trials of a launch have not reached.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/TrialMaker.h"
#include "dialect/Tile/Limits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <random>
#include <set>

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

/// The second numbers of the pairs that boxes of the kernels have as rows.
static llvm::SmallDenseSet<StringAttr>
secondNumbers(ArrayRef<std::pair<LaunchOp, KernelOp>> launches) {
  llvm::SmallDenseSet<StringAttr> numbers;
  for (auto [launch, kernel] : launches)
    for (Attribute attr : kernel.getArgs())
      if (auto map = dyn_cast<TensorMapArgAttr>(attr); map && map.getPairs())
        numbers.insert(map.getPairs().getBy());
  return numbers;
}

int64_t TrialMaker::largestStep() const {
  int64_t step = 1;
  for (const Dim &dim : dims)
    step = std::max({step, dim.block, stepOf(dim)});
  return step;
}

LaunchTrial TrialMaker::ofCuts(int64_t size) {
  LaunchTrial trial;
  for (auto [symbol, dim] : llvm::enumerate(dims))
    trial.sizes.push_back(isCut(dim) ? size : hasIntegers(symbol) ? 3 : 1);
  return trial;
}

std::optional<LaunchTrial> TrialMaker::ofPairs() {
  llvm::SmallDenseSet<StringAttr> seconds = secondNumbers(launches);
  // A packed variant has few rows in all trials.
  if (seconds.empty() ||
      variant.getVersion().getKind() == tile::VersionKind::Packed)
    return std::nullopt;
  ArrayAttr names = variant->getParentOfType<PlanOp>().getDims();
  LaunchTrial trial = ofCuts(8);
  for (auto [size, name] : llvm::zip_equal(trial.sizes, names))
    if (seconds.contains(cast<StringAttr>(name)))
      size = 4;
  trial.samples.assign(3, last ? stepOf(*last) + 1 : 1);
  return taken(std::move(trial));
}

std::optional<LaunchTrial> TrialMaker::ofBands() {
  bool hasSeveral = llvm::any_of(launches, [](const auto &launched) {
    KernelOp kernel = launched.second;
    return llvm::count_if(
               llvm::zip(kernel.getArgs(), kernel.getBody().getArguments()),
               [](auto arg) {
                 return isa<ScalarArgAttr>(std::get<0>(arg)) &&
                        std::get<1>(arg).getType().isInteger(32);
               }) > 1;
  });
  if (!hasSeveral)
    return std::nullopt;
  int64_t step = largestStep();
  LaunchTrial trial = ofCuts(2 * step);
  trial.samples.assign(3, 2 * step);
  trial.callers = -step;
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
  LaunchTrial trial;
  for (auto [symbol, dim] : llvm::enumerate(dims)) {
    if (!isCut(dim) && dependsOn(variant, symbol))
      trial.sizes.push_back(oneOf({2, 4, 8, 16, 32, 64}));
    else if (!isCut(dim))
      trial.sizes.push_back(std::max(
          dim.numFor(all), oneOf({1, 1, 1, hasIntegers(symbol) ? 3 : 2})));
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

/// The arguments that the bounds of a kernel's loops are made of.
static llvm::SmallPtrSet<Value, 8> endsOf(KernelOp kernel) {
  llvm::SmallPtrSet<Value, 8> ends;
  SmallVector<Value> open;
  kernel.walk([&](scf::ForOp loop) { open.push_back(loop.getUpperBound()); });
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
  return ends;
}

SmallVector<size_t> TrialMaker::dimsOfEnds(KernelOp kernel) const {
  ArrayAttr names = variant->getParentOfType<PlanOp>().getDims();
  llvm::SmallPtrSet<Value, 8> values = endsOf(kernel);
  SmallVector<size_t> ends;
  for (auto [attr, argument] :
       llvm::zip(kernel.getArgs(), kernel.getBody().getArguments()))
    if (auto dim = dyn_cast<DimArgAttr>(attr); dim && values.contains(argument))
      ends.push_back(llvm::find(names, dim.getDim()) - names.begin());
  return ends;
}

std::optional<LaunchTrial> TrialMaker::ofSteps(unsigned number, bool &isLast) {
  auto [launch, kernel] = launches.front();
  SmallVector<size_t> ends = dimsOfEnds(kernel);
  SmallVector<int64_t> steps = stepsOf(kernel, mostStep);
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
  return taken(std::move(trial), size % 2 == 0 ? Prefers::Even : Prefers::Many);
}

std::optional<LaunchTrial> TrialMaker::deep(unsigned number) {
  int64_t step = largestStep(), length = 4 * step + number % 2;
  LaunchTrial trial = ofCuts(length);
  trial.samples = {length, 0, step};
  trial.callers = step;
  trial.turn = number / 2;
  return taken(std::move(trial), Prefers::Even);
}

std::optional<LaunchTrial>
makeDeepTrial(VariantOp variant, std::pair<LaunchOp, KernelOp> unreached,
              unsigned number) {
  return TrialMaker(variant, unreached, /*scale=*/0).deep(number);
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

std::optional<LaunchTrial> TrialMaker::ofShortSegments(int64_t limit,
                                                       bool isWhole) {
  constexpr int64_t segmentsPerRow = 3;
  int64_t step = stepOf(*last), segments = 2 * limit + step;
  auto plan = variant->getParentOfType<PlanOp>();
  LaunchTrial trial;
  trial.sizes.assign(dims.size(), 1);
  // Steps behind a segment's number, too.
  for (size_t end : dimsOfEnds(launches.front().second)) {
    int64_t size = segments + 2 * step;
    trial.sizes[end] = isWhole ? llvm::alignTo(size, dims[end].block) : size;
  }
  for (auto promise : plan.getPromises().getAsRange<tile::RequireAttr>()) {
    if (!promise.getOrdered())
      continue;
    auto ends = llvm::find_if(
        plan.getTensors().getAsRange<tile::TensorArgAttr>(),
        [&](auto tensor) { return tensor.getName() == promise.getTensor(); });
    for (unsigned symbol : llvm::seq(dims.size()))
      // The last row is of no segment; more would have blocks of their own.
      if (promise.getHi().isFunctionOfSymbol(symbol))
        trial.sizes[symbol] = segments / segmentsPerRow + 1;
      else if ((*ends).getShape().isFunctionOfSymbol(symbol))
        trial.sizes[symbol] = segments;
  }
  trial.samples = {0, 0, 1};
  trial.callers = limit + 1;
  return taken(std::move(trial));
}

std::optional<LaunchTrial> TrialMaker::ofLimits(unsigned number) {
  KernelOp kernel = launches.front().second;
  SmallVector<int64_t> limits = limitsOf(kernel);
  // In memory; along each dim, which ends behind the number, or has a whole
  // tile there; by segments, too.
  bool bySegments = hasSegments() && last;
  // The search for a block's segment compares with larger numbers.
  constexpr int64_t mostOfSegments = 1 << 12;
  if (bySegments)
    llvm::erase_if(limits,
                   [](int64_t limit) { return limit > mostOfSegments; });
  unsigned numTiles = kernel.hasRoles() ? dims.size() : 0,
           bySize = 1 + dims.size(), byTile = bySize + numTiles,
           numWays = byTile + (bySegments ? 2 : 0), way = number % numWays;
  if (number >= limits.size() * numWays)
    return std::nullopt;
  if (way >= byTile)
    return ofShortSegments(limits[number / numWays],
                           /*isWhole=*/way == byTile);
  // Only what is cut has a tile that begins behind the number.
  bool isTile = way >= bySize;
  if (isTile && !isCut(dims[way - bySize]))
    return std::nullopt;
  int64_t limit = limits[number / numWays], step = last ? stepOf(*last) : 1;
  LaunchTrial trial;
  for (auto [dim, isSingle] : llvm::zip_equal(dims, single(/*first=*/false)))
    trial.sizes.push_back(isSingle       ? 1
                          : &dim == last ? std::max(dim.block, step)
                                         : dim.block);
  trial.samples = {limit + 1, limit - 1, limit};
  trial.callers = limit + 1;
  // A tile for each thread block, whatever the launch.
  trial.blocks = std::numeric_limits<int64_t>::max();
  if (way > 0) {
    trial.samples = {step, 1, 0};
    trial.callers = step;
  }
  if (isTile) {
    const Dim &dim = dims[way - bySize];
    if (last)
      trial.sizes[last - dims.begin()] = 2 * dim.block + 4 * step;
    trial.sizes[way - bySize] = limit + 2 * dim.block + 2;
  } else if (way > 0) {
    trial.sizes[way - 1] = limit + 2;
  }
  return taken(std::move(trial), Prefers::Even);
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
  if (std::optional<LaunchTrial> pairs = maker.ofPairs())
    if (number-- == 0)
      return pairs;
  if (std::optional<LaunchTrial> bands = maker.ofBands())
    if (number-- == 0)
      return bands;
  maker.noteLimits(launches);
  bool isLast = false;
  std::optional<LaunchTrial> trial = maker.directed(number, isLast);
  return isLast ? TrialMaker(variant, launches, /*scale=*/0).further(number)
                : trial;
}

} // namespace selvedge::verify
