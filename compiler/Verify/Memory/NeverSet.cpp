// Flags that loops carry and that no step ever sets, in a branch.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/NeverSet.h"

#include "compiler/Verify/Arithmetic/PredicateWords.h"
#include "compiler/Verify/Memory/GlobalMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace selvedge::verify {

using namespace mlir;

namespace {

/// The value before the first step, and behind each, of what a loop carries.
struct Carried {
  Operation *loop = nullptr;
  Value init, yielded;
};

/// A way that the branches around an operation go in each step of a loop.
struct Way {
  Value condition;
  bool arm;
};

} // namespace

static Carried carriedBy(BlockArgument flag) {
  Operation *owner = flag.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(owner)) {
    OpOperand *init = loop.getTiedLoopInit(flag);
    return init ? Carried{loop, init->get(),
                          loop.getTiedLoopYieldedValue(flag)->get()}
                : Carried();
  }
  auto loop = dyn_cast<scf::WhileOp>(owner);
  if (!loop || flag.getOwner() != loop.getAfterBody())
    return {};
  // The condition hands on what came in.
  Value tested = loop.getConditionOp().getArgs()[flag.getArgNumber()];
  auto before = dyn_cast<BlockArgument>(tested);
  if (!before || before.getOwner() != loop.getBeforeBody())
    return {};
  unsigned number = before.getArgNumber();
  return {loop, loop.getInits()[number],
          loop.getYieldOp().getOperands()[number]};
}

/// Whether a value is the same in each step: arithmetic of what comes from
/// outside of the loop, and what is loaded with that.
static bool isInvariant(Value value, Operation *loop) {
  Operation *def = value.getDefiningOp();
  Block *block = def ? def->getBlock() : cast<BlockArgument>(value).getOwner();
  if (!loop->isAncestor(block->getParentOp()))
    return true;
  // No other kernel stores to it while one that reads it runs.
  if (auto load = dyn_cast_if_present<sm::LoadOp>(def);
      load && hasStoreTo(load->getParentOfType<sm::KernelOp>(),
                         tensorName(load.getTensor())))
    return false;
  return def &&
         (isa<arith::ArithDialect>(def->getDialect()) ||
          isa<sm::LoadOp, sm::IsPresentOp>(def)) &&
         llvm::all_of(def->getOperands(), [&](Value operand) {
           return isInvariant(operand, loop);
         });
}

/// Whether a flag that is false before a step is so behind it, `value` being
/// what it yields.
static bool staysFalse(Value value, Value flag, ArrayRef<Way> ways) {
  if (value == flag || matchPattern(value, m_Zero()))
    return true;
  auto branch = value.getDefiningOp<scf::IfOp>();
  if (!branch)
    return false;
  unsigned number = cast<OpResult>(value).getResultNumber();
  auto way = llvm::find_if(ways, [&](const Way &known) {
    return known.condition == branch.getCondition();
  });
  for (bool arm : {false, true}) {
    if (way != ways.end() && way->arm != arm)
      continue;
    Block *block = arm ? branch.thenBlock() : branch.elseBlock();
    if (!staysFalse(block->getTerminator()->getOperand(number), flag, ways))
      return false;
  }
  return true;
}

bool isNeverSet(scf::IfOp branch, llvm::function_ref<bool(scf::IfOp)> isSame) {
  auto flag = dyn_cast<BlockArgument>(branch.getCondition());
  Carried carried = flag ? carriedBy(flag) : Carried();
  if (!carried.loop || !matchPattern(carried.init, m_Zero()))
    return false;
  SmallVector<Way> ways;
  for (Operation *inner = branch; inner != carried.loop;
       inner = inner->getParentOp())
    if (auto outer = dyn_cast<scf::IfOp>(inner->getParentOp());
        outer &&
        (isInvariant(outer.getCondition(), carried.loop) || isSame(outer)))
      ways.push_back(
          {outer.getCondition(), inner->getBlock() == outer.thenBlock()});
  return staysFalse(carried.yielded, flag, ways);
}

} // namespace selvedge::verify
