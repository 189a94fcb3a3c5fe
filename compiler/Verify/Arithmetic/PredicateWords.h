// What a predicate says, as text that is the same before and after lowering.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ARITHMETIC_PREDICATEWORDS_H
#define SELVEDGE_COMPILER_VERIFY_ARITHMETIC_PREDICATEWORDS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <string>

namespace selvedge::verify {

/// Writes values of a kernel of either dialect: "(j slt select(present kv_len,
/// kv_len, N))". Ranges are their axes, dims and tensors have their names. What
/// scheduling gives to a block or a step, such as the number of a batch, is
/// "_"; so are the indices of a load.
class PredicateWords {
public:
  std::string of(mlir::Value value);

private:
  std::string compute(mlir::Value value);
  std::string ofArgument(mlir::BlockArgument argument);
  std::string ofOperation(mlir::Operation *op);

  llvm::DenseMap<mlir::Value, std::string> known;
};

/// The tensor behind an argument of a kernel of either dialect.
std::string tensorName(mlir::Value argument);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ARITHMETIC_PREDICATEWORDS_H
