// Which elements a program stores.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/StoredElements.h"

#include "compiler/Verify/Arithmetic/PredicateWords.h"
#include "compiler/Verify/Async/LaunchTrials.h"
#include "dialect/Tile/Accumulate.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::tile;

namespace {

/// The kernel, with numbers for its coordinates.
class ProgramStores {
public:
  ProgramStores(Operation *variant, KernelOp kernel, GlobalMemory &memory,
                int64_t callers)
      : variant(variant), kernel(kernel), memory(memory), callers(callers) {}

  LogicalResult run() { return findLanes() ? runFrom(0) : success(); }

private:
  static constexpr int64_t mostLanes = 1 << 14, mostBlocks = 64;

  /// Of each axis the lanes that are looked at; false where the kernel's blocks
  /// are not all of its rows.
  bool findLanes();
  /// All numbers of the coordinates from number `first` on.
  LogicalResult runFrom(unsigned first);
  LogicalResult check(StoreOp store);
  std::optional<int64_t> scalarOf(Value value) const;

  Operation *variant;
  KernelOp kernel;
  GlobalMemory &memory;
  int64_t callers;
  llvm::DenseMap<StringAttr, SmallVector<int64_t>> lanes;
  /// The numbers that each coordinate takes, and the one at hand.
  SmallVector<SmallVector<int64_t>> numbers;
  SmallVector<int64_t> coords;
};

} // namespace

/// The numbers below `extent`; of many a few, the first and last among them.
static SmallVector<int64_t> someBelow(int64_t extent) {
  constexpr int64_t most = 16;
  if (extent <= most)
    return llvm::to_vector(llvm::seq<int64_t>(0, extent));
  return llvm::map_to_vector(llvm::seq<int64_t>(0, most), [&](int64_t i) {
    return i * (extent - 1) / (most - 1);
  });
}

/// Whether a coordinate says where ranges start, and nothing else.
static bool onlyStartsRanges(Value coord) {
  return llvm::all_of(coord.getUsers(),
                      [](Operation *user) { return isa<RangeOp>(user); });
}

bool ProgramStores::findLanes() {
  for (auto axis : kernel.getAxes().getAsRange<AxisAttr>())
    if (!axis.getBlock())
      lanes[axis.getName()] = {0, std::max<int64_t>(0, axis.getExtent() - 1)};
  int64_t blocks = 1;
  for (auto [i, range] :
       llvm::enumerate(kernel.getRanges().getAsRange<IterAttr>())) {
    std::optional<int64_t> extent = memory.extentOf(range.getExtent());
    if (!extent || *extent > mostLanes)
      return false;
    // A range may begin behind the end of a dim.
    extent = std::max<int64_t>(0, *extent);
    // Where the first row of a block says more than where the block is, blocks
    // have a row each: what is stored does not depend on where ranges are cut.
    if (range.getBlock() && !onlyStartsRanges(kernel.getCoord(i))) {
      lanes[range.getName()] = {0};
      numbers.push_back(someBelow(*extent));
    } else if (range.getBlock()) {
      // All rows at once.
      lanes[range.getName()] = llvm::to_vector(llvm::seq<int64_t>(0, *extent));
      numbers.push_back({0});
    } else {
      if (*extent > mostBlocks)
        return false;
      numbers.push_back(llvm::to_vector(llvm::seq<int64_t>(0, *extent)));
    }
    blocks *= numbers.back().size();
  }
  coords.assign(numbers.size(), 0);
  return blocks <= mostBlocks;
}

LogicalResult ProgramStores::runFrom(unsigned first) {
  if (first == numbers.size())
    return success(
        llvm::all_of(kernel.getBody().getOps<StoreOp>(), [&](StoreOp store) {
          return addsToMemory(store) || succeeded(check(store));
        }));
  for (int64_t number : numbers[first]) {
    coords[first] = number;
    if (failed(runFrom(first + 1)))
      return failure();
  }
  return success();
}

std::optional<int64_t> ProgramStores::scalarOf(Value value) const {
  if (value.getDefiningOp<IsPresentOp>())
    return memory.hasOptionals();
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return number;
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner()->getParentOp() != kernel)
    return std::nullopt;
  unsigned number = argument.getArgNumber(),
           shared = KernelOp(kernel).getProgram().getNumSharedArgs();
  if (number >= shared)
    return coords[number - shared];
  if (number < KernelOp(kernel).getProgram().getDims().size())
    return memory.sizeOf(number);
  return callersInteger(callers, argument);
}

LogicalResult ProgramStores::check(StoreOp store) {
  auto scalar = [&](Value value) { return scalarOf(value); };
  KnownElements element(memory);
  LaneTiles tiles(scalar, element);
  tiles.select(
      [&](StringAttr axis) -> std::optional<SmallVector<int64_t>> {
        auto known = lanes.find(axis);
        return known == lanes.end() ? std::nullopt
                                    : std::optional(known->second);
      },
      nullptr);
  SmallVector<const LaneTile *> used;
  LaneSpace space;
  for (ValueRange values : {store.getIndices(), store.getPresence()})
    for (Value value : values) {
      used.push_back(&tiles.of(value));
      space.add(*used.back());
    }
  size_t numIndices = store.getIndices().size();
  memory.addWork(space.size() + tiles.getWork());
  std::string tensor = tensorName(store.getTensor());
  SmallVector<int64_t> indices(numIndices);
  for (LaneWalk lane(space, used); lane.isInside(); lane.next()) {
    bool isKnown = true;
    for (size_t i = 0; i < used.size(); ++i) {
      isKnown &= lane.at(i) != LaneTile::unknown &&
                 (i < numIndices || lane.at(i) != 0);
      if (i < numIndices)
        indices[i] = lane.at(i);
    }
    if (isKnown && failed(memory.checkStored(variant, tensor, indices)))
      return failure();
  }
  return success();
}

LogicalResult checkStoredElements(Operation *variant, KernelOp kernel,
                                  GlobalMemory &memory, int64_t callers) {
  return ProgramStores(variant, kernel, memory, callers).run();
}

} // namespace selvedge::verify
