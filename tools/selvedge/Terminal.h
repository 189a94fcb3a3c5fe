// Colours of what is printed on standard error.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_TERMINAL_H
#define SELVEDGE_TOOLS_SELVEDGE_TERMINAL_H

#include <string>
#include <string_view>

namespace selvedge::cli {

/// Whether standard error shows colours: it is a terminal and NO_COLOR is not
/// set, or CLICOLOR_FORCE is.
bool showsColours();

/// Diagnostics with colours: places, "error:", "warning:", "note:", carets.
std::string paint(std::string_view diagnostics);

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_TERMINAL_H
