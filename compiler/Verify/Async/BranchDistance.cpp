// How far executions are from code that none has reached.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/BranchDistance.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

namespace selvedge::verify {

using namespace mlir;

BranchDistance::BranchDistance(Block *target) : target(target) {
  uint64_t numInside = 0;
  for (Block *block = target; !isa<sm::KernelOp>(block->getParentOp());
       block = block->getParentOp()->getBlock())
    if (isa<scf::ForOp, scf::IfOp>(block->getParentOp()))
      branches.insert({block->getParentOp(), {block, numInside++}});
}

namespace {

/// What a tile of the first block lacks to be that of another: more than sizes
/// do that make the other one whole.
constexpr uint64_t ofOtherBlock = 1 << 16;

/// By how much something goes the other way, and the numbers to change: all of
/// one of some ways, the least one first; no way where none is known.
struct Need {
  uint64_t amount = 0;
  BranchDistance::Ways ways = {};
};

/// No more ways of one side of a compare: each is tried.
constexpr size_t mostWays = 3;

/// What conditions lack, by what an agent knows.
struct Lack {
  const Agent &agent;
  Integers &integers;
  uint64_t most;

  std::optional<int64_t> known(Value value) {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return constant.getSExtValue();
    Tracked tracked = agent.values.lookup(value);
    return tracked.kind == Tracked::Kind::Integer ? integers.known(tracked.id)
                                                  : std::nullopt;
  }

  Need both(const Need &a, const Need &b) {
    Need need{std::min(a.amount + b.amount, most)};
    if (a.ways.empty() || b.ways.empty())
      need.ways = a.ways.empty() ? b.ways : a.ways;
    else
      for (const BranchDistance::Way &first : a.ways)
        for (const BranchDistance::Way &second : b.ways) {
          BranchDistance::Way way = first;
          llvm::append_range(way, second);
          addWay(need, std::move(way));
        }
    return need;
  }

  static Need either(Need a, Need b) {
    if (b.amount < a.amount)
      std::swap(a, b);
    if (a.amount > 0)
      for (BranchDistance::Way &way : b.ways)
        addWay(a, std::move(way));
    return a;
  }

  static void addWay(Need &need, BranchDistance::Way way) {
    if (need.ways.size() < mostWays && !llvm::is_contained(need.ways, way))
      need.ways.push_back(std::move(way));
  }

  /// By how much `a` is above `b`; 0 where it is not.
  uint64_t above(int64_t a, int64_t b) {
    return a <= b ? 0 : std::min<uint64_t>(uint64_t(a) - uint64_t(b), most);
  }

  /// What `a < b` lacks, or `a <= b`.
  Need ofLess(Value lhs, Value rhs, bool orEqual) {
    std::optional<int64_t> a = known(lhs), b = known(rhs);
    if (!a || !b)
      return {1};
    if (*a < *b + orEqual)
      return {};
    Need less = ofBound(lhs, *b + orEqual, /*isMore=*/false),
         more = ofBound(rhs, *a - orEqual, /*isMore=*/true);
    // Both sides may move with a number: what moves one is not all.
    if (more.amount < less.amount)
      std::swap(less, more);
    llvm::append_range(less.ways, more.ways);
    less.amount = std::max<uint64_t>(1, less.amount);
    return less;
  }

  Need ofCompare(arith::CmpIPredicate predicate, Value a, Value b) {
    using arith::CmpIPredicate;
    switch (predicate) {
    case CmpIPredicate::slt:
    case CmpIPredicate::ult:
      return ofLess(a, b, /*orEqual=*/false);
    case CmpIPredicate::sle:
    case CmpIPredicate::ule:
      return ofLess(a, b, /*orEqual=*/true);
    case CmpIPredicate::sgt:
    case CmpIPredicate::ugt:
      return ofLess(b, a, /*orEqual=*/false);
    case CmpIPredicate::sge:
    case CmpIPredicate::uge:
      return ofLess(b, a, /*orEqual=*/true);
    case CmpIPredicate::eq:
      return both(ofLess(a, b, true), ofLess(b, a, true));
    case CmpIPredicate::ne:
      return {1};
    }
    llvm_unreachable("unknown predicate");
  }

