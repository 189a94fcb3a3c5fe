// Diagnostics of passes, shown at the place in the source text.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_SOURCEDIAGNOSTICS_H
#define SELVEDGE_COMPILER_DRIVER_SOURCEDIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"

#include <map>
#include <string>

namespace selvedge::driver {

/// While alive, appends every error, warning and note of a context to a text as
/// file:line:column, the message, the line and a caret.
class SourceDiagnostics {
public:
  SourceDiagnostics(mlir::MLIRContext &context, llvm::StringRef fileName,
                    llvm::StringRef source, std::string &text);

  /// Errors so far.
  unsigned getNumErrors() const { return numErrors; }
  /// The message of the first one.
  const std::string &getFirstError() const { return firstError; }

  /// What verifiers could not do: remarks that begin with the name of one, with
  /// their place. Others are for tools.
  std::vector<std::string> takeRemarks() { return std::move(remarks); }

private:
  void keepRemark(mlir::Diagnostic &diagnostic);
  void print(mlir::Diagnostic &diagnostic);

  /// The text of a file, read when it is needed; 0 where that fails.
  unsigned bufferOf(llvm::StringRef name);

  llvm::SourceMgr manager;
  /// Buffers of imported files by name.
  std::map<std::string, unsigned> imported;
  std::string fileName;
  std::string &text;
  std::string firstError;
  std::vector<std::string> remarks;
  unsigned numErrors = 0;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace selvedge::driver

#endif // SELVEDGE_COMPILER_DRIVER_SOURCEDIAGNOSTICS_H
