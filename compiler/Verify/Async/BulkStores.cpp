// Which sizes bulk copies need.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/BulkStores.h"

#include "compiler/Verify/Arithmetic/Facts.h"
#include "compiler/Verify/Async/Trials.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

/// Whether `condition` says that the dimension `name` is a multiple of `words`:
/// it compares the remainder with zero.
static bool isWholeWords(Value condition, KernelOp kernel, StringAttr name,
                         int64_t words) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
      !matchPattern(compare.getRhs(), m_Zero()))
    return false;
  auto rest = compare.getLhs().getDefiningOp<arith::RemUIOp>();
  APInt divisor;
  auto argument =
      rest ? dyn_cast<BlockArgument>(rest.getLhs()) : BlockArgument();
  if (!argument || argument.getOwner() != &kernel.getBody().front() ||
      !matchPattern(rest.getRhs(), m_ConstantInt(&divisor)) ||
      divisor.getSExtValue() <= 0 || divisor.getSExtValue() % words != 0)
    return false;
  auto dim = dyn_cast<DimArgAttr>(kernel.getArgs()[argument.getArgNumber()]);
  return dim && dim.getDim() == name;
}

/// Whether `op` is executed only where the dimension `name` is a multiple of
/// `words`: a branch of the kernel asks for it, among other things or alone.
static bool isGuarded(Operation *op, StringAttr name, int64_t words) {
  auto kernel = op->getParentOfType<KernelOp>();
  bool isFound = false;
  for (Operation *inner = op, *outer = op->getParentOp(); outer;
       inner = outer, outer = outer->getParentOp())
    if (auto branch = dyn_cast<scf::IfOp>(outer);
        branch && inner->getParentRegion() == &branch.getThenRegion())
      conjuncts(branch.getCondition(), [&](Value part) {
        isFound |= isWholeWords(part, kernel, name, words);
      });
  return isFound;
}

/// Bulk stores clip rows to whole words of 16 bytes only (seen on hardware).
static LogicalResult checkWords(TmaStoreOp op) {
  auto kernel = op->getParentOfType<KernelOp>();
  auto argument = dyn_cast<BlockArgument>(op.getMap());
  auto map = argument && argument.getOwner() == &kernel.getBody().front()
                 ? dyn_cast<TensorMapArgAttr>(
                       kernel.getArgs()[argument.getArgNumber()])
                 : TensorMapArgAttr();
  if (!map)
    return op.emitOpError("expects a tensor map among the kernel's arguments");
  int64_t wordElements =
      128 / op.getBuffer().getType().getElementType().getIntOrFloatBitWidth();
  LaunchOp launch = launchOf(kernel);
  if (!launch)
    return success();
  auto plan = launch->getParentOfType<PlanOp>();
  for (auto tensor : plan.getTensors().getAsRange<tile::TensorArgAttr>()) {
    AffineExpr extent = tensor.getShape().getResults().back();
    if (tensor.getName() != map.getTensor() ||
        extent.isMultipleOf(wordElements))
      continue;
    if (auto symbol = dyn_cast<AffineSymbolExpr>(extent);
        symbol &&
        isGuarded(op, cast<StringAttr>(plan.getDims()[symbol.getPosition()]),
                  wordElements))
      continue;
    return op.emitOpError("expects rows of \"")
           << tensor.getName().getValue() << "\" to be a multiple of "
           << wordElements
           << " elements: a bulk store writes whole words of 16 bytes";
  }
  return success();
}

/// Rows that are pairs are copied in pieces of every size, by a number of pairs
/// that the kernel knows.
static LogicalResult checkPairs(KernelOp kernel) {
  auto isPassed = [&](Attribute arg) {
    return llvm::is_contained(kernel.getArgs(), arg);
  };
  for (Attribute arg : kernel.getArgs()) {
    auto map = dyn_cast<TensorMapArgAttr>(arg);
    if (!map || !map.getPairs())
      continue;
    for (Piece piece : {Piece::Groups, Piece::Group, Piece::Part})
      if (!isPassed(map.in(piece)))
        return kernel.emitOpError("expects a descriptor of pieces '")
               << stringifyPiece(piece) << "' of " << map.getTensor();
    StringAttr by = map.getPairs().getBy();
    if (!isPassed(DimArgAttr::get(kernel.getContext(), by)))
      return kernel.emitOpError("expects ")
             << by << " as an argument: the pairs of " << map.getTensor()
             << " are counted by it";
  }
  return success();
}

LogicalResult checkBulkStores(KernelOp kernel) {
  if (failed(checkPairs(kernel)))
    return failure();
  return failure(
      kernel
          .walk([](TmaStoreOp store) { return WalkResult(checkWords(store)); })
          .wasInterrupted());
}

} // namespace selvedge::verify
