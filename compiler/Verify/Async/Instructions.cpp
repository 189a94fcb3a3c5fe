// Blocks of a kernel, prepared for being executed many times.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/Instructions.h"

#include "dialect/Sm/Sm.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::verify {

using namespace mlir;

Instruction *Instructions::of(Block *block) {
  auto [at, isNew] = blocks.try_emplace(block);
  if (!isNew)
    return at->second.data();
  // A kernel's body is what is executed first.
  if (!kernel) {
    kernel = block->getParentOp();
    findInFlight(kernel);
  }
  std::vector<Instruction> &code = at->second;
  for (Operation &op : *block)
    code.push_back(describe(op));
  if (code.empty() || code.back().kind < Instruction::Kind::Yield)
    code.emplace_back().kind = Instruction::Kind::BlockEnd;
  return code.data();
}

Instruction Instructions::describe(Operation &op) {
  using Kind = Instruction::Kind;
  Instruction code;
  code.op = &op;
  code.kind = llvm::TypeSwitch<Operation *, Kind>(&op)
                  .Case([](scf::ForOp) { return Kind::Loop; })
                  .Case([](scf::WhileOp) { return Kind::While; })
                  .Case([](scf::IfOp) { return Kind::Branch; })
                  .Case([](scf::YieldOp) { return Kind::Yield; })
                  .Case([](scf::ConditionOp) { return Kind::Condition; })
                  .Default([&](Operation *other) {
                    return other->getParentOp() == kernel &&
                                   other->hasTrait<OpTrait::IsTerminator>()
                               ? Kind::Return
                               : Kind::Plain;
                  });
  code.hasIntegers = llvm::any_of(
      op.getResultTypes(), [](Type type) { return type.isIntOrIndex(); });
  auto isInteger = [&](Value operand) {
    bool isArgument = isa<BlockArgument>(operand) &&
                      operand.getParentBlock()->getParentOp() == kernel;
    return isArgument || operand.getType().isIntOrIndex();
  };
  code.integerOperands =
      llvm::find_if_not(op.getOperands(), isInteger) - op.operand_begin();
  if (code.hasIntegers) {
    for (Value operand : op.getOperands())
      if (isInteger(operand))
        code.operands.push_back(numbers.of(operand));
    for (Value result : op.getResults())
      code.results.push_back(numbers.of(result));
  }
  code.isExpression = code.integerOperands == op.getNumOperands();
  code.isSource = code.isExpression && !isa<InferIntRangeInterface>(op);
  code.isLoad = isa<sm::LoadOp>(op);
  auto exchange = dyn_cast<sm::ExchangeOpInterface>(op);
  code.exchanges = exchange && exchange.exchanges();
  bool isOfSm = isa<sm::SmDialect>(op.getDialect());
  code.accessesTensors = isOfSm || isa<tile::TensorAccessOpInterface>(op);
  code.hasPlaces = isOfSm || llvm::any_of(op.getResultTypes(), [](Type type) {
                     return sm::layoutOf(type) != nullptr;
                   });
  code.readsInFlight = llvm::any_of(
      op.getOperands(), [&](Value operand) { return mayBeInFlight(operand); });
  return code;
}

void Instructions::findInFlight(Operation *kernel) {
  SmallVector<Value> open;
  auto add = [&](Value value) {
    if (inFlight.insert(value).second)
      open.push_back(value);
  };
  kernel->walk([&](sm::WgmmaOp product) { add(product.getResult()); });
  while (!open.empty())
    for (OpOperand &use : open.pop_back_val().getUses()) {
      Operation *user = use.getOwner(), *parent = user->getParentOp();
      unsigned number = use.getOperandNumber();
      if (auto loop = dyn_cast<scf::ForOp>(user)) {
        if (BlockArgument carried = loop.getTiedLoopRegionIterArg(&use)) {
          add(carried);
          add(loop.getTiedLoopResult(&use));
        }
      } else if (auto loop = dyn_cast<scf::WhileOp>(user)) {
        add(loop.getBeforeArguments()[number]);
      } else if (isa<scf::ConditionOp>(user)) {
        // The first operand is the condition.
        add(cast<scf::WhileOp>(parent).getAfterArguments()[number - 1]);
        add(parent->getResult(number - 1));
      } else if (isa<scf::YieldOp>(user)) {
        if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
          add(loop.getBeforeArguments()[number]);
          continue;
        }
        add(parent->getResult(number));
        if (auto loop = dyn_cast<scf::ForOp>(parent))
          add(loop.getRegionIterArg(number));
      }
    }
}

} // namespace selvedge::verify
