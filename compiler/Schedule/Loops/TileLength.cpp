// How long the tiles of a kernel take beside each other.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Loops/TileLength.h"

#include "dialect/Sm/Sm.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

namespace {

/// Sign of the change of a value along the fastest axis; none where it is
/// unknown, or where the value depends on another axis.
using Slope = std::optional<int>;

Slope sum(Slope a, Slope b) {
  if (!a || !b || *a * *b < 0)
    return std::nullopt;
  return *a ? a : b;
}

Slope negated(Slope a) { return a ? Slope(-*a) : a; }

/// The change of what `op` computes, from those of its operands. `signOf` tells
/// the sign of a factor or divisor; none where it is unknown.
Slope combined(Operation *op, ArrayRef<Slope> slopes,
               llvm::function_ref<Slope(Value)> signOf) {
  return llvm::TypeSwitch<Operation *, Slope>(op)
      .Case<arith::AddIOp, arith::MaxSIOp, arith::MinSIOp>(
          [&](auto) { return sum(slopes[0], slopes[1]); })
      .Case([&](arith::SubIOp) { return sum(slopes[0], negated(slopes[1])); })
      .Case<arith::ExtSIOp, arith::TruncIOp>([&](auto) { return slopes[0]; })
      .Case<arith::MulIOp, arith::CeilDivSIOp, arith::FloorDivSIOp,
            arith::DivSIOp, arith::DivUIOp>([&](Operation *op) -> Slope {
        Slope sign = signOf(op->getOperand(1));
        if (!sign)
          return std::nullopt;
        return *sign < 0 ? negated(slopes[0]) : slopes[0];
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// The block's number without its place along the other axes, if there are any.
bool isFastestPlace(Operation *op) {
  if (isa<BlockIdOp>(op))
    return llvm::none_of(op->getUsers(),
                         llvm::IsaPred<arith::RemUIOp, arith::DivUIOp>);
  return isa<arith::RemUIOp>(op) &&
         op->getOperand(0).getDefiningOp<BlockIdOp>();
}

/// Whether memory is read, or searched, at what changes along the fastest axis.
bool readsAlong(Operation *op) {
  llvm::SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.omitUsesFromAbove = false;
  (void)getBackwardSlice(op, &slice, options);
  return llvm::any_of(slice, isFastestPlace);
}

/// With `inSegment` of tiles for which memory holds the same.
Slope slopeOf(Value v, bool inSegment) {
  Operation *def = v.getDefiningOp();
  if (!def)
    return 0;
  if (isa<LoadOp, scf::ForOp>(def))
    return !inSegment && readsAlong(def) ? Slope() : 0;
  if (isFastestPlace(def))
    return 1;
  if (isa<BlockIdOp>(def))
    return std::nullopt;
  SmallVector<Slope> slopes = llvm::map_to_vector(
      def->getOperands(), [&](Value v) { return slopeOf(v, inSegment); });
  if (llvm::all_of(slopes, [](Slope s) { return s == 0; }))
    return 0;
  // Whether there is such a tile is no matter of its length.
  if (isa<arith::SelectOp>(def))
    return inSegment ? sum(slopes[1], slopes[2]) : Slope();
  return combined(def, slopes, [](Value factor) -> Slope {
    APInt number;
    if (!matchPattern(factor, m_ConstantInt(&number)))
      return std::nullopt;
    return number.isNegative() ? -1 : 1;
  });
}

/// A block's number, divided by the counts of some axes: its place along all
/// others together.
bool isSlowPlace(Operation *op) {
  if (isa_and_nonnull<BlockIdOp>(op))
    return true;
  return isa_and_nonnull<arith::DivUIOp>(op) &&
         isSlowPlace(op->getOperand(0).getDefiningOp());
}

/// Whether `v` is not negative for any launch: a count, or a constant.
bool isCount(Value v) {
  APInt number;
  if (matchPattern(v, m_ConstantInt(&number)))
    return !number.isNegative();
  auto argument = dyn_cast<BlockArgument>(v);
  auto kernel = argument
                    ? dyn_cast<KernelOp>(argument.getOwner()->getParentOp())
                    : KernelOp();
  return kernel && isa<DimArgAttr>(kernel.getArgs()[argument.getArgNumber()]);
}

/// Sign of the change of a value along the slowest axis.
Slope slopeAcross(Value v) {
  Operation *def = v.getDefiningOp();
  if (!def)
    return 0;
  if (isSlowPlace(def))
    return 1;
  // What a search finds may be anything.
  if (def->getNumRegions() != 0)
    return std::nullopt;
  // A place along another axis.
  if (isa<arith::RemUIOp>(def) &&
      isSlowPlace(def->getOperand(0).getDefiningOp()))
    return 0;
  SmallVector<Slope> slopes =
      llvm::map_to_vector(def->getOperands(), slopeAcross);
  if (llvm::all_of(slopes, [](Slope s) { return s == 0; }))
    return 0;
  return combined(def, slopes, [](Value factor) {
    return isCount(factor) ? Slope(1) : std::nullopt;
  });
}

} // namespace

TileLength tileLength(ArrayRef<scf::ForOp> loops) {
  auto slopeOfSteps = [&](bool inSegment) {
    scf::ForOp first = loops.front(), last = loops.back();
    return sum(slopeOf(last.getUpperBound(), inSegment),
               negated(slopeOf(first.getLowerBound(), inSegment)));
  };
  Slope slope = slopeOfSteps(/*inSegment=*/false);
  if (!slope) {
    if (int inSegment = slopeOfSteps(/*inSegment=*/true).value_or(0))
      return inSegment > 0 ? TileLength::GrowsInSegments
                           : TileLength::ShrinksInSegments;
    scf::ForOp first = loops.front(), last = loops.back();
    Slope across = sum(slopeAcross(last.getUpperBound()),
                       negated(slopeAcross(first.getLowerBound())));
    return across.value_or(0) > 0 ? TileLength::GrowsAcross
                                  : TileLength::Varies;
  }
  return *slope == 0  ? TileLength::Equal
         : *slope > 0 ? TileLength::Grows
                      : TileLength::Shrinks;
}

} // namespace selvedge::schedule
