// Results do not depend on block sizes: what ranges by blocks carry is a fold.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/FoldCheck.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {
namespace {

using Kind = Form::Kind;

/// Values that a store depends on.
llvm::DenseSet<Value> liveValues(Block &kernel) {
  llvm::DenseSet<Value> live;
  SmallVector<Value> worklist;
  kernel.walk([&](StoreOp store) {
    worklist.append(store->operand_begin(), store->operand_end());
    for (Operation *loop = store->getParentOp(); loop;
         loop = loop->getParentOp())
      if (auto around = dyn_cast<scf::ForOp>(loop))
        worklist.append({around.getLowerBound(), around.getUpperBound()});
  });
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!live.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    auto argument = dyn_cast<BlockArgument>(value);
    auto loop = dyn_cast_if_present<scf::ForOp>(
        op ? op : argument.getOwner()->getParentOp());
    if (!loop) {
      if (op)
        worklist.append(op->operand_begin(), op->operand_end());
      continue;
    }
    worklist.append({loop.getLowerBound(), loop.getUpperBound()});
    if (argument && argument.getArgNumber() == 0)
      continue;
    unsigned i = argument ? argument.getArgNumber() - 1
                          : cast<OpResult>(value).getResultNumber();
    worklist.append({loop.getInitArgs()[i], loop.getYieldedValues()[i]});
  }
  return live;
}

/// The constant that all lanes hold.
std::optional<double> constantOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && isa<SplatOp, BroadcastOp>(op))
    op = op->getOperand(0).getDefiningOp();
  auto constant = dyn_cast_if_present<arith::ConstantOp>(op);
  if (!constant)
    return std::nullopt;
  if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
    return number.getValueAsDouble();
  auto integer = dyn_cast<IntegerAttr>(constant.getValue());
  return integer ? std::optional<double>(integer.getInt()) : std::nullopt;
}

void retarget(Form &form, Value from, Value to) {
  if (form.reference && form.reference == from)
    form.reference = to;
}

} // namespace

void FoldCheck::add(BlockedRange range) {
  if (range.loop)
    loops[range.loop] = std::move(range);
  else
    kernelRanges.push_back(std::move(range));
}

void FoldCheck::forget(Operation *op) {
  op->walk([&](scf::ForOp loop) { loops.erase(loop); });
}

void FoldCheck::run(Block &kernel) {
  llvm::DenseSet<Value> live = liveValues(kernel);
  for (const BlockedRange &range : kernelRanges)
    StepAnalysis(diags, range, live).run(kernel);
  [[maybe_unused]] size_t found = 0;
  kernel.walk([&](scf::ForOp loop) {
    if (auto it = loops.find(loop); it != loops.end()) {
      ++found;
      StepAnalysis(diags, it->second, live).run(*loop.getBody());
    }
  });
  assert(found == loops.size() && "a loop was erased and not forgotten");
}

StepAnalysis::StepAnalysis(Diagnostics &diags, const BlockedRange &range,
                           const llvm::DenseSet<Value> &live)
    : diags(diags), range(range), live(live) {}

void StepAnalysis::run(Block &body) {
  Form start;
  start.kind = Kind::Start;
  set(range.start, start);
  auto loop = cast_if_present<scf::ForOp>(range.loop);
  if (loop)
    enterLoop(loop);
  visit(body);
  if (loop)
    checkYields(loop);
}

Form StepAnalysis::get(Value value) const {
  auto it = forms.find(value);
  return it != forms.end() ? it->second : Form::fixed(constantOf(value));
}

StepAnalysis::Forms StepAnalysis::getAll(ValueRange values) const {
  return llvm::map_to_vector(values, [&](Value v) { return get(v); });
}

bool StepAnalysis::isMaximum(const Form &form) const {
  return form.is(Kind::State) && sums.count(form.carried);
}

int StepAnalysis::carriedBy(Value value, scf::ForOp loop) const {
  while (true) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == loop.getBody())
        return static_cast<int>(argument.getArgNumber()) - 1;
      auto inner =
          dyn_cast_if_present<scf::ForOp>(argument.getOwner()->getParentOp());
      if (!inner || argument.getArgNumber() == 0 || !loop->isAncestor(inner))
        return -1;
      value = inner.getInitArgs()[argument.getArgNumber() - 1];
      continue;
    }
    Operation *op = value.getDefiningOp();
    unsigned i = cast<OpResult>(value).getResultNumber();
    if (auto inner = dyn_cast<scf::ForOp>(op)) {
      value = inner.getInitArgs()[i];
    } else if (auto update = dyn_cast<SoftmaxUpdateOp>(op)) {
      if (i == 0)
        return -1;
      value = i == 1   ? update.getMax()
              : i == 2 ? update.getSum()
                       : update.getAccs()[i - 3];
    } else if (auto include = dyn_cast<SoftmaxIncludeOp>(op)) {
      value = i == 0   ? include.getMax()
              : i == 1 ? include.getSum()
                       : include.getAccs()[i - 2];
    } else if (auto dot = dyn_cast<DotOp>(op); dot && dot.getInit()) {
      value = dot.getInit();
    } else if (isa<arith::AddFOp, arith::SubFOp>(op)) {
      int first = carriedBy(op->getOperand(0), loop);
      if (first >= 0)
        return first;
      value = op->getOperand(1);
    } else if (isa<arith::SelectOp>(op)) {
      value = op->getOperand(1);
    } else {
      return -1;
    }
  }
}

