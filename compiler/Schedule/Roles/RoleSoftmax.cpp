// Online softmax by speculation on the maximum.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/RoleKernel.h"
#include "dialect/Tile/Provenance.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// Per thread, the sum of a step's weights up to which the reference of the
/// steps before serves: beyond it weights could leave the range of the type
/// that they are narrowed to.
static double speculationLimit(Type narrowed) {
  return narrowed.isF16() ? 0x1p15 : 0x1p40;
}

namespace {

/// Emits operations of a step with the types of one warpgroup.
struct Rows {
  OpBuilder &b;
  Location loc;
  Type full, row;

  Value f32(float value) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  }
  Value splat(Value scalar, Type type) {
    return SplatOp::create(b, loc, type, scalar);
  }
  Value spread(Value perRow) {
    return BroadcastOp::create(b, loc, full, perRow);
  }
};

} // namespace

/// What a step's exponents of 2 are made of: a factor of all scores and that of
/// the exponent are one. With `isWhole` scores are masked in a branch.
RoleKernel::Exponents RoleKernel::findExponents(const OnlineSoftmax &step,
                                                scf::ForOp loop,
                                                IRMapping &mapping,
                                                Value isWhole) {
  Scores scores = scoresOf(step, loop);
  Exponents result{{}, {}, {}, step.scores.getLoc()};
  result.factor = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(log2e));
  if (scores.condition && !isWhole)
    result.presence = emitMask(scores.condition, mapping);
  if (scores.factor)
    result.factor = b.createOrFold<arith::MulFOp>(
        loc, valueOf(scores.factor, mapping), result.factor);
  result.scores = valueOf(scores.rest, mapping);
  if (isWhole)
    maskUnlessWhole(result, loop, scores.condition, isWhole, mapping);
  return result;
}

/// All users of these are the mask's select, of their kind, or take them for
/// what exists. Copies have been emitted elsewhere.
llvm::SmallPtrSet<Operation *, 16> RoleKernel::findMasking(scf::ForOp loop) {
  Operation *select = schedule.softmax[loop].scores.getDefiningOp();
  llvm::SmallPtrSet<Operation *, 16> masking{select};
  auto isOfMask = [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (user == select)
      return use.getOperandNumber() == 0;
    if (auto reduce = dyn_cast<ReduceOp>(user))
      return use.get() != reduce.getSource();
    if (auto mma = dyn_cast<MmaOp>(user))
      return llvm::is_contained(mma.getPresence(), use.get());
    return isa<CopyOp>(user) || masking.contains(user);
  };
  for (Operation &op : llvm::reverse(*loop.getBody()))
    if (op.getNumResults() == 1 && op.getNumRegions() == 0 &&
        isMemoryEffectFree(&op) && llvm::all_of(op.getUses(), isOfMask))
      masking.insert(&op);
  return masking;
}

/// Absent scores become -inf where `isWhole` is false; where it is true there
/// are none, which verify-sm-async demands.
void RoleKernel::maskUnlessWhole(Exponents &exponents, scf::ForOp loop,
                                 Value condition, Value isWhole,
                                 IRMapping mapping) {
  makePositive(exponents);
  auto branch = scf::IfOp::create(b, loc, exponents.scores.getType(), isWhole,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  WholeOp::create(b, loc,
                  presenceOf(schedule.lagged[loop].getPresence(), mapping));
  scf::YieldOp::create(b, loc, exponents.scores);
  b.setInsertionPointToStart(branch.elseBlock());
  emitMissing(condition, mapping);
  exponents.presence = emitMask(condition, mapping);
  maskScores(exponents);
  scf::YieldOp::create(b, loc, exponents.scores);
  exponents.scores = branch.getResult(0);
}

/// Scores of which exponents of 2 are a positive multiple, so that the largest
/// score of a row has the largest exponent and -inf has -inf. The factor of the
/// program's scores is nearly always positive; else they are multiplied.
void RoleKernel::makePositive(Exponents &exponents) {
  constexpr float least = std::numeric_limits<float>::min();
  if (exponents.isPositive)
    return;
  exponents.isPositive = true;
  APFloat constant(0.f);
  if (matchPattern(exponents.factor, m_ConstantFloat(&constant)) &&
      constant.isNormal() && !constant.isNegative())
    return;
  Type full = exponents.scores.getType();
  Rows rows{b, loc, full, {}};
  Value isPositive = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE,
                                           exponents.factor, rows.f32(least));
  auto branch = scf::IfOp::create(b, loc, TypeRange{full, b.getF32Type()},
                                  isPositive, true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loc,
                         ValueRange{exponents.scores, exponents.factor});
    b.setInsertionPointToStart(branch.elseBlock());
    Value scaled = arith::MulFOp::create(b, loc, exponents.scores,
                                         rows.splat(exponents.factor, full));
    scf::YieldOp::create(b, loc, ValueRange{scaled, rows.f32(1)});
  }
  exponents.scores = branch.getResult(0);
  // Says to the verifiers what both arms guarantee.
  exponents.factor =
      arith::MaxNumFOp::create(b, loc, branch.getResult(1), rows.f32(least));
}

