// Comparison of a program with what a pass made of it, loop by loop.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Tile/SameProgram.h"

#include "mlir/IR/Diagnostics.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::tile;

/// Whether the place of `op` does not matter. That of a load does: what it
/// reads may have been stored.
static bool isReordered(Operation *op) {
  return isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
         !op->hasTrait<OpTrait::IsTerminator>();
}

/// What a block does, in order.
static SmallVector<Operation *> actionsOf(Block &block) {
  SmallVector<Operation *> actions;
  for (Operation &op : block)
    if (!isReordered(&op))
      actions.push_back(&op);
  return actions;
}

static Value claimed(Value value) {
  while (auto known = value.getDefiningOp<KnownOp>())
    value = known.getPredicate();
  return value;
}

static bool isSameOperation(Operation *before, Operation *after) {
  return before->getName() == after->getName() &&
         before->getResultTypes() == after->getResultTypes() &&
         before->getNumOperands() == after->getNumOperands() &&
         before->getPropertiesAsAttribute() ==
             after->getPropertiesAsAttribute();
}

void SameProgram::assume(ValueRange before, ValueRange after) {
  for (auto [value, other] : llvm::zip_equal(before, after))
    same.insert({value, other});
}

bool SameProgram::isSame(Value before, Value after) {
  before = claimed(before);
  after = claimed(after);
  if (same.contains({before, after}))
    return true;
  Operation *x = before.getDefiningOp(), *y = after.getDefiningOp();
  if (!x || !y || !isReordered(x) || !isSameOperation(x, y) ||
      cast<OpResult>(before).getResultNumber() !=
          cast<OpResult>(after).getResultNumber())
    return false;
  for (auto [operand, other] :
       llvm::zip_equal(x->getOperands(), y->getOperands()))
    if (!isSame(operand, other))
      return false;
  same.insert({before, after});
  return true;
}

Value SameProgram::find(Value before, Operation *at) {
  for (; at && at->getBlock(); at = at->getParentOp()) {
    Block &block = *at->getBlock();
    for (Value argument : block.getArguments())
      if (isSame(before, argument))
        return argument;
    for (Operation &op : llvm::make_range(block.begin(), at->getIterator()))
      for (Value result : op.getResults())
        if (isSame(before, result))
          return result;
  }
  return {};
}

LogicalResult SameProgram::compare(ProgramOp before, ProgramOp after) {
  for (StringRef name : {"dims", "tensors", "scalars", "promises"})
    if (before->getAttr(name) != after->getAttr(name))
      return after.emitOpError("expects the ")
             << name << " of the program before the pass";
  auto kernels = llvm::to_vector(before.getOps<KernelOp>()),
       others = llvm::to_vector(after.getOps<KernelOp>());
  if (kernels.size() != others.size())
    return after.emitOpError("expects as many kernels as before the pass, ")
           << kernels.size() << ", but has " << others.size();
  for (auto [kernel, other] : llvm::zip_equal(kernels, others)) {
    Block &x = kernel.getBody().front(), &y = other.getBody().front();
    if (kernel->getPropertiesAsAttribute() !=
            other->getPropertiesAsAttribute() ||
        x.getArgumentTypes() != y.getArgumentTypes())
      return other.emitOpError("expects the signature of kernel '")
             << kernel.getSymName() << "' before the pass";
    assume(x.getArguments(), y.getArguments());
    if (failed(compare(x, y)))
      return failure();
  }
  return success();
}

LogicalResult SameProgram::compare(Block &before, Block &after) {
  SmallVector<Operation *> wanted = actionsOf(before), found = actionsOf(after);
  size_t next = 0;
  for (auto [i, op] : llvm::enumerate(wanted)) {
    if (next == found.size())
      return op->emitOpError("is missing after the pass");
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      Operation *following = i + 1 < wanted.size() ? wanted[i + 1] : nullptr;
      if (failed(compare(loop, following, found, next)))
        return failure();
      continue;
    }
    if (failed(compare(op, found[next])))
      return failure();
    ++next;
  }
  if (next < found.size())
    return found[next]->emitOpError(
        "expects the operations of the program before the pass in their order; "
        "this one is none of them");
  return success();
}

