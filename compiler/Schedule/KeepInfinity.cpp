// sm-keep-infinity: saturating narrowing that keeps Inf.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMKEEPINFINITY
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

/// Weights of a softmax are exponentials of differences with a value of their
/// row: at most 1, or one that is not used where it is far more; times the
/// inverse of their row's sum less than that.
bool isWeight(Value v) {
  if (auto guarded = v.getDefiningOp<arith::SelectOp>())
    v = guarded.getFalseValue();
  if (auto scaled = v.getDefiningOp<arith::MulFOp>();
      scaled && scaled.getRhs().getDefiningOp<BroadcastOp>())
    v = scaled.getLhs();
  auto weights = v.getDefiningOp<math::Exp2Op>();
  if (!weights)
    return false;
  Value exponent = weights.getOperand();
  if (auto scaled = exponent.getDefiningOp<arith::MulFOp>())
    exponent = scaled.getLhs();
  Value reference;
  if (auto difference = exponent.getDefiningOp<arith::SubFOp>())
    reference = difference.getRhs();
  else if (auto sum = exponent.getDefiningOp<math::FmaOp>())
    reference = sum.getC();
  return reference && reference.getDefiningOp<BroadcastOp>();
}

/// `cvt.satfinite` turns Inf into the largest number, `cvt` what is too large
/// into Inf. Where a warp has one of them, or NaN, its lanes are told apart.
void keepInfinity(ConvertOp convert) {
  OpBuilder b(convert);
  Location loc = convert.getLoc();
  Value source = convert.getSource();
  Type type = source.getType(), narrow = convert.getType();
  auto narrowed = [&](tile::Overflow overflow) -> Value {
    return ConvertOp::create(b, loc, narrow, source, overflow);
  };
  Value kept = narrowed(tile::Overflow::Inf);
  bool isTile = isa<RankedTensorType>(type);
  auto choose = [&] {
    Value infinity = arith::ConstantOp::create(
        b, loc, b.getF32FloatAttr(std::numeric_limits<float>::infinity()));
    if (isTile)
      infinity = SplatOp::create(b, loc, type, infinity);
    Value isInfinite =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ,
                              math::AbsFOp::create(b, loc, source), infinity);
    return arith::SelectOp::create(b, loc, isInfinite, kept,
                                   narrowed(tile::Overflow::Sat));
  };
  Value result;
  if (isTile) {
    auto branch = scf::IfOp::create(
        b, loc, narrow, NotFiniteOp::create(b, loc, b.getI1Type(), kept),
        /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value chosen = choose();
    scf::YieldOp::create(b, loc, chosen);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, kept);
    result = branch.getResult(0);
  } else {
    result = choose();
  }
  convert.replaceAllUsesWith(result);
  convert.erase();
}

struct SmKeepInfinityPass : impl::SmKeepInfinityBase<SmKeepInfinityPass> {
  void runOnOperation() override {
    SmallVector<ConvertOp> converts;
    getOperation()->walk([&](ConvertOp convert) {
      if (convert.getOverflow() == tile::Overflow::Sat &&
          !isWeight(convert.getSource()))
        converts.push_back(convert);
    });
    for (ConvertOp convert : converts)
      keepInfinity(convert);
  }
};

} // namespace
} // namespace selvedge::schedule
