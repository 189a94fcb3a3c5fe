// verify-sm-padding: absent lanes reach no sink of form seq (V2).
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Distribution.h"
#include "compiler/Verify/ElementStates.h"
#include "compiler/Verify/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYSMPADDING
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

/// Buffers that are written completely, and what is known of their elements.
using Memory = llvm::MapVector<Value, Facts>;

class Verifier {
public:
  explicit Verifier(KernelOp kernel) : kernel(kernel) {}

  LogicalResult run() {
    return visit(kernel.getBody().front(), /*check=*/true);
  }

private:
  const Facts &of(Value v) const {
    static const Facts none;
    auto it = facts.find(v);
    return it == facts.end() ? none : it->second;
  }

  InFlightDiagnostic refuse(Operation *op, Value predicate, const Twine &what) {
    InFlightDiagnostic diag = op->emitOpError("expects ") << what;
    diag.attachNote(predicate.getLoc())
        << "lanes are absent where this is false";
    return diag;
  }

  /// An error for the first lane of `v` that may not exist where `presence` is
  /// true.
  LogicalResult demandPresent(Operation *op, Value v, ValueRange presence,
                              const Twine &what) {
    for (const Fact &fact : of(v))
      if (fact.origin == Origin::Absent && !excludes(presence, fact))
        return refuse(op, fact.predicate, what);
    return success();
  }

  LogicalResult visit(Block &block, bool check) {
    for (Operation &op : block)
      if (failed(visit(op, check)))
        return failure();
    return success();
  }

  LogicalResult visit(Operation &op, bool check) {
    auto factsOf = [&](Value v) -> const Facts & { return of(v); };
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return visitFor(loop, check);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return visitIf(branch, check);
    if (auto load = dyn_cast<LoadOp>(op))
      return visitLoad(load, check);
    if (auto store = dyn_cast<StoreOp>(op))
      return check ? checkStore(store) : success();
    if (auto copy = dyn_cast<CopyOp>(op))
      return visitCopy(copy, check);
    if (auto stage = dyn_cast<StageOp>(op))
      return visitStage(stage, check);
    if (auto mma = dyn_cast<MmaOp>(op))
      return visitMma(mma, check);
    if (auto reduce = dyn_cast<ReduceOp>(op))
      return visitReduce(reduce, check);
    if (auto select = dyn_cast<arith::SelectOp>(op)) {
      facts[select] = selectFacts(select.getCondition(), select.getTrueValue(),
                                  select.getFalseValue(), factsOf);
      return success();
    }
    bool isElementwise = op.getNumRegions() == 0 && isMemoryEffectFree(&op);
    if (!isElementwise && !isa<AllocOp, BarrierOp>(op))
      return op.emitOpError("has no rule in this verifier of form seq");
    if (op.getNumResults() != 0 && isElementwise) {
      Facts result = elementwiseFacts(&op, factsOf);
      for (Value v : op.getResults())
        facts[v] = result;
    }
    return success();
  }

  //===-- Memory
  //-----------------------------------------------------------===//

  LogicalResult checkIndices(Operation *op, ValueRange indices,
                             ValueRange presence) {
    for (Value index : indices)
      if (failed(demandPresent(op, index, presence,
                               "a presence that excludes the absent lanes of "
                               "the indices")))
        return failure();
    return success();
  }

  static Facts absentLanes(ValueRange presence) {
    Facts result;
    for (Value p : presence)
      conjuncts(p, [&](Value part) { addFact(result, {part, State::Zero}); });
    return result;
  }

  LogicalResult visitLoad(LoadOp load, bool check) {
    facts[load] = absentLanes(load.getPresence());
    if (!check)
      return success();
    return success(
        succeeded(checkIndices(load, load.getIndices(), load.getPresence())) &&
        succeeded(checkVector(load, load.getIndices(), load.getVector())));
  }

  LogicalResult checkStore(StoreOp store) {
    return success(
        succeeded(demandPresent(
            store, store.getValue(), store.getPresence(),
            "a presence that excludes the value's absent lanes")) &&
        succeeded(
            checkIndices(store, store.getIndices(), store.getPresence())) &&
        succeeded(checkVector(store, store.getIndices(), store.getVector())));
  }

