// Comparison of a kernel's loops and branches with those that a pass made.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Tile/SameLoops.h"

#include "compiler/Verify/Arithmetic/PredicateWords.h"
#include "compiler/Verify/Tile/Differs.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::tile;

static bool isScalar(Value value) {
  return value.getType().isIntOrIndexOrFloat();
}

/// What control flow hands on that it may depend on.
static SmallVector<Value> integersOf(ValueRange range) {
  return llvm::filter_to_vector(
      range, [](Value value) { return value.getType().isIntOrIndex(); });
}

SameLoops::Number SameLoops::named(StringRef name) {
  auto [known, isNew] = names.try_emplace(name.str());
  if (isNew)
    known->second = values.fresh();
  return known->second;
}

void SameLoops::visit(Operation *op, Turns &turns) {
  auto load = dyn_cast<TensorAccessOpInterface>(op);
  if (load && op->getNumResults() == 1 && isScalar(op->getResult(0)) &&
      llvm::all_of(load.getIndices(), isScalar)) {
    auto presence = cast<SinkOpInterface>(op).getPresence();
    values.bind(op->getResult(0), values.element(values.of(load.getAccessed()),
                                                 values.of(load.getIndices()),
                                                 values.ofPresence(presence)));
    return;
  }
  if (isa<IsPresentOp, sm::IsPresentOp>(op)) {
    values.bind(op->getResult(0),
                values.presenceOf(values.of(op->getOperand(0))));
    return;
  }
  if (isa<sm::BlockIdOp>(op)) {
    values.bind(op->getResult(0), block);
    return;
  }
  bool isOfScalars = op->getNumResults() != 0 && isMemoryEffectFree(op) &&
                     llvm::all_of(op->getOperands(), isScalar) &&
                     llvm::all_of(op->getResults(), isScalar);
  if (isOfScalars)
    return values.visit(op, /*stored=*/0);
  for (OpResult result : op->getResults())
    if (isScalar(result) && !result.use_empty()) {
      const void *type = result.getType().getAsOpaquePointer();
      auto [known, isNew] = ofTiles.try_emplace({type, turns[type]++});
      if (isNew)
        known->second = values.fresh();
      values.bind(result, known->second);
    }
}

Operation *SameLoops::next(Operation *op, Turns &turns) {
  while (!isa<scf::ForOp, scf::IfOp>(op) &&
         !op->hasTrait<OpTrait::IsTerminator>()) {
    visit(op, turns);
    op = op->getNextNode();
  }
  return op;
}

bool SameLoops::areSame(ValueRange before, ValueRange after) {
  return values.of(integersOf(before)) == values.of(integersOf(after));
}

bool SameLoops::bindIntegers(ValueRange before, ValueRange after) {
  SmallVector<Value> integers = integersOf(before), others = integersOf(after);
  if (integers.size() != others.size())
    return false;
  // What is no integer comes from tiles, or decides nothing.
  for (ValueRange side : {before, after})
    for (Value value : side)
      if (isScalar(value))
        values.bind(value, values.fresh());
  values.bind(integers, others);
  return true;
}

LogicalResult SameLoops::compare(Operation *before, Operation *after) {
  if (before->getName() != after->getName() &&
      !(before->hasTrait<OpTrait::IsTerminator>() &&
        after->hasTrait<OpTrait::IsTerminator>()))
    return differs(before, after, "a loop or branch in the place");
  if (!areSame(before->getOperands(), after->getOperands()))
    return differs(before, after,
                   isa<scf::ForOp>(before) ? "the bounds and initial values"
                                           : "the integers");
  auto loop = dyn_cast<scf::ForOp>(before);
  if (loop && loop.getUnsignedCmp() != cast<scf::ForOp>(after).getUnsignedCmp())
    return differs(before, after, "the compare");
  for (auto [x, y] :
       llvm::zip_equal(before->getRegions(), after->getRegions())) {
    if (x.empty() != y.empty() ||
        !bindIntegers(x.getArguments(), y.getArguments()))
      return differs(before, after, "the integers handed on");
    if (!x.empty() && failed(compare(x.front(), y.front())))
      return failure();
  }
  return bindIntegers(before->getResults(), after->getResults())
             ? success()
             : differs(before, after, "the integers handed on");
}

