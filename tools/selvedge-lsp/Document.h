// What the server knows of an open file.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_LSP_DOCUMENT_H
#define SELVEDGE_TOOLS_SELVEDGE_LSP_DOCUMENT_H

#include "compiler/Frontend/Lexer.h"

#include "llvm/Support/LSP/Protocol.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace selvedge::lsp {

/// A name where it is declared.
struct Definition {
  llvm::StringRef name;
  /// "op", "let", "tensor", "index".
  llvm::StringRef kind;
  /// Position among the file's tokens.
  size_t token = 0;
  /// First and one past the last token of the item of the file that it is in;
  /// 0 and 0 for what the whole file sees.
  size_t scopeBegin = 0, scopeEnd = 0;
};

/// The text of a file, its tokens, and what they declare. Works on text that is
/// being typed: nothing is parsed.
class File {
public:
  File(std::string path, std::string text);

  const std::string &getPath() const { return path; }
  llvm::StringRef getText() const { return diags->text(); }
  const std::vector<frontend::Token> &getTokens() const { return tokens; }
  const std::vector<Definition> &getDefinitions() const { return definitions; }

  /// The token at a place, if that is a name or a text.
  std::optional<size_t> tokenAt(llvm::lsp::Position place) const;
  llvm::lsp::Range rangeOf(size_t token) const;
  /// The declaration that a name at `token` means; null if it is elsewhere.
  const Definition *find(size_t token) const;
  /// One that the whole file sees.
  const Definition *findItem(llvm::StringRef name) const;
  /// The source of a declaration in a few lines, and the comment above it.
  std::string describe(const Definition &definition) const;

private:
  void collect();
  void add(size_t token, llvm::StringRef kind);
  llvm::StringRef textAt(size_t token) const {
    return token < tokens.size() ? tokens[token].text : llvm::StringRef();
  }

  std::string path;
  std::unique_ptr<frontend::Diagnostics> diags;
  std::vector<frontend::Token> tokens;
  std::vector<Definition> definitions;
  /// Of the item that is being collected.
  size_t itemBegin = 0, itemEnd = 0;
};

/// Errors and warnings of the front end, of every op of the file.
std::vector<llvm::lsp::Diagnostic> diagnose(const File &file);

} // namespace selvedge::lsp

#endif // SELVEDGE_TOOLS_SELVEDGE_LSP_DOCUMENT_H