void StepAnalysis::findStates(scf::ForOp loop) {
  auto addState = [&](Value max, Value sum, ValueRange accs) {
    int state = carriedBy(max, loop), total = carriedBy(sum, loop);
    if (state < 0 || total < 0)
      return;
    sums[state] = total;
    for (Value acc : accs)
      if (int carried = carriedBy(acc, loop); carried >= 0)
        rescaledBy[carried] = state;
  };
  loop.getBody()->walk([&](Operation *op) {
    if (auto update = dyn_cast<SoftmaxUpdateOp>(op))
      addState(update.getMax(), update.getSum(), update.getAccs());
    if (auto include = dyn_cast<SoftmaxIncludeOp>(op))
      addState(include.getMax(), include.getSum(), include.getAccs());
  });
}

void StepAnalysis::enterLoop(scf::ForOp loop) {
  findStates(loop);
  ValueRange arguments = loop.getRegionIterArgs();
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    Form form;
    form.kind = Kind::Fold;
    form.carried = i;
    if (auto it = rescaledBy.find(i); it != rescaledBy.end()) {
      form.state = it->second;
      form.reference = arguments[it->second];
    }
    set(argument, form);
  }
  for (auto [state, sum] : sums) {
    Form form;
    form.kind = Kind::State;
    form.state = state;
    form.reference = arguments[state];
    for (int part : {state, sum}) {
      form.carried = part;
      set(arguments[part], form);
    }
  }
}

void StepAnalysis::checkYields(scf::ForOp loop) {
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [i, value] : llvm::enumerate(loop.getYieldedValues())) {
    if (!live.contains(loop.getResult(i)) &&
        !live.contains(loop.getRegionIterArgs()[i]))
      continue;
    Form form = get(value);
    bool isOwn = form.carried == static_cast<int>(i);
    if (form.is(Kind::Fold) && isOwn && form.reference) {
      Form state = get(loop.getYieldedValues()[form.state]);
      if (state.reference != form.reference && state.is(Kind::State))
        form = Form::cut(CutReason::NotRescaled,
                         state.reference.getDefiningOp(), i, form.state);
    } else if (form.is(Kind::State) && !isOwn) {
      form = misuse(yield, form);
    } else if (form.is(Kind::Fold) && !isOwn) {
      form = Form::cut(form.isPart() ? CutReason::Block : CutReason::Reads,
                       form.isPart() ? value.getDefiningOp() : yield,
                       form.isPart() ? static_cast<int>(i) : form.carried);
      form.combine = get(value).combine;
    }
    if (form.is(Kind::Cut))
      report(form, yield);
  }
}

void StepAnalysis::visit(Block &body) {
  for (Operation &op : body) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      visitLoop(loop);
    else
      visit(&op);
  }
}

void StepAnalysis::visitLoop(scf::ForOp loop) {
  Form bound = Form::fixed();
  for (Value limit : {loop.getLowerBound(), loop.getUpperBound()})
    if (Form form = get(limit); !form.isFixed() && !leavesOutNothing(loop))
      bound = misuse(loop, form);
  set(loop.getInductionVar(), bound);

  // What is relative to a softmax that the loop carries is so to the maximum of
  // each step in turn.
  Forms in = getAll(loop.getInitArgs());
  ValueRange arguments = loop.getRegionIterArgs();
  SmallVector<unsigned> maxima;
  for (auto [i, form] : llvm::enumerate(in)) {
    if (!bound.isFixed())
      form = bound;
    if (isMaximum(form))
      maxima.push_back(i);
  }
  for (unsigned m : maxima)
    for (Value outer = in[m].reference; Form &form : in)
      retarget(form, outer, arguments[m]);

  constexpr unsigned kRounds = 8; // a form changes at most thrice
  for (unsigned round = 0; round < kRounds; ++round) {
    for (auto [argument, form] : llvm::zip(arguments, in))
      set(argument, form);
    visit(*loop.getBody());
    Forms out = getAll(loop.getYieldedValues());
    for (unsigned m : maxima) {
      Value last = out[m].reference;
      for (auto [i, form] : llvm::enumerate(out)) {
        if (last != arguments[m] && form.reference == arguments[m] &&
            form.is(Kind::Fold))
          form = Form::cut(CutReason::NotRescaled,
                           last ? last.getDefiningOp() : loop.getOperation(),
                           form.carried, form.state);
        retarget(form, last, arguments[m]);
      }
    }
    bool isStable = true;
    for (auto [old, next] : llvm::zip(in, out)) {
      Form joined = joinForms(old, next, loop);
      isStable &= joined == old;
      old = joined;
    }
    if (isStable)
      break;
  }
  for (auto [i, form] : llvm::enumerate(in)) {
    for (unsigned m : maxima)
      retarget(form, arguments[m], loop.getResult(m));
    set(loop.getResult(i), form);
  }
}

} // namespace selvedge::frontend