/// Absent scores become -inf, before they are multiplied.
void RoleKernel::maskScores(Exponents &exponents) {
  makePositive(exponents);
  if (!exponents.presence)
    return;
  Rows rows{b, loc, exponents.scores.getType(), {}};
  Value absent = rows.splat(rows.f32(-infinity), rows.full);
  exponents.scores = arith::SelectOp::create(
      b, exponents.mask, exponents.presence, exponents.scores, absent);
  exponents.presence = Value();
}

/// The maximum as the program knows it.
Value RoleKernel::naturalMax(Value max) {
  Rows rows{b, loc, {}, max.getType()};
  return arith::MulFOp::create(b, loc, max,
                               rows.splat(rows.f32(ln2), rows.row));
}

/// Exponents that are rounded as a huge reference is, with a factor of 1: the
/// largest one is that reference exactly, and no weight is more than 1. Tested
/// where the step is not one of a few.
void RoleKernel::roundHuge(Exponents &exponents, Value reference,
                           bool isTested) {
  Type full = exponents.scores.getType();
  Rows rows{b, loc, full, reference.getType()};
  auto rounded = [&] {
    return arith::MulFOp::create(b, loc, exponents.scores,
                                 rows.splat(exponents.factor, full));
  };
  if (!isTested) {
    exponents.scores = rounded();
    exponents.factor = rows.f32(1);
    return;
  }
  Value isHuge =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE,
                            math::AbsFOp::create(b, loc, reference),
                            rows.splat(rows.f32(hugeExponent), rows.row));
  auto branch = scf::IfOp::create(
      b, loc, TypeRange{full, b.getF32Type()},
      AnyOp::create(b, reference.getLoc(), b.getI1Type(), isHuge),
      /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, ValueRange{rounded(), rows.f32(1)});
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, ValueRange{exponents.scores, exponents.factor});
  exponents.scores = branch.getResult(0);
  exponents.factor = branch.getResult(1);
}

/// The step as the program has it, except that exponents and the maximum are
/// those of 2 and each thread keeps its part of the sum. In the first step of a
/// tile there is nothing to rescale. `meet` is called before the weights.
void RoleKernel::emitExactSoftmax(const OnlineSoftmax &step, scf::ForOp loop,
                                  Exponents exponents, IRMapping &mapping,
                                  bool isFirst, Meet meet) {
  Rows rows{b, loc, typeOfWarpgroup(step.weights.getType()),
            typeOfWarpgroup(step.newMax.getType())};
  Value top =
      ReduceOp::create(b, loc, rows.row, tile::Combine::Max, exponents.scores,
                       step.over, presenceOf(step.maxPresence, mapping));
  Value max = arith::MulFOp::create(b, loc, top,
                                    rows.splat(exponents.factor, rows.row));
  Value before = valueOf(loop.getRegionIterArg(step.max), mapping);
  if (!isFirst)
    max = arith::MaximumFOp::create(b, loc, before, max);
  // A row without scores has no maximum to refer to.
  Value none = rows.splat(rows.f32(-infinity), rows.row);
  Value isEmpty =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, max, none);
  Value reference =
      arith::SelectOp::create(b, step.reference.getLoc(), isEmpty,
                              rows.splat(rows.f32(0), rows.row), max);
  roundHuge(exponents, reference, isFirst);
  meet(Value());
  Value shift = arith::NegFOp::create(b, loc, reference);
  Value weights = math::Exp2Op::create(
      b, loc,
      math::FmaOp::create(b, loc, exponents.scores,
                          rows.splat(exponents.factor, rows.full),
                          rows.spread(shift)));
  Value partial =
      FoldOp::create(b, loc, schedule.partialType, tile::Combine::Add, weights,
                     step.over, presenceOf(step.sumPresence, mapping));
  mapping.map(step.newMax, max);
  mapping.map(step.weights, weights);
  for (Operation *user : step.weights.getUsers())
    if (isa<ConvertOp>(user))
      cloneConverted(*user, mapping);
  if (isFirst) {
    mapping.map(step.newSum, partial);
    for (auto [index, acc] : llvm::zip_equal(step.accs, step.newAccs))
      mapping.map(acc, valueOf(loop.getRegionIterArg(index), mapping));
    return;
  }
  Value alpha = math::Exp2Op::create(
      b, loc, arith::SubFOp::create(b, loc, before, reference));
  Value kept = arith::MulFOp::create(
      b, loc, valueOf(loop.getRegionIterArg(step.sum), mapping),
      BroadcastOp::create(b, loc, schedule.partialType, alpha));
  mapping.map(step.newSum, arith::AddFOp::create(b, loc, kept, partial));
  for (auto [index, acc] : llvm::zip_equal(step.accs, step.newAccs)) {
    Type type = typeOfWarpgroup(acc.getType());
    mapping.map(acc, arith::MulFOp::create(
                         b, loc, valueOf(loop.getRegionIterArg(index), mapping),
                         BroadcastOp::create(b, loc, type, alpha)));
  }
}