  LogicalResult visitCopy(CopyOp copy, bool check) {
    memory[copy.getBuffer()] = absentLanes(copy.getPresence());
    if (!check)
      return success();
    for (Value operand :
         llvm::concat<Value>(llvm::to_vector(copy.getIndices()),
                             llvm::to_vector(copy.getPresence())))
      if (DistAttr dist = distOf(operand.getType()))
        for (AxisDistAttr axis : dist.getAxes())
          if (!llvm::is_contained(copy.getDist().getAxes(), axis))
            return copy.emitOpError("expects indices and presence distributed "
                                    "as 'dist', but got ")
                   << axis;
    return success(
        succeeded(checkTarget(copy, copy.getBuffer(), copy.getDist())) &&
        succeeded(checkIndices(copy, copy.getIndices(), copy.getPresence())) &&
        succeeded(checkVector(copy, copy.getIndices(), copy.getVector())));
  }

  LogicalResult visitStage(StageOp stage, bool check) {
    memory[stage.getBuffer()] = Facts(of(stage.getSource()));
    return check ? checkTarget(stage, stage.getBuffer(),
                               distOf(stage.getSource().getType()))
                 : success();
  }

  LogicalResult checkTarget(Operation *op, Value buffer, DistAttr dist) {
    auto type = cast<BufferType>(buffer.getType());
    if (!buffer.getDefiningOp<AllocOp>() || type.getStages() != 1)
      return op->emitOpError(
                 "expects a buffer of its own in form seq, but got ")
             << type;
    return checkCoverage(op, dist, type, kernel.getWarps());
  }

  //===-- Sinks
  //------------------------------------------------------------===//

  LogicalResult visitReduce(ReduceOp reduce, bool check) {
    State identity = reduce.getKind() == tile::Combine::Add   ? State::Zero
                     : reduce.getKind() == tile::Combine::Max ? State::NegInf
                                                              : State::PosInf;
    Facts rest, source = of(reduce.getSource());
    Value wrong;
    for (const Fact &fact : source) {
      if (mentions(fact.predicate, reduce.getOverAttr())) {
        if (fact.origin == Origin::Absent && fact.state != identity)
          wrong = fact.predicate;
      } else if (fact.state == identity && fact.within.empty()) {
        // Identities alone give the identity.
        addFact(rest, fact);
      } else {
        addAbsent(rest, {fact});
      }
    }
    for (Value p : reduce.getPresence())
      conjuncts(p, [&](Value part) {
        if (stateAt(source, part) != identity)
          wrong = part;
      });
    facts[reduce] = rest;
    if (!check)
      return success();
    if (wrong)
      return refuse(reduce, wrong,
                    "the identity at absent lanes of axis '" +
                        reduce.getOver() + "'");
    return checkReduction(reduce);
  }

  LogicalResult visitMma(MmaOp mma, bool check) {
    Facts operands[2];
    int64_t extents[2];
    for (auto [i, operand] :
         llvm::enumerate(ValueRange{mma.getLhs(), mma.getRhs()})) {
      auto buffer = dyn_cast<BufferType>(operand.getType());
      auto written = memory.find(operand);
      if (buffer && written == memory.end()) {
        if (!check)
          return success();
        return mma.emitOpError("expects a buffer that every path has written "
                               "in this iteration, but got ")
               << operand;
      }
      operands[i] = buffer ? written->second : of(operand);
      SmallVector<StringAttr> axes = axisNames(operand.getType());
      bool isFirst = axes.front() == mma.getOverAttr();
      extents[i] = buffer ? (isFirst ? buffer.getRows() : buffer.getCols())
                          : cast<RankedTensorType>(operand.getType())
                                .getDimSize(isFirst ? 0 : 1);
    }
    if (extents[0] != extents[1])
      return mma.emitOpError("expects operands of one extent along '")
             << mma.getOver() << "', but got " << extents[0] << " and "
             << extents[1];
    Facts rest;
    SmallVector<Value> removed;
    for (const Facts &known : operands)
      for (const Fact &fact : known) {
        if (!mentions(fact.predicate, mma.getOverAttr()))
          addAbsent(rest, {fact});
        else if (fact.origin == Origin::Absent)
          removed.push_back(fact.predicate);
      }
    addAbsent(rest, of(mma.getInit()));
    facts[mma] = rest;
    if (!check)
      return success();
    for (Value p : mma.getPresence())
      conjuncts(p, [&](Value part) { removed.push_back(part); });
    for (Value predicate : removed)
      if (!isPair(mma, operands, predicate))
        return refuse(mma, predicate,
                      "zero in one operand and zero, or data of other rows, "
                      "in the other at absent lanes of the contracted axis");
    return success();
  }

