// The front end: text of a `.tile` file to a module of the tile dialect.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_FRONTEND_FRONTEND_H
#define SELVEDGE_COMPILER_FRONTEND_FRONTEND_H

#include "compiler/Frontend/Imports.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace selvedge::frontend {

/// A value that a `let` or `var` has got, while its op is being built.
struct BoundValue {
  /// Where the name stands.
  llvm::StringRef file;
  unsigned line = 0, column = 0;
  mlir::Value value;
  /// The predicates of its lanes.
  mlir::ValueRange presence;
};

/// A source text and what to build from it.
struct Input {
  /// Name used in diagnostics and locations.
  llvm::StringRef fileName;
  llvm::StringRef source;
  /// Op to build; empty: the first one of the file.
  llvm::StringRef op;
  /// `--set NAME=VALUE` bindings of parameters; may be null.
  const std::map<std::string, std::string> *bindings = nullptr;
  /// Where imported files are looked for, after the importing file's folder.
  llvm::ArrayRef<std::string> importFolders = {};
  /// Is told of every value that gets a name, if it is set: for editors.
  std::function<void(const BoundValue &)> onBinding = {};
};

/// Parses, checks and elaborates one op. Null on error; `diagnostics` gets the
/// rendered text.
mlir::OwningOpRef<mlir::ModuleOp>
buildModule(mlir::MLIRContext &ctx, const Input &in, std::string &diagnostics);

/// The files that a source imports, directly or not. What cannot be found or
/// parsed is left out: buildModule() says so.
std::vector<SourceFile> importedFiles(const Input &in);

/// One op of a file.
struct OpInfo {
  std::string name;
  /// The signature in one line, as in the source.
  std::string signature;
  /// The comment block above the op, without the slashes.
  std::string comment;
};

/// Lists the ops of a file in order, without those that it imports. False on a
/// syntax error; `diagnostics` gets the rendered text.
bool listOps(const Input &in, std::vector<OpInfo> &ops,
             std::string &diagnostics);

} // namespace selvedge::frontend

#endif // SELVEDGE_COMPILER_FRONTEND_FRONTEND_H
