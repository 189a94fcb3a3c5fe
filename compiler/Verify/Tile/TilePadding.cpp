// verify-tile-padding: absent lanes reach no sink (V1).
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/ElementStates.h"
#include "compiler/Verify/Arithmetic/ImpliedLimits.h"
#include "compiler/Verify/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYTILEPADDING
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

bool mentions(Value predicate, ArrayAttr axes) {
  return llvm::any_of(axes.getAsRange<StringAttr>(), [&](StringAttr axis) {
    return verify::mentions(predicate, axis);
  });
}

SmallVector<StringAttr> axesIn(ArrayAttr over) {
  return llvm::to_vector(over.getAsRange<StringAttr>());
}

class Verifier {
public:
  LogicalResult run(KernelOp kernel) {
    return visit(kernel.getBody().front(), /*check=*/true);
  }

private:
  const Facts &of(Value v) const {
    static const Facts none;
    auto it = facts.find(v);
    return it == facts.end() ? none : it->second;
  }

  /// Lanes that do not exist and may hold any bits.
  static bool isGarbage(const Fact &fact) {
    return fact.origin == Origin::Absent &&
           (fact.state == State::Garbage || fact.state == State::Determined);
  }

  InFlightDiagnostic refuse(Operation *op, const Fact &fact,
                            const Twine &what) {
    InFlightDiagnostic diag = op->emitOpError("expects ") << what;
    diag.attachNote(fact.predicate.getLoc())
        << "lanes are absent where this is false";
    return diag;
  }

  LogicalResult visit(Block &block, bool check) {
    for (Operation &op : block)
      if (failed(visit(op, check)))
        return failure();
    return success();
  }