  /// What `condition` lacks to be `wanted`.
  Need of(Value condition, bool wanted) {
    std::optional<int64_t> value = known(condition);
    if (value && (*value != 0) == wanted)
      return {};
    Operation *def = condition.getDefiningOp();
    Need need{1};
    if (auto compare = dyn_cast_or_null<arith::CmpIOp>(def))
      need = ofCompare(wanted ? compare.getPredicate()
                              : arith::invertPredicate(compare.getPredicate()),
                       compare.getLhs(), compare.getRhs());
    else if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(def)) {
      Need a = of(def->getOperand(0), wanted),
           b = of(def->getOperand(1), wanted);
      bool needsBoth = isa<arith::AndIOp>(def) == wanted;
      need = needsBoth ? both(a, b) : either(std::move(a), std::move(b));
    } else if (isa_and_nonnull<arith::XOrIOp>(def) &&
               matchPattern(def->getOperand(1), m_One()))
      return of(def->getOperand(0), !wanted);
    need.amount = std::max<uint64_t>(1, need.amount);
    return need;
  }

  /// That of a number which nothing here computes.
  Need ofNumber(Value value, uint64_t amount, bool isMore) {
    Need need{amount};
    SmallVector<int64_t> indices;
    if (auto load = value.getDefiningOp<sm::LoadOp>()) {
      for (Value index : load.getIndices()) {
        std::optional<int64_t> number = known(index);
        if (!number)
          return need;
        indices.push_back(*number);
      }
    } else if (!isa<BlockArgument>(value)) {
      return need;
    }
    need.ways.push_back({{value, isMore ? int64_t(amount) : -int64_t(amount),
                          std::move(indices)}});
    return need;
  }

  /// What `value` lacks to be more than `other`, or less than it. What it is
  /// computed from says more than the number: a flag times a large one is far
  /// from anything, but its condition need not be.
  Need ofBound(Value value, int64_t other, bool isMore, unsigned depth = 0) {
    constexpr unsigned maxDepth = 24;
    constexpr int64_t mostOther = int64_t(1) << 40;
    std::optional<int64_t> number = known(value);
    if (number && (isMore ? *number > other : *number < other))
      return {};
    // No size changes a constant.
    if (number && matchPattern(value, m_Constant()))
      return {most};
    uint64_t amount = !number  ? 1
                      : isMore ? above(other, *number - 1)
                               : above(*number, other - 1);
    Operation *def = value.getDefiningOp();
    // Another thread block has another tile: no size makes this one that.
    if (isa_and_nonnull<arith::RemUIOp, arith::DivUIOp, sm::BlockIdOp>(def))
      amount = std::min(amount + ofOtherBlock, most);
    Need plain = ofNumber(value, amount, isMore);
    if (!def || depth == maxDepth || std::abs(other) > mostOther)
      return plain;
    auto side = [&](unsigned operand, int64_t than, bool more) {
      return ofBound(def->getOperand(operand), than, more, depth + 1);
    };
    if (auto select = dyn_cast<arith::SelectOp>(def))
      return either(
          both(of(select.getCondition(), true), side(1, other, isMore)),
          both(of(select.getCondition(), false), side(2, other, isMore)));
    if (isa<arith::MinSIOp, arith::MaxSIOp>(def)) {
      Need a = side(0, other, isMore), b = side(1, other, isMore);
      bool needsBoth = isa<arith::MinSIOp>(def) == isMore;
      return needsBoth ? both(a, b) : either(std::move(a), std::move(b));
    }
    if (isa<arith::ExtSIOp, arith::TruncIOp>(def))
      return side(0, other, isMore);
    if (auto sum = dyn_cast<arith::AddIOp>(def))
      if (std::optional<Need> need = ofSteps(sum, other, isMore, depth))
        return *need;
    if (isa<arith::AddIOp, arith::SubIOp>(def)) {
      bool adds = isa<arith::AddIOp>(def);
      std::optional<int64_t> a = known(def->getOperand(0)),
                             b = known(def->getOperand(1));
      // What one side lacks if the other one stays: a constant changes never.
      Need least = b || a ? Need{most} : plain;
      if (b)
        least = side(0, adds ? other - *b : other + *b, isMore);
      if (a)
        least = either(std::move(least), adds ? side(1, other - *a, isMore)
                                              : side(1, *a - other, !isMore));
      return least;
    }
    if (!isa<arith::MulIOp, arith::CeilDivSIOp, arith::FloorDivSIOp,
             arith::DivSIOp, arith::DivUIOp>(def))
      return plain;
    std::optional<int64_t> a = known(def->getOperand(0)),
                           b = known(def->getOperand(1));
    Need least = plain;
    if (isa<arith::MulIOp>(def)) {
      // x * by > other, and the same of `by`.
      auto ofFactor = [&](unsigned operand, int64_t by) {
        return side(operand,
                    isMore ? llvm::divideFloorSigned(other, by)
                           : llvm::divideCeilSigned(other, by),
                    isMore);
      };
      if (b && *b > 0)
        least = ofFactor(0, *b);
      if (a && *a > 0)
        least = either(std::move(least), ofFactor(1, *a));
      return least;
    }
    // Products of such numbers do not wrap.
    auto isNumber = [](int64_t number) { return llvm::isInt<32>(number); };
    // How far x / by has to go: x at or beyond so many times `by`.
    bool isCeil = isa<arith::CeilDivSIOp>(def);
    int64_t times = other + isMore - isCeil;
    if (b && *b > 0 && isNumber(*b) && isNumber(times))
      least = side(0, times * *b - isMore + isCeil, isMore);
    // The other way `by`.
    if (a && b && *a > 0 && *b > 0 && times > 0)
      least =
          either(std::move(least),
                 side(1, llvm::divideFloorSigned(*a - isCeil, times) + isMore,
                      !isMore));
    return least;
  }

