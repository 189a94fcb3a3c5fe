// `selvedge compile`.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/CompileCached.h"
#include "compiler/Target/TargetInfo.h"
#include "selvedge/Artifact.h"
#include "selvedge/Manifest.h"
#include "tools/selvedge/CompileJson.h"
#include "tools/selvedge/Help.h"
#include "tools/selvedge/OutputKind.h"
#include "tools/selvedge/SourceFlags.h"
#include "tools/selvedge/Suggest.h"
#include "tools/selvedge/Support.h"
#include "tools/selvedge/Terminal.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <optional>

namespace selvedge::cli {

namespace {

struct CompileOptions {
  SourceOptions source;
  std::string emit;
  std::string output;
  /// Of the array, with --emit header; empty: made of op, arch and parameters.
  std::string name;
  bool locations = false;
  bool isVerbose = false;
  bool json = false;
};

constexpr const char *emitChoices =
    "cubin, ptx, llvm, sm[:seq|:async|:final|:lanes], tile[:bound], manifest, "
    "header";

/// The stages whose product is text.
std::optional<Emit> textStage(std::string_view name) {
  const std::pair<std::string_view, Emit> stages[] = {
      {"tile", Emit::Tile},        {"tile:bound", Emit::TileBound},
      {"sm", Emit::SmSeq},         {"sm:seq", Emit::SmSeq},
      {"sm:async", Emit::SmAsync}, {"sm:final", Emit::SmFinal},
      {"sm:lanes", Emit::SmLanes}, {"llvm", Emit::Llvm},
      {"ptx", Emit::Ptx},          {"manifest", Emit::Manifest},
  };
  for (const auto &[text, stage] : stages)
    if (text == name)
      return stage;
  return std::nullopt;
}

bool isIdentifier(const std::string &name) {
  return !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) || c == '_';
         });
}

/// A value as a part of a name: 0.5 is 0p5, -1 is m1.
std::string nameOfValue(const std::string &value) {
  std::string name;
  for (unsigned char c : value)
    name += std::isalnum(c) ? static_cast<char>(c)
            : c == '-'      ? 'm'
            : c == '.'      ? 'p'
                            : '_';
  return name;
}

/// Instantiations of one op have different names.
std::string arrayName(const Manifest &manifest) {
  std::string name = fmt::format("{}_{}", manifest.op, manifest.arch);
  for (const auto &[param, value] : manifest.params)
    name += fmt::format("_{}_{}", param, nameOfValue(value));
  return manifest.exactMasks ? name + "_exact" : name;
}

/// A C or C++ header that carries the artefact as an array.
std::string makeHeader(const std::string &name, const Manifest &manifest,
                       std::string_view artifact) {
  std::string guard = "SELVEDGE_GENERATED_";
  for (char c : name)
    guard += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string text = fmt::format(
      "/* Op {} for {}, compiled by selvedge {}. Load with\n"
      " * selvedge::decodeArtifact() and selvedge::Op::load(), or with\n"
      " * selvedge_load_memory(). */\n"
      "#ifndef {}_H\n#define {}_H\n\n"
      "static const unsigned char {}[{}] = {{",
      manifest.op, manifest.arch, compilerVersion(), guard, guard, name,
      artifact.size());
  for (size_t i = 0; i < artifact.size(); ++i)
    text += fmt::format("{}{},", i % 20 == 0 ? "\n" : "",
                        static_cast<unsigned char>(artifact[i]));
  return text + fmt::format("\n}};\n\n#endif /* {}_H */\n", guard);
}

/// What --verbose says: remarks, the plans in effect, and where time went.
void tell(const CompileResult &result) {
  for (const auto &[phase, milliseconds] : result.phases)
    fmt::print(stderr, "time: {} {:.0f} ms\n", phase, milliseconds);
  for (const std::string &remark : result.remarks)
    fmt::print(stderr, "remark: {}\n", remark);
  for (const std::string &complaint : result.complaints)
    fmt::print(stderr, "remark: {}\n", complaint);
  if (!result.plan.empty())
    fmt::print(stderr, "plan: {}\n", result.plan);
}

/// What was compiled, and what it takes.
int printJson(const CompileOptions &options, const CompileRequest &request,
              const CompileResult &result) {
  Result<Manifest> manifest = parseManifest(result.manifest);
  if (!manifest.ok())
    return report(Status::failed(manifest.status().message()));
  return report(writeOutput(
      "-",
      describeCompiled(*manifest, request, result, options.output) + "\n"));
}

