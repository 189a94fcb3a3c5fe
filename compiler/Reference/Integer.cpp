// Integer and boolean operations, lane by lane, wrapping at their width.
// SPDX-License-Identifier: MIT
#include "compiler/Reference/Evaluate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <functional>

using namespace mlir;

namespace selvedge::reference {

namespace {

/// Width of an integer type; `index` counts as 64 bits.
unsigned widthOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
}

/// The low `width` bits: booleans as 0 or 1, others sign extended.
int64_t wrap(int64_t value, unsigned width) {
  if (width == 1)
    return value & 1;
  return width >= 64 ? value : llvm::SignExtend64(value, width);
}

uint64_t asUnsigned(int64_t value, unsigned width) {
  return static_cast<uint64_t>(value) & llvm::maskTrailingOnes<uint64_t>(width);
}

// Absent lanes hold arbitrary divisors, so no division may trap.
int64_t divideTruncated(int64_t a, int64_t b) {
  if (b == 0)
    return poisonInteger;
  return b == -1 ? static_cast<int64_t>(-static_cast<uint64_t>(a)) : a / b;
}

int64_t remainder(int64_t a, int64_t b) {
  if (b == 0)
    return poisonInteger;
  return b == -1 ? 0 : a % b;
}

int64_t divideUnsigned(int64_t a, int64_t b, unsigned width) {
  uint64_t divisor = asUnsigned(b, width);
  return divisor == 0 ? poisonInteger
                      : static_cast<int64_t>(asUnsigned(a, width) / divisor);
}

int64_t divideDown(int64_t a, int64_t b) {
  int64_t r = remainder(a, b);
  return divideTruncated(a, b) - (b != 0 && r != 0 && (r < 0) != (b < 0));
}

int64_t divideUp(int64_t a, int64_t b) {
  int64_t r = remainder(a, b);
  return divideTruncated(a, b) + (b != 0 && r != 0 && (r < 0) == (b < 0));
}

bool holds(arith::CmpIPredicate predicate, int64_t a, int64_t b,
           unsigned width) {
  // Booleans are kept as 0 and 1, but the signed value of true is -1.
  if (width == 1 && predicate >= arith::CmpIPredicate::slt &&
      predicate <= arith::CmpIPredicate::sge) {
    a = -a;
    b = -b;
  }
  uint64_t ua = asUnsigned(a, width), ub = asUnsigned(b, width);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return a < b;
  case arith::CmpIPredicate::sle:
    return a <= b;
  case arith::CmpIPredicate::sgt:
    return a > b;
  case arith::CmpIPredicate::sge:
    return a >= b;
  case arith::CmpIPredicate::ult:
    return ua < ub;
  case arith::CmpIPredicate::ule:
    return ua <= ub;
  case arith::CmpIPredicate::ugt:
    return ua > ub;
  case arith::CmpIPredicate::uge:
    return ua >= ub;
  }
  return false;
}

template <typename Fn>
TileRef binary(Operation *op, ArrayRef<TileRef> operands,
               const TileShape &shape, Fn fn) {
  unsigned width = widthOf(op->getResult(0).getType());
  std::shared_ptr<TileValue> result = makeInts(shape);
  const TileValue &a = *operands[0], &b = *operands[1];
  for (size_t i = 0; i < result->ints.size(); ++i)
    result->ints[i] = wrap(fn(a.ints[i], b.ints[i]), width);
  if (a.unsure.empty() && b.unsure.empty())
    return result;
  result->unsure.resize(result->ints.size());
  for (size_t i = 0; i < result->ints.size(); ++i) {
    bool sa = !a.unsureAt(i), sb = !b.unsureAt(i);
    // One sure operand can decide a conjunction or disjunction alone.
    bool decided = false;
    if (width == 1 && isa<arith::AndIOp>(op))
      decided = (sa && !a.ints[i]) || (sb && !b.ints[i]);
    if (width == 1 && isa<arith::OrIOp>(op))
      decided = (sa && a.ints[i]) || (sb && b.ints[i]);
    result->unsure[i] = !(sa && sb) && !decided;
  }
  return result;
}

TileRef resize(Operation *op, const TileRef &source) {
  unsigned from = widthOf(op->getOperand(0).getType());
  unsigned to = widthOf(op->getResult(0).getType());
  bool isUnsigned = isa<arith::ExtUIOp>(op);
  auto result = std::make_shared<TileValue>(*source);
  for (int64_t &lane : result->ints) {
    if (isUnsigned)
      lane = static_cast<int64_t>(asUnsigned(lane, from));
    else if (from == 1)
      lane = -lane;
    lane = wrap(lane, to);
  }
  return result;
}

