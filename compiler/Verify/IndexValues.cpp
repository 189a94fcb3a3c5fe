// Integer values of a kernel as polynomials with known bounds.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/IndexValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

namespace selvedge::verify {

using namespace mlir;

static constexpr int64_t minInt = std::numeric_limits<int32_t>::min();
static constexpr int64_t maxInt = std::numeric_limits<int32_t>::max();

Polynomial IndexValues::newSymbol() { return Polynomial::symbol(symbols++); }

Polynomial IndexValues::newSymbol(const Polynomial &lo, const Polynomial &hi) {
  Polynomial result = newSymbol();
  assume(result - lo);
  assume(hi - result);
  return result;
}

Polynomial IndexValues::anything() { return newSymbol(minInt, maxInt); }

void IndexValues::defineAxis(StringAttr axis, int64_t size) {
  lanes[axis] = newSymbol(0, size - 1);
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

bool IndexValues::isNonNegative(const Polynomial &p,
                                ArrayRef<Polynomial> constraints) const {
  SmallVector<Polynomial> all(facts);
  llvm::append_range(all, constraints);
  return implies(all, p);
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
  Polynomial result = newSymbol(llvm::minIntN(width), llvm::maxIntN(width));
  wrapped.push_back({result, p, width});
  return result;
}

Polynomial IndexValues::oneOf(const Polynomial &a, const Polynomial &b) {
  Polynomial p = newSymbol();
  // Bounds that both share, tightest first.
  for (int64_t lo : {int64_t(0), minInt, std::numeric_limits<int64_t>::min()})
    if (isNonNegative(a - lo) && isNonNegative(b - lo)) {
      assume(p - lo);
      break;
    }
  for (int64_t hi : {maxExtent, maxExtent + maxBlock / 4, maxInt,
                     std::numeric_limits<int64_t>::max()})
    if (isNonNegative(Polynomial(hi) - a) &&
        isNonNegative(Polynomial(hi) - b)) {
      assume(Polynomial(hi) - p);
      break;
    }
  choices.push_back({p, a, b});
  return p;
}

bool IndexValues::isNonNegativeByCases(const Polynomial &p,
                                       ArrayRef<Polynomial> constraints) const {
  if (isNonNegative(p, constraints))
    return true;
  SmallVector<const Choice *> open;
  for (const Choice &choice : llvm::reverse(choices))
    open.push_back(&choice);
  // Each choice that neither side settles doubles the work.
  static constexpr unsigned maxSplits = 4;
  return isProvedByChoices(p, SmallVector<Polynomial>(constraints), open,
                           maxSplits);
}

bool IndexValues::isProvedByChoices(const Polynomial &p,
                                    SmallVector<Polynomial> known,
                                    SmallVector<const Choice *> open,
                                    unsigned splits) const {
  auto taking = [&](const Choice &choice, const Polynomial &side) {
    SmallVector<Polynomial> more(known);
    more.push_back(choice.p - side);
    more.push_back(side - choice.p);
    return more;
  };
  // Where one side proves `p`, or cannot be, only the other one is left.
  for (bool changed = true; changed;) {
    changed = false;
    for (const Choice *choice : SmallVector<const Choice *>(open)) {
      bool a = isNonNegative(p, taking(*choice, choice->a)),
           b = isNonNegative(p, taking(*choice, choice->b));
      if (a && b)
        return true;
      if (!a && !b)
        continue;
      known = taking(*choice, a ? choice->b : choice->a);
      llvm::erase(open, choice);
      changed = true;
    }
  }
  if (open.empty() || splits == 0)
    return false;
  const Choice *next = open.front();
  open.erase(open.begin());
  return isProvedByChoices(p, taking(*next, next->a), open, splits - 1) &&
         isProvedByChoices(p, taking(*next, next->b), open, splits - 1);
}

void IndexValues::refine(SmallVectorImpl<Polynomial> &constraints) const {
  SmallVector<Wrapped> open(wrapped);
  for (bool changed = true; changed;) {
    changed = false;
    llvm::erase_if(open, [&](const Wrapped &w) {
      if (!isInRange(w.exact, w.width, constraints))
        return false;
      constraints.push_back(w.result - w.exact);
      constraints.push_back(w.exact - w.result);
      return changed = true;
    });
  }
}

Polynomial IndexValues::quotient(const Polynomial &a, const Polynomial &b,
                                 Rounding mode) {
  for (const Quotient &known : quotients)
    if (known.a == a && known.b == b && known.mode == mode)
      return known.q;
  if (!isNonNegative(b - 1))
    return anything();
  Polynomial q = newSymbol();
  Polynomial rest = mode == Rounding::Down ? a - b * q : b * q - a;
  assume(rest);
  assume(b - 1 - rest);
  if (isNonNegative(a))
    assume(q);
  quotients.push_back({a, b, q, mode});
  return q;
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
  return newSymbol(isExact ? lower : Polynomial(minInt), upper - 1);
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
    auto lane = lanes.find(axisNames(value.getType()).front());
    return lane == lanes.end()
               ? anything()
               : unlessWrapped(of(def->getOperand(0)) + lane->second);
  }
  if (isa<tile::BlockSizeOp>(def))
    return newSymbol(1, maxBlock);
  return computeArith(def);
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
  if (auto select = dyn_cast<SelectOp>(op))
    return oneOf(of(select.getTrueValue()), of(select.getFalseValue()));
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
        Polynomial exact = isa<AddIOp>(op)   ? x + y
                           : isa<SubIOp>(op) ? x - y
                                             : x * y;
        Polynomial result = unlessWrapped(exact, width);
        if (width == 32 && !(result == exact))
          unwrapped[op->getResult(0)] = exact;
        return result;
      })
      .Case<MinSIOp>([&](Operation *) {
        Polynomial p = oneOf(a, b);
        assume(a - p);
        assume(b - p);
        return p;
      })
      .Case<MaxSIOp>([&](Operation *) {
        Polynomial p = oneOf(a, b);
        assume(p - a);
        assume(p - b);
        return p;
      })
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
        if (!bothNonNegative())
          return anything();
        return isa<DivUIOp>(op) ? quotient(a, b, Rounding::Down)
                                : remainder(a, b);
      })
      .Case<RemSIOp>([&](Operation *) { return remainder(a, b); })
      .Default([&](Operation *) { return anything(); });
}

void IndexValues::collect(Value condition,
                          SmallVectorImpl<Polynomial> &constraints) {
  conjuncts(condition, [&](Value part) {
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

} // namespace selvedge::verify
