// Programs in which one safety operation is missing or too weak.
// SPDX-License-Identifier: MIT
#include "Mutants.h"
#include "MutantEdits.h"

#include "dialect/Sm/Sm.h"
#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"

#include <map>

using namespace mlir;

namespace selvedge::testing {

namespace {

class Mutator {
public:
  explicit Mutator(ModuleOp module) : module(module) {}

  void masks() {
    module.walk([&](Operation *op) {
      if (auto load = dyn_cast<tile::LoadOp>(op))
        fill(load);
      if (isa<tile::LoadOp, tile::StoreOp, sm::LoadOp, sm::StoreOp, sm::CopyOp>(
              op))
        presence(op);
      if (isa<tile::LoadOp, tile::StoreOp>(op))
        otherAxis(op);
      if (auto select = dyn_cast<arith::SelectOp>(op))
        mask(select);
      if (auto kernel = dyn_cast<tile::KernelOp>(op);
          kernel && kernel.getSymName().starts_with("init_"))
        add(op, "kernel", "deleted", true, [](Operation *copy, OpBuilder &) {
          copy->erase();
          return true;
        });
    });
  }

  void guards() {
    llvm::SmallPtrSet<Operation *, 4> compares;
    module.walk([&](arith::SelectOp select) {
      auto compare =
          source(select.getCondition()).getDefiningOp<arith::CmpFOp>();
      if (!compare)
        return;
      add(select, "guard", "deleted", true, [](Operation *copy, OpBuilder &) {
        copy->getResult(0).replaceAllUsesWith(copy->getOperand(2));
        return true;
      });
      swapArms(select, "guard");
      // Several guards share it.
      if (!compares.insert(compare).second)
        return;
      add(compare, "guard's compare", "launders NaN", false,
          [](Operation *copy, OpBuilder &) {
            cast<arith::CmpFOp>(copy).setPredicate(arith::CmpFPredicate::UEQ);
            return true;
          });
    });
  }

  std::vector<Mutant> mutants;

private:
  /// Adds a copy of the module whose copy of `op` `change` has made wrong;
  /// drops it where `change` says that there is nothing to change.
  void add(Operation *op, const std::string &site, const std::string &what,
           bool isBlatant,
           llvm::function_ref<bool(Operation *, OpBuilder &)> change) {
    ModuleCopy copy(module);
    Operation *target = copy.map.lookup(op);
    OpBuilder b(target);
    if (change(target, b))
      mutants.push_back({describe(op, site) + ": " + what, isBlatant,
                         std::move(copy.module)});
  }

  /// "select 2" for the second site of that name, by operation.
  std::string describe(Operation *op, const std::string &site) {
    std::string text;
    if (auto kernel = op->getParentOfType<sm::KernelOp>())
      text = kernel.getSymName().ends_with("aligned") ? "aligned " : "";
    std::string tensor = tensorOf(op);
    text += tensor.empty() ? site : site + " " + tensor;
    auto &known = sites[text];
    auto it = llvm::find(known, op);
    auto number = std::distance(known.begin(), it);
    if (it == known.end())
      known.push_back(op);
    return number ? text + " #" + std::to_string(number + 1) : text;
  }

  static std::string tensorOf(Operation *op) {
    if (auto kernel = dyn_cast<tile::KernelOp>(op))
      return kernel.getSymName().str();
    for (Value operand : op->getOperands()) {
      if (!isa<tile::GlobalType>(operand.getType()))
        continue;
      if (auto kernel = op->getParentOfType<tile::KernelOp>())
        return kernel.getTensorArgOf(operand).getName().str();
      auto kernel = op->getParentOfType<sm::KernelOp>();
      unsigned number = cast<BlockArgument>(operand).getArgNumber();
      return cast<sm::PointerArgAttr>(kernel.getArgs()[number])
          .getTensor()
          .str();
    }
    return "";
  }

  static MutableOperandRange presenceOf(Operation *op) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      return load.getPresenceMutable();
    if (auto store = dyn_cast<tile::StoreOp>(op))
      return store.getPresenceMutable();
    if (auto load = dyn_cast<sm::LoadOp>(op))
      return load.getPresenceMutable();
    if (auto store = dyn_cast<sm::StoreOp>(op))
      return store.getPresenceMutable();
    return cast<sm::CopyOp>(op).getPresenceMutable();
  }

