// Which memory the launches of an op use, and when.
// SPDX-License-Identifier: MIT
#include "dialect/Sm/LaunchUses.h"

#include "mlir/IR/BuiltinOps.h"

namespace selvedge::sm {

using namespace mlir;

namespace {

/// A use of memory that other launches see. All that lies there is named by an
/// argument of the kernel.
struct Use {
  StringAttr tensor;
  bool isWrite;
};

} // namespace

static StringAttr tensorOf(Attribute argument) {
  if (auto pointer = dyn_cast<PointerArgAttr>(argument))
    return pointer.getTensor();
  if (auto map = dyn_cast<TensorMapArgAttr>(argument))
    return map.getTensor();
  return {};
}

/// The tensor that an argument stands for; null for what is none.
static StringAttr tensorOf(Value value) {
  if (!isa<tile::GlobalType, TensorMapType, CounterType>(value.getType()))
    return {};
  StringAttr none = StringAttr::get(value.getContext(), "");
  auto argument = dyn_cast<BlockArgument>(value);
  auto kernel = argument
                    ? dyn_cast<KernelOp>(argument.getOwner()->getParentOp())
                    : KernelOp();
  if (!kernel)
    return none;
  StringAttr tensor = tensorOf(kernel.getArgs()[argument.getArgNumber()]);
  return tensor ? tensor : none;
}

/// Those of an operation alone. What is not known to read only writes, too.
static SmallVector<Use, 1> usesOf(Operation *op) {
  SmallVector<Use, 1> uses;
  if (isMemoryEffectFree(op))
    return uses;
  bool isWrite = !isa<LoadOp, CopyOp, CopyAsyncOp, TmaLoadOp, BulkLoadOp>(op);
  for (Value operand : op->getOperands())
    if (StringAttr tensor = tensorOf(operand))
      uses.push_back({tensor, isWrite});
  return uses;
}

void LaunchUses::add(KernelOp kernel) {
  kernel.walk([&](Operation *op) {
    for (const Use &use : usesOf(op)) {
      read.insert(use.tensor);
      if (use.isWrite)
        written.insert(use.tensor);
    }
  });
}

LaunchUses LaunchUses::of(KernelOp kernel) {
  LaunchUses uses;
  uses.add(kernel);
  return uses;
}

LaunchUses LaunchUses::before(KernelOp kernel, SymbolTable &symbols) {
  LaunchUses uses;
  auto module = kernel->getParentOfType<ModuleOp>();
  for (auto plan : module.getOps<PlanOp>()) {
    // Behind as many launches as any variant makes before this one.
    size_t most = 0;
    for (auto variant : plan.getBody().getOps<VariantOp>())
      for (auto [i, launch] :
           llvm::enumerate(variant.getBody().getOps<LaunchOp>()))
        if (launch.getKernel() == kernel.getSymName())
          most = std::max(most, i);
    for (auto variant : plan.getBody().getOps<VariantOp>())
      for (auto [i, launch] :
           llvm::enumerate(variant.getBody().getOps<LaunchOp>()))
        if (auto other = symbols.lookup<KernelOp>(launch.getKernel());
            other && i < most)
          uses.add(other);
  }
  return uses;
}

bool LaunchUses::conflictsWith(Operation *op) const {
  return llvm::any_of(usesOf(op), [&](const Use &use) {
    return written.contains(use.tensor) ||
           (use.isWrite && read.contains(use.tensor));
  });
}

bool LaunchUses::mayConflict(const LaunchUses &own, Attribute argument) const {
  StringAttr tensor = tensorOf(argument);
  return tensor && own.read.contains(tensor) &&
         (written.contains(tensor) ||
          (own.written.contains(tensor) && read.contains(tensor)));
}

bool LaunchUses::conflictsInside(Operation *op) const {
  return op
      ->walk([&](Operation *inner) {
        return conflictsWith(inner) ? WalkResult::interrupt()
                                    : WalkResult::advance();
      })
      .wasInterrupted();
}

bool awaitsLaunch(Operation *op) {
  return op->walk([](AwaitLaunchOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

} // namespace selvedge::sm
