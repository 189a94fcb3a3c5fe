// Watches a compilation: the program after the safety passes, and what became
// of each safety note. SPDX-License-Identifier: MIT
#include "compiler/Explain/Trace.h"

#include "dialect/Tile/Provenance.h"

#include "mlir/Pass/Pass.h"

namespace selvedge::explain {

using namespace mlir;

namespace {

class Observer : public PassInstrumentation {
public:
  explicit Observer(Trace &trace) : trace(trace) {}

  void runBeforePass(Pass *pass, Operation *) override {
    if (pass->getArgument() != "tile-bind-blocks")
      return;
    if (!trace.unbound)
      trace.unbound = {trace.removed, trace.present};
    trace.removed = trace.unbound->removed;
    trace.present = trace.unbound->present;
  }

  void runAfterPass(Pass *pass, Operation *op) override {
    auto module = dyn_cast<ModuleOp>(op);
    if (!module)
      module = op->getParentOfType<ModuleOp>();
    if (!module)
      return;
    if (pass->getArgument() == "tile-output-init")
      trace.safe = module.clone();
    else if (pass->getArgument() == "tile-simplify-presence")
      trace.bound = module.clone();
    else if (pass->getArgument() == "tile-bind-blocks")
      // Versions of a program have sizes of their own, which no picture shows.
      module.walk([&](tile::KernelOp kernel) {
        if (kernel.getProgram().isBase())
          trace.sizes[kernel.getSymName().str()] = kernel.getSizesAttr();
      });
    noteRemovals(module, pass->getArgument());
  }

private:
  void noteRemovals(ModuleOp module, StringRef pass) {
    std::map<std::string, Location> now;
    module.walk([&](Operation *op) {
      if (std::optional<tile::SafetyNote> note = tile::noteOf(op->getLoc()))
        now.emplace(note->id, op->getLoc());
    });
    for (const auto &[id, loc] : trace.present)
      if (!now.contains(id))
        trace.removed.insert_or_assign(id, Trace::Removal{pass.str(), loc});
    trace.present = std::move(now);
  }

  Trace &trace;
};

} // namespace

std::unique_ptr<PassInstrumentation> observe(Trace &trace) {
  return std::make_unique<Observer>(trace);
}

} // namespace selvedge::explain
