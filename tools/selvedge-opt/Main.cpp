// selvedge-opt: MLIR in, MLIR out, every pass by name.
// SPDX-License-Identifier: MIT
#include "tools/selvedge-opt/Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  selvedge::opt::registerDialects(registry);
  selvedge::opt::registerPasses();
  selvedge::opt::registerEmitPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Selvedge's pass driver\n", registry));
}
