// Proof that the parts of a loop run its steps, each once and in order.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Tile/LoopSteps.h"
#include "compiler/Verify/Arithmetic/KernelSeed.h"
#include "compiler/Verify/Tile/IdleSteps.h"

#include <limits>
#include <map>

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::tile;

static constexpr int64_t maxInt = std::numeric_limits<int32_t>::max();

void LoopSteps::Part::addRuns(const Polynomial &index,
                              Constraints &constraints) const {
  constraints.push_back(index - first);
  constraints.push_back(end - index - 1);
}

LoopSteps::LoopSteps(const SplitLoop &split, SameProgram &programs,
                     std::optional<int64_t> mostStep)
    : split(split), programs(programs) {
  auto kernel = split.parts.front()->getParentOfType<KernelOp>();
  ProgramOp program = kernel.getProgram();
  SmallVector<Polynomial> dims;
  seedSignature(program.getDims(), program.getTensors(), values, dims);
  seedKernel(kernel, values, dims);
  // Before sizes are bound the lanes of a block are as many as its steps are
  // apart.
  kernel.walk([&](BlockSizeOp size) {
    if (mostStep)
      values.define(size, values.newSymbol(1, *mostStep));
    for (auto axis : kernel.getAxes().getAsRange<AxisAttr>())
      if (axis.getBlock() == size.getBlockAttr())
        values.defineAxis(axis.getName(), values.of(size));
  });
  values.enterLoops(split.parts.front());
  for (Operation *inner = split.parts.front();
       Operation *outer = inner->getParentOp(); inner = outer)
    if (auto branch = dyn_cast<scf::IfOp>(outer);
        branch && inner->getBlock() == branch.thenBlock())
      values.collect(branch.getCondition(), conditions);
}

LogicalResult LoopSteps::bind() {
  scf::ForOp loop = split.loop, first = split.parts.front();
  auto valueOf = [&](Value bound, StringRef name) -> std::optional<Polynomial> {
    if (Value now = programs.find(bound, first))
      return values.of(now);
    first.emitOpError("expects the ")
        << name << " of the loop in whose place it stands to be computed in "
        << "front of it";
    return std::nullopt;
  };
  auto low = valueOf(loop.getLowerBound(), "lower bound"),
       high = valueOf(loop.getUpperBound(), "upper bound"),
       distance = valueOf(loop.getStep(), "step");
  if (!low || !high || !distance)
    return failure();
  lower = *low;
  upper = *high;
  step = *distance;
  for (scf::ForOp part : split.parts) {
    if (!programs.isSame(loop.getStep(), part.getStep()))
      return part.emitOpError("expects the step of the loop in whose place it "
                              "stands");
    parts.push_back({part, values.of(part.getLowerBound()),
                     values.of(part.getUpperBound())});
  }
  return success();
}

LogicalResult LoopSteps::check() {
  scf::ForOp loop = split.loop, only = split.parts.front();
  if (split.parts.size() == 1 &&
      llvm::all_of_zip(ValueRange{loop.getLowerBound(), loop.getUpperBound(),
                                  loop.getStep()},
                       ValueRange{only.getLowerBound(), only.getUpperBound(),
                                  only.getStep()},
                       [&](Value before, Value after) {
                         return programs.isSame(before, after);
                       }))
    return success();
  if (loop.getUnsignedCmp())
    return only.emitOpError("expects the bounds of a loop that compares "
                            "without sign to stay as they are");
  if (failed(bind()))
    return failure();
  if (failed(checkCases(conditions, {}, [&](const Constraints &given) {
        return checkParts(given);
      })))
    return failure();
  // From here on there is a step: nothing else would have to be proved.
  index = values.newSymbol(lower, upper - 1);
  values.define(only.getInductionVar(), index);
  return checkCases(conditions, {}, [&](const Constraints &given) {
    return checkOthers(given);
  });
}

bool LoopSteps::isImpossible(const Constraints &known) const {
  return values.isNonNegativeByCases(Polynomial(-1), known);
}

bool LoopSteps::isMultipleOfStep(const Polynomial &p) const {
  const auto &terms = step.getTerms();
  if (terms.size() != 1 || terms.begin()->second <= 0)
    return false;
  const auto &[factor, count] = *terms.begin();
  return llvm::all_of(p.getTerms(), [&](const auto &term) {
    return term.second % count == 0 &&
           std::includes(term.first.begin(), term.first.end(), factor.begin(),
                         factor.end());
  });
}

/// `p` with a value in the place of the monomial that `part` is.
static Polynomial replaced(const Polynomial &p, const Polynomial &part,
                           const Polynomial &by) {
  const auto &[monomial, count] = *part.getTerms().begin();
  const llvm::DynamicAPInt *steps = p.coefficientOf(monomial);
  return !steps || *steps % count != 0
             ? p
             : p + (by - part) * Polynomial(int64_t(*steps / count));
}

