// `selvedge fmt`.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Format.h"
#include "selvedge/File.h"
#include "tools/selvedge/Commands.h"
#include "tools/selvedge/Support.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <memory>

namespace selvedge::cli {

namespace {

struct FmtOptions {
  std::vector<std::string> files;
  bool check = false;
};

int formatFile(const std::string &file, bool check) {
  Result<std::string> source = readSource(file);
  if (!source.ok())
    return report(source.status());
  CompileResult result;
  std::string text;
  if (!frontend::formatSource(file == "-" ? "<stdin>" : file, *source, text,
                              result.diagnostics)) {
    result.status = CompileStatus::BadInput;
    return report(result);
  }
  if (check && text != *source) {
    fmt::print("{}\n", file);
    return exitFailed;
  }
  if (check || (file != "-" && text == *source))
    return exitDone;
  return report(writeOutput(file, text));
}

} // namespace

Action addFmt(CLI::App &app) {
  auto options = std::make_shared<FmtOptions>();
  CLI::App *command = app.add_subcommand(
      "fmt", "lay out .tile files, in place: indentation, spaces, blank lines");
  command
      ->add_option("FILE", options->files,
                   ".tile files; - formats standard input")
      ->required();
  command->add_flag("--check", options->check,
                    "change nothing, name the files that would change, and "
                    "end with 1 if there are some");
  return [options] {
    int worst = exitDone;
    for (const std::string &file : options->files)
      worst = std::max(worst, formatFile(file, options->check));
    return worst;
  };
}

} // namespace selvedge::cli
