// Contents of everything that a result must not depend on.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_PHYSICAL_POISON_H
#define SELVEDGE_COMPILER_PHYSICAL_POISON_H

#include "compiler/Reference/TileValue.h"

#include <random>

namespace selvedge::physical {

/// Kinds of poison; None is zero, the clean run that others are compared with.
enum class Poison { None, Nan, Inf, NegInf, Max, Random, Subnormal };

/// All kinds but None.
inline constexpr Poison poisonKinds[] = {Poison::Nan,    Poison::Inf,
                                         Poison::NegInf, Poison::Max,
                                         Poison::Random, Poison::Subnormal};

/// Name of a kind, as `selvedge run --poison` takes it.
llvm::StringRef nameOf(Poison kind);

/// Draws poison of one kind. Integers have neither NaN nor infinities: they
/// get extreme values instead.
class PoisonSource {
public:
  PoisonSource(Poison kind, uint64_t seed) : kind(kind), engine(seed) {}

  /// A float of `type`.
  double floating(mlir::Type type);
  /// An integer of `type`, sign extended.
  int64_t integer(mlir::Type type);
  /// A tile of poison.
  std::shared_ptr<reference::TileValue> tile(const reference::TileShape &shape,
                                             mlir::Type elementType);

private:
  Poison kind;
  std::mt19937_64 engine;
};

} // namespace selvedge::physical

#endif // SELVEDGE_COMPILER_PHYSICAL_POISON_H
