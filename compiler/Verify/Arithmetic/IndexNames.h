// What the numbers by which a kernel indexes tensors are called.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ARITHMETIC_INDEXNAMES_H
#define SELVEDGE_COMPILER_VERIFY_ARITHMETIC_INDEXNAMES_H

#include "dialect/Sm/Sm.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <string>

namespace selvedge::verify {

/// Names of scalar indices, the same before and after lowering: what a kernel
/// of `tile` calls a coordinate is, in kernels that it becomes, what they
/// access the same dimensions of the same data with. Integers say nothing of
/// themselves: a length is read at `b` if data are.
class IndexNames {
public:
  explicit IndexNames(tile::KernelOp kernel);
  /// Those of a kernel of `sm`, by the names of the one it was made of.
  IndexNames(sm::KernelOp kernel, const IndexNames &source);

  /// Whether the program names all numbers by which it indexes a dimension of a
  /// tensor of integers.
  bool isNamed(llvm::StringRef tensor, size_t dim) const;
  /// The name of all numbers by which data are indexed in a dimension; empty
  /// where they are not one.
  std::string ofPlace(llvm::StringRef tensor, size_t dim) const;
  /// Whether data are indexed with it as with a coordinate of the program.
  bool isCoordinate(mlir::Value index) const;
  /// "b", or "2"; "_" where nothing tells.
  std::string of(mlir::Value index) const;

private:
  using Place = std::pair<std::string, size_t>;

  void noteUse(llvm::StringRef tensor, size_t dim, mlir::Value index);

  /// Of data, by tensor and dimension; empty where there are several.
  std::map<Place, std::string> places;
  llvm::DenseMap<mlir::Value, std::string> names;
  /// Dimensions of tensors of integers, and whether all numbers have names.
  std::map<Place, bool> named;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ARITHMETIC_INDEXNAMES_H
