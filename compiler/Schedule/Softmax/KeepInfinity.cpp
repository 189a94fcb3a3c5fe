// sm-keep-infinity: saturating narrowing that keeps Inf.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/Roles/RareWork.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <limits>

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMKEEPINFINITY
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

/// The tile that a compare, true for Inf and NaN, is about; else null.
Value testedTile(AnyOp any) {
  auto compare = any.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!compare || compare.getPredicate() != arith::CmpFPredicate::UGE)
    return {};
  auto size = compare.getLhs().getDefiningOp<math::AbsFOp>();
  auto limit = compare.getRhs().getDefiningOp<SplatOp>();
  bool isInfinite = limit && matchPattern(limit.getValue(), m_PosInfFloat());
  return size && isInfinite ? size.getOperand() : Value();
}

/// The branch that computes `source` again where that is not finite, if this is
/// all that it does.
scf::IfOp repairOf(Value source, Block *block) {
  auto branch = source.getDefiningOp<scf::IfOp>();
  if (!branch || branch.getNumResults() != 1 || !source.hasOneUse() ||
      branch->getBlock() != block)
    return {};
  auto test = branch.getCondition().getDefiningOp<NotFiniteOp>();
  bool isAlone = test && test->hasOneUse() && test->getBlock() == block &&
                 test.getSource() == branch.elseYield().getOperand(0);
  return isAlone ? branch : scf::IfOp();
}

/// `cvt.satfinite` turns Inf into the largest number (`clamp`), `cvt` what is
/// too large into Inf. Where a warp has one of them, or NaN, its lanes are told
/// apart. What is not finite stays so when it is narrowed: one test stands for
/// that of a branch that computes such a tile again.
void keepInfinity(ConvertOp convert) {
  OpBuilder b(convert);
  Location loc = convert.getLoc();
  Value source = convert.getSource();
  scf::IfOp repair = repairOf(source, convert->getBlock());
  if (repair)
    source = repair.elseYield().getOperand(0);
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
                                   narrowed(tile::Overflow::Clamp));
  };
  Value result;
  if (isTile) {
    auto branch = scf::IfOp::create(
        b, loc, narrow, NotFiniteOp::create(b, loc, b.getI1Type(), kept),
        /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, kept);
    b.setInsertionPointToStart(branch.thenBlock());
    if (repair) {
      Operation *test = repair.getCondition().getDefiningOp();
      for (Operation *op : {test, repair.getOperation()})
        op->moveBefore(branch.thenBlock(), b.getInsertionPoint());
      source = repair.getResult(0);
      kept = narrowed(tile::Overflow::Inf);
    }
    Value chosen = choose();
    scf::YieldOp::create(b, loc, chosen);
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
    SmallVector<scf::IfOp> repairs;
    getOperation()->walk([&](AnyOp any) {
      Value tile = testedTile(any);
      if (!tile)
        return;
      for (Operation *user : any->getUsers())
        if (auto branch = dyn_cast<scf::IfOp>(user))
          repairs.push_back(branch);
      OpBuilder b(any);
      any.replaceAllUsesWith(
          NotFiniteOp::create(b, any.getLoc(), any.getType(), tile)
              .getResult());
      any.erase();
    });
    getOperation()->walk([&](ConvertOp convert) {
      if (convert.getOverflow() == tile::Overflow::Sat)
        converts.push_back(convert);
    });
    for (ConvertOp convert : converts)
      keepInfinity(convert);
    for (scf::IfOp branch : repairs)
      delayWork(branch);
  }
};

} // namespace
} // namespace selvedge::schedule
