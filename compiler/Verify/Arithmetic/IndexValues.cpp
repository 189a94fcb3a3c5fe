// Integer values of a kernel as polynomials with known bounds.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/IndexValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

namespace selvedge::verify {

using namespace mlir;

static constexpr int64_t minInt = std::numeric_limits<int32_t>::min();
static constexpr int64_t maxInt = std::numeric_limits<int32_t>::max();

Polynomial IndexValues::newSymbol(const Polynomial &lo, const Polynomial &hi) {
  Polynomial result = newSymbol();
  assume(result - lo);
  assume(hi - result);
  return result;
}

Polynomial IndexValues::anything() { return newSymbol(minInt, maxInt); }

void IndexValues::defineAxis(StringAttr axis, const Polynomial &size) {
  sizes[axis] = size;
  lanes.erase(axis);
}

void IndexValues::defineBelowProduct(Value value,
                                     ArrayRef<Polynomial> factors) {
  // Division by 1 leaves no digit: it is folded.
  auto counts = llvm::to_vector(
      llvm::make_filter_range(factors, [](const Polynomial &factor) {
        return !(factor == Polynomial(1));
      }));
  Polynomial p = newSymbol(0, counts.empty() ? 0 : maxInt);
  if (counts.size() == 1)
    assume(counts.front() - 1 - p);
  known[value] = p;
  products[value] = std::move(counts);
}

bool IndexValues::isInRange(const Polynomial &p, unsigned width,
                            ArrayRef<Polynomial> constraints) const {
  return isNonNegativeByCases(Polynomial(llvm::maxIntN(width)) - p,
                              constraints) &&
         isNonNegativeByCases(p - Polynomial(llvm::minIntN(width)),
                              constraints);
}

/// Integer arithmetic is exact only where it does not wrap.
Polynomial IndexValues::unlessWrapped(const Polynomial &p, unsigned width) {
  if (isInRange(p, width))
    return p;
  // What wraps alike is equal, in whichever order it was added up.
  for (const Wrapped &w : wrapped)
    if (w.width == width && w.exact == p)
      return w.result;
  Polynomial result = newSymbol(llvm::minIntN(width), llvm::maxIntN(width));
  wrapped.push_back({result, p, width});
  return result;
}

Polynomial IndexValues::oneOf(const Polynomial &a, const Polynomial &b,
                              Choice::Kind kind) {
  std::optional<int64_t> x = a.asConstant(), y = b.asConstant();
  if (x && y && kind != Choice::Kind::Either)
    return kind == Choice::Kind::Smaller ? std::min(*x, *y) : std::max(*x, *y);
  Polynomial p = system.newResult();
  // Bounds that both share, tightest first.
  for (int64_t lo : {int64_t(0), minInt, std::numeric_limits<int64_t>::min()})
    if (isNonNegative(a - lo) && isNonNegative(b - lo)) {
      system.define(p - lo);
      break;
    }
  for (int64_t hi : {int64_t(1), maxExtent, maxExtent + maxBlock / 4, maxInt,
                     std::numeric_limits<int64_t>::max()})
    if (isNonNegative(Polynomial(hi) - a) &&
        isNonNegative(Polynomial(hi) - b)) {
      system.define(Polynomial(hi) - p);
      break;
    }
  if (kind != Choice::Kind::Either)
    for (const Polynomial &side : {a, b})
      system.define(kind == Choice::Kind::Smaller ? side - p : p - side);
  system.assume(Choice{p, a, b, kind});
  // A number that is 0 or 1 switches something on: linear reasoning would take
  // it for a fraction.
  if (isNonNegative(p) && isNonNegative(1 - p))
    system.assume(Choice{p, 0, 1});
  return p;
}

Polynomial IndexValues::sumOrProduct(Value value, ArrayRef<Polynomial> forms,
                                     unsigned width) {
  const Polynomial &exact = forms.front();
  const Polynomial *inRange = llvm::find_if(
      forms, [&](const Polynomial &form) { return isInRange(form, width); });
  if (inRange == &exact)
    return exact;
  if (width == 32)
    unwrapped[value] = exact;
  if (inRange != forms.end())
    return *inRange;
  Polynomial result = unlessWrapped(exact, width);
  // Where an operand is a number that wrapped and has been tested since.
  for (const Polynomial &form : forms.drop_front())
    wrapped.push_back({result, form, width});
  // A sum that exceeds the range by less than that wraps to something less, and
  // one that falls below it to something more.
  for (const Polynomial &form : forms) {
    if (width == 32 && isNonNegative(form - minInt) &&
        isNonNegative(Polynomial(2 * maxInt) - form))
      system.define(form - result);
    if (width == 32 && isNonNegative(Polynomial(maxInt) - form) &&
        isNonNegative(form - 2 * minInt))
      system.define(result - form);
  }
  return result;
}

bool IndexValues::isEqual(const Wrapped &w,
                          ArrayRef<Polynomial> constraints) const {
  if (w.width > 32)
    return isInRange(w.exact, w.width, constraints);
  // Congruent numbers less than 2^width apart.
  Polynomial most(int64_t(llvm::maxUIntN(w.width))),
      difference = w.result - w.exact;
  return isNonNegativeByCases(most - difference, constraints) &&
         isNonNegativeByCases(most + difference, constraints);
}

size_t IndexValues::refine(SmallVectorImpl<Polynomial> &constraints,
                           ArrayRef<Polynomial> goals) const {
  size_t given = constraints.size();
  // Those that something speaks of which is asked: what it is made of, too.
  llvm::DenseSet<unsigned> symbols;
  auto meet = [&](const Polynomial &p) {
    for (const auto &[monomial, coefficient] : p.getTerms())
      symbols.insert(monomial.begin(), monomial.end());
  };
  llvm::for_each(goals, meet);
  llvm::for_each(constraints, meet);
  SmallVector<Wrapped> open;
  for (const Wrapped &w : llvm::reverse(wrapped)) {
    bool isMet = llvm::any_of(w.result.getTerms(), [&](const auto &term) {
      return llvm::any_of(term.first,
                          [&](unsigned s) { return symbols.contains(s); });
    });
    if (!isMet)
      continue;
    meet(w.exact);
    open.push_back(w);
  }
  std::reverse(open.begin(), open.end());
  for (bool changed = true; changed;) {
    changed = false;
    llvm::erase_if(open, [&](const Wrapped &w) {
      if (!isEqual(w, constraints))
        return false;
      constraints.push_back(w.result - w.exact);
      constraints.push_back(w.exact - w.result);
      return changed = true;
    });
  }
  return constraints.size() - given;
}

bool IndexValues::isNonNegativeByAny(
    const Polynomial &p, SmallVectorImpl<Polynomial> &constraints) const {
  // What does not wrap is asked of few: it takes as many proofs as there are
  // sums.
  return isNonNegativeByCases(p, constraints) ||
         (refine(constraints, p) > 0 && isNonNegativeByCases(p, constraints)) ||
         isNonNegativeForIntegers(p, constraints);
}

/// `p` with a value in the place of the monomial that `part` is; none where it
/// has no multiple of that.
static std::optional<Polynomial>
replaced(const Polynomial &p, const Polynomial &part, const Polynomial &by) {
  const auto &[monomial, count] = part.getTerms().front();
  const llvm::DynamicAPInt *times = p.coefficientOf(monomial);
  if (!times || *times % count != 0)
    return std::nullopt;
  return p + (by - part) * Polynomial(int64_t(*times / count));
}

bool IndexValues::isMultipleByCases(const Polynomial &p, int64_t size,
                                    ArrayRef<Polynomial> constraints) const {
  if (llvm::all_of(p.getTerms(),
                   [&](const auto &term) { return term.second % size == 0; }))
    return true;
  for (const Wrapped &w : wrapped)
    if (std::optional<Polynomial> exact = replaced(p, w.result, w.exact))
      return isMultipleByCases(*exact, size, constraints);
  std::optional<Choice> choice = choiceIn(p);
  return choice &&
         llvm::all_of(
             ArrayRef{std::pair(choice->a, choice->b), {choice->b, choice->a}},
             [&](const auto &sides) {
               const auto &[side, other] = sides;
               SmallVector<Polynomial> given(constraints);
               given.append({choice->p - side, side - choice->p});
               if (choice->kind != Choice::Kind::Either)
                 given.push_back(choice->kind == Choice::Kind::Smaller
                                     ? other - side
                                     : side - other);
               std::optional<Polynomial> taken = replaced(p, choice->p, side);
               // That there is no such case takes a proof, and few need it.
               return (taken && isMultipleByCases(*taken, size, given)) ||
                      isNonNegativeByCases(Polynomial(-1), given);
             });
}

void IndexValues::limitBelowProduct(const Polynomial &a, const Polynomial &b,
                                    const Polynomial &q) {
  // Dims are the first symbols.
  constexpr unsigned mostDims = 8;
  if (b.getTerms().size() != 1 || b.getTerms().begin()->first.size() != 1 ||
      b.getTerms().begin()->second != 1)
    return;
  for (unsigned id = 0; id < std::min(mostDims, system.numSymbols()); ++id)
    if (Polynomial dim = Polynomial::symbol(id);
        !(dim == b) && isNonNegative(dim * b - 1 - a))
      system.define(dim - 1 - q);
}

void IndexValues::limitDistance(const Polynomial &distance,
                                const Polynomial &ofQuotients,
                                const Polynomial &b) {
  // Linear reasoning does the same with a constant.
  if (b.asConstant())
    return;
  for (int64_t least : {16, 8, 4, 2, 1})
    if (isNonNegative(b - least))
      return system.define(distance + (least - 1) -
                           Polynomial(least) * ofQuotients);
}

Polynomial IndexValues::quotient(const Polynomial &a, const Polynomial &b,
                                 Rounding mode) {
  for (const Quotient &known : quotients)
    if (known.a == a && known.b == b && known.mode == mode)
      return known.q;
  if (b == Polynomial(1))
    return a;
  if (std::optional<int64_t> x = a.asConstant(), y = b.asConstant();
      x && y && *y > 0)
    return mode == Rounding::Down ? llvm::divideFloorSigned(*x, *y)
                                  : llvm::divideCeilSigned(*x, *y);
  if (!isNonNegative(b - 1))
    return anything();
  auto learn = [&](const Polynomial &p) {
    if (!p.asConstant())
      system.define(p);
  };
  Polynomial whole = multiplesIn(a, b), q;
  bool isWhole = !(whole == Polynomial(0));
  if (isWhole) {
    q = whole + quotient(a - b * whole, b, mode);
    if (isNonNegative(a))
      learn(q);
  } else {
    q = newQuotient(a, b, mode);
  }
  // Division by the same number keeps an order, which is no matter of linear
  // reasoning.
  for (const Quotient &known : quotients) {
    if (known.b != b || known.mode != mode)
      continue;
    if (isNonNegative(a - known.a)) {
      learn(q - known.q);
      limitDistance(a - known.a, q - known.q, b);
    }
    if (isNonNegative(known.a - a)) {
      learn(known.q - q);
      limitDistance(known.a - a, known.q - q, b);
    }
  }
  quotients.push_back({a, b, q, mode});
  if (!isWhole)
    chooseQuotient(quotients.back());
  return q;
}

Polynomial IndexValues::multiplesIn(const Polynomial &p, const Polynomial &by) {
  std::optional<int64_t> factor = by.asConstant();
  return factor && *factor > 1 ? p.multiplesOf(llvm::DynamicAPInt(*factor))
                               : Polynomial(0);
}

Polynomial IndexValues::newQuotient(const Polynomial &a, const Polynomial &b,
                                    Rounding mode) {
  Polynomial q = system.newResult();
  Polynomial rest = mode == Rounding::Down ? a - b * q : b * q - a;
  system.define(rest);
  system.define(b - 1 - rest);
  if (isNonNegative(a)) {
    system.define(q);
    bool isNone = mode == Rounding::Down && isNonNegative(b - 1 - a);
    system.define(isNone ? Polynomial() - q : a - q);
    if (mode == Rounding::Down)
      limitBelowProduct(a, b, q);
  } else if (isNonNegative(maxInt - a) && isNonNegative(a - minInt)) {
    // No quotient is further from 0 than what is divided. Integers are in range
    // by their own bounds; a distance of two that takes cases is not asked.
    system.define(q - minInt);
    system.define(maxInt - q);
  }
  return q;
}

void IndexValues::chooseQuotient(Quotient known) {
  const auto &[a, b, q, mode] = known;
  std::optional<Choice> cut = choiceIn(a);
  if (!cut)
    return;
  // The smaller of two numbers has the smaller quotient. Linear reasoning would
  // not round: it is told where one costs no further number, or is the smaller
  // or larger of two of which one is some multiples and a constant.
  auto isFree = [&](const Polynomial &side) {
    return (side - b * multiplesIn(side, b)).asConstant().has_value();
  };
  auto hasFree = [&](const Polynomial &side) {
    std::optional<Choice> inner = choiceIn(side);
    return inner && side == inner->p &&
           llvm::any_of(ArrayRef{inner->a, inner->b}, [&](const Polynomial &p) {
             return isFree(p) && !p.asConstant();
           });
  };
  auto isCheap = [&](const Polynomial &side) {
    return isFree(side) || hasFree(side);
  };
  if (a == cut->p && (isCheap(cut->a) || isCheap(cut->b)))
    return system.assume(Choice{q, quotient(cut->a, b, mode),
                                quotient(cut->b, b, mode), cut->kind});
  // Of a distance that is cut off at 0, either nothing or the distance itself
  // is rounded: linear reasoning would round a distance of 0 up.
  if (mode == Rounding::Down)
    return;
  for (const auto &[side, other] :
       {std::pair(cut->a, cut->b), {cut->b, cut->a}})
    if (a + side - cut->p == Polynomial(0))
      system.assume(
          Choice{b * q, 0, b * quotient(a + other - cut->p, b, mode)});
}

Polynomial IndexValues::remainder(const Polynomial &a, const Polynomial &b) {
  return isNonNegative(a) && isNonNegative(b - 1) ? newSymbol(0, b - 1)
                                                  : anything();
}

Polynomial IndexValues::of(Value value) {
  value = strip(value);
  if (auto it = known.find(value); it != known.end())
    return it->second;
  for (const auto &[other, p] : known)
    if (isSame(other, value))
      return Polynomial(p);
  Polynomial p = compute(value);
  known[value] = p;
  return p;
}

Polynomial IndexValues::modular(Value value) {
  Polynomial p = of(value);
  value = strip(value);
  for (const auto &[other, exact] : unwrapped)
    if (isSame(other, value))
      return Polynomial(exact);
  return p;
}

Polynomial IndexValues::of(AffineExpr expr, ArrayRef<Polynomial> dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return dims[symbol.getPosition()];
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return newSymbol();
  Polynomial a = of(binary.getLHS(), dims), b = of(binary.getRHS(), dims);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return a + b;
  case AffineExprKind::Mul:
    return a * b;
  case AffineExprKind::FloorDiv:
    return quotient(a, b, Rounding::Down);
  case AffineExprKind::CeilDiv:
    return quotient(a, b, Rounding::Up);
  default:
    return remainder(a, b);
  }
}

