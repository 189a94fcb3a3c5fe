// Programs in which one safety operation is missing or too weak.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TESTS_PHYSICAL_MUTANTS_H
#define SELVEDGE_TESTS_PHYSICAL_MUTANTS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace selvedge::testing {

/// A copy of a module with one fault.
struct Mutant {
  /// Where and what: unique within a module.
  std::string name;
  /// Whether both judges must notice: an operation is gone, rather than too
  /// weak, or a false claim was made.
  bool isBlatant;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Faults in what absent lanes hold and in what is accessed: fills, selects in
/// front of sinks, predicates of loads, stores and copies, init kernels. For
/// `tile` after the obligations and for `sm` in form `seq`.
std::vector<Mutant> maskMutants(mlir::ModuleOp module);

/// Faults in the guards of an expanded softmax.
std::vector<Mutant> guardMutants(mlir::ModuleOp module);

/// Faults in the parts of loops: their bounds, and claims of full steps. For
/// bound `tile` with `tile.known`.
std::vector<Mutant> partMutants(mlir::ModuleOp module);

/// Faults in which steps the parts of loops run: steps left out, run twice or
/// in another order. For `tile` right after the pass that split them.
std::vector<Mutant> stepMutants(mlir::ModuleOp module);

/// Faults in what orders accesses to shared memory: awaits, barriers, the
/// stages of rings. For `sm` in form `async`.
std::vector<Mutant> waitMutants(mlir::ModuleOp module);

/// The same for `sm` in form `roles`: mbarriers, named barriers, fences, bulk
/// copies and products in flight.
std::vector<Mutant> roleMutants(mlir::ModuleOp module);

} // namespace selvedge::testing

#endif // SELVEDGE_TESTS_PHYSICAL_MUTANTS_H
