// The program `selvedge`.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Commands.h"
#include "tools/selvedge/Support.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <iostream>
#include <new>
#include <system_error>

using namespace selvedge::cli;

namespace {

constexpr const char *available =
    "compile, run, check, explain, bench, list, doctor, version";

/// A first word that is no subcommand gets a better message here than from the
/// parser; exitDone when there is nothing to say.
int checkSubcommand(int argc, char **argv) {
  if (argc < 2) {
    printError(fmt::format("expects a subcommand: {} (or --help)", available));
    return exitBadInput;
  }
  std::string_view word = argv[1];
  if (word.starts_with('-'))
    return exitDone;
  for (std::string_view known : {"compile", "run", "check", "explain", "bench",
                                 "list", "doctor", "version"})
    if (word == known)
      return exitDone;
  printError(
      fmt::format("unknown subcommand '{}'; available: {}", word, available));
  return exitBadInput;
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
  if (int status = checkSubcommand(argc, argv))
    return status;
  CLI::App app("Selvedge: attention kernels from a tile language", "selvedge");
  app.require_subcommand(1);
  app.set_version_flag("--version",
                       fmt::format("selvedge {}", selvedge::compilerVersion()));
  const std::pair<const char *, Action> actions[] = {
      {"compile", addCompile(app)}, {"run", addRun(app)},
      {"check", addCheck(app)},     {"explain", addExplain(app)},
      {"bench", addBench(app)},     {"list", addList(app)},
      {"doctor", addDoctor(app)},   {"version", addVersion(app)},
  };
  refuseEmptyValues(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return app.exit(error);
    printError(error.what());
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
