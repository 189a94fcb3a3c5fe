// What each name of a file means.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_LSP_NAMES_H
#define SELVEDGE_TOOLS_SELVEDGE_LSP_NAMES_H

#include "llvm/ADT/StringRef.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace selvedge::lsp {

/// One thing that has a name.
struct Symbol {
  /// Whether only the kernel, loop or function around it sees it.
  bool isLocal = false;
  /// An imported file that has the name, too; empty: there is none.
  std::string otherFile;
};

/// The names of a text and of what it imports, by the scopes of the language.
/// Ops that extend each other, or are each other's backward, share what their
/// signatures declare: tensors, scalars, dims, parameters, hooks.
class Names {
public:
  Names(llvm::StringRef path, llvm::StringRef text);

  /// The first error of the syntax; then nothing else is known.
  const std::string &getError() const { return error; }
  const std::vector<Symbol> &getSymbols() const { return symbols; }
  /// Names of the text by their offsets in it, and the symbol of each.
  const std::map<size_t, size_t> &getUses() const { return uses; }
  /// The symbol of the name that begins at `offset`; none for what the language
  /// declares.
  std::optional<size_t> find(size_t offset) const;

private:
  std::string error;
  std::vector<Symbol> symbols;
  std::map<size_t, size_t> uses;
};

} // namespace selvedge::lsp

#endif // SELVEDGE_TOOLS_SELVEDGE_LSP_NAMES_H
