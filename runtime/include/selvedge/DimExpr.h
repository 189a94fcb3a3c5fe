// Integer expressions over an op's dims: shapes, grids, limits.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIMEXPR_H
#define SELVEDGE_DIMEXPR_H

#include "selvedge/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace selvedge::inline runtime {

/// Values of an op's dims in the manifest's order; nullopt: not known yet.
using DimValues = std::vector<std::optional<int64_t>>;

/// An expression of docs/manifest.md.
struct DimExpr {
  /// What the node is.
  enum class Kind {
    Constant,
    Dim,
    Add,
    Sub,
    Mul,
    FloorDiv,
    CeilDiv,
    Mod,
    Min,
    Max,
    Gcd
  };

  Kind kind = Kind::Constant;
  /// The constant, or the dim's position in the manifest.
  int64_t value = 0;
  /// Two operands, or none for constants and dims.
  std::vector<DimExpr> operands;

  /// A constant.
  static DimExpr constant(int64_t value) { return {Kind::Constant, value, {}}; }
  /// A dim by its position in the manifest.
  static DimExpr dim(size_t index) {
    return {Kind::Dim, static_cast<int64_t>(index), {}};
  }
  /// An operation.
  static DimExpr binary(Kind kind, DimExpr lhs, DimExpr rhs);

  /// True when every dim that the expression mentions is known.
  bool isKnown(const DimValues &dims) const;

  /// The value in signed 64 bits. Overflow, a division by a value below 1, a
  /// common divisor of values of which one is below 1 and an unknown dim are
  /// errors; `names` are for their messages.
  Result<int64_t> evaluate(const DimValues &dims,
                           const std::vector<std::string> &names) const;

  /// "G*R", "ceildiv(M, 64)".
  std::string toString(const std::vector<std::string> &names) const;
};

/// Binds the one unknown dim of `expr` such that its value is `target`, where
/// that is possible by inverting additions, subtractions and multiplications
/// by known values. Returns the dim's position when one was bound, nullopt when
/// nothing can be concluded (yet), and an error when no integer solves it.
Result<std::optional<size_t>> solveFor(const DimExpr &expr, int64_t target,
                                       DimValues &dims,
                                       const std::vector<std::string> &names);

} // namespace selvedge::inline runtime

#endif // SELVEDGE_DIMEXPR_H
