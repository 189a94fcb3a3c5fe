// Where the lanes of an executed kernel's tiles lie.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_MEMORY_PLACES_H
#define SELVEDGE_COMPILER_VERIFY_MEMORY_PLACES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <map>
#include <optional>
#include <vector>

namespace selvedge::verify {

/// Places of tiles, each stored once: by axis the index of the first lane, and
/// by name of a coordinate its number. Number 0 is a place of which nothing is
/// known.
class Places {
public:
  using Number = unsigned;
  using Entry = std::pair<mlir::StringAttr, int64_t>;
  using Entries = llvm::SmallVector<Entry, 6>;

  Places() : places{{}} { numbers[{}] = 0; }

  Number of(mlir::StringAttr name, int64_t at);
  std::optional<int64_t> find(Number place, mlir::StringAttr name) const;
  /// What both say; none, and the name in `conflict`, where they differ.
  std::optional<Number> join(Number a, Number b, mlir::StringAttr &conflict);
  Number without(Number place, mlir::StringAttr name);
  /// Lanes from `from` on alone.
  Number shifted(Number place, mlir::StringAttr name, int64_t from);
  /// "b = 1, i = 64"
  std::string str(Number place) const;

private:
  Number add(Entries entries);

  std::vector<Entries> places;
  std::map<std::vector<std::pair<const void *, int64_t>>, Number> numbers;
  /// Results of join(), of() and without().
  llvm::DenseMap<std::pair<Number, Number>, Number> joined;
  llvm::DenseMap<std::pair<mlir::StringAttr, int64_t>, Number> single;
  llvm::DenseMap<std::pair<Number, mlir::StringAttr>, Number> reduced;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_MEMORY_PLACES_H
