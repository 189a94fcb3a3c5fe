// Which products of a kernel with warp roles lag, or stay in flight.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/RoleSchedule.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// A product lags if an operand in registers depends on another product of the
/// same step and only the next step needs its result. Each loop must have
/// exactly one, in the same place, and pass all its results to the next loop.
bool RoleSchedule::findLaggedProducts() {
  for (auto [n, loop] : llvm::enumerate(plan.loops)) {
    MmaOp found;
    for (auto mma : loop.getBody()->getOps<MmaOp>()) {
      bool computed =
          llvm::any_of(ValueRange{mma.getLhs(), mma.getRhs()}, [&](Value v) {
            return !isa<BufferType>(v.getType()) &&
                   !loop.isDefinedOutsideOfLoop(v);
          });
      if (computed ? bool(found) : !isSplat(mma.getInit(), 0))
        return false;
      // A product that starts ahead of the others awaits one tile.
      auto isStreamed = [&](const BulkCopy &copy) {
        Value buffer = CopyOp(copy.copy).getBuffer();
        return mma.getLhs() == buffer || mma.getRhs() == buffer;
      };
      if (llvm::count_if(plan.streamed.at(loop), isStreamed) > 1)
        return false;
      if (computed)
        found = mma;
    }
    if (!found || !found->hasOneUse() ||
        !isa<scf::YieldOp>(*found->getUsers().begin()))
      return false;
    // What others of the step read, too, they would release.
    if (llvm::any_of(ValueRange{found.getLhs(), found.getRhs()}, [&](Value v) {
          return isa<BufferType>(v.getType()) &&
                 llvm::any_of(v.getUsers(), [&](Operation *user) {
                   return user != found && isa<MmaOp>(user);
                 });
        }))
      return false;
    unsigned result = found->getUses().begin()->getOperandNumber();
    if (n > 0 && result != laggedResult)
      return false;
    laggedResult = result;
    lagged[loop] = found;
    if (n == 0)
      continue;
    if (!hasSameProducts(loop))
      return false;
    for (auto [init, before] :
         llvm::zip_equal(loop.getInitArgs(), plan.loops[n - 1].getResults()))
      if (init != before)
        return false;
  }
  // Results of all loops but the last go to the next loop only.
  for (scf::ForOp loop :
       SmallVector<scf::ForOp>(ArrayRef(plan.loops).drop_back()))
    for (Value result : loop.getResults())
      if (!result.hasOneUse())
        return false;
  return true;
}

/// The operand of a product as the first loop has it: loops have buffers of
/// their own for the same tiles. Null where the loop computes it.
Value RoleSchedule::sharedOperand(scf::ForOp loop, Value operand) const {
  for (auto [i, copy] : llvm::enumerate(plan.streamed.at(loop)))
    if (CopyOp(copy.copy).getBuffer() == operand)
      return CopyOp(firstCopies()[i].copy).getBuffer();
  return loop.isDefinedOutsideOfLoop(operand) ? operand : Value();
}

/// Whether a loop has the products of the first one: any of them can then
/// stand for the other's.
bool RoleSchedule::hasSameProducts(scf::ForOp loop) const {
  scf::ForOp first = plan.loops.front();
  auto products = llvm::to_vector(loop.getBody()->getOps<MmaOp>()),
       others = llvm::to_vector(first.getBody()->getOps<MmaOp>());
  return products.size() == others.size() &&
         llvm::all_of(llvm::zip(products, others), [&](auto pair) {
           auto [mma, other] = pair;
           return mma.getType() == other.getType() &&
                  sharedOperand(loop, mma.getLhs()) ==
                      sharedOperand(first, other.getLhs()) &&
                  sharedOperand(loop, mma.getRhs()) ==
                      sharedOperand(first, other.getRhs());
         });
}

std::optional<size_t> RoleSchedule::streamedBy(scf::ForOp loop,
                                               MmaOp mma) const {
  ArrayRef<BulkCopy> copies = plan.streamed.at(loop);
  for (auto [i, copy] : llvm::enumerate(copies)) {
    Value buffer = CopyOp(copy.copy).getBuffer();
    if (mma.getLhs() == buffer || mma.getRhs() == buffer)
      return i;
  }
  return std::nullopt;
}

Value RoleSchedule::laggedOperand(scf::ForOp loop) const {
  MmaOp mma = lagged.lookup(loop);
  bool isLeft = isa<BufferType>(mma.getRhs().getType());
  return isLeft ? mma.getLhs() : mma.getRhs();
}

