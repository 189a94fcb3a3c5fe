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
      ways.insert({block->getParentOp(), {block, numInside++}});
}

namespace {

/// What a tile of the first block lacks to be that of another: more than sizes
/// do that make the other one whole.
constexpr uint64_t ofOtherBlock = 1 << 16;

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

  /// By how much `a` is above `b`; 0 where it is not.
  uint64_t above(int64_t a, int64_t b) {
    return a <= b ? 0 : std::min<uint64_t>(uint64_t(a) - uint64_t(b), most);
  }

  uint64_t ofCompare(arith::CmpIPredicate predicate, int64_t a, int64_t b) {
    using arith::CmpIPredicate;
    switch (predicate) {
    case CmpIPredicate::slt:
    case CmpIPredicate::ult:
      return above(a, b - 1);
    case CmpIPredicate::sle:
    case CmpIPredicate::ule:
      return above(a, b);
    case CmpIPredicate::sgt:
    case CmpIPredicate::ugt:
      return above(b, a - 1);
    case CmpIPredicate::sge:
    case CmpIPredicate::uge:
      return above(b, a);
    case CmpIPredicate::eq:
      return std::max(above(a, b), above(b, a));
    case CmpIPredicate::ne:
      return a == b ? 1 : 0;
    }
    llvm_unreachable("unknown predicate");
  }

  /// What `condition` lacks to be `wanted`.
  uint64_t of(Value condition, bool wanted) {
    std::optional<int64_t> value = known(condition);
    if (value && (*value != 0) == wanted)
      return 0;
    Operation *def = condition.getDefiningOp();
    if (auto compare = dyn_cast_or_null<arith::CmpIOp>(def)) {
      std::optional<int64_t> a = known(compare.getLhs()),
                             b = known(compare.getRhs());
      arith::CmpIPredicate predicate =
          wanted ? compare.getPredicate()
                 : arith::invertPredicate(compare.getPredicate());
      if (a && b)
        return std::max<uint64_t>(1, ofCompare(predicate, *a, *b));
    }
    if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(def)) {
      uint64_t a = of(def->getOperand(0), wanted),
               b = of(def->getOperand(1), wanted);
      bool needsBoth = isa<arith::AndIOp>(def) == wanted;
      return std::max<uint64_t>(1, needsBoth ? std::min(a + b, most)
                                             : std::min(a, b));
    }
    if (isa_and_nonnull<arith::XOrIOp>(def) &&
        matchPattern(def->getOperand(1), m_One()))
      return of(def->getOperand(0), !wanted);
    return 1;
  }

  /// What `value` lacks to be more than `other`, or less than it. What it is
  /// computed from says more than the number: a flag times a large one is far
  /// from anything, but its condition need not be.
  uint64_t ofBound(Value value, int64_t other, bool isMore,
                   unsigned depth = 0) {
    constexpr unsigned maxDepth = 24;
    constexpr int64_t mostOther = int64_t(1) << 40;
    std::optional<int64_t> number = known(value);
    if (number && (isMore ? *number > other : *number < other))
      return 0;
    // No size changes a constant.
    if (number && matchPattern(value, m_Constant()))
      return most;
    uint64_t plain = !number  ? 1
                     : isMore ? above(other, *number - 1)
                              : above(*number, other - 1);
    Operation *def = value.getDefiningOp();
    // Another thread block has another tile: no size makes this one that.
    if (isa_and_nonnull<arith::RemUIOp, arith::DivUIOp, sm::BlockIdOp>(def))
      plain = std::min(plain + ofOtherBlock, most);
    if (!def || depth == maxDepth || std::abs(other) > mostOther)
      return plain;
    auto side = [&](unsigned operand, int64_t than, bool more) {
      return ofBound(def->getOperand(operand), than, more, depth + 1);
    };
    auto constant = [&](unsigned operand) -> std::optional<int64_t> {
      APInt found;
      return matchPattern(def->getOperand(operand), m_ConstantInt(&found))
                 ? std::optional(found.getSExtValue())
                 : std::nullopt;
    };
    if (auto select = dyn_cast<arith::SelectOp>(def))
      return std::min(
          {of(select.getCondition(), true) + side(1, other, isMore),
           of(select.getCondition(), false) + side(2, other, isMore), most});
    if (isa<arith::MinSIOp, arith::MaxSIOp>(def)) {
      uint64_t a = side(0, other, isMore), b = side(1, other, isMore);
      bool needsBoth = isa<arith::MinSIOp>(def) == isMore;
      return needsBoth ? std::min(a + b, most) : std::min(a, b);
    }
    if (isa<arith::ExtSIOp, arith::TruncIOp>(def))
      return side(0, other, isMore);
    if (isa<arith::AddIOp, arith::SubIOp>(def)) {
      bool adds = isa<arith::AddIOp>(def);
      std::optional<int64_t> a = known(def->getOperand(0)),
                             b = known(def->getOperand(1));
      // What one side lacks if the other one stays: a constant changes never.
      uint64_t least = b || a ? most : plain;
      if (b)
        least = side(0, adds ? other - *b : other + *b, isMore);
      if (a)
        least = std::min(least, adds ? side(1, other - *a, isMore)
                                     : side(1, *a - other, !isMore));
      return least;
    }
    if (!isa<arith::MulIOp, arith::CeilDivSIOp, arith::FloorDivSIOp,
             arith::DivSIOp, arith::DivUIOp>(def))
      return plain;
    std::optional<int64_t> by = constant(1);
    if (!by || *by <= 0)
      return plain;
    // x * by > other, and how far x / by has to go.
    if (isa<arith::MulIOp>(def))
      return side(0,
                  isMore ? llvm::divideFloorSigned(other, *by)
                         : llvm::divideCeilSigned(other, *by),
                  isMore);
    if (isa<arith::CeilDivSIOp>(def))
      return side(0, (isMore ? other : other - 1) * *by + (isMore ? 0 : 1),
                  isMore);
    return side(0, (isMore ? other + 1 : other) * *by - (isMore ? 1 : 0),
                isMore);
  }
};

} // namespace

void BranchDistance::observe(const Agent &agent, Integers &integers,
                             Operation *owner) {
  auto way = ways.find(owner);
  if (way == ways.end())
    return;
  Lack lack{agent, integers, mostLack};
  uint64_t amount = 0;
  if (auto loop = dyn_cast<scf::ForOp>(owner)) {
    std::optional<int64_t> lower = lack.known(loop.getLowerBound()),
                           upper = lack.known(loop.getUpperBound());
    amount = 1;
    if (lower && upper)
      amount = *lower < *upper
                   ? 0
                   : std::max<uint64_t>(
                         1, std::min(lack.ofBound(loop.getUpperBound(), *lower,
                                                  /*isMore=*/true),
                                     lack.ofBound(loop.getLowerBound(), *upper,
                                                  /*isMore=*/false)));
  } else {
    auto branch = cast<scf::IfOp>(owner);
    amount =
        lack.of(branch.getCondition(), way->second.block == branch.thenBlock());
  }
  // What goes the right way is nearer than what ends before it.
  least = std::min(least, way->second.numInside * (mostLack + 1) + amount);
}

} // namespace selvedge::verify