/// lower <= i < upper, as long as the last step of a loop that runs does not
/// wrap.
Polynomial IndexValues::inductionVariable(scf::ForOp loop) {
  Polynomial lower = of(loop.getLowerBound()), upper = of(loop.getUpperBound()),
             step = of(loop.getStep());
  bool isExact = isNonNegative(step - 1) &&
                 isNonNegativeByCases(Polynomial(maxInt) - (upper - 1 + step),
                                      {upper - 1 - lower});
  // That there is such a number says that the loop runs.
  Polynomial index = newSymbol();
  system.suppose(index - (isExact ? lower : Polynomial(minInt)));
  system.suppose(upper - 1 - index);
  // The last step of a short loop begins whole steps behind the first one.
  std::optional<int64_t> size = getConstantIntValue(loop.getStep());
  if (!isExact || !size || *size < 2)
    return index;
  for (int64_t count : {1, 2, 4})
    if (isNonNegative(Polynomial(count * *size) + lower - upper)) {
      system.suppose(lower + (count - 1) * *size - index);
      break;
    }
  return index;
}

std::optional<Polynomial> IndexValues::digitOf(Value number,
                                               const Polynomial &divisor) {
  auto argument = dyn_cast<BlockArgument>(strip(number));
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  auto product = loop && argument == loop.getInductionVar()
                     ? loop.getUpperBound().getDefiningOp<arith::MulIOp>()
                     : arith::MulIOp();
  if (!product || !(of(loop.getLowerBound()) == Polynomial(0)))
    return std::nullopt;
  Polynomial count = of(product.getLhs());
  if (!(of(product.getRhs()) == divisor) || !(of(product) == count * divisor) ||
      !isNonNegative(divisor - 1))
    return std::nullopt;
  Polynomial digit = newSymbol();
  system.suppose(digit);
  system.suppose(count - 1 - digit);
  return digit;
}