/// Each loop adds the same products of the same tiles to the values that it
/// carries, in the same order, and passes all of them to the next loop. Then
/// steps differ by their tiles only, which the copies know, and no step clears
/// rows.
bool RoleSchedule::findPlainProducts() {
  SmallVector<std::pair<Value, Value>> first;
  for (auto [n, loop] : llvm::enumerate(plan.loops)) {
    ArrayRef<BulkCopy> copies = plan.streamed.at(loop);
    if (llvm::any_of(copies, [](const BulkCopy &copy) {
          return !copy.rowPredicates.empty();
        }))
      return false;
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    SmallVector<std::pair<Value, Value>> products;
    for (auto [argument, result] :
         llvm::zip_equal(loop.getRegionIterArgs(), yield.getResults())) {
      auto mma = result.getDefiningOp<MmaOp>();
      if (!mma || mma.getInit() != argument || !argument.hasOneUse() ||
          !mma->hasOneUse())
        return false;
      products.push_back({sharedOperand(loop, mma.getLhs()),
                          sharedOperand(loop, mma.getRhs())});
      if (!products.back().first || !products.back().second)
        return false;
    }
    auto all = loop.getBody()->getOps<MmaOp>();
    if (std::distance(all.begin(), all.end()) !=
            static_cast<int64_t>(products.size()) ||
        (n > 0 && products != first))
      return false;
    first = products;
    if (n == 0)
      continue;
    for (auto [init, before] :
         llvm::zip_equal(loop.getInitArgs(), plan.loops[n - 1].getResults()))
      if (init != before || !before.hasOneUse())
        return false;
  }
  return true;
}

/// Speculation needs the same step in every loop, sums that start at zero, and
/// weights that are only narrowed.
bool RoleSchedule::findSoftmax() {
  for (scf::ForOp loop : plan.loops) {
    std::optional<OnlineSoftmax> found = findOnlineSoftmax(loop);
    if (!found)
      return false;
    for (Operation *user : found->weights.getUsers())
      if (!found->ops.contains(user) && !isa<ConvertOp>(user))
        return false;
    OnlineSoftmax &first =
        softmax.try_emplace(plan.loops.front(), *found).first->second;
    if (first.max != found->max || first.sum != found->sum ||
        first.accs != found->accs || first.over != found->over)
      return false;
    softmax[loop] = *found;
  }
  const OnlineSoftmax &step = softmax[plan.loops.front()];
  auto type = cast<RankedTensorType>(typeOfWarpgroup(step.weights.getType()));
  LayoutAttr layout = foldedLayout(layoutOf(type), step.over);
  SmallVector<int64_t> shape = llvm::map_to_vector(
      layout.getAxes(), [](AxisLayoutAttr axis) { return axis.getSize(); });
  partialType = RankedTensorType::get(shape, type.getElementType(), layout);
  // A maximum without scores is -inf as an exponent of 2 as well.
  ValueRange inits = plan.loops.front().getInitArgs();
  return isSplat(inits[step.sum], 0) && isSplat(inits[step.max], -infinity) &&
         llvm::all_of(step.accs,
                      [&](unsigned acc) { return isSplat(inits[acc], 0); });
}

/// Whether every result of a product that crosses warpgroups only leaves for
/// memory, in bulk, and a warp can send it: nothing else in the step waits for
/// it.
bool RoleSchedule::findLateCrossings() const {
  if (!plan.hasCrossings() || plan.warpgroups > warpsPerGroup - firstSender)
    return false;
  auto isSent = [&](Operation *user) { return addOf(user) != nullptr; };
  return llvm::all_of(plan.loops, [&](scf::ForOp loop) {
    auto found = plan.crossings.find(loop);
    if (found == plan.crossings.end())
      return false;
    ArrayRef<RoleCrossing> all = found->second;
    auto leaves = [&](const RoleCrossing &crossing) {
      return llvm::all_of(MmaOp(crossing.product)->getUsers(), isSent);
    };
    return !all.empty() && llvm::all_of(all, leaves) &&
           llvm::all_of(loop.getBody()->getOps<StoreOp>(), isSent);
  });
}

void RoleSchedule::findForm() {
  for (auto mma : source.getBody().front().getOps<MmaOp>())
    lastOutside = mma;
  bool isSeparate = plan.nest || plan.hasCrossings() || plan.hasSeveralSources;
  overlap = isSeparate             ? Overlap::Apart
            : findLaggedProducts() ? Overlap::Lagged
            : findPlainProducts()  ? Overlap::InFlight
                                   : Overlap::Apart;
  if (overlap != Overlap::Lagged || !findSoftmax())
    softmax.clear();
  possible = overlap;
  canSpeculate = !softmax.empty();
  isOrderFree = findOrderFree();
  crossingsAreLate = findLateCrossings();
  if (!crossingsAreLate)
    plan.adds.clear();
}

} // namespace selvedge::schedule
