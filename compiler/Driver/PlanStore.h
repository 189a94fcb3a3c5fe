// Plans that were measured, or found to assemble well, on disk.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_PLANSTORE_H
#define SELVEDGE_COMPILER_DRIVER_PLANSTORE_H

#include "compiler/Driver/Compiler.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>

namespace selvedge::driver {

/// A choice of plans and the reason that `explain` gives for it.
struct StoredPlan {
  std::string plan;
  std::string origin;
};

/// The file of one program class: op, source, parameters, target and compiler
/// version. A file that cannot be read is no file; writers replace it as a
/// whole.
class PlanStore {
public:
  /// `module` is the parsed program of `request`.
  PlanStore(const CompileRequest &request, mlir::ModuleOp module);

  /// What was measured on the request's device, or on any if it names none;
  /// else what was found to assemble well.
  std::optional<StoredPlan> find() const;

  /// Stores what assembles well, and why it is not the first.
  llvm::Error keepVerdict(const StoredPlan &verdict);
  /// Stores the fastest; an older one of the device is replaced.
  llvm::Error keepMeasurement(const PlanMeasurement &measurement);

  /// Path of the file.
  const std::string &path() const { return file; }

private:
  llvm::json::Object read() const;
  llvm::Error write(llvm::json::Object content) const;

  std::string file, device;
};

} // namespace selvedge::driver

#endif // SELVEDGE_COMPILER_DRIVER_PLANSTORE_H
