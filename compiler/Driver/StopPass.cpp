// Stops passes whose result would be thrown away.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/StopPass.h"

namespace selvedge::driver {

using namespace mlir;

namespace {

class StopPass : public PassWrapper<StopPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StopPass)

  StopPass(const char *name, IsFutile isFutile)
      : name(name), isFutile(std::move(isFutile)) {}

  StringRef getArgument() const override { return name; }
  StringRef getDescription() const override {
    return "Fail where kernels have to be planned again";
  }

  void runOnOperation() override {
    if (isFutile(getOperation()))
      signalPassFailure();
  }

private:
  const char *name;
  IsFutile isFutile;
};

} // namespace

std::unique_ptr<Pass> createStop(const char *name, IsFutile isFutile) {
  return std::make_unique<StopPass>(name, std::move(isFutile));
}

} // namespace selvedge::driver