void IndexValues::enterLoops(Operation *op) {
  while (auto loop = op->getParentOfType<scf::ForOp>()) {
    of(loop.getInductionVar());
    op = loop;
  }
}

Polynomial IndexValues::compute(Value value) {
  Operation *def = value.getDefiningOp();
  if (!def) {
    auto loop = dyn_cast<scf::ForOp>(
        cast<BlockArgument>(value).getOwner()->getParentOp());
    return loop && value == loop.getInductionVar() ? inductionVariable(loop)
                                                   : anything();
  }
  if (isa<tile::RangeOp, sm::RangeOp>(def)) {
    StringAttr axis = axisNames(value.getType()).front();
    auto size = sizes.find(axis);
    if (size == sizes.end())
      return anything();
    auto [lane, isNew] = lanes.try_emplace(axis);
    if (isNew)
      lane->second = newSymbol(0, size->second - 1);
    Polynomial index = lane->second;
    Value start = def->getOperand(0);
    SmallVector<Polynomial, 2> forms = {modular(start) + index};
    if (Polynomial ofStart = of(start) + index; !(ofStart == forms.front()))
      forms.push_back(ofStart);
    return sumOrProduct(value, forms, 32);
  }
  if (isa<tile::BlockSizeOp>(def))
    return newSymbol(1, maxBlock);
  return computeArith(def);
}

