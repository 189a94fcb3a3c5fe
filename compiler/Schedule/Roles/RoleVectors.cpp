// Vectors that a step loads ahead of its products: each lane holds a few
// elements until they are needed, and then those that it computes with.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Layouts/SpreadVectors.h"
#include "compiler/Schedule/Roles/JoinedLoops.h"
#include "compiler/Schedule/Roles/RoleKernel.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

Value RoleKernel::loadSpread(LoadOp load, IRMapping &mapping, Value exists) {
  Type type = spreadType(typeOfWarpgroup(load.getType()));
  if (!type || getElementTypeOrSelf(type).getIntOrFloatBitWidth() != 32)
    return {};
  auto retype = [&](Type from) {
    return RankedTensorType::get(cast<RankedTensorType>(type).getShape(),
                                 getElementTypeOrSelf(from), layoutOf(type));
  };
  // Every index and predicate is one of lanes along its axis, or of none.
  StringAttr axis = layoutOf(type).getAxes()[0].getName();
  IRMapping local = mapping;
  for (Value operand : load->getOperands()) {
    LayoutAttr layout = layoutOf(operand.getType());
    if (!layout)
      continue;
    if (layout.getAxes().size() != 1 || layout.getAxes()[0].getName() != axis)
      return {};
    local.map(operand, recomputed(operand, mapping, retype, Shifts()));
  }
  for (Value operand : load->getOperands())
    if (!layoutOf(operand.getType()))
      local.map(operand, isa<tile::GlobalType>(operand.getType())
                             ? valueOf(operand, mapping)
                             : scalar(operand, mapping));
  auto clone = cast<LoadOp>(b.clone(*load, local));
  clone.getResult().setType(type);
  if (exists)
    clone.getPresenceMutable().append(exists);
  return clone;
}

/// Whether a condition of lanes is made of what is loaded: what a step stages
/// says that condition, too, and loads the numbers for it. Verifiers do not see
/// that those which the step before has loaded are the same.
static bool isCompared(LoadOp load) {
  return llvm::any_of(load->getUsers(), [](Operation *user) {
    return isa<arith::CmpIOp>(user) ||
           (isa<BroadcastOp>(user) &&
            llvm::any_of(user->getUsers(), llvm::IsaPred<arith::CmpIOp>));
  });
}

/// Vectors that a step of a loop loads for the one after it: those of which
/// every lane exists, if that is a whole step where the loop has others. A lane
/// that does not exist is one of its own step.
SmallVector<LoadOp> RoleKernel::vectorsAhead(scf::ForOp loop) {
  SmallVector<LoadOp> result;
  if (!schedule.crossingsAreLate)
    return result;
  scf::IfOp branch = wholeBranchOf(loop);
  Block *step = branch ? branch.thenBlock() : loop.getBody();
  for (auto load : step->getOps<LoadOp>()) {
    bool isOfIndices = llvm::none_of(load->getOperands(), [&](Value operand) {
      return llvm::is_contained(loop.getRegionIterArgs(), operand);
    });
    if (load.getPresence().empty() && isOfIndices && !isCompared(load) &&
        spreadType(typeOfWarpgroup(load.getType())))
      result.push_back(load);
  }
  return result;
}

/// Those of the step that begins at `index`, or if it is given only where
/// `exists` is true.
SmallVector<Value> RoleKernel::vectorsAt(ArrayRef<LoadOp> loads, Value index,
                                         const IRMapping &mapping,
                                         Value exists) {
  SmallVector<Value> result;
  for (LoadOp load : loads) {
    IRMapping local = mapping;
    local.map(load->getParentOfType<scf::ForOp>().getInductionVar(), index);
    result.push_back(loadSpread(load, local, exists));
  }
  return result;
}

/// Whether the step that begins at `index` is whole, of a loop that has others;
/// null for other loops.
Value RoleKernel::isWholeAt(scf::ForOp loop, Value index,
                            const IRMapping &mapping) {
  scf::IfOp branch = wholeBranchOf(loop);
  if (!branch)
    return {};
  IRMapping local = mapping;
  local.map(loop.getInductionVar(), index);
  return scalar(branch.getCondition(), local);
}

/// Those of a loop's first step; anything where it has none.
SmallVector<Value> RoleKernel::firstVectors(ArrayRef<LoadOp> loads,
                                            scf::ForOp loop, Value from,
                                            Value to,
                                            const IRMapping &mapping) {
  if (loads.empty())
    return {};
  if (Value isWhole = isWholeAt(loop, from, mapping))
    return vectorsAt(loads, from, mapping, isWhole);
  SmallVector<Type> types = llvm::map_to_vector(loads, [&](LoadOp load) {
    return spreadType(typeOfWarpgroup(load.getType()));
  });
  Value runs =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, from, to);
  auto branch = scf::IfOp::create(b, loc, types, runs, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, vectorsAt(loads, from, mapping));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, llvm::map_to_vector(types, [&](Type type) {
                         return arith::ConstantOp::create(
                                    b, loc,
                                    cast<TypedAttr>(b.getZeroAttr(type)))
                             .getResult();
                       }));
  return branch.getResults();
}

/// Those of the step after this one; this one's again in the last. A branch
/// would take their addresses along, into every step.
SmallVector<Value> RoleKernel::nextVectors(ArrayRef<LoadOp> loads,
                                           scf::ForOp loop, scf::ForOp steps,
                                           const IRMapping &mapping) {
  if (loads.empty())
    return {};
  Value index = steps.getInductionVar(), next = add(index, steps.getStep());
  if (Value isWhole = isWholeAt(loop, next, mapping))
    return vectorsAt(loads, next, mapping, isWhole);
  Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, next,
                                       steps.getUpperBound());
  return vectorsAt(loads, arith::SelectOp::create(b, loc, isLast, index, next),
                   mapping);
}

bool RoleKernel::useSpread(Value vector, Value spread, IRMapping &mapping) {
  auto moved =
      RelayoutOp::create(b, vector.getLoc(), typeOfWarpgroup(vector.getType()),
                         spread, /*scratch=*/Value());
  if (!moved.findMove()) {
    moved.erase();
    return false;
  }
  mapping.map(vector, moved);
  return true;
}

} // namespace selvedge::schedule
