// Sizes made for a shape of tiles, for a constant, or for a step of a loop.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/TrialMaker.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

#include <set>

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

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

/// A trial made for something that kernels may do.
class DirectedTrial {
public:
  /// Of pairs the first number has all rows, or the second one.
  DirectedTrial(const TrialMaker &maker, bool byFirst)
      : maker(maker), byFirst(byFirst), dims(maker.dims), last(maker.last),
        first(maker.first), step(last ? maker.stepOf(*last) : 1),
        rest(maker.hasSegments() ? 1 : 0) {
    for (const Dim &dim : dims)
      block = std::max({block, dim.block, maker.stepOf(dim)});
    whole = llvm::alignTo(block, step) + 3 * step;
  }

  static constexpr unsigned numShapes = 21;
  /// Tiles, lists and lengths of some kind; false where there are none.
  bool takeShape(unsigned number);
  /// Nothing of a dim: of one of which each element has tiles of its own, with
  /// steps of all kinds in the tiles that belong to none, or of one that steps
  /// take.
  void takeNone(unsigned symbol);
  /// Sizes of a constant.
  void takeConstant(int64_t size);
  /// Rows of several tiles with whole steps behind a constant, along the dim at
  /// which a loop ends.
  void takeBehind(int64_t size, const Dim *end);
  /// A tile that begins so far behind the last column.
  void takeDistance(int64_t size);
  /// Lengths at and beside a step: whole ones, of one row; a part of one, and
  /// both; one tile behind the other.
  void takeStep(int64_t by, bool isWhole);

  LaunchTrial trial;
  /// What becomes of dims that the variant does not take as given.
  Prefers prefers = Prefers::Even;

private:
  void take(llvm::function_ref<int64_t(const Dim &)> sizeOf,
            ArrayRef<int64_t> samples, int64_t callers) {
    int64_t longest = samples.empty() ? 0 : *llvm::max_element(samples);
    for (auto [dim, isLimit, isSingle] :
         llvm::zip_equal(dims, maker.areLimits, maker.single(!byFirst)))
      trial.sizes.push_back(isLimit    ? whole
                            : isSingle ? dim.numFor(longest)
                                       : sizeOf(dim) + rest);
    trial.samples.assign(samples.begin(), samples.end());
    trial.callers = callers;
  }
  bool countsIntegers(unsigned symbol) const {
    return !maker.isCut(dims[symbol]) && maker.hasIntegers(symbol);
  }
  /// The first one of these dims that counts integers.
  void takeOneOf(auto symbols, int64_t count) {
    auto found = llvm::find_if(
        symbols, [&](unsigned symbol) { return countsIntegers(symbol); });
    if (found != symbols.end())
      trial.sizes[*found] = count;
  }
  void takeLengths(int64_t count) {
    takeOneOf(llvm::seq<unsigned>(0, dims.size()), count);
  }
  void takeList(int64_t count) {
    takeOneOf(llvm::reverse(llvm::seq<unsigned>(0, dims.size())), count);
  }

  /// Of a dim that nothing cuts; of one along which nothing differs, if there
  /// is one.
  void takeTwoHeads() {
    for (unsigned symbol = 0; symbol < dims.size(); ++symbol)
      if (!maker.isCut(dims[symbol]) && !maker.hasIntegers(symbol)) {
        trial.sizes[symbol] = 2;
        return;
      }
    takeLengths(2);
  }

  const TrialMaker &maker;
  bool byFirst;
  ArrayRef<Dim> dims;
  const Dim *last, *first;
  /// `rest`: the last row is of no segment.
  int64_t step, rest, block = 1, whole = 0;
};

bool DirectedTrial::takeShape(unsigned number) {
  int64_t odd = whole - 3 * step / 2;
  auto oneTile = [&](const Dim &dim) {
    return &dim == last ? whole : dim.block;
  };
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
    takeTwoHeads();
    break;
  case 6: // few rows, with a step that is not whole
    take([&](const Dim &dim) { return &dim == last ? whole - 1 : 1; },
         {whole - 1, 0, step}, whole);
    break;
  case 7: // a segment without keys, behind one with
    if (rest == 0)
      return false;
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
    if (rest > 0)
      return false;
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
      if (!maker.isCut(dims[symbol]))
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
  case 18: // few columns, which only the last of several tiles see; then again
    take(
        [&](const Dim &dim) {
          return &dim == last ? step / 4 : 2 * dim.block + 1;
        },
        {whole}, step);
    takeTwoHeads();
    prefers = Prefers::Many;
    break;
  case 19: // the caller's number takes all columns from the first tile of three
    take([&](const Dim &dim) { return &dim == last ? whole : 3 * dim.block; },
         {whole}, -(block + step / 2));
    break;
  case 20: // or from a last one of few rows, but not from a whole one before it
    take([&](const Dim &) { return block + block / 8; }, {whole},
         -(3 * block / 8));
    break;
  }
  return true;
}

