// A pass that runs others and compares each program with what it was.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_TILE_COMPARESPROGRAMS_H
#define SELVEDGE_COMPILER_VERIFY_TILE_COMPARESPROGRAMS_H

#include "compiler/Verify/WrapsPasses.h"
#include "dialect/Tile/Tile.h"

namespace selvedge::verify {

/// Without passes, a program `NAME.before` is what the program `NAME` is
/// compared with.
template <typename Base>
class ComparesPrograms : public WrapsPasses<Base> {
public:
  using WrapsPasses<Base>::WrapsPasses;

  void runOnOperation() override {
    mlir::OwningOpRef<mlir::ModuleOp> copy = this->runBesideCopy();
    if (!copy || llvm::failed(compareAll(*copy, this->getOperation())))
      this->signalPassFailure();
  }

protected:
  /// Fails with a diagnostic at the difference.
  virtual llvm::LogicalResult compare(tile::ProgramOp before,
                                      tile::ProgramOp after) = 0;

private:
  llvm::LogicalResult compareAll(mlir::ModuleOp copy, mlir::ModuleOp module) {
    for (auto before : copy.getOps<tile::ProgramOp>()) {
      llvm::StringRef name = before.getSymName();
      if (this->pipeline.empty() && !name.consume_back(".before"))
        continue;
      auto after = module.lookupSymbol<tile::ProgramOp>(name);
      if (!after)
        return before.emitOpError("expects a program '")
               << name << "' to compare it with";
      if (llvm::failed(compare(before, after)))
        return llvm::failure();
    }
    return llvm::success();
  }
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_TILE_COMPARESPROGRAMS_H
