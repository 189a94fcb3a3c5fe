// Watches a compilation: the program after the safety passes, and what became
// of each safety note. SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_EXPLAIN_TRACE_H
#define SELVEDGE_COMPILER_EXPLAIN_TRACE_H

#include "dialect/Tile/Tile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassInstrumentation.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace selvedge::explain {

/// What collect() needs besides the final program.
struct Trace {
  /// The program when every obligation is discharged, before scheduling.
  mlir::OwningOpRef<mlir::ModuleOp> safe;
  /// The program when its sizes are bound and its loops split, before `sm`.
  mlir::OwningOpRef<mlir::ModuleOp> bound;
  /// By kernel: the plan's size of each axis.
  std::map<std::string, mlir::DictionaryAttr> sizes;
  /// A note that left the program, and the pass that removed the last operation
  /// with it.
  struct Removal {
    std::string pass;
    mlir::Location loc;
  };
  /// By id.
  std::map<std::string, Removal> removed;
  /// Notes of the program as it is.
  std::map<std::string, mlir::Location> present;
  /// Both as they were when plans were bound: that may be done again.
  struct Unbound {
    std::map<std::string, Removal> removed;
    std::map<std::string, mlir::Location> present;
  };
  std::optional<Unbound> unbound;
};

/// An instrumentation that fills `trace`, which must outlive it.
std::unique_ptr<mlir::PassInstrumentation> observe(Trace &trace);

} // namespace selvedge::explain

#endif // SELVEDGE_COMPILER_EXPLAIN_TRACE_H