/// Whether what is below `end` is below `bound`, too.
static bool isBelow(Value end, Value bound) {
  if (strip(end) == strip(bound))
    return true;
  auto least = end.getDefiningOp<arith::MinSIOp>();
  return least &&
         (isBelow(least.getLhs(), bound) || isBelow(least.getRhs(), bound));
}

/// Whether a condition compares the index of a loop with what that ends at.
static bool holdsInLoop(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  auto index =
      compare ? dyn_cast<BlockArgument>(compare.getLhs()) : BlockArgument();
  auto loop = index ? dyn_cast<scf::ForOp>(index.getOwner()->getParentOp())
                    : scf::ForOp();
  return loop && index == loop.getInductionVar() && !loop.getUnsignedCmp() &&
         compare.getPredicate() == arith::CmpIPredicate::slt &&
         isBelow(loop.getUpperBound(), compare.getRhs());
}

/// What is added to a number; 0 for others.
static int64_t addend(Value value) {
  auto sum = value.getDefiningOp<arith::AddIOp>();
  return sum ? getConstantIntValue(sum.getRhs()).value_or(0) : 0;
}

/// One of two numbers; no further above another choice by the same condition
/// than both of its sides are.
Polynomial IndexValues::selected(arith::SelectOp select) {
  Polynomial a = of(select.getTrueValue());
  if (holdsInLoop(select.getCondition()))
    return a;
  Polynomial b = of(select.getFalseValue()), p = oneOf(a, b);
  auto [before, isFirst] =
      selections.try_emplace(select.getCondition(), Selection{a, b, p});
  if (isFirst)
    return p;
  const auto &[otherA, otherB, other] = before->second;
  for (int64_t most :
       {addend(select.getTrueValue()), addend(select.getFalseValue())})
    if (isNonNegative(Polynomial(most) - (a - otherA)) &&
        isNonNegative(Polynomial(most) - (b - otherB)))
      system.define(Polynomial(most) - (p - other));
  return p;
}

