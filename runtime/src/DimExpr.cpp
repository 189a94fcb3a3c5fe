// Evaluating and inverting dim expressions.
// SPDX-License-Identifier: MIT
#include "selvedge/DimExpr.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace selvedge::inline runtime {

namespace {

using Kind = DimExpr::Kind;

/// Floor division by a positive divisor; cannot overflow.
int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// nullopt: overflow, or a value below 1 that divides or is divided.
std::optional<int64_t> apply(Kind kind, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (kind) {
  case Kind::Add:
    if (__builtin_add_overflow(a, b, &result))
      return std::nullopt;
    return result;
  case Kind::Sub:
    if (__builtin_sub_overflow(a, b, &result))
      return std::nullopt;
    return result;
  case Kind::Mul:
    if (__builtin_mul_overflow(a, b, &result))
      return std::nullopt;
    return result;
  case Kind::FloorDiv:
    if (b < 1)
      return std::nullopt;
    return floorDiv(a, b);
  case Kind::CeilDiv:
    if (b < 1)
      return std::nullopt;
    // Not -floorDiv(-a, b): the negation of the smallest value overflows.
    return a / b + (a % b > 0 ? 1 : 0);
  case Kind::Mod:
    if (b < 1)
      return std::nullopt;
    return a % b + (a % b < 0 ? b : 0);
  case Kind::Min:
    return std::min(a, b);
  case Kind::Max:
    return std::max(a, b);
  case Kind::Gcd:
    if (a < 1 || b < 1)
      return std::nullopt;
    return std::gcd(a, b);
  case Kind::Constant:
  case Kind::Dim:
    break;
  }
  return std::nullopt;
}

} // namespace

DimExpr DimExpr::binary(Kind kind, DimExpr lhs, DimExpr rhs) {
  DimExpr expr{kind, 0, {}};
  expr.operands.push_back(std::move(lhs));
  expr.operands.push_back(std::move(rhs));
  return expr;
}

bool DimExpr::isKnown(const DimValues &dims) const {
  if (kind == Kind::Dim)
    return dims[static_cast<size_t>(value)].has_value();
  return std::all_of(
      operands.begin(), operands.end(),
      [&](const DimExpr &operand) { return operand.isKnown(dims); });
}

Result<int64_t> DimExpr::evaluate(const DimValues &dims,
                                  const std::vector<std::string> &names) const {
  if (kind == Kind::Constant)
    return value;
  if (kind == Kind::Dim) {
    auto index = static_cast<size_t>(value);
    if (!dims[index])
      return Status::badInput(
          fmt::format("dimension '{}' is not known", names[index]));
    return *dims[index];
  }
  Result<int64_t> lhs = operands[0].evaluate(dims, names);
  if (!lhs.ok())
    return lhs;
  Result<int64_t> rhs = operands[1].evaluate(dims, names);
  if (!rhs.ok())
    return rhs;
  if (std::optional<int64_t> result = apply(kind, *lhs, *rhs))
    return *result;
  return Status::badInput(
      fmt::format("'{}' overflows or takes a value below 1 ({} and {})",
                  toString(names), *lhs, *rhs));
}

std::string DimExpr::toString(const std::vector<std::string> &names) const {
  auto operand = [&](size_t i) { return operands[i].toString(names); };
  auto call = [&](const char *name) {
    return fmt::format("{}({}, {})", name, operand(0), operand(1));
  };
  switch (kind) {
  case Kind::Constant:
    return fmt::format("{}", value);
  case Kind::Dim:
    return names[static_cast<size_t>(value)];
  case Kind::Mul:
    return fmt::format("{}*{}", operand(0), operand(1));
  case Kind::Add:
    return fmt::format("({} + {})", operand(0), operand(1));
  case Kind::Sub:
    return fmt::format("({} - {})", operand(0), operand(1));
  case Kind::FloorDiv:
    return call("floordiv");
  case Kind::CeilDiv:
    return call("ceildiv");
  case Kind::Mod:
    return call("mod");
  case Kind::Min:
    return call("min");
  case Kind::Max:
    return call("max");
  case Kind::Gcd:
    return call("gcd");
  }
  return "";
}

Result<std::optional<size_t>> solveFor(const DimExpr &expr, int64_t target,
                                       DimValues &dims,
                                       const std::vector<std::string> &names) {
  const std::optional<size_t> nothing;
  if (expr.kind == Kind::Constant)
    return nothing;
  if (expr.kind == Kind::Dim) {
    auto index = static_cast<size_t>(expr.value);
    if (dims[index])
      return nothing;
    dims[index] = target;
    return std::optional<size_t>(index);
  }
  bool leftKnown = expr.operands[0].isKnown(dims);
  bool rightKnown = expr.operands[1].isKnown(dims);
  if (leftKnown == rightKnown)
    return nothing;
  const DimExpr &unknown = expr.operands[leftKnown ? 1 : 0];
  Result<int64_t> known =
      expr.operands[leftKnown ? 0 : 1].evaluate(dims, names);
  if (!known.ok())
    return known.status();
  std::optional<int64_t> rest;
  switch (expr.kind) {
  case Kind::Add:
    rest = apply(Kind::Sub, target, *known);
    break;
  case Kind::Sub:
    rest = leftKnown ? apply(Kind::Sub, *known, target)
                     : apply(Kind::Add, target, *known);
    break;
  case Kind::Mul:
    // 0 * x = 0 says nothing about x; 0 * x = 5 is found by the comparison
    // that follows the solving.
    if (*known < 1)
      return nothing;
    if (target % *known != 0)
      return Status::badInput(fmt::format(
          "{} is not a multiple of {} = {}", target,
          expr.operands[leftKnown ? 0 : 1].toString(names), *known));
    rest = target / *known;
    break;
  default:
    return nothing;
  }
  if (!rest)
    return Status::badInput(
        fmt::format("'{}' = {} overflows", expr.toString(names), target));
  return solveFor(unknown, *rest, dims, names);
}

} // namespace selvedge::inline runtime
