// tile-clamp-weights: narrowing of softmax weights need not keep Inf.
// SPDX-License-Identifier: MIT
#include "compiler/Safety/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::safety {

#define GEN_PASS_DEF_TILECLAMPWEIGHTS
#include "compiler/Safety/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// Collects the steps whose scores have gone into a maximum, from `max` back to
/// `start`, or to the beginning of the state where that is null; false where
/// the maximum may have become less on the way.
bool collectSteps(Value max, Value start,
                  SmallVectorImpl<SoftmaxUpdateOp> &steps) {
  while (max != start) {
    if (auto update = max.getDefiningOp<SoftmaxUpdateOp>();
        update && max == update.getNewMax()) {
      steps.push_back(update);
      max = update.getMax();
    } else if (auto include = max.getDefiningOp<SoftmaxIncludeOp>();
               include && max == include.getNewMax()) {
      max = include.getMax();
    } else if (auto loop = max.getDefiningOp<scf::ForOp>()) {
      unsigned i = cast<OpResult>(max).getResultNumber();
      auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
      if (!collectSteps(yield.getOperand(i), loop.getRegionIterArg(i), steps))
        return false;
      max = loop.getInitArgs()[i];
    } else {
      return !start;
    }
  }
  return true;
}

/// Whether a tile of one loop has only elements that a tile of another has: the
/// same expression of indices that run over the same numbers. Each index of the
/// other is one of this.
class SameElements {
public:
  bool hold(Value mine, Value other) {
    if (auto known = meant.find(other); known != meant.end())
      return known->second == mine;
    bool isSame =
        mine == other ? isOutside(mine) : isSameExpression(mine, other);
    if (isSame)
      meant[other] = mine;
    return isSame;
  }

private:
  /// What one loop carries may be another value in each of its steps.
  static bool isOutside(Value v) {
    return !isa<BlockArgument>(v) || isKernels(v);
  }
  static bool isKernels(Value v) {
    return isa<KernelOp>(v.getParentBlock()->getParentOp());
  }

  bool isSameExpression(Value mine, Value other) {
    Operation *a = mine.getDefiningOp(), *b = other.getDefiningOp();
    if (!a || !b)
      return isSameIndex(dyn_cast<BlockArgument>(mine),
                         dyn_cast<BlockArgument>(other));
    auto load = dyn_cast<LoadOp>(a);
    bool isPure = isMemoryEffectFree(a) ||
                  (load && llvm::none_of(load.getTensor().getUsers(),
                                         llvm::IsaPred<StoreOp>));
    return isPure && a->getName() == b->getName() && a->getNumRegions() == 0 &&
           a->getNumResults() == 1 &&
           a->getNumOperands() == b->getNumOperands() &&
           a->getAttrDictionary() == b->getAttrDictionary() &&
           getElementTypeOrSelf(mine) == getElementTypeOrSelf(other) &&
           llvm::all_of(llvm::zip(a->getOperands(), b->getOperands()),
                        [&](auto pair) {
                          return hold(std::get<0>(pair), std::get<1>(pair));
                        });
  }

  bool isSameIndex(BlockArgument mine, BlockArgument other) {
    if (!mine || !other)
      return false;
    auto a = dyn_cast<scf::ForOp>(mine.getOwner()->getParentOp()),
         b = dyn_cast<scf::ForOp>(other.getOwner()->getParentOp());
    return a && b && mine == a.getInductionVar() &&
           other == b.getInductionVar() &&
           hold(a.getLowerBound(), b.getLowerBound()) &&
           hold(a.getUpperBound(), b.getUpperBound()) &&
           hold(a.getStep(), b.getStep());
  }

  DenseMap<Value, Value> meant;
};

/// Whether the narrowed weight of a score is used only where that score is one
/// of those that the state has seen: it is 1 at most.
bool isSeen(SoftmaxWeightOp weight, ConvertOp narrow) {
  SmallVector<SoftmaxUpdateOp> steps;
  if (!collectSteps(weight.getMax(), Value(), steps))
    return false;
  return llvm::any_of(steps, [&](SoftmaxUpdateOp step) {
    return llvm::all_of(narrow->getUsers(), [&](Operation *user) {
      auto store = dyn_cast<StoreOp>(user);
      SameElements same;
      return store && same.hold(weight.getScore(), step.getScores()) &&
             llvm::all_of(step.getPresence(), [&](Value wanted) {
               return llvm::any_of(store.getPresence(), [&](Value given) {
                 SameElements probe = same;
                 return probe.hold(given, wanted);
               });
             });
    });
  });
}

struct TileClampWeightsPass : impl::TileClampWeightsBase<TileClampWeightsPass> {
  void runOnOperation() override {
    getOperation()->walk([](ConvertOp narrow) {
      if (narrow.getOverflow() != Overflow::Sat)
        return;
      Value source = narrow.getSource();
      auto step = source.getDefiningOp<SoftmaxUpdateOp>();
      auto weight = source.getDefiningOp<SoftmaxWeightOp>();
      if ((step && source == step.getWeights()) ||
          (weight && isSeen(weight, narrow)))
        narrow.setOverflow(Overflow::Clamp);
    });
  }
};

} // namespace
} // namespace selvedge::safety
