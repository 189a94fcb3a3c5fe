// Watches a compilation: the program after the safety passes, and what became
// of each safety note. SPDX-License-Identifier: MIT
#include "compiler/Explain/Trace.h"

#include "dialect/Tile/Provenance.h"

#include "mlir/Pass/Pass.h"

#include <set>

namespace selvedge::explain {

using namespace mlir;

namespace {

class Observer : public PassInstrumentation {
public:
  explicit Observer(Trace &trace) : trace(trace) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    auto module = dyn_cast<ModuleOp>(op);
    if (!module)
      module = op->getParentOfType<ModuleOp>();
    if (!module)
      return;
    if (pass->getArgument() == "tile-output-init")
      trace.safe = module.clone();
    else if (pass->getArgument() == "tile-bind-blocks")
      module.walk([&](tile::KernelOp kernel) {
        trace.sizes[kernel.getSymName().str()] = kernel.getSizesAttr();
      });
    noteRemovals(module, pass->getArgument());
  }

private:
  void noteRemovals(ModuleOp module, StringRef pass) {
    std::set<std::string> now;
    module.walk([&](Operation *op) {
      if (std::optional<tile::SafetyNote> note = tile::noteOf(op->getLoc()))
        now.insert(note->id);
    });
    for (const std::string &id : present)
      if (!now.contains(id))
        trace.removedBy[id] = pass.str();
    present = std::move(now);
  }

  Trace &trace;
  std::set<std::string> present;
};

} // namespace

std::unique_ptr<PassInstrumentation> observe(Trace &trace) {
  return std::make_unique<Observer>(trace);
}

} // namespace selvedge::explain
