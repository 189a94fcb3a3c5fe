// Facts of one iteration of a loop in terms of the next.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ARITHMETIC_RENAMING_H
#define SELVEDGE_COMPILER_VERIFY_ARITHMETIC_RENAMING_H

#include "compiler/Verify/Arithmetic/Facts.h"

namespace selvedge::verify {

/// A loop that hands on a tile and the number of its step hands on what is
/// known of the tile: `index < n` for the value that is yielded is `argument <
/// n` for the iteration that gets it. Renamed predicates are built in a block
/// that stands nowhere in the program.
class Renaming {
public:
  Renaming(mlir::Operation *loop, mlir::Block &into) : loop(loop), into(into) {}

  /// The fact where integers are known by other names: each of `from` is that
  /// of `to` beside it. With `mustLeave` none where something
  /// of an iteration is left.
  std::optional<Fact> rename(const Fact &fact, mlir::ValueRange from,
                             mlir::ValueRange to, bool mustLeave);

  // Loops that count (scf.for).
  /// A fact about a yielded value at the start of the next iteration; none
  /// where its predicate is lost.
  std::optional<Fact> toNext(const Fact &fact);
  /// A fact about an initial value at the start of the first iteration, with
  /// the predicate of one of `next` where both mean the same there.
  Fact toFirst(const Fact &fact, const Facts &next);
  /// A fact about a carried value after the loop.
  Fact toExit(const Fact &fact);

private:
  using Pairs = llvm::SmallVector<std::pair<mlir::Value, mlir::Value>>;

  /// `value` with each first of `pairs` replaced by its second; null where
  /// something of an iteration is left, if `mustLeave`.
  mlir::Value replace(mlir::Value value, const Pairs &pairs, bool mustLeave);
  /// The fact with all conditions replaced; arms that are lost widen it.
  std::optional<Fact> replace(Fact fact, const Pairs &pairs, bool mustLeave);

  mlir::Operation *loop;
  mlir::Block &into;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ARITHMETIC_RENAMING_H
