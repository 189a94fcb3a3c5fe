// `selvedge explain`.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Commands.h"
#include "tools/selvedge/SourceFlags.h"
#include "tools/selvedge/Support.h"

#include <memory>

namespace selvedge::cli {

namespace {

struct ExplainOptions {
  SourceOptions source;
  bool json = false;
  std::string html;
};

int runExplain(const ExplainOptions &options) {
  if (options.json && !options.html.empty())
    return report(Status::badInput("--json and --html exclude each other"));
  SourceOptions source = options.source;
  if (source.arch.empty())
    source.arch = "sm_80";
  Result<CompileRequest> request = makeRequest(source);
  if (!request.ok())
    return report(request.status());
  Result<std::map<std::string, std::string>> bindings =
      parseBindings(source.sets, "--set");
  if (!bindings.ok())
    return report(bindings.status());
  request->bindings = std::move(*bindings);
  ExplainFormat format = options.json           ? ExplainFormat::Json
                         : options.html.empty() ? ExplainFormat::Text
                                                : ExplainFormat::Html;
  std::string text;
  CompileResult result = explainOp(*request, format, text);
  if (int status = report(result))
    return status;
  return report(writeOutput(options.html.empty() ? "-" : options.html, text));
}

} // namespace

Action addExplain(CLI::App &app) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App *command = app.add_subcommand(
      "explain", "tell what keeps each load, score and output safe, and why");
  addSourceFlags(*command, options->source, "default: sm_80");
  command->add_flag("--json", options->json, "as JSON on stdout");
  command->add_option(
      "--html", options->html,
      "a file for one self-contained page; - for stdout (default: "
      "text on standard output)");
  return [options] { return runExplain(*options); };
}

} // namespace selvedge::cli
