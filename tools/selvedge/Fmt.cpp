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
#include <nlohmann/json.hpp>

namespace selvedge::cli {

namespace {

struct FmtOptions {
  std::vector<std::string> files;
  bool check = false;
  bool json = false;
};

using Json = nlohmann::ordered_json;

/// Adds to `json` what became of a file.
int formatFile(const std::string &file, const FmtOptions &options, Json &json) {
  bool check = options.check;
  Result<std::string> source = readSource(file);
  if (!source.ok()) {
    json.push_back({{"file", file},
                    {"ok", false},
                    {"changes", false},
                    {"diagnostics", source.status().message()}});
    return report(source.status());
  }
  CompileResult result;
  std::string text;
  bool isFine = frontend::formatSource(file == "-" ? "<stdin>" : file, *source,
                                       text, result.diagnostics);
  bool changes = isFine && text != *source;
  Json entry{{"file", file},
             {"ok", isFine},
             {"changes", changes},
             {"diagnostics", result.diagnostics}};
  if (file == "-" && isFine)
    entry["text"] = text;
  json.push_back(std::move(entry));
  if (!isFine) {
    result.status = CompileStatus::BadInput;
    return report(result);
  }
  if (check && changes) {
    if (!options.json)
      fmt::print("{}\n", file);
    return exitFailed;
  }
  if (options.json && file == "-")
    return exitDone;
  if (check || (file != "-" && !changes))
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
  command->add_flag("--json", options->json,
                    "print JSON: file, ok, changes, diagnostics; of standard "
                    "input the text, too");
  return [options] {
    int worst = exitDone;
    Json json = Json::array();
    for (const std::string &file : options->files)
      worst = std::max(worst, formatFile(file, *options, json));
    return options->json
               ? std::max(worst, report(writeOutput("-", printed(json))))
               : worst;
  };
}

} // namespace selvedge::cli
