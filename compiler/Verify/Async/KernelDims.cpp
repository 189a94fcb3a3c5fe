// How a kernel cuts its dimensions into blocks.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/KernelDims.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <set>

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

/// The lanes of a range that a compare with a limit cuts; 0 for others.
static int64_t lanesBelow(Operation *compare, Value limit) {
  auto less = dyn_cast<arith::CmpIOp>(compare);
  auto range = less && less.getPredicate() == arith::CmpIPredicate::slt &&
                       less.getRhs() == limit
                   ? less.getLhs().getDefiningOp<RangeOp>()
                   : RangeOp();
  return range ? layoutOf(range.getType()).getAxes().front().getSize() : 0;
}

/// The constant by which `user` multiplies; none for others.
static std::optional<int64_t> constantFactor(OpOperand &use) {
  auto product = dyn_cast<arith::MulIOp>(use.getOwner());
  std::optional<int64_t> factor =
      product
          ? getConstantIntValue(product->getOperand(1 - use.getOperandNumber()))
          : std::nullopt;
  return factor && *factor > 0 ? factor : std::nullopt;
}

Dim measure(Value value) {
  Dim dim{value};
  int64_t lanes = 0;
  // How many elements one of the dimension counts for: rows of a page.
  llvm::DenseMap<Value, int64_t> factors{{value, 1}};
  // What it is taken from counts no steps of it.
  llvm::DenseSet<Value> less;
  SetVector<Value> made;
  made.insert(value);
  for (size_t i = 0; i < made.size(); ++i)
    for (OpOperand &use : made[i].getUses()) {
      Operation *user = use.getOwner();
      int64_t factor = factors.lookup(use.get());
      std::optional<int64_t> divisor;
      if (auto loop = dyn_cast<scf::ForOp>(user)) {
        if (use.get() == loop.getUpperBound())
          divisor = getConstantIntValue(loop.getStep());
      } else if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp,
                     arith::FloorDivSIOp, arith::DivSIOp, arith::DivUIOp>(
                     user)) {
        if (use.getOperandNumber() == 0)
          divisor = getConstantIntValue(user->getOperand(1));
      } else if (auto splat = dyn_cast<SplatOp>(user)) {
        for (Operation *compare : splat->getUsers())
          lanes = std::max(lanes, lanesBelow(compare, splat) / factor);
      } else if (std::optional<int64_t> by = constantFactor(use)) {
        Value result = user->getResult(0);
        if (made.insert(result))
          factors[result] = factor * *by;
      } else if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp,
                     arith::MaxSIOp, arith::ExtSIOp, arith::TruncIOp>(user)) {
        Value result = user->getResult(0);
        if (made.insert(result))
          factors[result] = factor;
        bool isTaken = isa<arith::SubIOp>(user) && use.getOperandNumber() == 1;
        if (isTaken || less.contains(use.get()))
          less.insert(result);
      }
      if (divisor && *divisor > 1 && *divisor <= factor)
        dim.perElement = factor;
      if (!divisor || *divisor <= factor)
        continue;
      divisor = llvm::divideCeil(*divisor, factor);
      if (!less.contains(use.get())) {
        dim.step = dim.step ? std::min(dim.step, *divisor) : *divisor;
        dim.steps.insert(user);
      }
      dim.block = std::max(dim.block, *divisor);
    }
  // Where only memory says in which step a block lies, a block is what masks
  // cut.
  if (dim.step == 0 && lanes > 1) {
    dim.step = lanes;
    dim.block = std::max(dim.block, lanes);
  }
  return dim;
}

bool hasTilesOfItsOwn(LaunchOp launch, unsigned symbol) {
  return llvm::is_contained(launch.getGrid().getResults(),
                            getAffineSymbolExpr(symbol, launch.getContext()));
}

Dim measure(Value value, LaunchOp launch, unsigned symbol) {
  Dim dim = measure(value);
  if (dim.step == 0 && hasTilesOfItsOwn(launch, symbol))
    dim.block = 1;
  return dim;
}

SmallVector<int64_t> stepsOf(KernelOp kernel, int64_t most) {
  std::set<int64_t, std::greater<>> steps;
  kernel.walk([&](scf::ForOp loop) {
    if (std::optional<int64_t> step = getConstantIntValue(loop.getStep());
        step && *step > 1 && *step <= most)
      steps.insert(*step);
  });
  return {steps.begin(), steps.end()};
}

bool hasCallersIntegers(KernelOp kernel) {
  return llvm::any_of(
      llvm::zip(kernel.getArgs(), kernel.getBody().getArguments()),
      [](auto pair) {
        auto [attr, argument] = pair;
        return isa<ScalarArgAttr>(attr) && argument.getType().isInteger();
      });
}

} // namespace selvedge::verify