  /// That of `from + ceildiv(to - from, step) * step`, or with floordiv: what
  /// `to` lacks. Alone, `from` would move a sum that it cancels out of.
  std::optional<Need> ofSteps(arith::AddIOp sum, int64_t other, bool isMore,
                              unsigned depth) {
    auto product = sum.getRhs().getDefiningOp<arith::MulIOp>();
    Operation *quotient = product ? product.getLhs().getDefiningOp() : nullptr;
    if (!isa_and_nonnull<arith::CeilDivSIOp, arith::FloorDivSIOp>(quotient))
      return std::nullopt;
    auto distance = quotient->getOperand(0).getDefiningOp<arith::SubIOp>();
    std::optional<int64_t> step = known(product.getRhs()),
                           divisor = known(quotient->getOperand(1)),
                           from = known(sum.getLhs());
    if (!distance || distance.getRhs() != sum.getLhs() || !from || !step ||
        *step <= 0 || divisor != step)
      return std::nullopt;
    // Steps up to `other`, and the numbers that are as many.
    int64_t times = isMore ? llvm::divideFloorSigned(other - *from, *step)
                           : llvm::divideCeilSigned(other - *from, *step);
    bool isCeil = isa<arith::CeilDivSIOp>(quotient);
    int64_t than = isMore
                       ? *from + *step * (isCeil ? times : times + 1) - !isCeil
                       : *from + *step * (isCeil ? times - 1 : times) + isCeil;
    return ofBound(distance.getLhs(), than, isMore, depth + 1);
  }
};

} // namespace

void BranchDistance::observe(const Agent &agent, Integers &integers,
                             Operation *owner) {
  auto way = branches.find(owner);
  if (way == branches.end())
    return;
  Lack lack{agent, integers, mostLack};
  Need need;
  if (auto loop = dyn_cast<scf::ForOp>(owner)) {
    need = lack.ofLess(loop.getLowerBound(), loop.getUpperBound(),
                       /*orEqual=*/false);
  } else {
    auto branch = cast<scf::IfOp>(owner);
    need =
        lack.of(branch.getCondition(), way->second.block == branch.thenBlock());
  }
  // What goes the right way is nearer than what ends before it.
  uint64_t far = way->second.numInside * (mostLack + 1) + need.amount;
  if (far < least) {
    least = far;
    nearest = std::move(need.ways);
  }
}

} // namespace selvedge::verify
