// Limits of an index that another condition implies for rows that exist.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ARITHMETIC_IMPLIEDLIMITS_H
#define SELVEDGE_COMPILER_VERIFY_ARITHMETIC_IMPLIEDLIMITS_H

#include "compiler/Verify/Arithmetic/Facts.h"

#include <map>
#include <tuple>

namespace selvedge::verify {

/// What rows that exist hold. Remembers what it has proved of a kernel that
/// does not change.
class RowsThatExist {
public:
  /// Where `predicate` is false, the state that a reduction along `over` finds
  /// in all rows that exist; none where nothing is known. A causal mask, for
  /// one, implies that j < kv_len wherever i < M: rows past M are absent, and
  /// so is what the reduction makes of them.
  std::optional<State> stateOf(const Facts &facts, mlir::Value predicate,
                               mlir::StringAttr over);

  /// Whether `limit`, which is `index < end`, is true wherever all `conditions`
  /// are, in rows that do not exist too: the least of several limits, for one.
  bool follows(llvm::ArrayRef<mlir::Value> conditions, mlir::Value limit);

private:
  /// Whether `condition` implies `limit` in each row where `row` is true, for
  /// whatever values their scalars have.
  bool implies(mlir::Value condition, mlir::Value row, mlir::Value limit);

  std::map<std::tuple<const void *, const void *, const void *>, bool> proved;
  std::map<std::vector<const void *>, bool> followed;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ARITHMETIC_IMPLIEDLIMITS_H
