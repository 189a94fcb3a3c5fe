// Help beyond options: examples, suggestions, the manual page, completion.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_HELP_H
#define SELVEDGE_TOOLS_SELVEDGE_HELP_H

#include "tools/selvedge/Commands.h"

#include <string>
#include <string_view>
#include <vector>

namespace selvedge::cli {

/// Adds examples to the help of every command of `app`.
void addExamples(CLI::App &app);

/// "; did you mean 'causal'?" where a known word is near, else nothing.
std::string didYouMean(std::string_view word,
                       const std::vector<std::string> &known);

/// The names of the commands.
std::vector<std::string> commandNames(const CLI::App &app);
/// A command by name; null where there is none.
CLI::App *findCommand(CLI::App &app, std::string_view name);
/// The options of a command: "--arch", "-o".
std::vector<std::string> optionNames(const CLI::App &command);

/// The values that an option takes; empty: any.
std::vector<std::string> valuesOf(std::string_view option);

/// The manual page, in roff.
std::string manualPage(const CLI::App &app);

/// Completion for "bash" or "zsh"; empty for others.
std::string completionScript(const CLI::App &app, std::string_view shell);

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_HELP_H