Polynomial IndexValues::computeArith(Operation *op) {
  using namespace arith;
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    Attribute attr = constant.getValue();
    if (auto dense = dyn_cast<SplatElementsAttr>(attr))
      attr = dense.getSplatValue<Attribute>();
    auto integer = dyn_cast<IntegerAttr>(attr);
    return integer ? Polynomial(integer.getInt()) : anything();
  }
  unsigned width = 32;
  if (auto type = dyn_cast<IntegerType>(
          getElementTypeOrSelf(op->getResult(0).getType())))
    width = type.getWidth();
  if (isa<ExtSIOp>(op))
    return of(op->getOperand(0));
  if (isa<TruncIOp>(op))
    return unlessWrapped(of(op->getOperand(0)), width);
  if (isa<ExtUIOp>(op) &&
      getElementTypeOrSelf(op->getOperand(0).getType()).isInteger(1))
    return oneOf(1, 0);
  if (auto select = dyn_cast<SelectOp>(op))
    return selected(select);
  if (op->getNumOperands() != 2 ||
      !isa<AddIOp, SubIOp, MulIOp, MinSIOp, MaxSIOp, FloorDivSIOp, CeilDivSIOp,
           DivSIOp, DivUIOp, RemSIOp, RemUIOp>(op))
    return anything();
  Polynomial a = of(op->getOperand(0)), b = of(op->getOperand(1));
  auto bothNonNegative = [&] { return isNonNegative(a) && isNonNegative(b); };
  return llvm::TypeSwitch<Operation *, Polynomial>(op)
      .Case<AddIOp, SubIOp, MulIOp>([&](Operation *) {
        Polynomial x = modular(op->getOperand(0)),
                   y = modular(op->getOperand(1));
        auto combine = [&](const Polynomial &x, const Polynomial &y) {
          return isa<AddIOp>(op) ? x + y : isa<SubIOp>(op) ? x - y : x * y;
        };
        // Each operand as what it is modulo 2^32, or as what it is.
        SmallVector<Polynomial, 4> forms;
        for (const auto &[left, right] :
             {std::pair(x, y), {a, b}, {a, y}, {x, b}})
          if (Polynomial form = combine(left, right);
              !llvm::is_contained(forms, form))
            forms.push_back(form);
        return sumOrProduct(op->getResult(0), forms, width);
      })
      .Case<MinSIOp>(
          [&](Operation *) { return oneOf(a, b, Choice::Kind::Smaller); })
      .Case<MaxSIOp>(
          [&](Operation *) { return oneOf(a, b, Choice::Kind::Larger); })
      .Case<FloorDivSIOp>(
          [&](Operation *) { return quotient(a, b, Rounding::Down); })
      .Case<CeilDivSIOp>(
          [&](Operation *) { return quotient(a, b, Rounding::Up); })
      .Case<DivSIOp>([&](Operation *) {
        return bothNonNegative() ? quotient(a, b, Rounding::Down) : anything();
      })
      .Case<DivUIOp, RemUIOp>([&](Operation *) {
        // A block number below a product of counts, last count first.
        auto it = products.find(op->getOperand(0));
        bool isDigit = it != products.end() && it->second.size() > 1 &&
                       it->second.back() == b;
        if (isDigit && isa<DivUIOp>(op)) {
          SmallVector<Polynomial> rest(ArrayRef(it->second).drop_back());
          defineBelowProduct(op->getResult(0), rest);
          return known[op->getResult(0)];
        }
        // What is left is less than the divisor, whatever is divided.
        if (isa<RemUIOp>(op))
          return isNonNegative(b - 1) ? newSymbol(0, b - 1) : anything();
        if (std::optional<Polynomial> digit = digitOf(op->getOperand(0), b))
          return *digit;
        return bothNonNegative() ? quotient(a, b, Rounding::Down) : anything();
      })
      .Case<RemSIOp>([&](Operation *) { return remainder(a, b); })
      .Default([&](Operation *) { return anything(); });
}

