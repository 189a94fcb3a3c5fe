// Factors that are the same in all threads and steps of a kernel.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_TARGET_PTX_UNIFORMFACTORS_H
#define SELVEDGE_COMPILER_TARGET_PTX_UNIFORMFACTORS_H

#include "mlir/IR/Builders.h"

#include <map>
#include <optional>

namespace selvedge::ptx {

/// True when the operation is a division that may be approximate.
bool isApproximateDivision(mlir::Operation *op);

/// Constants and arguments by which a kernel multiplies or divides. Several of
/// them, one after the other, are one factor, computed once where the kernel
/// begins: not exact if that is no normal number, which takes factors beyond
/// 2^40 or below 2^-40 in magnitude.
class UniformFactors {
public:
  struct Product {
    mlir::Value rest, factor;
  };
  /// `x` times `constant`: products and approximate quotients of `x` by
  /// uniform f32 values are part of the factor.
  Product of(mlir::Value x, double constant);

  struct Use {
    mlir::Operation *product;
    /// The uniform value, and `constant` times that.
    mlir::Value factor, scaled;
  };
  /// The one use of `x`, if that is a product with a uniform value.
  std::optional<Use> useOf(mlir::Value x, double constant);

private:
  /// A kernel's argument, and whether it divides.
  using Factor = std::pair<mlir::Value, bool>;

  mlir::Value compute(mlir::Region *in, double constant,
                      llvm::ArrayRef<Factor> factors);

  /// By kernel, constant and factors.
  std::map<std::tuple<const void *, double,
                      std::vector<std::pair<const void *, bool>>>,
           mlir::Value>
      computed;
};

} // namespace selvedge::ptx

#endif // SELVEDGE_COMPILER_TARGET_PTX_UNIFORMFACTORS_H
