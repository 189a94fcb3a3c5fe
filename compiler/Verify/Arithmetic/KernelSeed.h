// What the signature says about a kernel's integers.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ARITHMETIC_KERNELSEED_H
#define SELVEDGE_COMPILER_VERIFY_ARITHMETIC_KERNELSEED_H

#include "compiler/Verify/Arithmetic/IndexValues.h"
#include "dialect/Sm/Sm.h"

namespace selvedge::verify {

/// The size of one of the dims.
struct DimSize {
  unsigned dim;
  int64_t size;
};

/// The sizes of each dim of which a variant is for a few.
llvm::SmallVector<llvm::SmallVector<DimSize>> fewSizesOf(sm::VariantOp variant);

/// Makes symbols for the dims, the first ones of `values`, and bounds extents.
/// A dim of which the size is `given` is that number.
void seedSignature(mlir::ArrayAttr dims, mlir::ArrayAttr tensors,
                   IndexValues &values,
                   llvm::SmallVectorImpl<Polynomial> &dimValues,
                   std::optional<DimSize> given = std::nullopt);

/// Assumes that an extent is at least 1, and so are the factors of a product
/// that are not negative.
void assumePositive(mlir::AffineExpr extent, IndexValues &values,
                    llvm::ArrayRef<Polynomial> dims);

/// Assumes what a launch depends on: every result of a map of dims is at least
/// 0.
void seedConditions(mlir::AffineMap conditions, IndexValues &values,
                    llvm::ArrayRef<Polynomial> dimValues);

/// Defines dims, coordinates and lanes of a tile kernel.
void seedKernel(tile::KernelOp kernel, IndexValues &values,
                llvm::ArrayRef<Polynomial> dims);

/// Defines the arguments of a kernel of `sm` without roles, the digits of its
/// block number, and its axes.
void seedLaunch(sm::LaunchOp launch, sm::KernelOp kernel, IndexValues &values,
                llvm::ArrayRef<Polynomial> dims);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ARITHMETIC_KERNELSEED_H