/// The predicates of a load, whose absent lanes are 0, that a compare with a
/// constant implies: it is false for 0.
static SmallVector<Value> presenceWhereTrue(Value condition) {
  Operation *compare = condition.getDefiningOp();
  if (!isa_and_nonnull<arith::CmpIOp, arith::CmpFOp>(compare))
    return {};
  std::optional<SmallVector<Value>> presence;
  Attribute sides[2];
  for (unsigned i : {0, 1}) {
    Value side = strip(compare->getOperand(i));
    sides[i] = constantOf(side);
    if (sides[i])
      continue;
    // Two loaded numbers need not both be there.
    if (presence)
      return {};
    Operation *def = side.getDefiningOp();
    if (auto load = dyn_cast_or_null<sm::LoadOp>(def))
      presence.emplace(load.getPresence());
    else if (auto load = dyn_cast_or_null<tile::LoadOp>(def);
             load && load.getFill() == tile::Fill::Zero)
      presence = load.getTested();
    else
      return {};
    sides[i] = zeroOf(side);
  }
  bool isFalseAtZero =
      presence && compared(compare, sides[0], sides[1]) == false;
  return isFalseAtZero ? *presence : SmallVector<Value>();
}

void IndexValues::collect(Value condition,
                          SmallVectorImpl<Polynomial> &constraints) {
  conjuncts(condition, [&](Value part) {
    // What compares a loaded number so that 0 fails holds where it was loaded.
    for (Value p : presenceWhereTrue(part))
      collect(p, constraints);
    // Nothing is where a condition never holds.
    if (constantOf(part) == BoolAttr::get(part.getContext(), false))
      return constraints.push_back(-1);
    auto compare = part.getDefiningOp<arith::CmpIOp>();
    if (!compare ||
        !getElementTypeOrSelf(compare.getLhs().getType()).isInteger(32))
      return;
    Polynomial a = of(compare.getLhs()), b = of(compare.getRhs());
    using arith::CmpIPredicate;
    switch (compare.getPredicate()) {
    case CmpIPredicate::slt:
      return constraints.push_back(b - a - 1);
    case CmpIPredicate::sle:
      return constraints.push_back(b - a);
    case CmpIPredicate::sgt:
      return constraints.push_back(a - b - 1);
    case CmpIPredicate::sge:
      return constraints.push_back(a - b);
    case CmpIPredicate::eq:
      constraints.push_back(a - b);
      return constraints.push_back(b - a);
    default:
      return;
    }
  });
}

