// What numbers and conditions are loaded from memory.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/Loads.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace selvedge::analysis {

using namespace mlir;

void loadsOf(Value v, llvm::DenseSet<Operation *> &loads) {
  Operation *def = v.getDefiningOp();
  if (def && isa<tile::LoadOp>(def))
    loads.insert(def);
  else if (def && isMemoryEffectFree(def))
    for (Value operand : def->getOperands())
      loadsOf(operand, loads);
}

bool isOfData(Value v) {
  llvm::DenseSet<Operation *> loads;
  loadsOf(v, loads);
  return !loads.empty();
}

} // namespace selvedge::analysis
