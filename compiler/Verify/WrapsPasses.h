// A pass that runs others and compares what they did.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_WRAPSPASSES_H
#define SELVEDGE_COMPILER_VERIFY_WRAPSPASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace selvedge::verify {

/// Adds to a generated base, which has the option `of`, the passes that it
/// runs: those it was made with, or those that the option names.
template <typename Base>
class WrapsPasses : public Base {
public:
  explicit WrapsPasses(mlir::OpPassManager pipeline)
      : pipeline(std::move(pipeline)) {}

  mlir::LogicalResult
  initializeOptions(llvm::StringRef options,
                    llvm::function_ref<mlir::LogicalResult(const llvm::Twine &)>
                        errorHandler) override {
    if (mlir::failed(Base::initializeOptions(options, errorHandler)))
      return mlir::failure();
    return this->of.empty() ||
                   mlir::succeeded(mlir::parsePassPipeline(this->of, pipeline))
               ? mlir::success()
               : errorHandler("expects passes in option 'of'");
  }

  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    pipeline.getDependentDialects(registry);
  }

protected:
  /// Runs the passes on the module. A copy that they do not see, as it was
  /// before; null where they fail.
  mlir::OwningOpRef<mlir::ModuleOp> runBesideCopy() {
    mlir::ModuleOp module = this->getOperation();
    mlir::OwningOpRef<mlir::ModuleOp> copy(module.clone());
    if (mlir::failed(this->runPipeline(pipeline, module)))
      return {};
    return copy;
  }

  mlir::OpPassManager pipeline;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_WRAPSPASSES_H