void IndexValues::collectPositive(Value number,
                                  SmallVectorImpl<Polynomial> &constraints,
                                  bool isCut) {
  Operation *op = number.getDefiningOp();
  // A narrowed number is the wide one unless it wraps.
  if (isa_and_nonnull<arith::ExtSIOp>(op) ||
      (isa_and_nonnull<arith::TruncIOp>(op) &&
       of(number) == of(op->getOperand(0))))
    return collectPositive(op->getOperand(0), constraints, isCut);
  if (isa_and_nonnull<arith::MinSIOp>(op)) {
    for (Value each : op->getOperands())
      collectPositive(each, constraints, isCut);
    return;
  }
  if (isa_and_nonnull<arith::MaxSIOp, arith::MulIOp>(op))
    for (unsigned i : {0, 1}) {
      Value part = op->getOperand(i), other = op->getOperand(1 - i);
      auto constant = dyn_cast_or_null<IntegerAttr>(constantOf(other));
      if (!constant)
        continue;
      bool isPositive = constant.getValue().isStrictlyPositive();
      if (isa<arith::MaxSIOp>(op)
              ? !isPositive
              : isPositive && of(number) == of(part) * of(other))
        return collectPositive(part, constraints, true);
    }
  if (isCut)
    constraints.push_back(of(number) - 1);
}

} // namespace selvedge::verify