LogicalResult SameProgram::compare(Operation *before, Operation *after) {
  bool isEqual =
      isSameOperation(before, after) &&
      llvm::all_of(llvm::zip_equal(before->getOperands(), after->getOperands()),
                   [&](auto pair) {
                     return isSame(std::get<0>(pair), std::get<1>(pair));
                   }) &&
      before->getNumRegions() == after->getNumRegions();
  if (!isEqual)
    return after
               ->emitOpError("differs from the operation at its place in the "
                             "program before the pass")
               .attachNote(before->getLoc())
           << "which is '" << before->getName() << "'";
  for (auto [x, y] :
       llvm::zip_equal(before->getRegions(), after->getRegions())) {
    if (x.empty() && y.empty())
      continue;
    if (!x.hasOneBlock() || !y.hasOneBlock() ||
        x.getArgumentTypes() != y.getArgumentTypes())
      return after->emitOpError("expects the regions of the program before the "
                                "pass");
    assume(x.getArguments(), y.getArguments());
    if (failed(compare(x.front(), y.front())))
      return failure();
  }
  assume(before->getResults(), after->getResults());
  return success();
}

bool SameProgram::continues(scf::ForOp loop, ValueRange carried,
                            scf::ForOp part) {
  return loop.getResultTypes() == part.getResultTypes() &&
         loop.getUnsignedCmp() == part.getUnsignedCmp() &&
         llvm::all_of_zip(carried, part.getInitArgs(),
                          [&](Value x, Value y) { return x == y; }) &&
         hasSameBody(loop, part);
}

bool SameProgram::hasSameBody(scf::ForOp loop, scf::ForOp part) {
  if (loop.getInductionVar().getType() != part.getInductionVar().getType())
    return false;
  assume(loop.getBody()->getArguments(), part.getBody()->getArguments());
  size_t nested = loops.size();
  ScopedDiagnosticHandler quiet(loop.getContext(),
                                [](Diagnostic &) { return success(); });
  if (succeeded(compare(*loop.getBody(), *part.getBody())))
    return true;
  loops.truncate(nested);
  return false;
}

bool SameProgram::belongsTo(scf::ForOp part, Operation *following,
                            scf::ForOp loop) {
  auto other = dyn_cast_or_null<scf::ForOp>(following);
  if (!other)
    return false;
  if (loop.getLoc() != other.getLoc())
    return part.getLoc() == other.getLoc();
  return isSame(other.getLowerBound(), part.getLowerBound()) &&
         !isSame(loop.getLowerBound(), part.getLowerBound());
}

LogicalResult SameProgram::compare(scf::ForOp loop, Operation *following,
                                   ArrayRef<Operation *> candidates,
                                   size_t &next) {
  SplitLoop split{loop, {}};
  size_t place = loops.size();
  SmallVector<Value> carried;
  for (; next < candidates.size(); ++next) {
    auto part = dyn_cast<scf::ForOp>(candidates[next]);
    if (!part)
      break;
    if (!split.parts.empty() && belongsTo(part, following, loop))
      break;
    if (split.parts.empty()) {
      for (auto [x, y] : llvm::zip(loop.getInitArgs(), part.getInitArgs()))
        if (isSame(x, y))
          carried.push_back(y);
      if (carried.size() != loop.getInitArgs().size())
        break;
    }
    if (!continues(loop, carried, part))
      break;
    split.parts.push_back(part);
    carried.assign(part.result_begin(), part.result_end());
  }
  if (split.parts.empty())
    return loop.emitOpError("expects loops that compute the same in its place "
                            "after the pass")
               .attachNote(candidates[next]->getLoc())
           << "found this operation";
  assume(loop.getResults(), carried);
  loops.insert(loops.begin() + place, split);
  return success();
}

} // namespace selvedge::verify
