// Variables that loops carry and nobody reads.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/UnreadVariables.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"

namespace selvedge::frontend {

using namespace mlir;
using namespace selvedge::tile;

namespace {

/// The values that something stored depends on.
class ReadValues {
public:
  explicit ReadValues(KernelOp kernel) {
    kernel.walk([&](Operation *op) {
      if (op->getNumRegions() == 0 && !isa<scf::YieldOp>(op) &&
          !wouldOpBeTriviallyDead(op))
        addUser(op);
    });
    while (!open.empty())
      follow(open.pop_back_val());
  }

  bool contains(Value value) const { return read.contains(value); }

private:
  void add(Value value) {
    if (read.insert(value).second)
      open.push_back(value);
  }

  /// What is executed reads its operands, and the bounds of loops around it.
  void addUser(Operation *op) {
    llvm::for_each(op->getOperands(), [&](Value v) { add(v); });
    addSteps(op->getParentOp());
  }
  void addSteps(Operation *around) {
    for (; around && !isa<KernelOp>(around); around = around->getParentOp())
      if (auto loop = dyn_cast<scf::ForOp>(around))
        for (Value bound :
             {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
          add(bound);
  }

  void follow(Value value) {
    auto carry = [&](scf::ForOp loop, unsigned number) {
      add(loop.getInitArgs()[number]);
      add(loop.getBody()->getTerminator()->getOperand(number));
      add(loop.getRegionIterArg(number));
      addSteps(loop);
    };
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (loop && argument.getArgNumber() > 0)
        carry(loop, argument.getArgNumber() - 1);
      else if (loop)
        addSteps(loop);
      return;
    }
    Operation *op = value.getDefiningOp();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      carry(loop, cast<OpResult>(value).getResultNumber());
    else
      addUser(op);
  }

  llvm::DenseSet<Value> read;
  SmallVector<Value> open;
};

} // namespace

/// The loop without the variables that are not read; what used those gets what
/// they were before.
static void rebuild(scf::ForOp loop, const ReadValues &read) {
  SmallVector<unsigned> kept;
  SmallVector<Value> inits;
  for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
    if (read.contains(argument)) {
      kept.push_back(i);
      inits.push_back(loop.getInitArgs()[i]);
    }
  OpBuilder b(loop);
  auto fresh = scf::ForOp::create(b, loop.getLoc(), loop.getLowerBound(),
                                  loop.getUpperBound(), loop.getStep(), inits);
  Block *body = fresh.getBody();
  if (!body->empty())
    body->back().erase();
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  loop.getInductionVar().replaceAllUsesWith(fresh.getInductionVar());
  SmallVector<Value> yielded;
  for (unsigned i : kept)
    yielded.push_back(body->getTerminator()->getOperand(i));
  body->getTerminator()->setOperands(yielded);
  for (auto [i, argument, init] :
       llvm::enumerate(loop.getRegionIterArgs(), loop.getInitArgs())) {
    const unsigned *at = llvm::find(kept, i);
    size_t number = at - kept.begin();
    bool isKept = at != kept.end();
    argument.replaceAllUsesWith(isKept ? Value(fresh.getRegionIterArg(number))
                                       : init);
    loop.getResult(i).replaceAllUsesWith(isKept ? Value(fresh.getResult(number))
                                                : init);
  }
  loop.erase();
}

void eraseUnreadVariables(KernelOp kernel) {
  ReadValues read(kernel);
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) {
    if (!llvm::all_of(loop.getRegionIterArgs(),
                      [&](Value v) { return read.contains(v); }))
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops)
    rebuild(loop, read);
}

} // namespace selvedge::frontend