LogicalResult LoopSteps::checkCases(const Constraints &given,
                                    ArrayRef<Case> taken, Proof prove) {
  Constraints runs(given);
  runs.push_back(upper - lower - 1);
  // Without steps there is nothing to run. Bounds of a part may have many
  // cases; that its steps are the loop's needs few of them.
  if (isImpossible(runs)) {
    for (Part &part : parts)
      if (!values.isNonNegativeByCases(part.first - part.end, given) &&
          !isInside(part, given))
        return part.loop.emitOpError("may run where the loop in whose place it "
                                     "stands runs no step");
    return success();
  }
  if (!values.isNonNegativeByCases(step - 1, given) ||
      !values.isNonNegativeByCases(Polynomial(maxInt) - upper + 1 - step, runs))
    return parts.front().loop.emitOpError(
        "expects steps of at least 1 that end below 2^31");
  for (Part &part : parts) {
    Polynomial distance = part.first - lower;
    for (const auto &[choice, side] : taken)
      distance = replaced(distance, choice.p, side);
    if (isMultipleOfStep(distance))
      continue;
    static constexpr size_t maxCases = 2;
    std::optional<Choice> choice = values.choiceIn(distance);
    if (!choice || taken.size() == maxCases)
      return part.loop.emitOpError("expects a lower bound that is a whole "
                                   "number of steps above that of the loop in "
                                   "whose place it stands");
    for (const Polynomial &side : {choice->a, choice->b}) {
      Constraints more(given);
      more.push_back(choice->p - side);
      more.push_back(side - choice->p);
      SmallVector<Case> cases(taken);
      cases.push_back({*choice, side});
      if (failed(checkCases(more, cases, prove)))
        return failure();
    }
    return success();
  }
  return prove(given);
}

LogicalResult LoopSteps::checkParts(const Constraints &given) {
  for (auto [i, part] : llvm::enumerate(parts)) {
    if (failed(checkRuns(part, given)))
      return failure();
    for (Part &next : MutableArrayRef(parts).drop_front(i + 1))
      if (failed(checkOrder(part, next, given)))
        return failure();
  }
  return success();
}

LogicalResult LoopSteps::checkOthers(const Constraints &given) {
  // A step that no part runs lies past the end of the last part that begins at
  // or before it, and before the part that follows.
  for (size_t before = 0; before <= parts.size(); ++before) {
    Constraints gap(given);
    if (before > 0)
      gap.push_back(index - parts[before - 1].end);
    // Steps before the first one of a part are at least one step before it.
    if (before < parts.size())
      gap.push_back(parts[before].first - step - index);
    if (before > 0 && before < parts.size())
      gap.push_back(index - parts[before - 1].first);
    // Which sums do not wrap takes much longer to find out, and is seldom
    // asked.
    if (llvm::any_of(ArrayRef{false, true}, [&](bool thorough) {
          isThorough = thorough;
          return isIdleStep(gap) || areOthersIdle(0, gap);
        }))
      continue;
    InFlightDiagnostic diag =
        parts[std::min(before, parts.size() - 1)].loop.emitOpError(
            "leaves out steps that may do something, ")
        << (before < parts.size() ? "before it" : "after it");
    diag.attachNote(split.loop.getLoc()) << "steps of this loop";
    return diag;
  }
  return success();
}

bool LoopSteps::isInside(Part &part, const Constraints &given) {
  Constraints runs(given);
  Polynomial at = values.newSymbol();
  part.addRuns(at, runs);
  bool beginsInside = values.isNonNegativeByCases(part.first - lower, runs);
  Constraints inside(given);
  inside.push_back(at - lower);
  inside.push_back(part.end - at - 1);
  return beginsInside && values.isNonNegativeByCases(upper - at - 1, inside);
}

LogicalResult LoopSteps::checkRuns(Part &part, const Constraints &given) {
  if (isInside(part, given))
    return success();
  return part.loop.emitOpError("may run steps that the loop in whose place it "
                               "stands does not have");
}

LogicalResult LoopSteps::checkOrder(Part &part, Part &next,
                                    const Constraints &given) {
  Constraints runs(given);
  Polynomial early = values.newSymbol(), late = values.newSymbol();
  part.addRuns(early, runs);
  next.addRuns(late, runs);
  if (values.isNonNegativeByCases(late - early - 1, runs))
    return success();
  InFlightDiagnostic diag = next.loop.emitOpError(
      "may run a step again, or before a step that comes first");
  diag.attachNote(part.loop.getLoc()) << "the part before it";
  return diag;
}

bool LoopSteps::areOthersIdle(size_t next, const Constraints &known) {
  if (values.isNonNegative(Polynomial(-1), known))
    return true;
  if (next == parts.size())
    return isIdleStep(known);
  const Part &part = parts[next];
  Constraints before(known), after(known);
  before.push_back(part.first - step - index);
  after.push_back(index - part.end);
  return areOthersIdle(next + 1, before) && areOthersIdle(next + 1, after);
}

void LoopSteps::collect(Value presence, Constraints &constraints) {
  conjuncts(presence, [&](Value part) {
    if (auto known = part.getDefiningOp<KnownOp>())
      return collect(known.getPredicate(), constraints);
    values.collect(part, constraints);
  });
}

bool LoopSteps::isIdleStep(const Constraints &known) {
  // Only sinks without lanes, or none at all, make a step idle: then what is
  // known of the step alone need not be impossible.
  if (!isIdle(parts.front().loop, [](ValueRange) { return true; }))
    return isImpossible(known);
  std::map<SmallVector<const void *>, bool> verdicts;
  return isIdle(parts.front().loop, [&](ValueRange presence) {
    SmallVector<const void *> key;
    for (Value p : presence)
      key.push_back(p.getAsOpaquePointer());
    auto [verdict, isNew] = verdicts.try_emplace(key, false);
    if (isNew) {
      Constraints lanes(known);
      for (Value p : presence)
        collect(p, lanes);
      verdict->second =
          isImpossible(lanes) ||
          (isThorough && values.refine(lanes) > 0 && isImpossible(lanes));
    }
    return verdict->second;
  });
}

} // namespace selvedge::verify
