// What a predicate says, as text that is the same before and after lowering.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ARITHMETIC_PREDICATEWORDS_H
#define SELVEDGE_COMPILER_VERIFY_ARITHMETIC_PREDICATEWORDS_H

#include "compiler/Verify/Arithmetic/IndexNames.h"

#include "llvm/ADT/DenseSet.h"

namespace selvedge::verify {

/// Writes values of a kernel of either dialect: "(j slt select(present kv_len,
/// kv_len[b], N))". Ranges are their axes, dims, tensors and scalars have their
/// names, and the indices of a load as far as data are accessed with them
/// (IndexNames). What else scheduling gives to a block or a step is "_".
class PredicateWords {
public:
  /// `steps` are scalars that scheduling gives to a step, too.
  explicit PredicateWords(const IndexNames &names,
                          llvm::ArrayRef<mlir::Value> steps = {})
      : names(names), steps(steps.begin(), steps.end()) {}

  std::string of(mlir::Value value);

private:
  std::string compute(mlir::Value value);
  std::string ofArgument(mlir::BlockArgument argument);
  std::string ofRead(sm::ReadOp read);
  std::string ofOperation(mlir::Operation *op);
  std::string ofLoad(mlir::Value tensor, mlir::ValueRange indices);

  const IndexNames &names;
  llvm::DenseSet<mlir::Value> steps;
  llvm::DenseMap<mlir::Value, std::string> known;
};

/// The tensor behind an argument of a kernel of either dialect.
std::string tensorName(mlir::Value argument);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ARITHMETIC_PREDICATEWORDS_H
