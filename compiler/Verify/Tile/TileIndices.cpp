// verify-tile-indices: passes that write indices anew leave them as they were.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/KernelSeed.h"
#include "compiler/Verify/Passes.h"
#include "compiler/Verify/Tile/ComparesPrograms.h"
#include "compiler/Verify/Tile/IndexForms.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

#include <set>

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYTILEINDICES
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

bool isInteger(Type type) { return getElementTypeOrSelf(type).isIntOrIndex(); }

/// Whether nothing of the kernel writes to a tensor.
bool isReadOnly(Value tensor) {
  return llvm::all_of(tensor.getUsers(), llvm::IsaPred<LoadOp, IsPresentOp>);
}

/// Integers that are loaded, the same whenever they are.
LoadOp loadOfIntegers(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  return load && isInteger(load.getType()) && isReadOnly(load.getTensor())
             ? load
             : LoadOp();
}

/// Whether an operation makes integers of integers.
bool isArithmetic(Operation *op) {
  return op->getNumRegions() == 0 && op->getNumResults() != 0 &&
         isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperandTypes(), isInteger) &&
         llvm::all_of(op->getResultTypes(), isInteger);
}

/// Compares two kernels operation by operation. Integers are compared by their
/// forms where something else reads them.
class Comparison {
public:
  LogicalResult compare(KernelOp before, KernelOp after) {
    if (before->getAttrDictionary() != after->getAttrDictionary())
      return refuse(after, "the attributes of the kernel before");
    return compare(before.getBody().front(), after.getBody().front());
  }

private:
  static LogicalResult refuse(Operation *op, const Twine &wanted) {
    return op->emitOpError("expects ") << wanted;
  }

  void bind(Value before, Value after) {
    forms.bind(after, forms.of(before));
    matched[after] = before;
  }

  /// The next operation that is more than arithmetic; adds the loads of
  /// integers on the way.
  static Operation *next(Block::iterator &at, SmallVectorImpl<LoadOp> &loads) {
    for (; !at->hasTrait<OpTrait::IsTerminator>(); ++at)
      if (LoadOp load = loadOfIntegers(&*at))
        loads.push_back(load);
      else if (!isArithmetic(&*at))
        break;
    return &*at++;
  }

  std::set<IndexForms::Form> presenceOf(LoadOp load) {
    std::set<IndexForms::Form> presence;
    for (Value p : load.getPresence())
      presence.insert(forms.of(p));
    return presence;
  }

  /// What the program reads, at least where it does.
  LogicalResult check(LoadOp load) {
    IndexForms::Form element = forms.element(load);
    std::set<IndexForms::Form> presence = presenceOf(load);
    bool isRead = llvm::any_of(loaded, [&](const auto &known) {
      return known.first == element && llvm::includes(known.second, presence);
    });
    return isRead ? success()
                  : refuse(load, "to read an element that is read before the "
                                 "passes, and wherever that is");
  }

  LogicalResult compare(Block &before, Block &after) {
    if (before.getNumArguments() != after.getNumArguments())
      return refuse(after.getParentOp(), "as many arguments as before");
    for (auto [a, b] :
         llvm::zip_equal(before.getArguments(), after.getArguments()))
      if (!matched.contains(b))
        bind(a, b);
    auto a = before.begin(), b = after.begin();
    SmallVector<LoadOp> was, loads;
    for (bool isLast = false; !isLast;) {
      Operation *x = next(a, was), *y = next(b, loads);
      if (failed(compare(x, y)))
        return failure();
      isLast = x->hasTrait<OpTrait::IsTerminator>();
    }
    for (LoadOp load : was)
      loaded.insert({forms.element(load), presenceOf(load)});
    return success(llvm::all_of(
        loads, [&](LoadOp load) { return succeeded(check(load)); }));
  }

  bool isSame(Value before, Value after) {
    if (!isInteger(before.getType()))
      return matched.lookup(after) == before;
    IndexForms::Form form = forms.of(before);
    return form == forms.of(after) &&
           (before.getType() == after.getType() || forms.isUniform(form));
  }