/// Toward zero, out of range the nearest integer that there is, NaN as 0: as
/// `cvt.rzi.s32.f32` does.
TileRef fromFloats(Operation *op, const TileRef &source,
                   const TileShape &shape) {
  unsigned width = widthOf(op->getResult(0).getType());
  double limit = std::ldexp(1.0, static_cast<int>(width) - 1);
  auto saturated = [&](double x) {
    if (std::isnan(x))
      return int64_t(0);
    return static_cast<int64_t>(std::clamp(std::trunc(x), -limit, limit - 1));
  };
  std::shared_ptr<TileValue> result = makeInts(shape);
  result->unsure.resize(result->ints.size());
  for (size_t i = 0; i < result->ints.size(); ++i) {
    Num x = source->at(i);
    result->ints[i] = saturated(x.value);
    // An infinite bound promises nothing, not even that it is a number.
    result->unsure[i] =
        std::isinf(x.bound) ||
        (x.bound > 0 && (saturated(x.value - x.bound) != result->ints[i] ||
                         saturated(x.value + x.bound) != result->ints[i]));
  }
  return result;
}

TileRef magnitude(Operation *op, const TileRef &source) {
  unsigned width = widthOf(op->getResult(0).getType());
  auto result = std::make_shared<TileValue>(*source);
  for (int64_t &lane : result->ints)
    if (lane < 0)
      lane = wrap(static_cast<int64_t>(-static_cast<uint64_t>(lane)), width);
  return result;
}

TileRef select(ArrayRef<TileRef> operands, const TileShape &shape) {
  const TileValue &condition = *operands[0];
  bool uniform = condition.shape.axes.empty();
  std::shared_ptr<TileValue> result = makeInts(shape);
  result->unsure.resize(result->ints.size());
  bool sure = true;
  for (size_t i = 0; i < result->ints.size(); ++i) {
    size_t at = uniform ? 0 : i;
    const TileValue &taken = *operands[condition.ints[at] ? 1 : 2];
    const TileValue &other = *operands[condition.ints[at] ? 2 : 1];
    result->ints[i] = taken.ints[i];
    bool same = taken.ints[i] == other.ints[i] && !other.unsureAt(i);
    result->unsure[i] = taken.unsureAt(i) || (condition.unsureAt(at) && !same);
    sure &= !result->unsure[i];
  }
  if (sure)
    result->unsure.clear();
  return result;
}

TileRef compare(arith::CmpIOp op, ArrayRef<TileRef> operands,
                const TileShape &shape) {
  unsigned width = widthOf(op.getLhs().getType());
  arith::CmpIPredicate predicate = op.getPredicate();
  return binary(op, operands, shape, [=](int64_t a, int64_t b) {
    return holds(predicate, a, b, width);
  });
}

// Wraps in the width of the result; computed unsigned, where overflow is
// defined.
int64_t product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}
int64_t sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}
int64_t difference(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) -
                              static_cast<uint64_t>(b));
}

} // namespace

TileRef evaluateInteger(Operation *op, ArrayRef<TileRef> operands,
                        const TileShape &shape) {
  auto both = [&](auto fn) { return binary(op, operands, shape, fn); };
  return TypeSwitch<Operation *, TileRef>(op)
      .Case([&](arith::AddIOp) { return both(sum); })
      .Case([&](arith::SubIOp) { return both(difference); })
      .Case([&](arith::MulIOp) { return both(product); })
      .Case([&](arith::DivSIOp) { return both(divideTruncated); })
      .Case([&](arith::FloorDivSIOp) { return both(divideDown); })
      .Case([&](arith::CeilDivSIOp) { return both(divideUp); })
      .Case([&](arith::RemSIOp) { return both(remainder); })
      .Case([&](arith::DivUIOp division) {
        unsigned width = widthOf(division.getType());
        return both([width](int64_t a, int64_t b) {
          return divideUnsigned(a, b, width);
        });
      })
      .Case([&](arith::RemUIOp division) {
        unsigned width = widthOf(division.getType());
        return both([width](int64_t a, int64_t b) {
          return difference(a, product(divideUnsigned(a, b, width), b));
        });
      })
      .Case([&](arith::MinSIOp) {
        return both([](int64_t a, int64_t b) { return std::min(a, b); });
      })
      .Case([&](arith::MaxSIOp) {
        return both([](int64_t a, int64_t b) { return std::max(a, b); });
      })
      // Sign extension keeps the order of unsigned numbers.
      .Case([&](arith::MinUIOp) {
        return both([](int64_t a, int64_t b) {
          return static_cast<uint64_t>(a) < static_cast<uint64_t>(b) ? a : b;
        });
      })
      .Case([&](arith::AndIOp) { return both(std::bit_and<int64_t>()); })
      .Case([&](arith::OrIOp) { return both(std::bit_or<int64_t>()); })
      .Case([&](arith::XOrIOp) { return both(std::bit_xor<int64_t>()); })
      .Case([&](arith::CmpIOp compareOp) {
        return compare(compareOp, operands, shape);
      })
      .Case([&](math::AbsIOp) { return magnitude(op, operands[0]); })
      .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
            arith::IndexCastOp>(
          [&](Operation *cast) { return resize(cast, operands[0]); })
      .Case([&](arith::FPToSIOp) { return fromFloats(op, operands[0], shape); })
      .Case([&](arith::SelectOp) { return select(operands, shape); })
      .Default([](Operation *) { return nullptr; });
}

} // namespace selvedge::reference
