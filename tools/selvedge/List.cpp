// `selvedge list`.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Commands.h"
#include "tools/selvedge/Support.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <memory>

namespace selvedge::cli {

namespace fs = std::filesystem;

namespace {

/// The templates that came with this program: beside a build folder, an
/// unpacked archive or an installation.
Result<std::vector<std::string>> findTemplates() {
  std::vector<fs::path> folders;
  if (const char *chosen = std::getenv("SELVEDGE_TEMPLATES"))
    folders.emplace_back(chosen);
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char *way :
       {"../templates", "../../templates", "../share/selvedge/templates"})
    folders.push_back(program / way);
  for (const fs::path &folder : folders) {
    std::vector<std::string> files;
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

int listFile(const std::string &file, std::string &text) {
  Result<CompileRequest> request = makeRequest({file, "", "", {}, ""});
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
  }
  return exitDone;
}

int listFiles(std::vector<std::string> files) {
  if (files.empty()) {
    Result<std::vector<std::string>> templates = findTemplates();
    if (!templates.ok())
      return report(templates.status());
    files = std::move(*templates);
  }
  int worst = exitDone;
  std::string text;
  for (const std::string &file : files)
    worst = std::max(worst, listFile(file, text));
  return std::max(worst, report(writeOutput("-", text)));
}

} // namespace

Action addList(CLI::App &app) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App *command = app.add_subcommand(
      "list", "list the ops of files (default: the shipped templates)");
  command->add_option("FILE", *files, ".tile files");
  return [files] { return listFiles(*files); };
}

} // namespace selvedge::cli
