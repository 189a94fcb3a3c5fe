// tile-obligations: the state of absent lanes at every sink.
// SPDX-License-Identifier: MIT
#include "compiler/Safety/Passes.h"
#include "compiler/Safety/Predicates.h"

#include <limits>

namespace selvedge::safety {

#define GEN_PASS_DEF_TILEOBLIGATIONS
#include "compiler/Safety/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

class Obligations {
public:
  explicit Obligations(ProgramOp program) : program(program) {}

  LogicalResult run() {
    // Softmax first: products rely on its weights being 0 at absent lanes.
    program.walk([&](SoftmaxUpdateOp op) { maskScores(op); });
    program.walk([&](ReduceOp op) { maskReduction(op); });
    WalkResult result = program.walk([&](DotOp op) {
      return failed(pairRule(op)) ? WalkResult::interrupt()
                                  : WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

private:
  Value constant(OpBuilder &b, Location loc, TypedAttr value, Type like) {
    return broadcastTo(b, loc, arith::ConstantOp::create(b, loc, value), like);
  }

  /// select(all of `presence`, value, otherwise).
  Value select(OpBuilder &b, Location loc, ValueRange presence, Value value,
               TypedAttr otherwise) {
    Value condition;
    for (Value p : presence) {
      Value wide = broadcastTo(b, loc, p, value.getType());
      condition =
          condition ? arith::AndIOp::create(b, loc, condition, wide).getResult()
                    : wide;
    }
    return arith::SelectOp::create(
        b, loc, condition, value, constant(b, loc, otherwise, value.getType()));
  }

  static TypedAttr identity(OpBuilder &b, Combine kind, Type element) {
    if (auto floating = dyn_cast<FloatType>(element)) {
      bool isMax = kind == Combine::Max;
      return kind == Combine::Add
                 ? b.getZeroAttr(element)
                 : TypedAttr(FloatAttr::get(
                       element,
                       APFloat::getInf(floating.getFloatSemantics(), isMax)));
    }
    unsigned width = element.getIntOrFloatBitWidth();
    switch (kind) {
    case Combine::Add:
      return b.getZeroAttr(element);
    case Combine::Max:
      return b.getIntegerAttr(element, APInt::getSignedMinValue(width));
    case Combine::Min:
      break;
    }
    return b.getIntegerAttr(element, APInt::getSignedMaxValue(width));
  }

  void maskScores(SoftmaxUpdateOp op) {
    if (op.getPresence().empty())
      return;
    OpBuilder b(op);
    TypedAttr masked =
        b.getF32FloatAttr(-std::numeric_limits<float>::infinity());
    op.getScoresMutable().assign(
        select(b, op.getLoc(), op.getPresence(), op.getScores(), masked));
  }

  void maskReduction(ReduceOp op) {
    if (op.getPresence().empty())
      return;
    OpBuilder b(op);
    TypedAttr neutral = identity(
        b, op.getKind(), getElementTypeOrSelf(op.getSource().getType()));
    op.getSourceMutable().assign(
        select(b, op.getLoc(), op.getPresence(), op.getSource(), neutral));
  }

  /// Whether `value` is exactly 0 where `predicate` is false; makes a load so
  /// by its fill.
  bool isZeroWhere(Value value, Value predicate) {
    auto has = [&](ValueRange list) {
      return llvm::any_of(list, [&](Value p) { return implies(p, predicate); });
    };
    Operation *def = value.getDefiningOp();
    // A score of -inf gives a weight of exactly 0.
    if (auto update = dyn_cast_or_null<SoftmaxUpdateOp>(def))
      return value == update.getWeights() && has(update.getPresence());
    if (auto load = dyn_cast_or_null<LoadOp>(def)) {
      if (!has(load.getPresence()))
        return false;
      load.setFill(Fill::Zero);
      return true;
    }
    if (isa_and_nonnull<ConvertOp, BroadcastOp, arith::ExtFOp, arith::TruncFOp>(
            def))
      return isZeroWhere(def->getOperand(0), predicate);
    return false;
  }

  LogicalResult pairRule(DotOp op) {
    OpBuilder b(op);
    for (OpOperand *operand : {&op.getLhsMutable(), &op.getRhsMutable()}) {
      ArrayRef<StringAttr> axes = axesOf(operand->get().getType());
      SmallVector<Value> open;
      for (Value p : op.getPresence())
        if (llvm::all_of(
                axesOf(p.getType()),
                [&](StringAttr a) { return llvm::is_contained(axes, a); }) &&
            !isZeroWhere(operand->get(), p))
          open.push_back(p);
      if (!open.empty())
        operand->set(select(
            b, op.getLoc(), open, operand->get(),
            b.getZeroAttr(getElementTypeOrSelf(operand->get().getType()))));
    }
    for (Value p : op.getPresence()) {
      auto within = [&](Value operand) {
        return llvm::all_of(axesOf(p.getType()), [&](StringAttr a) {
          return llvm::is_contained(axesOf(operand.getType()), a);
        });
      };
      if (!within(op.getLhs()) && !within(op.getRhs()))
        return op.emitOpError("expects every predicate on a contracted axis to "
                              "concern one operand, but got one over both");
    }
    return success();
  }

  ProgramOp program;
};

struct TileObligationsPass : impl::TileObligationsBase<TileObligationsPass> {
  void runOnOperation() override {
    if (failed(Obligations(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace selvedge::safety
