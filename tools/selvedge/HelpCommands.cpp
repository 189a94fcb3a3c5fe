// `selvedge help` and `selvedge completion`.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Help.h"
#include "tools/selvedge/Suggest.h"
#include "tools/selvedge/Support.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace selvedge::cli {

namespace {

struct HelpOptions {
  std::string command;
  bool man = false;
  bool json = false;
};

int runHelp(CLI::App &app, const HelpOptions &options) {
  if (options.man && options.json)
    return report(Status::badInput("--man and --json exclude each other"));
  if (options.man)
    return report(writeOutput("-", manualPage(app)));
  if (options.json &&
      (options.command.empty() || findCommand(app, options.command)))
    return report(
        writeOutput("-", printed(describeCommands(app, options.command))));
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
  command->add_option("COMMAND", options->command,
                      "the command (default: all)");
  command->add_flag("--man", options->man, "the manual page, for man -l -");
  command->add_flag("--json", options->json,
                    "print JSON: commands, their options and examples");
  return [&app, options] { return runHelp(app, *options); };
}

Action addCompletion(CLI::App &app) {
  auto shell = std::make_shared<std::string>();
  auto asJson = std::make_shared<bool>(false);
  CLI::App *command =
      app.add_subcommand("completion", "print completion for a shell");
  command->add_option("SHELL", *shell, "bash or zsh")->required();
  command->add_flag("--json", *asJson, "print JSON: shell and script");
  return [&app, shell, asJson] {
    std::string script = completionScript(app, *shell);
    if (script.empty())
      return report(Status::badInput(
          fmt::format("there is completion for bash and zsh, not for '{}'{}",
                      *shell, didYouMean(*shell, {"bash", "zsh"}))));
    if (*asJson)
      script = printed({{"shell", *shell}, {"script", script}});
    return report(writeOutput("-", script));
  };
}

} // namespace selvedge::cli
