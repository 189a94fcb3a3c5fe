// What the compiler knows of a value, without compiling to code.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_LSP_VALUES_H
#define SELVEDGE_TOOLS_SELVEDGE_LSP_VALUES_H

#include "tools/selvedge-lsp/Document.h"

namespace selvedge::lsp {

/// What a hover says of the name at `token`, in Markdown. Of a `let` or `var`:
/// element type, axes and presence, and what keeps the loads of its expression
/// safe. Of a tensor where it is indexed: of that load. Empty for others, and
/// where the program around it is wrong.
std::string describeValue(const File &file, size_t token,
                          const Definition &definition);

} // namespace selvedge::lsp

#endif // SELVEDGE_TOOLS_SELVEDGE_LSP_VALUES_H
