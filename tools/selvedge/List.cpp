// `selvedge list`.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Commands.h"
#include "tools/selvedge/SourceFlags.h"
#include "tools/selvedge/Support.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace selvedge::cli {

namespace fs = std::filesystem;

namespace {

/// The templates that came with this program.
Result<std::vector<std::string>> findTemplates() {
  for (const std::string &folder : templateFolders()) {
    std::vector<std::string> files;
    std::error_code error;
    fs::directory_iterator it(folder, error);
    for (; !error && it != fs::directory_iterator(); it.increment(error))
      if (it->path().extension() == ".tile")
        files.push_back(fs::weakly_canonical(it->path(), error).string());
    std::sort(files.begin(), files.end());
    if (!files.empty())
      return files;
  }
  return Status::badInput(
      "no templates found: name a file or set SELVEDGE_TEMPLATES");
}

struct ListOptions {
  std::vector<std::string> files, importFolders;
  bool json = false;
};

using Json = nlohmann::ordered_json;

int listFile(const std::string &file, const ListOptions &options,
             std::string &text, Json &json) {
  SourceOptions source;
  source.file = file;
  source.importFolders = options.importFolders;
  Result<CompileRequest> request = makeRequest(source);
  if (!request.ok())
    return report(request.status());
  std::vector<OpSummary> ops;
  CompileResult result = listOps(*request, ops);
  if (int status = report(result))
    return status;
  text += file + "\n";
  for (const OpSummary &op : ops) {
    text += fmt::format("  {}\n      {}\n", op.name, op.signature);
    if (!op.comment.empty())
      text += "      " + op.comment.substr(0, op.comment.find('\n')) + "\n";
    json.push_back({{"file", file},
                    {"op", op.name},
                    {"signature", op.signature},
                    {"comment", op.comment}});
  }
  return exitDone;
}

int listFiles(const ListOptions &options) {
  std::vector<std::string> files = options.files;
  if (files.empty()) {
    Result<std::vector<std::string>> templates = findTemplates();
    if (!templates.ok())
      return report(templates.status());
    files = std::move(*templates);
  }
  int worst = exitDone;
  std::string text;
  Json json = Json::array();
  for (const std::string &file : files)
    worst = std::max(worst, listFile(file, options, text, json));
  if (options.json)
    text = printed(json);
  return std::max(worst, report(writeOutput("-", text)));
}

} // namespace

Action addList(CLI::App &app) {
  auto options = std::make_shared<ListOptions>();
  CLI::App *command = app.add_subcommand("list", "list the ops of files");
  command->add_option("FILE", options->files,
                      ".tile files (default: the shipped templates)");
  addImportFlag(*command, options->importFolders);
  command->add_flag("--json", options->json,
                    "print JSON: file, op, signature, comment");
  return [options] { return listFiles(*options); };
}

} // namespace selvedge::cli
