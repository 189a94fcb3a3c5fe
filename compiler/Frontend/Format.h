// The layout of source text.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_FRONTEND_FORMAT_H
#define SELVEDGE_COMPILER_FRONTEND_FORMAT_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace selvedge::frontend {

/// Writes `source` with the usual indentation and spaces. Its tokens, comments
/// and line breaks stay; runs of blank lines become one. Formatting twice is
/// the same as once. False where a character starts no token; `diagnostics`
/// says which.
bool formatSource(llvm::StringRef fileName, llvm::StringRef source,
                  std::string &text, std::string &diagnostics);

} // namespace selvedge::frontend

#endif // SELVEDGE_COMPILER_FRONTEND_FORMAT_H
