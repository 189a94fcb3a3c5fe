// Programs in which warps do not wait for each other or for their copies.
// SPDX-License-Identifier: MIT
#include "MutantEdits.h"
#include "Mutants.h"

#include "dialect/Sm/Sm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <map>

using namespace mlir;

namespace selvedge::testing {

namespace {

class Mutator {
public:
  explicit Mutator(ModuleOp module) : module(module) {}

  void run() {
    module.walk([&](Operation *op) {
      if (auto await = dyn_cast<sm::AwaitOp>(op))
        addAwait(await);
      else if (auto barrier = dyn_cast<sm::BarrierOp>(op))
        addBarrier(barrier);
      else if (auto slot = dyn_cast<sm::SlotOp>(op))
        addSlot(slot);
      else if (auto copy = dyn_cast<sm::CopyAsyncOp>(op))
        addCopy(copy);
    });
  }

  std::vector<Mutant> mutants;

private:
  /// Adds a copy of the module whose copy of `op` `change` has made wrong.
  void add(Operation *op, const std::string &name, bool isBlatant,
           llvm::function_ref<void(Operation *, OpBuilder &)> change) {
    ModuleCopy copy(module);
    Operation *target = copy.map.lookup(op);
    OpBuilder b(target);
    change(target, b);
    mutants.push_back({name, isBlatant, std::move(copy.module)});
  }

  /// "loop's await #2" for the second one in a loop.
  std::string describe(Operation *op, const std::string &what) {
    std::string name =
        (isa<scf::ForOp>(op->getParentOp()) ? "loop's " : "") + what;
    int number = ++counts[name];
    return number == 1 ? name : name + " #" + std::to_string(number);
  }

  void addAwait(sm::AwaitOp await) {
    std::string name = describe(await, "await");
    add(await, name + ": deleted", true,
        [](Operation *copy, OpBuilder &) { copy->erase(); });
    add(await, name + ": one more pending", false,
        [](Operation *copy, OpBuilder &) {
          auto await = cast<sm::AwaitOp>(copy);
          await.setPending(await.getPending() + 1);
        });
    if (isa_and_nonnull<sm::BarrierOp>(await->getNextNode()))
      add(await, name + ": behind its barrier", false,
          [](Operation *copy, OpBuilder &) {
            copy->moveAfter(copy->getNextNode());
          });
  }

  void addBarrier(sm::BarrierOp barrier) {
    std::string name = describe(barrier, "barrier");
    add(barrier, name + ": deleted", true,
        [](Operation *copy, OpBuilder &) { copy->erase(); });
    auto nextCopy = [](Operation *op) {
      do
        op = op->getNextNode();
      while (op && !isa<sm::CopyAsyncOp>(op));
      return op;
    };
    if (nextCopy(barrier))
      add(barrier, name + ": behind the next copy", false,
          [&](Operation *copy, OpBuilder &) {
            copy->moveAfter(nextCopy(copy));
          });
  }

  /// Rows that exist nowhere arrive as they lie in memory.
  void addCopy(sm::CopyAsyncOp copy) {
    if (!copy.getBuffer().getDefiningOp<sm::SlotOp>() ||
        copy.getPresence().empty() || !copy.getGarbage().empty())
      return;
    add(copy, describe(copy, "copy") + ": fills nothing", true,
        [](Operation *op, OpBuilder &) {
          auto copy = cast<sm::CopyAsyncOp>(op);
          SmallVector<int64_t> tiles;
          for (auto [i, p] : llvm::enumerate(copy.getPresence()))
            if (sm::isRegisterTile(p.getType()))
              tiles.push_back(static_cast<int64_t>(i));
          copy.setGarbage(tiles);
        });
  }

  void addSlot(sm::SlotOp slot) {
    bool isFilled = llvm::any_of(slot->getUsers(), [](Operation *user) {
      return isa<sm::CopyAsyncOp>(user);
    });
    std::string name =
        describe(slot, isFilled ? "slot to fill" : "slot to read");
    add(slot, name + ": the next one", false,
        [](Operation *copy, OpBuilder &b) {
          auto slot = cast<sm::SlotOp>(copy);
          int64_t stages = slot.getRing().getType().getStages();
          auto constant = [&](int64_t value) -> Value {
            return arith::ConstantIntOp::create(b, slot.getLoc(), value, 32);
          };
          Value next = arith::AddIOp::create(b, slot.getLoc(), slot.getStage(),
                                             constant(1));
          slot.getStageMutable().assign(
              arith::RemSIOp::create(b, slot.getLoc(), next, constant(stages)));
        });
    auto wrap = slot.getStage().getDefiningOp<arith::SelectOp>();
    // All slots of an iteration share it.
    if (!wrap || llvm::is_contained(wraps, wrap))
      return;
    wraps.push_back(wrap);
    std::string ring = describe(wrap, "ring");
    for (auto [distance, what] :
         {std::pair(1, ": wraps one later"), {-1, ": wraps one earlier"}})
      add(wrap, ring + what, false, [&](Operation *copy, OpBuilder &b) {
        auto compare = copy->getOperand(0).getDefiningOp<arith::CmpIOp>();
        b.setInsertionPoint(compare);
        Location loc = compare.getLoc();
        compare.getRhsMutable().assign(arith::AddIOp::create(
            b, loc, compare.getRhs(),
            arith::ConstantIntOp::create(b, loc, distance, 32)));
      });
  }

  ModuleOp module;
  std::map<std::string, int> counts;
  SmallVector<Operation *> wraps;
};

} // namespace

std::vector<Mutant> waitMutants(ModuleOp module) {
  Mutator mutator(module);
  mutator.run();
  return std::move(mutator.mutants);
}

} // namespace selvedge::testing