/// The place of the test whether a step's weights may be used, which stands for
/// the guards of the exact step. Of the kernel `main` it is
/// `main.speculation0`.
static Location speculationLoc(const OnlineSoftmax &step) {
  std::optional<tile::SafetyNote> note = tile::noteOf(step.reference.getLoc());
  if (!note)
    return step.weights.getLoc();
  StringRef kernel = StringRef(note->id).rsplit('.').first;
  return tile::withNote(
      tile::withoutNote(step.weights.getLoc()),
      {(kernel + ".speculation0").str(), "guard", "speculated maximum",
       "weights are taken against the maximum of the steps before; where a row "
       "has none yet the exponents are NaN, where it grew too far a sum passes "
       "the limit: then a warp takes the exact step"});
}

/// Weights against the maximum of the steps before. They are exact weights for
/// that reference, whatever the maximum has become, as long as no weight grows
/// past the limit: then, or if there was no maximum (the exponents are +inf or
/// NaN), some warps take the exact step. `meet` is called before the sums of
/// the weights' products are needed: behind the first weights where there are
/// many. Few are no more instructions than ptxas moves ahead of a wait.
void RoleKernel::emitSoftmax(const OnlineSoftmax &step, scf::ForOp loop,
                             IRMapping &mapping, Meet meet, Value isWhole) {
  Rows rows{b, loc, typeOfWarpgroup(step.weights.getType()),
            typeOfWarpgroup(step.newMax.getType())};
  Value max = valueOf(loop.getRegionIterArg(step.max), mapping),
        sum = valueOf(loop.getRegionIterArg(step.sum), mapping);
  constexpr int64_t manyWeights = 64;
  bool isLong = layoutOf(rows.full).getNumRegs() >= manyWeights ||
                schedule.isLongBehindTurn(loop);
  std::optional<Exponents> open;
  // Ends a basic block, as masks do: ptxas moves no weights ahead of the turn
  // (D 256: 70 instructions, 1 %).
  if (!isLong && plan.warpgroups == 2 &&
      !step.scores.getDefiningOp<arith::SelectOp>()) {
    open = findExponents(step, loop, mapping);
    makePositive(*open);
  }
  if (!isLong)
    meet(Value());
  Value shift = arith::NegFOp::create(b, loc, max);
  Exponents from = open ? *open : findExponents(step, loop, mapping, isWhole);
  // The exact step, too, has the masked scores: predicates that wait for it
  // would take registers.
  bool isMasked = bool(from.presence);
  if (isMasked)
    maskScores(from);
  Value exponents = math::FmaOp::create(b, loc, from.scores,
                                        rows.splat(from.factor, rows.full),
                                        rows.spread(shift));
  Value weights = math::Exp2Op::create(b, loc, exponents);
  Value partial =
      FoldOp::create(b, loc, schedule.partialType, tile::Combine::Add, weights,
                     step.over, presenceOf(step.sumPresence, mapping));
  if (isLong)
    meet(partial);
  SmallVector<Value> results{max, arith::AddFOp::create(b, loc, sum, partial)};
  SmallVector<Value> sources{step.newMax, step.newSum};
  for (auto [index, acc] : llvm::zip_equal(step.accs, step.newAccs)) {
    results.push_back(valueOf(loop.getRegionIterArg(index), mapping));
    sources.push_back(acc);
  }
  double limit = speculationLimit(b.getBF16Type());
  IRMapping fast = mapping;
  fast.map(step.weights, weights);
  for (Operation *user : step.weights.getUsers())
    if (isa<ConvertOp>(user)) {
      results.push_back(cloneConverted(*user, fast)->getResult(0));
      sources.push_back(user->getResult(0));
      limit = std::min(limit, speculationLimit(getElementTypeOrSelf(
                                  user->getResult(0).getType())));
    }
  // Against a huge maximum any weight is too much.
  Value most =
      math::FmaOp::create(b, loc, math::AbsFOp::create(b, loc, max),
                          rows.splat(rows.f32(-limit / hugeExponent), rows.row),
                          rows.splat(rows.f32(limit), rows.row));
  auto over = arith::CmpFOp::create(
      b, loc, arith::CmpFPredicate::UGT, partial,
      BroadcastOp::create(b, loc, schedule.partialType, most));
  auto branch = scf::IfOp::create(
      b, loc, ValueRange(results).getTypes(),
      AnyOp::create(b, speculationLoc(step), b.getI1Type(), over),
      /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  IRMapping slow = mapping;
  if (!isMasked)
    maskScores(from);
  emitExactSoftmax(step, loop, from, slow);
  scf::YieldOp::create(b, loc, llvm::map_to_vector(sources, [&](Value v) {
                         return valueOf(v, slow);
                       }));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, results);
  for (auto [from, to] : llvm::zip_equal(sources, branch.getResults()))
    mapping.map(from, to);
}

} // namespace selvedge::schedule
