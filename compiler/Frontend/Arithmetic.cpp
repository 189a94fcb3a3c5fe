// Elaborator: operators on constants, functions of dims, scalars and tiles.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"
#include "dialect/Tile/Limits.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {
namespace {

bool isComparison(StringRef op) {
  return op == "<" || op == "<=" || op == ">" || op == ">=" || op == "==" ||
         op == "!=";
}

arith::CmpIPredicate intPredicate(StringRef op) {
  using P = arith::CmpIPredicate;
  return op == "<"    ? P::slt
         : op == "<=" ? P::sle
         : op == ">"  ? P::sgt
         : op == ">=" ? P::sge
         : op == "==" ? P::eq
                      : P::ne;
}

/// Ordered, but for `!=`, which holds for NaN.
arith::CmpFPredicate floatPredicate(StringRef op) {
  using P = arith::CmpFPredicate;
  return op == "<"    ? P::OLT
         : op == "<=" ? P::OLE
         : op == ">"  ? P::OGT
         : op == ">=" ? P::OGE
         : op == "==" ? P::OEQ
                      : P::UNE;
}

template <typename T>
bool compareConstants(StringRef op, T a, T b) {
  return op == "<"    ? a < b
         : op == "<=" ? a <= b
         : op == ">"  ? a > b
         : op == ">=" ? a >= b
         : op == "==" ? a == b
                      : a != b;
}

/// Most nodes of a function of the dims.
constexpr unsigned kLargestExpr = 64;

/// False when an expression has more than `budget` nodes or a constant that is
/// too large for 32-bit arithmetic.
bool isSmall(AffineExpr expr, unsigned &budget) {
  constexpr int64_t kLimit = int64_t(1) << 31;
  if (budget-- == 0)
    return false;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::abs(constant.getValue()) <= kLimit;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return !binary ||
         (isSmall(binary.getLHS(), budget) && isSmall(binary.getRHS(), budget));
}

} // namespace

AffineExpr Elaborator::asAffine(const Val &v) const {
  return v.is(Val::Kind::Int) ? getAffineConstantExpr(v.intValue, ctx)
                              : v.affine;
}

AffineExpr Elaborator::difference(AffineExpr a, AffineExpr b) const {
  return simplifyAffineExpr(a - b, 0, dimNames.size());
}

