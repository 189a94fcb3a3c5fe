// Programs in which roles do not wait for each other or for bulk copies.
// SPDX-License-Identifier: MIT
#include "MutantEdits.h"
#include "Mutants.h"

#include "dialect/Sm/Sm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>

using namespace mlir;

namespace selvedge::testing {

namespace {

class Mutator {
public:
  explicit Mutator(ModuleOp module) : module(module) {}

  void run() {
    module.walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case<sm::WaitOp, sm::NamedBarrierOp, sm::TmaDrainOp, sm::ClearOp>(
              [&](auto op) { addDeleted(op, describe(op)); })
          .Case([&](sm::ProxyFenceOp fence) { addFence(fence); })
          .Case([&](sm::ArriveOp arrive) { addArrive(arrive); })
          .Case([&](sm::ExpectOp expect) {
            std::string name = describe(expect);
            addDeleted(expect, name);
            add(expect, name + ": half of the bytes", false,
                [](Operation *copy) {
                  auto expect = cast<sm::ExpectOp>(copy);
                  expect.setBytes(expect.getBytes() / 2);
                });
          })
          .Case<sm::WgmmaRetireOp, sm::WgmmaWaitOp>(
              [&](auto op) { addPending(op); });
    });
  }

  std::vector<Mutant> mutants;

private:
  using Change = llvm::function_ref<void(Operation *)>;

  /// Adds a copy of the module whose copy of `op` `change` has made wrong.
  void add(Operation *op, const std::string &name, bool isBlatant,
           Change change) {
    ModuleCopy copy(module);
    change(copy.map.lookup(op));
    mutants.push_back({name, isBlatant, std::move(copy.module)});
  }

  void addDeleted(Operation *op, const std::string &name) {
    add(op, name + ": deleted", true, [](Operation *copy) { copy->erase(); });
  }

  /// "products: wait #2" for the role's second one.
  std::string describe(Operation *op) {
    auto role = op->getParentOfType<sm::RoleOp>();
    std::string name = (role ? role.getName().str() + ": " : "") +
                       op->getName().stripDialect().str();
    int number = ++counts[name];
    return number == 1 ? name : name + " #" + std::to_string(number);
  }

  void addArrive(sm::ArriveOp arrive) {
    std::string name = describe(arrive);
    addDeleted(arrive, name);
    // What it releases has been read, or posted, before.
    Operation *before = arrive->getPrevNode();
    while (isa_and_nonnull<sm::ArriveOp>(before))
      before = before->getPrevNode();
    if (isa_and_nonnull<sm::WgmmaRetireOp, sm::WgmmaWaitOp, sm::ReceiveOp,
                        sm::PostOp>(before))
      add(arrive, name + ": early", false, [](Operation *copy) {
        Operation *before = copy->getPrevNode();
        while (isa<sm::ArriveOp>(before))
          before = before->getPrevNode();
        copy->moveBefore(before);
      });
  }

  void addFence(sm::ProxyFenceOp fence) {
    std::string name = describe(fence);
    addDeleted(fence, name);
    // Before all writes of its block, of which it orders the last ones.
    auto firstWrite = [](Operation *fence) {
      auto writes = llvm::make_filter_range(
          llvm::make_range(fence->getBlock()->begin(), fence->getIterator()),
          llvm::IsaPred<sm::StageOp, sm::StageFragmentOp, sm::ClearOp>);
      return writes.empty() ? nullptr : &*writes.begin();
    };
    if (firstWrite(fence))
      add(fence, name + ": early", true,
          [&](Operation *copy) { copy->moveBefore(firstWrite(copy)); });
  }

  template <typename Op>
  void addPending(Op op) {
    std::string name = describe(op);
    add(op, name + ": one more pending", false, [](Operation *copy) {
      auto op = cast<Op>(copy);
      op.setPending(op.getPending() + 1);
    });
    add(op, name + ": deleted", true, [](Operation *copy) {
      if (auto wait = dyn_cast<sm::WgmmaWaitOp>(copy))
        wait.getResult().replaceAllUsesWith(wait.getAccumulator());
      copy->erase();
    });
  }

  ModuleOp module;
  std::map<std::string, int> counts;
};

} // namespace

std::vector<Mutant> roleMutants(ModuleOp module) {
  Mutator mutator(module);
  mutator.run();
  return std::move(mutator.mutants);
}

} // namespace selvedge::testing