int writeBinary(const CompileOptions &options, const CompileResult &result) {
  if (options.emit == "cubin")
    return report(writeOutput(options.output, result.cubin));
  std::string artifact =
      encodeArtifact({result.manifest, result.ptx, result.cubin});
  if (options.emit.empty())
    return report(writeOutput(options.output, artifact));
  Result<Manifest> manifest = parseManifest(result.manifest);
  if (!manifest.ok())
    return report(Status::failed(manifest.status().message()));
  std::string name = options.name.empty() ? arrayName(*manifest) : options.name;
  return report(
      writeOutput(options.output, makeHeader(name, *manifest, artifact)));
}

int emitBinary(const CompileOptions &options, CompileRequest &request) {
  if (options.isVerbose)
    request.progress = [](const std::string &words) {
      fmt::print(stderr, "{}\n", words);
    };
  auto start = std::chrono::steady_clock::now();
  std::optional<Patience> patience(workOf(request));
  // What is cached has nothing to say.
  CompileResult result = options.isVerbose || options.json
                             ? compile(request)
                             : compileCached(request);
  patience.reset();
  // Phases overlap.
  std::chrono::duration<double, std::milli> all =
      std::chrono::steady_clock::now() - start;
  result.phases.emplace_back("all", all.count());
  if (int status = report(result))
    return status;
  if (options.isVerbose)
    tell(result);
  if (int status = writeBinary(options, result))
    return status;
  return options.json ? printJson(options, request, result) : exitDone;
}

int runCompile(CompileOptions options) {
  if (options.emit.empty()) {
    if (std::string slip = slipOfSuffix(options.output); !slip.empty())
      return report(Status::badInput(slip));
    options.emit = kindOfFile(options.output);
  }
  if (options.output.empty())
    options.output = defaultOutput(options.source.file, options.emit);
  std::optional<Emit> stage = textStage(options.emit);
  bool binary = options.emit.empty() || options.emit == "cubin";
  if (!stage && !binary && options.emit != "header")
    return report(Status::badInput(fmt::format(
        "--emit '{}' is unknown: expected {}{}", options.emit, emitChoices,
        didYouMean(options.emit, valuesOf("--emit")))));
  if (options.json && (stage || options.output == "-"))
    return report(Status::badInput(
        "--json is for an artefact, a cubin or a header, in a file"));
  if (!options.name.empty() && options.emit != "header")
    return report(Status::badInput("--name is for --emit header"));
  if (!options.name.empty() && !isIdentifier(options.name))
    return report(Status::badInput(
        fmt::format("--name expects a name of C, but got '{}'", options.name)));
  if (binary && options.output == "-")
    return report(Status::badInput("-o - is for text, and this is binary"));
  if (options.source.arch.empty() && stage != Emit::Tile)
    return report(Status::badInput("--arch is missing: " + targetNames("or")));
  Result<CompileRequest> request = makeRequest(options.source);
  if (!request.ok())
    return report(request.status());
  Result<std::map<std::string, std::string>> bindings =
      parseBindings(options.source.sets, "--set");
  if (!bindings.ok())
    return report(bindings.status());
  request->bindings = std::move(*bindings);
  request->printLocations = options.locations;
  if (!stage)
    return emitBinary(options, *request);
  // The same text, whatever was compiled before.
  request->planFolder.clear();
  std::string text;
  CompileResult result = emitText(*request, *stage, text);
  if (int status = report(result))
    return status;
  if (options.isVerbose)
    tell(result);
  return report(writeOutput(options.output, text));
}

} // namespace

Action addCompile(CLI::App &app) {
  auto options = std::make_shared<CompileOptions>();
  CLI::App *command = app.add_subcommand("compile", "compile to an artefact");
  addSourceFlags(*command, options->source,
                 "no default; --emit tile needs none");
  command->add_option("--emit", options->emit,
                      fmt::format("{} (default: as the suffix of -o says, "
                                  "else an artefact)",
                                  emitChoices));
  command->add_option("--name", options->name,
                      "with --emit header: name of the array (default: op, "
                      "architecture and parameters)");
  command->add_flag("--locations", options->locations,
                    "with --emit tile or sm: show source places and safety "
                    "notes");
  command->add_flag("--verbose", options->isVerbose,
                    "compile anew and say what was decided: plans, kernels "
                    "without warp roles, spills");
  command->add_flag("--json", options->json,
                    "compile anew and print registers, spills, shared memory "
                    "and times as JSON");
  command->add_option("-o", options->output,
                      "output file, - for text on standard output. Without "
                      "--emit its suffix says what it is: .selv, .cubin, .ptx, "
                      ".h, .json (manifest), .ll (default: text on standard "
                      "output, anything else into the working directory, under "
                      "the name of the source)");
  return [options] { return runCompile(*options); };
}

} // namespace selvedge::cli
