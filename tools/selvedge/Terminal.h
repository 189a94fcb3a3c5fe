// Standard error as somebody reads it: colours, and a word while it takes long.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_TERMINAL_H
#define SELVEDGE_TOOLS_SELVEDGE_TERMINAL_H

#include <string>
#include <string_view>
#include <thread>

namespace selvedge::cli {

/// Whether standard error shows colours: it is a terminal and NO_COLOR is not
/// set, or CLICOLOR_FORCE is.
bool showsColours();

/// Diagnostics with colours: places, "error:", "warning:", "note:", carets.
std::string paint(std::string_view diagnostics);

/// While it lives, work goes on that `words` name: on a terminal they are told
/// once that takes a second.
class Patience {
public:
  explicit Patience(std::string words);

private:
  /// Ends with the work.
  std::jthread waiter;
};

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_TERMINAL_H