Val Elaborator::affineVal(SMLoc loc, AffineExpr expr) {
  // In normal form constants of 32 bits cannot overflow the next operation.
  unsigned budget = kLargestExpr;
  bool ok = isSmall(expr, budget);
  if (ok) {
    expr = simplifyAffineExpr(expr, 0, dimNames.size());
    budget = kLargestExpr;
    ok = isSmall(expr, budget);
  }
  if (!ok) {
    diags.error(loc, "this function of the dims is too large",
                "integers have 32 bits");
    return Val::error();
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Val::ofInt(constant.getValue());
  Val v = Val::of(Val::Kind::Affine);
  v.affine = expr;
  return v;
}

Val Elaborator::evalUnary(const Expr &e) {
  Val v = eval(*e.args[0]);
  if (v.isError())
    return v;
  if (e.name == "!") {
    if (v.is(Val::Kind::Bool))
      return Val::ofBool(!v.intValue);
    Type element = elementOf(v);
    if (!element || !element.isInteger(1)) {
      diags.error(e.loc,
                  "expects a condition after '!', but got " + describe(v));
      return Val::error();
    }
    return negation(e.loc, v);
  }
  if (v.is(Val::Kind::Float))
    return Val::ofFloat(-v.floatValue);
  Type element = elementOf(v);
  if (element && element.isF32()) {
    Val s = toSsa(e.loc, v);
    if (s.isError())
      return s;
    return Val::ofSsa(tb->create<arith::NegFOp>(at(e.loc), s.ssa), s.preds);
  }
  if (!element || !element.isInteger(32)) {
    diags.error(e.loc, "expects f32 or i32 after '-', but got " + describe(v),
                isNarrow(element) ? "convert first: 'x as f32'" : "");
    return Val::error();
  }
  return binary(e.loc, "-", Val::ofInt(0), v);
}

Val Elaborator::negation(SMLoc loc, const Val &condition) {
  Location l = at(loc);
  auto negated = [&](ValueRange terms) {
    return llvm::map_to_vector<2>(
        terms, [&](Value term) { return tb->negate(l, term); });
  };
  Val result = Val::of(Val::Kind::Ssa);
  result.preds = condition.preds;
  if (!condition.disjuncts.empty()) {
    result.conjuncts = negated(condition.disjuncts);
    return result;
  }
  if (!condition.ssa) {
    result.disjuncts = negated(condition.conjuncts);
    result.ssa = tb->disjunction(l, result.disjuncts);
    return result;
  }
  result.ssa = tb->negate(l, condition.ssa);
  return result;
}

Val Elaborator::evalBinary(const Expr &e) {
  if (e.name == "&&" || e.name == "||")
    return evalLogical(e);
  Val a = eval(*e.args[0]), b = eval(*e.args[1]);
  return binary(e.loc, e.name, a, b);
}

Val Elaborator::evalLogical(const Expr &e) {
  bool isAnd = e.name == "&&";
  Val a = evalCondition(*e.args[0], "an operand of '" + e.name.str() + "'");
  if (a.isError())
    return a;
  // A constant that decides leaves the other operand unread.
  if (a.is(Val::Kind::Bool) && static_cast<bool>(a.intValue) != isAnd)
    return a;
  Val b = evalCondition(*e.args[1], "an operand of '" + e.name.str() + "'");
  if (b.isError() || a.is(Val::Kind::Bool))
    return b;
  if (b.is(Val::Kind::Bool))
    return static_cast<bool>(b.intValue) == isAnd ? a : b;
  Val result = Val::of(Val::Kind::Ssa);
  result.preds = a.preds;
  result.preds.add(b.preds);
  if (!isAnd) {
    for (const Val *side : {&a, &b}) {
      Value term = materialise(e.loc, *side);
      if (!term)
        return Val::error();
      if (side->disjuncts.empty())
        result.disjuncts.push_back(term);
      else
        result.disjuncts.append(side->disjuncts);
      result.ssa = result.ssa ? tb->either(at(e.loc), result.ssa, term) : term;
    }
    return result;
  }
  for (const Val *side : {&a, &b}) {
    if (side->ssa)
      result.conjuncts.push_back(side->ssa);
    else
      result.conjuncts.append(side->conjuncts);
  }
  return result;
}

Val Elaborator::binary(SMLoc loc, StringRef op, const Val &a, const Val &b) {
  if (a.isError() || b.isError())
    return Val::error();
  if (a.is(Val::Kind::Type) && b.is(Val::Kind::Type) &&
      (op == "==" || op == "!="))
    return Val::ofBool((a.type == b.type) == (op == "=="));
  if (a.isConst() && b.isConst())
    return foldConstants(loc, op, a, b);
  if (a.isOfDims() && b.isOfDims()) {
    Val folded = foldAffine(loc, op, a, b);
    if (!folded.is(Val::Kind::Unit))
      return folded;
  }
  Type type = commonType(loc, op, a, b);
  if (!type)
    return Val::error();
  return isa<FloatType>(type) ? floatBinary(loc, op, a, b)
                              : integerBinary(loc, op, a, b);
}

Val Elaborator::foldInts(SMLoc loc, StringRef op, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflow = false;
  if (op == "+")
    overflow = llvm::AddOverflow(a, b, result);
  else if (op == "-")
    overflow = llvm::SubOverflow(a, b, result);
  else if (op == "*")
    overflow = llvm::MulOverflow(a, b, result);
  else if (b < 1) {
    diags.error(loc, "expects a divisor of at least 1, but got " + Twine(b));
    return Val::error();
  } else
    result = op == "/" ? llvm::divideFloorSigned(a, b) : llvm::mod(a, b);
  if (!overflow)
    return Val::ofInt(result);
  diags.error(loc, "the integer is too large");
  return Val::error();
}

Val Elaborator::foldConstants(SMLoc loc, StringRef op, const Val &a,
                              const Val &b) {
  if (a.is(Val::Kind::Bool) != b.is(Val::Kind::Bool) ||
      (a.is(Val::Kind::Bool) && op != "==" && op != "!=")) {
    diags.error(loc, "expects numbers around '" + op + "', but got " +
                         describe(a) + " and " + describe(b));
    return Val::error();
  }
  bool ints = !a.is(Val::Kind::Float) && !b.is(Val::Kind::Float);
  if (isComparison(op))
    return Val::ofBool(ints ? compareConstants(op, a.intValue, b.intValue)
                            : compareConstants(op, a.number(), b.number()));
  if (ints)
    return foldInts(loc, op, a.intValue, b.intValue);
  double x = a.number(), y = b.number();
  if (op == "%") {
    diags.error(loc, "expects integers around '%', but got " + describe(a) +
                         " and " + describe(b));
    return Val::error();
  }
  // IEEE division, also by zero.
  return Val::ofFloat(op == "+"   ? x + y
                      : op == "-" ? x - y
                      : op == "*" ? x * y
                                  : x / y);
}

/// Unit stands for "not a function of dims": the operation is computed.
Val Elaborator::foldAffine(SMLoc loc, StringRef op, const Val &a,
                           const Val &b) {
  AffineExpr x = asAffine(a), y = asAffine(b);
  if (op == "+")
    return affineVal(loc, x + y);
  if (op == "-")
    return affineVal(loc, x - y);
  if (op == "*")
    return affineVal(loc, x * y);
  if (isComparison(op)) {
    auto constant = dyn_cast<AffineConstantExpr>(difference(x, y));
    if (!constant)
      return Val::of(Val::Kind::Unit);
    return Val::ofBool(compareConstants<int64_t>(op, constant.getValue(), 0));
  }
  if (b.is(Val::Kind::Int) && b.intValue < 1)
    return foldInts(loc, op, 0, b.intValue);
  return affineVal(loc, op == "/" ? x.floorDiv(y) : x % y);
}

Type Elaborator::commonType(SMLoc loc, StringRef op, const Val &a,
                            const Val &b) {
  Type x = elementOf(a), y = elementOf(b);
  auto wrong = [&](const Twine &wanted, const Twine &hint) {
    diags.error(loc,
                "expects " + wanted + " around '" + op + "', but got " +
                    describe(a) + " and " + describe(b),
                hint);
    return Type();
  };
  if (!x || !y) {
    bool hasTensor = a.is(Val::Kind::Tensor) || b.is(Val::Kind::Tensor);
    bool hasPair = a.is(Val::Kind::Pair) || b.is(Val::Kind::Pair);
    return wrong("values", hasTensor ? "index the tensor"
                           : hasPair ? "a pair can only be an index"
                                     : "");
  }
  for (Type t : {x, y})
    if (isNarrow(t))
      return wrong("f32 or i32", "convert first: 'x as f32'");
  if (x.isInteger(1) || y.isInteger(1)) {
    if (x != y || (op != "==" && op != "!="))
      return wrong("numbers", "choose between numbers with select(c, a, b)");
    return x;
  }
  if (x == y)
    return x;
  if (op == "%")
    return wrong("integers", "");
  return Builder(ctx).getF32Type();
}

Val Elaborator::integerBinary(SMLoc loc, StringRef op, const Val &a,
                              const Val &b) {
  if ((op == "/" || op == "%") && b.is(Val::Kind::Int) && b.intValue < 1)
    return foldInts(loc, op, 0, b.intValue);
  Val x = toSsa(loc, a), y = toSsa(loc, b);
  if (x.isError() || y.isError())
    return Val::error();
  Location l = at(loc);
  PredSet preds = x.preds;
  preds.add(y.preds);
  if (isComparison(op))
    return Val::ofSsa(tb->compare(l, intPredicate(op), x.ssa, y.ssa), preds);
  Value p = x.ssa, q = y.ssa, result;
  if (op == "/") {
    result = tb->floorDiv(l, p, q);
  } else if (op == "%") {
    result = tb->modulo(l, p, q);
  } else {
    tb->unify(l, p, q);
    if (op == "+")
      result = tb->create<arith::AddIOp>(l, p, q);
    else if (op == "-")
      result = tb->create<arith::SubIOp>(l, p, q);
    else
      result = tb->create<arith::MulIOp>(l, p, q);
  }
  Val v = Val::ofSsa(result, preds);
  deriveFacts(op, a, b, v);
  if (op == "*")
    for (auto [factor, constant] : {std::pair(&a, &b), std::pair(&b, &a)})
      if (constant->is(Val::Kind::Int) && constant->intValue >= 1)
        v.multiple = std::make_shared<std::pair<Val, int64_t>>(
            *factor, constant->intValue);
  return v;
}

void Elaborator::deriveFacts(StringRef op, const Val &a, const Val &b,
                             Val &result) const {
  // Wrapping past 2^31 - 1 gives a negative number, which the check of the
  // lower bound catches; so `upper` may ignore it and `nonNegative` may not.
  // Dims leave room for offsets of this size.
  constexpr int64_t kRoom = 1024;
  const Val *base = b.isOfDims()                ? &a
                    : a.isOfDims() && op == "+" ? &b
                                                : nullptr;
  const Val *offset = base == &a ? &b : &a;
  if (base && base->upper && (op == "+" || op == "-"))
    result.upper = op == "+" ? base->upper + asAffine(*offset)
                             : base->upper - asAffine(*offset);
  if (base && base->lower && (op == "+" || op == "-"))
    result.lower = op == "+" ? base->lower + asAffine(*offset)
                             : base->lower - asAffine(*offset);
  // From the last one to the first: `N - 1 - j`.
  if (op == "-" && a.isOfDims() && !b.isOfDims() && b.upper && b.nonNegative) {
    result.lower = asAffine(a) - b.upper + 1;
    result.nonNegative = provablyNonNegative(
        simplifyAffineExpr(result.lower, 0, dimNames.size()));
    if (b.lower && result.nonNegative)
      result.upper = asAffine(a) - b.lower + 1;
  }
  deriveMultiple(op, a, b, result);
  for (AffineExpr *bound : {&result.upper, &result.lower}) {
    unsigned budget = kLargestExpr;
    *bound = *bound && isSmall(*bound, budget)
                 ? simplifyAffineExpr(*bound, 0, dimNames.size())
                 : AffineExpr();
  }
  if (base && op == "+" && offset->is(Val::Kind::Int))
    result.nonNegative =
        base->nonNegative && offset->intValue >= 0 && offset->intValue <= kRoom;
  // The element before, of a range that begins behind the first.
  if (base && op == "-" && offset->is(Val::Kind::Int))
    result.nonNegative = base->nonNegative && offset->intValue >= 0 &&
                         result.lower && provablyNonNegative(result.lower);
  if (op == "/" && b.is(Val::Kind::Int))
    result.nonNegative = a.nonNegative;
  if (op == "%" && b.is(Val::Kind::Int)) {
    result.nonNegative = true;
    result.upper = asAffine(b);
  }
}

void Elaborator::deriveMultiple(StringRef op, const Val &a, const Val &b,
                                Val &result) const {
  auto bound = [&](std::optional<int64_t> most, AffineExpr upper) {
    if (!most || *most > maxExtent)
      return;
    result.most = most;
    result.upper = upper;
    result.nonNegative = true;
  };
  std::optional<int64_t> x = greatestOf(a), y = greatestOf(b);
  if (op == "*")
    for (auto [base, most, times] : {std::tuple(&a, x, &b), {&b, y, &a}})
      if (most && times->is(Val::Kind::Int) && times->intValue >= 1 &&
          *most <= maxExtent / times->intValue)
        bound(*most * times->intValue, (base->upper - 1) * times->intValue + 1);
  // A multiple, and what lies between it and the next one.
  if (op == "+" && x && y && (a.most || b.most))
    bound(*x + *y, a.upper + b.upper - 1);
  for (auto [base, most, offset] : {std::tuple(&a, x, &b), {&b, y, &a}})
    if (op == "+" && base->most && most && offset->is(Val::Kind::Int) &&
        offset->intValue >= 0 && offset->intValue <= maxExtent)
      bound(*most + offset->intValue, base->upper + offset->intValue);
}

Val Elaborator::floatBinary(SMLoc loc, StringRef op, const Val &a,
                            const Val &b) {
  Type f32 = Builder(ctx).getF32Type();
  Val x = toSsa(loc, a, f32), y = toSsa(loc, b, f32);
  if (x.isError() || y.isError())
    return Val::error();
  if (op == "%") {
    diags.error(loc, "expects integers around '%', but got " + describe(a) +
                         " and " + describe(b));
    return Val::error();
  }
  Location l = at(loc);
  Value p = x.ssa, q = y.ssa, result;
  tb->unify(l, p, q);
  if (isComparison(op))
    result = tb->create<arith::CmpFOp>(l, floatPredicate(op), p, q);
  else if (op == "+")
    result = tb->create<arith::AddFOp>(l, p, q);
  else if (op == "-")
    result = tb->create<arith::SubFOp>(l, p, q);
  else if (op == "*")
    result = tb->create<arith::MulFOp>(l, p, q);
  else
    // The exact quotient takes a call per element: gemma's took ptxas 5 s.
    result = tb->create<arith::DivFOp>(l, p, q, arith::FastMathFlags::afn);
  PredSet preds = x.preds;
  preds.add(y.preds);
  return Val::ofSsa(result, preds);
}

} // namespace selvedge::frontend