  LogicalResult compare(Operation *before, Operation *after) {
    if (before->getName() != after->getName() ||
        before->getAttrDictionary() != after->getAttrDictionary() ||
        before->getResultTypes() != after->getResultTypes() ||
        before->getNumOperands() != after->getNumOperands() ||
        before->getNumRegions() != after->getNumRegions())
      return refuse(after, "the operation that is here before the passes, '" +
                               before->getName().getStringRef() + "'");
    for (auto [i, pair] : llvm::enumerate(
             llvm::zip_equal(before->getOperands(), after->getOperands())))
      if (!isSame(std::get<0>(pair), std::get<1>(pair)))
        return refuse(after, "operand " + Twine(i) +
                                 " to be what it is before the passes");
    if (auto loop = dyn_cast<scf::ForOp>(before))
      bindSteps(loop, cast<scf::ForOp>(after));
    for (auto [x, y] :
         llvm::zip_equal(before->getRegions(), after->getRegions())) {
      if (x.empty() != y.empty())
        return refuse(after, "the regions of the operation before");
      if (!x.empty() && failed(compare(x.front(), y.front())))
        return failure();
    }
    for (auto [x, y] :
         llvm::zip_equal(before->getResults(), after->getResults()))
      bind(x, y);
    return success();
  }

  /// A step begins at a multiple of the largest power of two that its length
  /// is a multiple of, if the first one does in a loop that runs.
  void bindSteps(scf::ForOp before, scf::ForOp after) {
    Value x = before.getInductionVar();
    std::optional<APInt> step = before.getConstantStep();
    if (!x.getType().isInteger(32) || !step || !step->isStrictlyPositive())
      return;
    int64_t size = step->getSExtValue() & -step->getSExtValue();
    IndexValues values;
    SmallVector<Polynomial> dims;
    auto kernel = before->getParentOfType<KernelOp>();
    seedSignature(kernel.getProgram().getDims(),
                  kernel.getProgram().getTensors(), values, dims);
    seedKernel(kernel, values, dims);
    values.enterLoops(before);
    Polynomial lower = values.of(before.getLowerBound()),
               upper = values.of(before.getUpperBound());
    if (!values.isMultipleByCases(lower, size, upper - lower - 1))
      size = 1;
    forms.bind(x, forms.multiple(x, size));
    bind(x, after.getInductionVar());
  }

  IndexForms forms;
  /// Of the kernel after: what it is in the kernel before.
  llvm::DenseMap<Value, Value> matched;
  /// Elements that are read before the passes, and where they are.
  std::set<std::pair<IndexForms::Form, std::set<IndexForms::Form>>> loaded;
};

LogicalResult check(ProgramOp before, ProgramOp after) {
  auto kernels = llvm::to_vector(before.getBody().getOps<KernelOp>()),
       others = llvm::to_vector(after.getBody().getOps<KernelOp>());
  if (kernels.size() != others.size())
    return after.emitOpError("expects ")
           << kernels.size() << " kernels as before the passes, found "
           << others.size();
  for (auto [x, y] : llvm::zip_equal(kernels, others))
    if (!OperationEquivalence::isEquivalentTo(
            x, y, OperationEquivalence::IgnoreLocations) &&
        failed(Comparison().compare(x, y)))
      return failure();
  return success();
}

struct VerifyTileIndicesPass
    : ComparesPrograms<impl::VerifyTileIndicesBase<VerifyTileIndicesPass>> {
  using ComparesPrograms::ComparesPrograms;

  LogicalResult compare(ProgramOp before, ProgramOp after) override {
    return check(before, after);
  }
};

} // namespace

std::unique_ptr<Pass> createVerifyTileIndices(std::unique_ptr<Pass> pass) {
  OpPassManager pipeline(ModuleOp::getOperationName());
  if (pass)
    pipeline.nest<ProgramOp>().addNestedPass<KernelOp>(std::move(pass));
  return std::make_unique<VerifyTileIndicesPass>(std::move(pipeline));
}

} // namespace selvedge::verify
