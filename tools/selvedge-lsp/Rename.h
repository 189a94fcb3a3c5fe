// Other names for what a file declares.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_LSP_RENAME_H
#define SELVEDGE_TOOLS_SELVEDGE_LSP_RENAME_H

#include "tools/selvedge-lsp/Document.h"

namespace selvedge::lsp {

/// Either the tokens that get another name, or why there are none.
struct Renaming {
  std::vector<size_t> tokens;
  std::string refusal;
};

/// All places of the name at `token`, by the scopes of the language. It is
/// refused for what other files have, too: `others` are files that may import
/// this one.
Renaming placesOf(const File &file, size_t token,
                  llvm::ArrayRef<const File *> others);

/// The same for a new name, with which every name of the file still means what
/// it meant, and of which no error comes.
Renaming rename(const File &file, size_t token, llvm::StringRef newName,
                llvm::ArrayRef<const File *> others);

/// The text of a file in which tokens have another name.
std::string renamed(const File &file, llvm::ArrayRef<size_t> tokens,
                    llvm::StringRef newName);

} // namespace selvedge::lsp

#endif // SELVEDGE_TOOLS_SELVEDGE_LSP_RENAME_H
