// tile-expand-softmax: the definition of the softmax operations.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/LinearIndex.h"
#include "compiler/Schedule/Passes.h"
#include "dialect/Tile/Provenance.h"

#include <limits>

namespace selvedge::schedule {

#define GEN_PASS_DEF_TILEEXPANDSOFTMAX
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// Emits the guarded arithmetic that all softmax operations share.
class SoftmaxBuilder {
public:
  SoftmaxBuilder(OpBuilder &builder, Operation *op, NoteIds &ids)
      : b(builder), loc(op->getLoc()), op(op), ids(ids) {}

  /// The location of a guard's select.
  Location guard(StringRef subject, StringRef reason) {
    return withNote(
        loc, {ids.next(op, "guard"), "guard", subject.str(), reason.str(), {}});
  }

  Value constant(double value, Type like) {
    auto f32 = b.getF32Type();
    Value scalar =
        arith::ConstantOp::create(b, loc, b.getFloatAttr(f32, value));
    return broadcastTo(b, loc, scalar, like);
  }

  Value spread(Value value, Value like) {
    return broadcastTo(b, loc, value, like.getType());
  }

  Value equals(Value value, double constantValue) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, value,
                                 constant(constantValue, value.getType()));
  }

  /// The reference that exponents are taken against: never -inf, so that
  /// `-inf - reference` is -inf and not NaN.
  Value reference(Value max) {
    Value empty = equals(max, -std::numeric_limits<double>::infinity());
    return arith::SelectOp::create(
        b,
        guard("softmax reference",
              "a row without keys so far has maximum -inf, and -inf - -inf "
              "would be NaN: its exponents are taken against 0"),
        empty, constant(0, max.getType()), max);
  }

  /// exp(x - ref). The difference comes first: it is exact for x == ref, so the
  /// largest weight is exactly 1 whatever the magnitude of the scores.
  Value exponential(Value x, Value ref) {
    Value difference = arith::SubFOp::create(b, loc, x, spread(ref, x));
    Value scaled = arith::MulFOp::create(
        b, loc, difference, constant(1.4426950408889634, x.getType()));
    return math::Exp2Op::create(b, loc, scaled);
  }

  Value reduce(Combine kind, Value x, SoftmaxUpdateOp step, Type like) {
    return ReduceOp::create(b, loc, withElementType(like, b.getF32Type()), kind,
                            x, b.getStrArrayAttr({step.getOver()}),
                            step.getPresence());
  }

  OpBuilder &b;
  Location loc;
  Operation *op;
  NoteIds &ids;
};

/// Rescales the accumulators by `alpha` and appends them to `results`.
void rescale(SoftmaxBuilder &s, ValueRange accs, Value alpha,
             SmallVectorImpl<Value> &results) {
  for (Value acc : accs)
    results.push_back(
        arith::MulFOp::create(s.b, s.loc, acc, s.spread(alpha, acc)));
}

/// The part of `condition` that says nothing of single scores, and takes whole
/// rows; null for none.
Value rowsPart(Value condition, StringAttr over) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    Value parts[] = {rowsPart(both.getLhs(), over),
                     rowsPart(both.getRhs(), over)};
    return parts[0] && parts[1] ? condition : parts[0] ? parts[0] : parts[1];
  }
  Value source = analysis::source(condition);
  return llvm::is_contained(axesOf(source.getType()), over) ? Value()
                                                            : condition;
}

/// The weights, 0 in rows that the step takes nothing of: their maximum is that
/// of other steps, and may be NaN.
Value withoutRows(SoftmaxBuilder &s, SoftmaxUpdateOp op, Value weights) {
  for (Value condition : op.getPresence()) {
    Value part = rowsPart(condition, op.getOverAttr());
    if (!part)
      continue;
    weights = arith::SelectOp::create(
        s.b,
        s.guard("softmax weight",
                "a row of which this step takes nothing keeps its maximum, "
                "which may be NaN: its weights are 0"),
        s.spread(part, weights), weights, s.constant(0, weights.getType()));
  }
  return weights;
}

void expandUpdate(SoftmaxUpdateOp op, NoteIds &ids) {
  OpBuilder builder(op);
  SoftmaxBuilder s(builder, op, ids);
  Type state = op.getMax().getType();
  Value top = s.reduce(Combine::Max, op.getScores(), op, state);
  Value newMax =
      arith::MaximumFOp::create(builder, op.getLoc(), op.getMax(), top);
  Value ref = s.reference(newMax);
  Value weights = withoutRows(s, op, s.exponential(op.getScores(), ref));
  Value alpha = s.exponential(op.getMax(), ref);
  Value kept = arith::MulFOp::create(builder, op.getLoc(), op.getSum(), alpha);
  Value newSum = arith::AddFOp::create(
      builder, op.getLoc(), kept, s.reduce(Combine::Add, weights, op, state));
  SmallVector<Value> results{weights, newMax, newSum};
  rescale(s, op.getAccs(), alpha, results);
  op->replaceAllUsesWith(results);
  op.erase();
}

