// From which tensors the elements of a kernel's tiles are made.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/SourceTensors.h"

#include "compiler/Verify/Arithmetic/Facts.h"
#include "compiler/Verify/Arithmetic/PredicateWords.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::verify {

using namespace mlir;

/// The ring that a buffer is a part of.
static Value ringOf(Value buffer) {
  while (true) {
    if (auto slot = buffer.getDefiningOp<sm::SlotOp>())
      buffer = slot.getRing();
    else if (auto panel = buffer.getDefiningOp<sm::PanelOp>())
      buffer = panel.getBuffer();
    else
      return buffer;
  }
}

/// Whether a slot says what it holds, which verify-sm-async compares with what
/// fills it.
static bool isNamed(Value buffer) {
  while (auto panel = buffer.getDefiningOp<sm::PanelOp>())
    buffer = panel.getBuffer();
  auto slot = buffer.getDefiningOp<sm::SlotOp>();
  return slot && !slot.getIndices().empty();
}

/// Whether an operation, or one in it, fills a slot of the ring.
static bool fills(Operation *op, Value ring) {
  return op
      ->walk([&](sm::BufferFillOpInterface fill) {
        return ringOf(fill.getBuffer()) == ring ? WalkResult::interrupt()
                                                : WalkResult::advance();
      })
      .wasInterrupted();
}

Value stagedBefore(Operation *reader, Value slot) {
  Value ring = ringOf(slot);
  while (true) {
    Operation *before = reader->getPrevNode();
    if (!before) {
      reader = reader->getParentOp();
      if (!isa<scf::IfOp>(reader))
        return slot;
      continue;
    }
    auto stage = dyn_cast<sm::StageOp>(before);
    if (stage && stage.getBuffer() == slot)
      return stage.getSource();
    if (fills(before, ring))
      return slot;
    reader = before;
  }
}

SourceTensors::SourceTensors(Operation *kernel) {
  kernel->walk([&](Operation *op) {
    auto fill = dyn_cast<sm::BufferFillOpInterface>(op);
    if (!fill)
      return;
    Value ring = ringOf(fill.getBuffer());
    if (auto access = dyn_cast<tile::TensorAccessOpInterface>(op))
      copied[tilesOf(ring, fill.getBuffer().getType())].insert(
          tensorName(access.getAccessed()));
    if (Value source = fill.getStaged())
      staged[ring].push_back({source, isNamed(fill.getBuffer())});
  });
}

bool visitHandedOn(Value value, llvm::function_ref<void(Value)> visit,
                   bool haveSteps) {
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *owner =
      argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
  if (auto loop = dyn_cast<scf::ForOp>(owner)) {
    if (value == loop.getInductionVar())
      return true;
    unsigned number = argument
                          ? argument.getArgNumber() - loop.getNumInductionVars()
                          : cast<OpResult>(value).getResultNumber();
    visit(loop.getInitArgs()[number]);
    if (haveSteps)
      visit(loop.getYieldedValues()[number]);
  } else if (auto loop = dyn_cast<scf::WhileOp>(owner)) {
    unsigned number = argument ? argument.getArgNumber()
                               : cast<OpResult>(value).getResultNumber();
    if (argument && argument.getOwner() == loop.getBeforeBody()) {
      visit(loop.getInits()[number]);
      visit(loop.getYieldOp().getOperand(number));
    } else {
      visit(loop.getConditionOp().getArgs()[number]);
    }
  } else if (auto branch = dyn_cast<scf::IfOp>(owner)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    visit(branch.thenYield().getOperand(number));
    visit(branch.elseYield().getOperand(number));
  } else {
    return argument != nullptr;
  }
  return true;
}

SourceTensors::Names SourceTensors::of(ValueRange values) const {
  return find(values, [](Operation *) {}, Without());
}

SourceTensors::Names SourceTensors::ofTiles(ValueRange values) const {
  return find(values, [](Operation *) {}, {.scalars = true});
}