  /// Positions of predicates that are not tested.
  static ArrayRef<int64_t> garbageOf(Operation *op) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      return load.getGarbage();
    auto copy = dyn_cast<sm::CopyOp>(op);
    return copy ? copy.getGarbage() : ArrayRef<int64_t>();
  }

  static bool isTested(Operation *op, unsigned predicate) {
    return !llvm::is_contained(garbageOf(op), static_cast<int64_t>(predicate));
  }

  static void erasePredicate(Operation *op, unsigned predicate) {
    SmallVector<int64_t> garbage(garbageOf(op));
    for (int64_t &position : garbage)
      position -= position > predicate;
    presenceOf(op).erase(predicate);
    if (auto load = dyn_cast<tile::LoadOp>(op))
      load.setGarbage(garbage);
    else if (auto copy = dyn_cast<sm::CopyOp>(op))
      copy.setGarbage(garbage);
  }

  void fill(tile::LoadOp load) {
    if (load.getFill() != tile::Fill::Zero)
      return;
    add(load, "fill of", "deleted", true, [](Operation *copy, OpBuilder &) {
      cast<tile::LoadOp>(copy).setFill(tile::Fill::Any);
      return true;
    });
    add(load, "fill of", "1", false, [](Operation *copy, OpBuilder &b) {
      auto load = cast<tile::LoadOp>(copy);
      Type type = load.getType();
      b.setInsertionPointAfter(load);
      Value condition;
      for (Value p : load.getTested()) {
        Value wide = tile::broadcastTo(b, load.getLoc(), p, type);
        condition =
            condition ? arith::AndIOp::create(b, load.getLoc(), condition, wide)
                            .getResult()
                      : wide;
      }
      Value one = splat(b, load.getLoc(),
                        b.getFloatAttr(getElementTypeOrSelf(type), 1), type);
      auto select = arith::SelectOp::create(b, load.getLoc(), condition,
                                            load.getResult(), one);
      load.getResult().replaceAllUsesExcept(select.getResult(), select);
      return true;
    });
  }

  void presence(Operation *op) {
    std::string site = op->getName().stripDialect().str() + " of";
    for (unsigned i = 0, e = presenceOf(op).size(); i < e; ++i)
      for (auto [fault, name] : faults) {
        if (!isTested(op, i))
          continue;
        add(op, site, "predicate " + std::to_string(i) + " " + name,
            fault == Fault::Delete, [&](Operation *copy, OpBuilder &b) {
              if (fault == Fault::Delete) {
                erasePredicate(copy, i);
                return true;
              }
              MutableOperandRange list = presenceOf(copy);
              Value wrong = shifted(b, list[i].get(), fault);
              if (wrong)
                list[i].set(wrong);
              return static_cast<bool>(wrong);
            });
      }
  }

  /// A predicate of a `tile` access that speaks of another axis.
  void otherAxis(Operation *op) {
    std::string site = op->getName().stripDialect().str() + " of";
    for (unsigned i = 0, e = presenceOf(op).size(); i < e; ++i)
      if (isTested(op, i))
        add(op, site, "predicate " + std::to_string(i) + " on another axis",
            false, [&](Operation *copy, OpBuilder &b) {
              MutableOperandRange list = presenceOf(copy);
              ValueRange own = isa<tile::LoadOp>(copy)
                                   ? cast<tile::LoadOp>(copy).getIndices()
                                   : cast<tile::StoreOp>(copy).getIndices();
              Value wrong = onOtherAxis(b, list[i].get(), own);
              if (wrong)
                list[i].set(wrong);
              return static_cast<bool>(wrong);
            });
  }

  void swapArms(arith::SelectOp select, const std::string &site) {
    add(select, site, "arms swapped", false, [](Operation *copy, OpBuilder &) {
      auto select = cast<arith::SelectOp>(copy);
      Value yes = select.getTrueValue();
      select.getTrueValueMutable().set(select.getFalseValue());
      select.getFalseValueMutable().set(yes);
      return true;
    });
  }

