// Temps that no kernel of an op uses.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/UnusedTemps.h"

namespace selvedge::frontend {

using namespace mlir;
using namespace selvedge::tile;

void eraseUnusedTemps(ProgramOp program) {
  auto kernels = llvm::to_vector(program.getOps<KernelOp>());
  SmallVector<Attribute> tensors(program.getTensors().getValue());
  for (unsigned i = tensors.size(); i-- > 0;) {
    bool isUnused = program.getTensorArg(i).getRole() == Role::Temp &&
                    llvm::all_of(kernels, [&](KernelOp kernel) {
                      return kernel.getTensorArgument(i).use_empty();
                    });
    if (!isUnused)
      continue;
    unsigned argument = program.getDims().size() + i;
    for (KernelOp kernel : kernels)
      kernel.getBody().front().eraseArgument(argument);
    tensors.erase(tensors.begin() + i);
  }
  program.setTensorsAttr(ArrayAttr::get(program.getContext(), tensors));
}

} // namespace selvedge::frontend
