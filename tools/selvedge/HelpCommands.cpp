// `selvedge help` and `selvedge completion`.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Help.h"
#include "tools/selvedge/Support.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace selvedge::cli {

namespace {

struct HelpOptions {
  std::string command;
  bool man = false;
};

int runHelp(CLI::App &app, const HelpOptions &options) {
  if (options.man)
    return report(writeOutput("-", manualPage(app)));
  // help() would tell about this command.
  if (options.command.empty())
    return report(writeOutput(
        "-", app.get_formatter()->make_help(&app, app.get_name(),
                                            CLI::AppFormatMode::Normal)));
  CLI::App *command = findCommand(app, options.command);
  if (!command)
    return report(Status::badInput(
        fmt::format("unknown command '{}'{}", options.command,
                    didYouMean(options.command, commandNames(app)))));
  return report(
      writeOutput("-", command->help("selvedge", CLI::AppFormatMode::Normal)));
}

} // namespace

Action addHelp(CLI::App &app) {
  auto options = std::make_shared<HelpOptions>();
  CLI::App *command =
      app.add_subcommand("help", "tell what a command does, with examples");
  command->add_option("COMMAND", options->command, "the command");
  command->add_flag("--man", options->man, "the manual page, for man -l -");
  return [&app, options] { return runHelp(app, *options); };
}

Action addCompletion(CLI::App &app) {
  auto shell = std::make_shared<std::string>();
  CLI::App *command =
      app.add_subcommand("completion", "print completion for a shell");
  command->add_option("SHELL", *shell, "bash or zsh")->required();
  return [&app, shell] {
    std::string script = completionScript(app, *shell);
    return report(script.empty()
                      ? Status::badInput(fmt::format(
                            "there is completion for bash and zsh, not for "
                            "'{}'",
                            *shell))
                      : writeOutput("-", script));
  };
}

} // namespace selvedge::cli
