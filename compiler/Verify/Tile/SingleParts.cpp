// Versions for one part of what launches divide.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Tile/SingleParts.h"

#include "compiler/Verify/Tile/SameResults.h"
#include "dialect/Tile/LaunchSizes.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::tile;

namespace {

/// Two kernels, and the one that stands for both.
class Joined {
public:
  Joined(KernelOp first, KernelOp second, KernelOp after)
      : first(first), second(second), after(after) {}

  LogicalResult check() {
    if (first.getAxes() != after.getAxes() ||
        first.getSizes() != after.getSizes())
      return refuse(after, "the axes before the pass");
    if (failed(findParts()) || failed(bind()))
      return failure();
    SmallVector<LaneValues::Number> passed;
    if (failed(findPassed(passed)))
      return failure();
    return results.compareJoined(first.getBody().front(),
                                 second.getBody().front(),
                                 after.getBody().front(), passed);
  }

private:
  LogicalResult refuse(Operation *op, const Twine &wanted) {
    return op->emitOpError("expects ") << wanted << " where there is one part";
  }

  /// A range over a size of launches, which is left out.
  LogicalResult findParts() {
    ProgramOp program = first.getProgram();
    auto old = llvm::to_vector(first.getRanges().getAsRange<IterAttr>()),
         now = llvm::to_vector(after.getRanges().getAsRange<IterAttr>());
    for (; range < now.size() && old[range] == now[range];)
      ++range;
    SmallVector<IterAttr> left(old);
    if (range < left.size())
      left.erase(left.begin() + range);
    auto dim =
        range < old.size() && !old[range].getBlock()
            ? dyn_cast<AffineSymbolExpr>(old[range].getExtent().getResult(0))
            : AffineSymbolExpr(nullptr);
    if (left != now || !dim)
      return refuse(after, "the ranges before the pass but one over a dim");
    parts = dim.getPosition();
    auto name = cast<StringAttr>(program.getDims()[parts]);
    bool isChosen =
        llvm::any_of(getLaunchSizes(program), [&](const LaunchSize &size) {
          return size.name == name.getValue() && size.lo >= 1;
        });
    std::optional<AffineMap> conditions = after.getProgram().getConditions();
    return isChosen && conditions &&
                   llvm::is_contained(conditions->getResults(), 1 - dim)
               ? success()
               : refuse(after, "a number of parts, of which the version's "
                               "condition allows one,");
  }

  LogicalResult bind() {
    LaneValues &values = results.values;
    ProgramOp program = first.getProgram();
    for (unsigned i = 0; i < program.getNumSharedArgs(); ++i) {
      LaneValues::Number number =
          i == parts ? values.integer(1, 32) : values.fresh();
      for (KernelOp kernel : {first, second, after})
        values.bind(kernel.getBody().getArgument(i), number);
    }
    for (unsigned i = 0, other = 0; i < first.getRanges().size(); ++i) {
      LaneValues::Number number =
          i == range ? values.integer(0, 32) : values.fresh();
      values.bind(first.getCoord(i), number);
      if (i != range)
        values.bind(after.getCoord(other++), number);
    }
    auto wanted = llvm::to_vector(after.getRanges().getAsRange<IterAttr>()),
         found = llvm::to_vector(second.getRanges().getAsRange<IterAttr>());
    if (wanted.size() != found.size())
      return refuse(second, "the ranges of the kernel before it");
    for (auto [i, iter] : llvm::enumerate(found)) {
      auto place = llvm::find_if(wanted, [&](IterAttr other) {
        return other.getName() == iter.getName() &&
               other.getExtent() == iter.getExtent() &&
               bool(other.getBlock()) == bool(iter.getBlock());
      });
      if (place == wanted.end())
        return refuse(second, "the ranges of the kernel before it");
      values.bind(second.getCoord(i),
                  values.of(after.getCoord(place - wanted.begin())));
    }
    return success();
  }

  /// The temps that the first kernel stores to: no other kernel of the version
  /// loads from them.
  LogicalResult findPassed(SmallVectorImpl<LaneValues::Number> &passed) {
    ProgramOp program = first.getProgram();
    llvm::SmallDenseSet<unsigned> temps;
    WalkResult others = first.walk([&](StoreOp store) {
      unsigned argument = cast<BlockArgument>(store.getTensor()).getArgNumber();
      TensorArgAttr tensor =
          program.getTensorArg(argument - program.getDims().size());
      // A second store might be what memory holds.
      if (tensor.getRole() != Role::Temp || !temps.insert(argument).second)
        return WalkResult::interrupt();
      passed.push_back(results.values.of(store.getTensor()));
      return WalkResult::advance();
    });
    if (others.wasInterrupted() || passed.empty())
      return refuse(first, "stores to temps, one to each,");
    WalkResult read = after.getProgram().walk([&](LoadOp load) {
      auto argument = dyn_cast<BlockArgument>(load.getTensor());
      return argument && temps.contains(argument.getArgNumber())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    return read.wasInterrupted() ? refuse(after, "no load of what is passed on")
                                 : success();
  }

  KernelOp first, second, after;
  SameResults results;
  /// Position of the range over the parts, and of their number among dims.
  unsigned range = 0, parts = 0;
};

} // namespace

LogicalResult checkSingleParts(ProgramOp before, ProgramOp after) {
  if (failed(haveSameArguments(before, after)))
    return failure();
  auto old = llvm::to_vector(before.getOps<KernelOp>()),
       now = llvm::to_vector(after.getOps<KernelOp>());
  if (old.size() != now.size() + 1)
    return after.emitOpError("expects one kernel less than before the pass");
  bool isJoined = false;
  for (size_t i = 0; i < now.size(); ++i) {
    KernelOp kernel = old[i + isJoined];
    if (!isJoined && kernel.getRanges().size() != now[i].getRanges().size()) {
      isJoined = true;
      if (failed(Joined(kernel, old[i + 1], now[i]).check()))
        return failure();
    } else if (failed(haveSameResults(kernel, now[i]))) {
      return failure();
    }
  }
  return isJoined ? success()
                  : after.emitOpError("expects a kernel that stands for two");
}

} // namespace selvedge::verify