  /// The annihilator pair at the lanes where `predicate` is false.
  static bool isPair(MmaOp mma, ArrayRef<Facts> operands, Value predicate) {
    std::optional<State> x = stateAt(operands[0], predicate),
                         y = stateAt(operands[1], predicate);
    // Data beside a zero is allowed only where the predicate speaks of axes
    // that the operand lacks: then the same element is present for other rows.
    auto isHarmless = [&](std::optional<State> s, Value operand) {
      return s ? *s == State::Zero || *s == State::Finite
               : !within(predicate, operand);
    };
    return (x == State::Zero && isHarmless(y, mma.getRhs())) ||
           (y == State::Zero && isHarmless(x, mma.getLhs()));
  }

  //===-- Control flow
  //-----------------------------------------------------===//

  Facts joined(Value a, Value b) const {
    return joinFacts(of(a), stateOfConstant(a), of(b), stateOfConstant(b));
  }

  /// What two paths have both written.
  static Memory joined(const Memory &a, const Memory &b) {
    Memory result;
    for (const auto &[buffer, known] : a)
      if (auto it = b.find(buffer); it != b.end())
        result[buffer] =
            joinFacts(known, State::Garbage, it->second, State::Garbage);
    return result;
  }

  LogicalResult visitIf(scf::IfOp branch, bool check) {
    if (check && failed(demandPresent(branch, branch.getCondition(), {},
                                      "a condition that exists on every path")))
      return failure();
    Memory before = memory;
    if (failed(visit(*branch.thenBlock(), check)))
      return failure();
    Memory afterThen = memory;
    memory = before;
    if (Block *otherwise = branch.elseBlock();
        otherwise && failed(visit(*otherwise, check)))
      return failure();
    memory = joined(afterThen, memory);
    for (OpResult result : branch.getResults())
      facts[result] =
          joined(branch.thenYield()->getOperand(result.getResultNumber()),
                 branch.elseYield()->getOperand(result.getResultNumber()));
    return success();
  }

  /// Contents that later iterations read: a buffer whose absent lanes are told
  /// by a predicate of this iteration is as good as not written.
  Memory carried(scf::ForOp loop) const {
    Memory result;
    for (const auto &[buffer, known] : memory) {
      if (llvm::any_of(known, [&](const Fact &fact) {
            return variesIn(fact.predicate, loop);
          }))
        continue;
      Facts &kept = result[buffer];
      for (const Fact &fact : known)
        addFact(kept, verify::carried(fact, loop));
    }
    return result;
  }

  LogicalResult visitFor(scf::ForOp loop, bool check) {
    for (Value bound :
         {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (check && failed(demandPresent(loop, bound, {},
                                        "loop bounds that always exist")))
        return failure();
    for (auto [init, argument] :
         llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs()))
      facts[argument] = Facts(of(init));
    Memory entry = memory;
    // Facts only grow and buffers only get lost: the rounds are bounded.
    for (bool changed = true; changed;) {
      memory = entry;
      if (failed(visit(*loop.getBody(), /*check=*/false)))
        return failure();
      Memory next = joined(entry, carried(loop));
      changed = !isSameMemory(next, entry);
      entry = std::move(next);
      for (auto [init, yielded, argument] :
           llvm::zip_equal(loop.getInitArgs(), loop.getYieldedValues(),
                           loop.getRegionIterArgs()))
        for (const Fact &fact : joined(init, yielded)) {
          if (!variesIn(fact.predicate, loop))
            changed |= addFact(facts[argument], verify::carried(fact, loop));
          else if (check && fact.origin == Origin::Absent)
            return refuse(loop, fact.predicate,
                          "no lanes that are absent by a predicate of one "
                          "iteration to be carried to the next");
        }
    }
    memory = entry;
    if (check && failed(visit(*loop.getBody(), check)))
      return failure();
    memory = entry;
    for (auto [argument, result] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults()))
      facts[result] = Facts(of(argument));
    return success();
  }

  static bool isSameMemory(const Memory &a, const Memory &b) {
    return a.size() == b.size() && llvm::all_of(a, [&](const auto &entry) {
             auto it = b.find(entry.first);
             return it != b.end() &&
                    llvm::equal(entry.second, it->second,
                                [](const Fact &x, const Fact &y) {
                                  return x.predicate == y.predicate &&
                                         x.state == y.state &&
                                         x.origin == y.origin &&
                                         x.within.size() == y.within.size();
                                });
           });
  }

  KernelOp kernel;
  DenseMap<Value, Facts> facts;
  Memory memory;
};

struct VerifySmPaddingPass : impl::VerifySmPaddingBase<VerifySmPaddingPass> {
  void runOnOperation() override {
    if (failed(Verifier(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace selvedge::verify