  LogicalResult visit(Operation &op, bool check) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return visitFor(loop, check);
    if (auto load = dyn_cast<LoadOp>(op))
      return visitLoad(load, check);
    if (auto select = dyn_cast<arith::SelectOp>(op))
      return visitSelect(select);
    if (auto store = dyn_cast<StoreOp>(op))
      return visitStore(store, check);
    if (auto reduce = dyn_cast<ReduceOp>(op))
      return visitReduce(reduce, check);
    if (auto dot = dyn_cast<DotOp>(op))
      return visitDot(dot, check);
    if (auto update = dyn_cast<SoftmaxUpdateOp>(op))
      return visitSoftmax(update, check);
    if (auto include = dyn_cast<SoftmaxIncludeOp>(op)) {
      visitInclude(include);
      return success();
    }
    if (op.getNumRegions() != 0)
      return op.emitOpError("has no rule in this verifier");
    if (op.getNumResults() != 0) {
      Facts result = elementwiseFacts(
          &op, [&](Value v) -> const Facts & { return of(v); });
      for (Value v : op.getResults())
        facts[v] = result;
    }
    return success();
  }

  LogicalResult visitLoad(LoadOp load, bool check) {
    Facts result;
    State absent = load.getFill() == Fill::Zero ? State::Zero : State::Garbage;
    for (auto [i, p] : llvm::enumerate(load.getPresence())) {
      bool isAny =
          llvm::is_contained(load.getGarbage(), static_cast<int64_t>(i));
      addFact(result, {p, isAny ? State::Garbage : absent});
    }
    if (failed(checkIndices(load, load.getIndices(), load.getTested(), check)))
      return failure();
    facts[load] = result;
    return success();
  }

  /// An index may be garbage only where the access itself is predicated off.
  LogicalResult checkIndices(Operation *op, ValueRange indices,
                             ValueRange presence, bool check) {
    for (Value index : indices)
      for (const Fact &fact : of(index)) {
        bool covered = excludes(presence, fact);
        if (check && isGarbage(fact) && !covered)
          return refuse(op, fact, "no index that is garbage at an absent lane");
      }
    return success();
  }

  LogicalResult visitSelect(arith::SelectOp select) {
    facts[select.getResult()] = selectFacts(
        select.getCondition(), select.getTrueValue(), select.getFalseValue(),
        [&](Value v) -> const Facts & { return of(v); });
    return success();
  }

  /// The first part of some conjunctions for which `holds`; null for none. One
  /// is false where a part is, of which alone there are facts.
  static Value firstPart(ValueRange conjunctions,
                         function_ref<bool(Value)> holds) {
    Value found;
    for (Value condition : conjunctions)
      conjuncts(condition, [&](Value part) {
        if (!found && holds(part))
          found = part;
      });
    return found;
  }

  /// The lanes that a sink consumes must hold `wanted`: where its presence is
  /// false, and wherever the value has none.
  LogicalResult demand(Operation *op, ValueRange presence, const Facts &known,
                       ArrayAttr over, State wanted, StringRef what) {
    if (Value wrong = firstPart(presence, [&](Value part) {
          return stateAlong(known, part, over) != wanted;
        }))
      return refuse(op, {wrong, State::Garbage}, what);
    for (const Fact &fact : known)
      if (fact.origin == Origin::Absent && fact.state != wanted &&
          mentions(fact.predicate, over) &&
          stateAlong(known, fact.predicate, over) != wanted)
        return refuse(op, fact, what);
    return success();
  }

  /// What a sink over `over` finds where `predicate` is false, in rows that
  /// exist: the others are absent from its result.
  std::optional<State> stateAlong(const Facts &known, Value predicate,
                                  ArrayAttr over) {
    return over.size() == 1
               ? rows.stateOf(known, predicate, cast<StringAttr>(over[0]))
               : stateAt(known, predicate);
  }

  LogicalResult visitStore(StoreOp store, bool check) {
    if (!check)
      return success();
    for (const Fact &fact : of(store.getValue()))
      if (fact.origin == Origin::Absent && !excludes(store.getPresence(), fact))
        return refuse(store, fact,
                      "a presence that excludes the value's absent lanes");
    return checkIndices(store, store.getIndices(), store.getPresence(), check);
  }

  LogicalResult visitReduce(ReduceOp reduce, bool check) {
    State identity = identityOf(reduce.getKind());
    Facts rest, source = of(reduce.getSource());
    // A row whose lanes are all left out is there: it is a sum over nothing.
    for (const Fact &fact : source)
      if (!mentions(fact.predicate, reduce.getOver()) &&
          !excludes(reduce.getPresence(), fact))
        addAbsent(rest, {fact}, axesIn(reduce.getOver()));
    facts[reduce] = rest;
    if (!check)
      return success();
    return demand(reduce, reduce.getPresence(), source, reduce.getOver(),
                  identity, "the identity at absent lanes of the reduced axes");
  }

  LogicalResult visitDot(DotOp dot, bool check) {
    Facts rest;
    for (Value operand : {dot.getLhs(), dot.getRhs()})
      for (const Fact &fact : of(operand)) {
        if (!mentions(fact.predicate, dot.getOver())) {
          addAbsent(rest, {fact}, axesIn(dot.getOver()));
          continue;
        }
        if (check && fact.origin == Origin::Absent &&
            !isPair(dot, fact.predicate))
          return refuse(dot, fact, pairRule);
      }
    if (Value wrong = firstPart(dot.getPresence(),
                                [&](Value part) { return !isPair(dot, part); });
        check && wrong)
      return refuse(dot, {wrong, State::Garbage}, pairRule);
    if (dot.getInit())
      addAbsent(rest, of(dot.getInit()));
    facts[dot] = rest;
    return success();
  }

  /// The annihilator pair at the lanes where `predicate` is false.
  bool isPair(DotOp dot, Value predicate) {
    Value a = dot.getLhs(), b = dot.getRhs();
    std::optional<State> x = stateAlong(of(a), predicate, dot.getOver()),
                         y = stateAlong(of(b), predicate, dot.getOver());
    auto isZero = [](std::optional<State> s) { return s == State::Zero; };
    // Data beside a zero is allowed only where the predicate speaks of axes
    // that the operand lacks: then the same element is present for other rows.
    auto isHarmless = [&](std::optional<State> s, Value operand) {
      return s ? *s == State::Zero || *s == State::Finite
               : !within(predicate, operand);
    };
    return (isZero(x) && isHarmless(y, b)) || (isZero(y) && isHarmless(x, a));
  }

  LogicalResult visitSoftmax(SoftmaxUpdateOp update, bool check) {
    ArrayAttr over =
        ArrayAttr::get(update.getContext(), {update.getOverAttr()});
    Facts weights, rows, scores = of(update.getScores());
    if (check && failed(demand(update, update.getPresence(), scores, over,
                               State::NegInf, "-inf at absent scores")))
      return failure();
    for (const Fact &fact : scores) {
      bool along = mentions(fact.predicate, over),
           isNothing = stateAt(scores, fact.predicate) == State::NegInf,
           // A row that is there, of which the step takes nothing.
          isLeftOut =
              !along && isNothing && excludes(update.getPresence(), fact);
      // exp(-inf - reference) is exactly 0; any other constant gives some
      // weight. A reference of NaN is that of other steps: the update says what
      // it takes nothing of.
      if ((along && isNothing) || isLeftOut)
        addFact(weights, {fact.predicate, State::Zero, fact.origin, fact.within,
                          /*inAllArms=*/true});
      if (!along && !isLeftOut) {
        addAbsent(weights, {fact});
        addAbsent(rows, {fact}, update.getOverAttr());
      }
    }
    for (Value state : {update.getMax(), update.getSum()})
      addAbsent(rows, of(state));
    facts[update.getWeights()] = weights;
    facts[update.getNewMax()] = rows;
    facts[update.getNewSum()] = rows;
    for (auto [before, after] :
         llvm::zip_equal(update.getAccs(), update.getNewAccs())) {
      Facts merged = rows;
      addAbsent(merged, of(before));
      facts[after] = merged;
    }
    return success();
  }

  /// A score that enters states and accumulators, but not one another's axes.
  void visitInclude(SoftmaxIncludeOp include) {
    Facts rows;
    for (Value operand :
         {include.getScore(), include.getMax(), include.getSum()})
      addAbsent(rows, of(operand));
    facts[include.getNewMax()] = rows;
    facts[include.getNewSum()] = rows;
    for (auto [before, after] :
         llvm::zip_equal(include.getAccs(), include.getNewAccs())) {
      Facts merged = rows;
      addAbsent(merged, of(before));
      facts[after] = merged;
    }
  }

  LogicalResult visitFor(scf::ForOp loop, bool check) {
    if (check)
      for (Value bound :
           {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
        for (const Fact &fact : of(bound))
          if (fact.origin == Origin::Absent && fact.state == State::Garbage)
            return refuse(loop, fact,
                          "no loop bound that is garbage at an absent lane");
    for (auto [init, argument] :
         llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs()))
      facts[argument] = Facts(of(init));
    // Facts only grow: the number of predicates in the body bounds the rounds.
    for (bool changed = true; changed;) {
      if (failed(visit(*loop.getBody(), /*check=*/false)))
        return failure();
      changed = false;
      auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
      for (auto [init, yielded, argument] :
           llvm::zip_equal(loop.getInitArgs(), yield.getResults(),
                           loop.getRegionIterArgs())) {
        Facts incoming = joinFacts(of(init), stateOfConstant(init), of(yielded),
                                   stateOfConstant(yielded));
        for (const Fact &fact : incoming) {
          if (!variesIn(fact.predicate, loop))
            changed |= addFact(facts[argument], carried(fact, loop));
          else if (check && fact.origin == Origin::Absent)
            return refuse(loop, fact,
                          "no lanes that are absent by a predicate of one "
                          "iteration to be carried to the next");
        }
      }
    }
    if (check && failed(visit(*loop.getBody(), check)))
      return failure();
    for (auto [argument, result] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults()))
      facts[result] = Facts(of(argument));
    return success();
  }

  static constexpr StringLiteral pairRule =
      "zero in one operand and zero, or data of other rows, in the other at "
      "absent lanes of the contracted axes";
  DenseMap<Value, Facts> facts;
  RowsThatExist rows;
};

struct VerifyTilePaddingPass
    : impl::VerifyTilePaddingBase<VerifyTilePaddingPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(Verifier().run(getOperation())))
      signalPassFailure();
  }
};

} // namespace
} // namespace selvedge::verify