SourceTensors::Names SourceTensors::withoutSteps(ValueRange values) const {
  return find(values, [](Operation *) {}, {.steps = true});
}

/// What a choice gives on one side: of another choice by the same condition
/// that stands there, the same side.
static Value sideOf(arith::SelectOp choice, bool side) {
  Value value = side ? choice.getTrueValue() : choice.getFalseValue();
  while (auto inner = value.getDefiningOp<arith::SelectOp>()) {
    if (!isSame(inner.getCondition(), choice.getCondition()))
      break;
    value = side ? inner.getTrueValue() : inner.getFalseValue();
  }
  return value;
}

SourceTensors::Names SourceTensors::ofAnySide(ValueRange values) const {
  SmallVector<arith::SelectOp> choices;
  walk(values, [&](Operation *op) {
    auto choice = dyn_cast<arith::SelectOp>(op);
    if (choice && !of(sideOf(choice, true)).empty() &&
        !of(sideOf(choice, false)).empty())
      choices.push_back(choice);
  });
  Names names = of(values);
  for (arith::SelectOp choice : choices)
    for (bool side : {true, false}) {
      Names other =
          find(values, [](Operation *) {}, {.choice = choice, .side = side});
      std::erase_if(names, [&](const std::string &name) {
        return !other.contains(name);
      });
    }
  return names;
}

void SourceTensors::walk(ValueRange values,
                         llvm::function_ref<void(Operation *)> visit) const {
  (void)find(values, visit, Without());
}

SourceTensors::Names
SourceTensors::find(ValueRange values,
                    llvm::function_ref<void(Operation *)> visitMaker,
                    Without without) const {
  Names names;
  llvm::SmallDenseSet<Value, 32> seen;
  SmallVector<Value> open;
  auto visit = [&](Value value) {
    Type type = getElementTypeOrSelf(value.getType());
    bool isData = isa<sm::BufferType>(type) || isa<FloatType>(type) ||
                  (type.isIntOrIndex() && !type.isInteger(1));
    bool isLeftOut = without.scalars && isa<FloatType>(value.getType());
    if (isData && !isLeftOut && seen.insert(value).second)
      open.push_back(value);
  };
  auto visitAll = [&](ValueRange all) { llvm::for_each(all, visit); };
  visitAll(values);
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (isa<sm::BufferType>(value.getType())) {
      Value ring = ringOf(value);
      if (auto known = copied.find(tilesOf(ring, value.getType()));
          known != copied.end())
        names.insert(known->second.begin(), known->second.end());
      if (auto known = staged.find(ring); known != staged.end())
        for (const Staged &part : known->second)
          if (part.isNamed || !isNamed(value))
            visit(part.source);
      value = ring;
    }
    if (visitHandedOn(value, visit, !without.steps))
      continue;
    visitMaker(value.getDefiningOp());
    llvm::TypeSwitch<Operation *>(value.getDefiningOp())
        .Case<tile::LoadOp, sm::LoadOp>(
            [&](auto load) { names.insert(tensorName(load.getTensor())); })
        .Case<tile::RangeOp, sm::RangeOp>([](auto) {})
        .Case([&](arith::SelectOp choice) {
          for (bool side : {true, false})
            if (choice != without.choice || side != without.side)
              visit(sideOf(choice, side));
        })
        .Case([&](tile::SoftmaxUpdateOp step) {
          visitAll({step.getScores(), step.getMax()});
          if (value == step.getNewSum())
            visit(step.getSum());
          for (auto [after, before] :
               llvm::zip_equal(step.getNewAccs(), step.getAccs()))
            if (value == after)
              visit(before);
        })
        .Case([&](tile::SoftmaxIncludeOp step) {
          visitAll({step.getScore(), step.getMax()});
          if (value == step.getNewSum())
            visit(step.getSum());
          for (auto [after, before] :
               llvm::zip_equal(step.getNewAccs(), step.getAccs()))
            if (value == after)
              visit(before);
        })
        .Default([&](Operation *op) { visitAll(op->getOperands()); });
  }
  return names;
}

} // namespace selvedge::verify
