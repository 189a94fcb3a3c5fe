// The program `selvedge`.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Help.h"
#include "tools/selvedge/Suggest.h"
#include "tools/selvedge/Support.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <iostream>
#include <new>
#include <system_error>

using namespace selvedge::cli;

namespace {

/// A first word that is no command gets a better message here than from the
/// parser; exitDone when there is nothing to say.
int checkCommand(const CLI::App &app, int argc, char **argv) {
  std::vector<std::string> names = commandNames(app);
  std::string available = fmt::format("{}", fmt::join(names, ", "));
  if (argc < 2) {
    printError(fmt::format("expects a subcommand: {} (or --help)", available));
    return exitBadInput;
  }
  std::string_view word = argv[1];
  if (word.starts_with('-') ||
      std::find(names.begin(), names.end(), word) != names.end())
    return exitDone;
  std::string near = didYouMean(word, names);
  printError(fmt::format("unknown subcommand '{}'{}", word,
                         near.empty() ? "; available: " + available : near));
  return exitBadInput;
}

/// The message of the parser, or a better one: of an option that the command
/// does not have.
std::string wordsOf(const CLI::ParseError &error, CLI::App &app, int argc,
                    char **argv) {
  constexpr int extras = static_cast<int>(CLI::ExitCodes::ExtrasError);
  CLI::App *command = findCommand(app, argv[1]);
  if (error.get_exit_code() != extras || !command)
    return error.what();
  std::vector<std::string> known = optionNames(*command);
  for (int i = 2; i < argc; ++i) {
    std::string word(argv[i], std::strcspn(argv[i], "="));
    if (!word.starts_with("--") ||
        std::find(known.begin(), known.end(), word) != known.end())
      continue;
    return fmt::format("'{}' has no option '{}'{}", argv[1], word,
                       didYouMean(word, known));
  }
  return error.what();
}

/// No option has a meaning without a value: `--emit ''` is a mistake, often a
/// variable of a script that is not set.
void refuseEmptyValues(CLI::App &app) {
  CLI::Validator given(
      [](std::string &value) {
        return value.empty() ? std::string("expects a value, but got ''")
                             : std::string();
      },
      "", "given");
  for (CLI::App *command : app.get_subcommands({}))
    for (CLI::Option *option : command->get_options())
      if (option->get_expected_min() > 0)
        option->check(given);
}

/// Whether everything that was printed has arrived: 0, or an exit status.
int flushOutput() {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout.good())
    return exitDone;
  printError(fmt::format("cannot write to standard output: {}",
                         errno ? std::strerror(errno) : "unknown error"));
  return exitBadInput;
}

int runProgram(int argc, char **argv) {
  CLI::App app("Selvedge: attention kernels from a tile language", "selvedge");
  app.require_subcommand(1);
  app.set_version_flag("--version",
                       fmt::format("selvedge {}", selvedge::compilerVersion()));
  const std::pair<const char *, Action> actions[] = {
      {"compile", addCompile(app)},
      {"run", addRun(app)},
      {"check", addCheck(app)},
      {"explain", addExplain(app)},
      {"bench", addBench(app)},
      {"list", addList(app)},
      {"fmt", addFmt(app)},
      {"doctor", addDoctor(app)},
      {"version", addVersion(app)},
      {"help", addHelp(app)},
      {"completion", addCompletion(app)},
  };
  addExamples(app);
  refuseEmptyValues(app);
  if (int status = checkCommand(app, argc, argv))
    return status;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return app.exit(error);
    printError(wordsOf(error, app, argc, argv));
    return exitBadInput;
  }
  for (const auto &[name, action] : actions)
    if (app.got_subcommand(name))
      return action();
  return exitBadInput;
}

} // namespace

int main(int argc, char **argv) {
  try {
    int status = runProgram(argc, argv);
    return status ? status : flushOutput();
  } catch (const std::bad_alloc &) {
    printError("out of memory: the shapes are too large for this machine");
    return exitBadInput;
  } catch (const std::system_error &error) {
    // Standard output is closed or full.
    printError(error.what());
    return exitBadInput;
  }
}