LogicalResult SameLoops::compare(Block &before, Block &after) {
  Operation *x = &before.front(), *y = &after.front();
  while (true) {
    x = next(x, turnsBefore);
    y = next(y, turnsAfter);
    if (failed(compare(x, y)))
      return failure();
    if (x->hasTrait<OpTrait::IsTerminator>())
      return success();
    x = x->getNextNode();
    y = y->getNextNode();
  }
}

LogicalResult SameLoops::compare(KernelOp before, KernelOp after) {
  Block &x = before.getBody().front(), &y = after.getBody().front();
  if (x.getArgumentTypes() != y.getArgumentTypes() ||
      before.getRanges() != after.getRanges())
    return after.emitOpError("expects the signature of kernel '")
           << before.getSymName() << "' before the pass";
  values.bind(x.getArguments(), y.getArguments());
  return compare(x, y);
}

/// The last range is the fastest digit, as `verify-sm-bounds` has it.
void SameLoops::bindCoordinates(KernelOp before, Number block) {
  constexpr unsigned width = 32;
  ArrayAttr dims = before.getProgram().getDims();
  auto symbols = llvm::map_to_vector(dims.getAsRange<StringAttr>(),
                                     [&](StringAttr d) { return named(d); });
  ArrayAttr ranges = before.getRanges();
  Number rest = block;
  for (size_t i = ranges.size(); i-- > 0;) {
    auto range = cast<IterAttr>(ranges[i]);
    AffineExpr count = range.getExtent().getResult(0);
    Value coord = before.getCoord(i);
    auto number = dyn_cast<AffineConstantExpr>(count);
    if (!range.getBlock() && number && number.getValue() == 1) {
      values.bind(coord, values.integer(0, width));
      continue;
    }
    int64_t size = 1;
    if (range.getBlock()) {
      size = before.getSizes()->getAs<IntegerAttr>(range.getName()).getInt();
      count = count.ceilDiv(size);
    }
    Number digit = rest;
    if (i != 0) {
      digit = values.fresh();
      Number next = values.fresh();
      values.defineQuotient(rest, values.affine(count, symbols), next, digit);
      rest = next;
    }
    Number first = values.multiple(digit, size, width);
    values.bind(coord, first);
    values.defineQuotient(first, values.integer(size, width), digit,
                          values.integer(0, width));
  }
}

LogicalResult SameLoops::compare(KernelOp before, sm::KernelOp after) {
  ProgramOp program = before.getProgram();
  if (!before.getSizes())
    return before.emitOpError("expects bound sizes");
  // Names are the op's.
  for (auto [i, argument] :
       llvm::enumerate(before.getBody().getArguments().take_front(
           program.getNumSharedArgs()))) {
    size_t numDims = program.getDims().size(),
           numTensors = program.getTensors().size();
    StringRef name =
        i < numDims ? cast<StringAttr>(program.getDims()[i]).getValue()
        : i < numDims + numTensors
            ? program.getTensorArg(i - numDims).getName().getValue()
            : program.getScalarArg(i - numDims - numTensors)
                  .getName()
                  .getValue();
    values.bind(argument, named(name));
  }
  for (auto [attr, argument] :
       llvm::zip_equal(after.getArgs(), after.getBody().getArguments())) {
    StringAttr name;
    if (auto dim = dyn_cast<sm::DimArgAttr>(attr))
      name = dim.getDim();
    else if (auto pointer = dyn_cast<sm::PointerArgAttr>(attr))
      name = pointer.getTensor();
    else if (auto scalar = dyn_cast<sm::ScalarArgAttr>(attr))
      name = scalar.getScalar();
    values.bind(argument, name ? named(name) : values.fresh());
  }
  bindCoordinates(before, block);
  return compare(before.getBody().front(), after.getBody().front());
}

} // namespace selvedge::verify
