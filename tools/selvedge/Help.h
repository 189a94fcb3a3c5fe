// Help beyond options: examples, suggestions, the manual page, completion.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_HELP_H
#define SELVEDGE_TOOLS_SELVEDGE_HELP_H

#include "tools/selvedge/Commands.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace selvedge::cli {

/// Adds examples to the help of every command of `app`.
void addExamples(CLI::App &app);

/// The examples of a command: lines, each with what it does behind spaces.
std::vector<std::string> examplesOf(std::string_view command);

/// The names of the commands.
std::vector<std::string> commandNames(const CLI::App &app);
/// A command by name; null where there is none.
CLI::App *findCommand(CLI::App &app, std::string_view name);
/// The options of a command: "--arch", "-o".
std::vector<std::string> optionNames(const CLI::App &command);

/// The values that an option takes; empty: any.
std::vector<std::string> valuesOf(std::string_view option);

/// The commands of `app`, or the one that is named: options with their names,
/// values and meaning, and examples.
nlohmann::ordered_json describeCommands(const CLI::App &app,
                                        std::string_view command);

/// The manual page, in roff.
std::string manualPage(const CLI::App &app);

/// Completion for "bash" or "zsh"; empty for others.
std::string completionScript(const CLI::App &app, std::string_view shell);

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_HELP_H