void expandInclude(SoftmaxIncludeOp op, NoteIds &ids) {
  OpBuilder builder(op);
  SoftmaxBuilder s(builder, op, ids);
  Value score = s.spread(op.getScore(), op.getMax());
  Value newMax =
      arith::MaximumFOp::create(builder, op.getLoc(), op.getMax(), score);
  Value ref = s.reference(newMax);
  Value alpha = s.exponential(op.getMax(), ref);
  Value kept = arith::MulFOp::create(builder, op.getLoc(), op.getSum(), alpha);
  Value newSum = arith::AddFOp::create(builder, op.getLoc(), kept,
                                       s.exponential(score, ref));
  SmallVector<Value> results{newMax, newSum};
  rescale(s, op.getAccs(), alpha, results);
  op->replaceAllUsesWith(results);
  op.erase();
}

/// `value` where the sum of weights is not 0 (a NaN sum included), else 0.
Value unlessEmpty(SoftmaxBuilder &s, StringRef subject, Value sum,
                  Value value) {
  Value empty = s.spread(s.equals(sum, 0), value);
  return arith::SelectOp::create(
      s.b,
      s.guard(
          subject,
          "a row without keys has a sum of 0, and 0 / 0 would be NaN: it is 0"),
      empty, s.constant(0, value.getType()), value);
}

Value inverse(SoftmaxBuilder &s, Value sum) {
  return arith::DivFOp::create(s.b, s.loc, s.constant(1, sum.getType()), sum,
                               arith::FastMathFlags::afn);
}

void expandNormalize(SoftmaxNormalizeOp op, NoteIds &ids) {
  OpBuilder builder(op);
  SoftmaxBuilder s(builder, op, ids);
  Value scaled =
      arith::MulFOp::create(builder, op.getLoc(), op.getAcc(),
                            s.spread(inverse(s, op.getSum()), op.getAcc()));
  op.replaceAllUsesWith(
      unlessEmpty(s, "normalised accumulator", op.getSum(), scaled));
  op.erase();
}

/// Needs no guard. The largest weight of a row is 1, so a sum of 0 means a row
/// without keys, whose maximum is -inf; its log is -inf, of which the device's
/// `lg2.approx` is exact, and -inf + -inf is -inf. A maximum of +inf or NaN has
/// made the sum NaN before.
void expandLse(SoftmaxLseOp op) {
  OpBuilder builder(op);
  Value log = math::LogOp::create(builder, op.getLoc(), op.getSum());
  op.replaceAllUsesWith(
      arith::AddFOp::create(builder, op.getLoc(), op.getMax(), log)
          .getResult());
  op.erase();
}

/// The exponent needs no guard of its reference: a maximum of -inf comes with a
/// sum of 0, for which the weight is selected to 0 whatever was computed.
void expandWeight(SoftmaxWeightOp op, NoteIds &ids) {
  OpBuilder builder(op);
  SoftmaxBuilder s(builder, op, ids);
  Value weight = s.exponential(op.getScore(), op.getMax());
  Value scaled = arith::MulFOp::create(
      builder, op.getLoc(), weight, s.spread(inverse(s, op.getSum()), weight));
  op.replaceAllUsesWith(unlessEmpty(s, "softmax weight", op.getSum(), scaled));
  op.erase();
}

struct TileExpandSoftmaxPass
    : impl::TileExpandSoftmaxBase<TileExpandSoftmaxPass> {
  void runOnOperation() override {
    // Versions of a program give the same operation the same number.
    llvm::MapVector<ProgramOp, NoteIds> idsOf;
    getOperation()->walk([&](Operation *op) {
      NoteIds &ids = idsOf[op->getParentOfType<ProgramOp>()];
      if (auto update = dyn_cast<SoftmaxUpdateOp>(op))
        expandUpdate(update, ids);
      else if (auto include = dyn_cast<SoftmaxIncludeOp>(op))
        expandInclude(include, ids);
      else if (auto normalize = dyn_cast<SoftmaxNormalizeOp>(op))
        expandNormalize(normalize, ids);
      else if (auto lse = dyn_cast<SoftmaxLseOp>(op))
        expandLse(lse);
      else if (auto weight = dyn_cast<SoftmaxWeightOp>(op))
        expandWeight(weight, ids);
    });
  }
};

} // namespace
} // namespace selvedge::schedule
