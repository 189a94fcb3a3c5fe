// Files that a file imports.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_FRONTEND_IMPORTS_H
#define SELVEDGE_COMPILER_FRONTEND_IMPORTS_H

#include "compiler/Frontend/Ast.h"
#include "compiler/Frontend/Diagnostics.h"

#include <string>
#include <vector>

namespace selvedge::frontend {

/// A file that was read: where it lies, and what it holds.
struct SourceFile {
  std::string path;
  std::string text;
};

/// Folders that may hold the shipped templates, best first: the variable
/// SELVEDGE_TEMPLATES, then places beside the program or library that holds
/// this function.
std::vector<std::string> shippedFolders();

/// Parses the text of `diags` and every file that it imports, directly or
/// not; each file once. A name is looked for beside the file that imports it,
/// then in `folders`, then in shippedFolders(). Ops and functions of imported
/// files come after the file's own and are marked; the files are appended to
/// `read`, if that is not null, in the order in which they were met.
FileAst parseWithImports(Diagnostics &diags,
                         llvm::ArrayRef<std::string> folders,
                         std::vector<SourceFile> *read = nullptr);

} // namespace selvedge::frontend

#endif // SELVEDGE_COMPILER_FRONTEND_IMPORTS_H
