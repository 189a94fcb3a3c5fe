// Characters to tokens.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_FRONTEND_LEXER_H
#define SELVEDGE_COMPILER_FRONTEND_LEXER_H

#include "compiler/Frontend/Diagnostics.h"

#include <vector>

namespace selvedge::frontend {

/// A token is a slice of the source text.
struct Token {
  enum class Kind { End, Name, Int, Float, String, Punct };
  Kind kind = Kind::End;
  llvm::StringRef text;

  llvm::SMLoc loc() const { return llvm::SMLoc::getFromPointer(text.data()); }
  const char *end() const { return text.data() + text.size(); }
  /// True for a punctuation mark or word with exactly this text.
  bool is(llvm::StringRef what) const {
    return (kind == Kind::Punct || kind == Kind::Name) && text == what;
  }
};

/// Splits a text that `diags` holds into tokens; the last one is End.
/// Characters that start no token are reported and skipped.
std::vector<Token> lex(Diagnostics &diags, llvm::StringRef text);
/// The same of its first text.
inline std::vector<Token> lex(Diagnostics &diags) {
  return lex(diags, diags.text());
}

/// Words that cannot name anything.
bool isReserved(llvm::StringRef word);

} // namespace selvedge::frontend

#endif // SELVEDGE_COMPILER_FRONTEND_LEXER_H