void DirectedTrial::takeNone(unsigned symbol) {
  take(
      [&](const Dim &dim) {
        return dim.step > 1 ? 2 * dim.step + 1
                            : std::max<int64_t>(2, dim.block / 4);
      },
      {step}, step);
  trial.sizes[symbol] = 0;
}

void DirectedTrial::takeConstant(int64_t size) {
  take([&](const Dim &) { return size; }, {size, 0, size}, size);
}

void DirectedTrial::takeBehind(int64_t size, const Dim *end) {
  int64_t length = 2 * step + size - 1;
  take([&](const Dim &dim) { return &dim == end ? length : dim.block + 1; },
       {length}, step);
}

void DirectedTrial::takeDistance(int64_t size) {
  take(
      [&](const Dim &dim) {
        return &dim == last ? step : size + 2 * block + step;
      },
      {step}, step);
}

void DirectedTrial::takeStep(int64_t by, bool isWhole) {
  if (isWhole)
    take([&](const Dim &) { return 1; }, {2 * by, 3 * by, by - 1}, 2 * by);
  else
    take([&](const Dim &dim) { return &dim == last ? whole : dim.block; },
         {by - 1, 3 * by, 1, 0, by + 1}, 2 * by);
  takeList(whole / 4);
  takeLengths(5);
}

std::optional<LaunchTrial> TrialMaker::directed(unsigned number, bool &isLast) {
  // One number of pairs in every other trial.
  auto start = [&] { return DirectedTrial(*this, number % 2 == 0); };
  auto finish = [&](DirectedTrial &made) {
    return taken(std::move(made.trial), made.prefers);
  };
  // Nothing but tiles that belong to no segment, or without steps, which is
  // little work. Of what is cut last a shape has nothing.
  for (auto [symbol, dim] : llvm::enumerate(dims)) {
    bool isWithoutSteps = dim.isLoopEnd && &dim != last && !isCounted(symbol);
    if (isCut(dim) ? !isWithoutSteps : !isCounted(symbol))
      continue;
    DirectedTrial made = start();
    made.takeNone(symbol);
    bool hasTiles = llvm::any_of(launches, [&](const auto &launched) {
      return made.trial.numTiles(launched.first) > 0;
    });
    if (hasTiles && number-- == 0)
      return finish(made);
  }
  if (number < DirectedTrial::numShapes) {
    DirectedTrial made = start();
    return made.takeShape(number) ? finish(made) : std::nullopt;
  }
  number -= DirectedTrial::numShapes;
  SmallVector<int64_t> sizes = thresholdsOf(launches);
  // Where loops over several dims end each may have to.
  SmallVector<const Dim *> ends;
  for (const Dim &dim : dims)
    if (dim.isLoopEnd && &dim != last)
      ends.push_back(&dim);
  if (number < sizes.size() * ends.size()) {
    DirectedTrial made = start();
    made.takeBehind(sizes[number % sizes.size()], ends[number / sizes.size()]);
    return finish(made);
  }
  number -= sizes.size() * ends.size();
  // Roles finish a tile where the next one, which may be without steps, begins.
  bool hasRoles = llvm::any_of(
      launches, [](auto launched) { return launched.second.hasRoles(); });
  size_t numDistances = hasRoles ? sizes.size() : 0;
  if (number < numDistances) {
    DirectedTrial made = start();
    made.takeDistance(sizes[number]);
    return finish(made);
  }
  number -= numDistances;
  if (number < 2 * sizes.size()) {
    DirectedTrial made = start();
    int64_t size = sizes[number % sizes.size()];
    if (number < sizes.size())
      made.takeConstant(size);
    else
      made.takeBehind(size, last);
    return finish(made);
  }
  number -= 2 * sizes.size();
  SmallVector<int64_t> others;
  for (auto [launch, kernel] : launches)
    for (int64_t other : stepsOf(kernel, mostStep))
      if ((!last || other != stepOf(*last)) &&
          !llvm::is_contained(others, other))
        others.push_back(other);
  isLast = number >= 2 * others.size();
  if (isLast)
    return std::nullopt;
  DirectedTrial made = start();
  made.takeStep(others[number / 2], number % 2 == 0);
  return finish(made);
}

} // namespace selvedge::verify