  /// A select by presence to a constant.
  void mask(arith::SelectOp select) {
    std::optional<APFloat> absent = constantOf(select.getFalseValue());
    SmallVector<Value> parts;
    leaves(select.getCondition(), parts);
    if (!absent || llvm::any_of(parts, [](Value part) {
          return !part.getDefiningOp<arith::CmpIOp>();
        }))
      return;
    add(select, "mask", "deleted", true, [](Operation *copy, OpBuilder &) {
      copy->getResult(0).replaceAllUsesWith(copy->getOperand(1));
      return true;
    });
    swapArms(select, "mask");
    bool isZero = absent->isZero();
    add(select, "mask", isZero ? "to 1" : "to 0", false,
        [&](Operation *copy, OpBuilder &b) {
          Type type = copy->getResult(0).getType();
          copy->setOperand(
              2,
              splat(b, copy->getLoc(),
                    b.getFloatAttr(getElementTypeOrSelf(type), isZero), type));
          return true;
        });
    for (unsigned i = 0; i < parts.size(); ++i)
      for (auto [fault, name] : faults)
        add(select, "mask", "part " + std::to_string(i) + " " + name, false,
            [&](Operation *copy, OpBuilder &b) {
              SmallVector<Value> parts;
              leaves(copy->getOperand(0), parts);
              Value wrong = rebuilt(b, copy->getOperand(0), parts[i], fault);
              if (!wrong || wrong.getType() != copy->getOperand(0).getType())
                return false;
              copy->setOperand(0, wrong);
              return true;
            });
    for (unsigned i = 0; i < parts.size(); ++i)
      add(select, "mask", "part " + std::to_string(i) + " on another axis",
          false, [&](Operation *copy, OpBuilder &b) {
            return maskOtherAxis(cast<arith::SelectOp>(copy), i, b);
          });
    add(select, "mask", "before the score", false,
        [](Operation *copy, OpBuilder &b) { return moveUp(copy, b); });
  }

  /// Lets a part of a mask on `tile` speak of another axis of the tile.
  static bool maskOtherAxis(arith::SelectOp select, unsigned wrongPart,
                            OpBuilder &b) {
    Type type = select.getType();
    if (!tile::isTile(type))
      return false;
    SmallVector<Value> parts, indices;
    leaves(select.getCondition(), parts);
    DominanceInfo dominance;
    select->getParentOfType<tile::KernelOp>().walk([&](tile::RangeOp range) {
      if (llvm::is_contained(tile::axesOf(type),
                             tile::axesOf(range.getType()).front()) &&
          dominance.dominates(range.getResult(), select))
        indices.push_back(range);
    });
    Value wrong = onOtherAxis(b, parts[wrongPart], indices);
    if (!wrong)
      return false;
    parts[wrongPart] = wrong;
    Location loc = select.getLoc();
    Value condition;
    for (Value part : parts) {
      Value wide = tile::broadcastTo(b, loc, part, type);
      condition =
          condition ? arith::AndIOp::create(b, loc, condition, wide).getResult()
                    : wide;
    }
    select.getConditionMutable().assign(condition);
    return true;
  }

  /// The operand that an elementwise operation computes on, repeated
  /// parameters aside; null for other operations.
  static Value dataOf(Value value) {
    Operation *def = value.getDefiningOp();
    if (!def || !isa<arith::ArithDialect, math::MathDialect>(def->getDialect()))
      return {};
    for (Value operand : def->getOperands())
      if (!isRepeat(operand.getDefiningOp()))
        return operand;
    return {};
  }

  /// Applies the mask to the product that the masked value is computed from,
  /// and computes the value from that.
  static bool moveUp(Operation *select, OpBuilder &b) {
    Value masked = select->getOperand(1), root = masked;
    SmallVector<Operation *> chain;
    while (Value data = dataOf(root)) {
      chain.push_back(root.getDefiningOp());
      root = data;
    }
    if (chain.empty() || root.getType() != masked.getType())
      return false;
    IRMapping map;
    map.map(masked, root);
    Value early = b.clone(*select, map)->getResult(0);
    IRMapping moved;
    moved.map(root, early);
    for (Operation *op : llvm::reverse(chain))
      early = b.clone(*op, moved)->getResult(0);
    select->getResult(0).replaceAllUsesWith(early);
    return true;
  }

  ModuleOp module;
  std::map<std::string, SmallVector<Operation *>> sites;
};

} // namespace

std::vector<Mutant> maskMutants(ModuleOp module) {
  Mutator mutator(module);
  mutator.masks();
  return std::move(mutator.mutants);
}

std::vector<Mutant> guardMutants(ModuleOp module) {
  Mutator mutator(module);
  mutator.guards();
  return std::move(mutator.mutants);
}

} // namespace selvedge::testing
