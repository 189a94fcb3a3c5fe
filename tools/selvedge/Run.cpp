// `selvedge run`.
// SPDX-License-Identifier: MIT
#include "selvedge/Safetensors.h"
#include "tools/selvedge/Cases.h"
#include "tools/selvedge/Commands.h"
#include "tools/selvedge/RunJson.h"
#include "tools/selvedge/SourceFlags.h"
#include "tools/selvedge/Suggest.h"

#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <optional>

namespace selvedge::cli {

namespace {

struct RunOptions {
  SourceOptions source;
  CaseOptions one;
  std::string output;
  std::string device;
  std::string cases;
  bool json = false;
  PhysicalOptions physical;
  SimOptions sim;
};

Status checkChoices(const RunOptions &options) {
  const std::string &device = options.device;
  bool isSim = device == "sim";
  if (!device.empty() && device != "ref" && !isSim)
    if (Result<int> ordinal = parseOrdinal(device); !ordinal.ok())
      return ordinal.status();
  const PhysicalOptions &physical = options.physical;
  bool isSm = physical.form == "sm:seq" || physical.form == "sm:async";
  if (!physical.form.empty() && physical.form != "tile" && !isSm)
    return Status::badInput(
        fmt::format("--form '{}' is unknown: expected tile, sm:seq or "
                    "sm:async{}",
                    physical.form,
                    didYouMean(physical.form, {"tile", "sm:seq", "sm:async"})));
  if (!physical.form.empty() && device != "ref")
    return Status::badInput("--form is for --device ref: a GPU executes the "
                            "cubin");
  if (!physical.variant.empty() && !isSm && !isSim)
    return Status::badInput("--variant is for --form sm:seq or sm:async and "
                            "for --device sim: nothing else has variants");
  if (!physical.text.empty() && physical.form.empty())
    return Status::badInput("--text is for --form");
  if (!options.sim.text.empty() && !isSim)
    return Status::badInput("--lanes is for --device sim");
  if (!options.sim.coverage.empty() && options.sim.text.empty())
    return Status::badInput("--coverage is for the text of --lanes");
  if (options.sim.schedules < 1)
    return Status::badInput("--schedules expects a number above 0");
  if (options.output == "-")
    return Status::badInput("-o - is for text, and run writes safetensors");
  if (!options.output.empty() && !options.cases.empty())
    return Status::badInput("-o is for one case, not for --cases");
  return Status();
}

Status writeOutputs(const std::string &path, const Outputs &outputs) {
  std::vector<SafetensorsEntry> entries;
  for (const auto &[name, array] : outputs)
    entries.push_back({name, array.dtype, array.shape, array.data});
  return writeSafetensors(path, std::move(entries));
}

/// Reports unless the message was printed already.
int finish(const Status &status) {
  if (!status.message().empty() || status.ok())
    return report(status);
  return status.code() == ErrorCode::Failed ? exitFailed : exitBadInput;
}

/// A case that was run.
struct Ran {
  Outputs outputs;
  Status status;
  double seconds = 0;
};

Ran runTimed(CaseRunner &runner, const Case &one) {
  auto start = std::chrono::steady_clock::now();
  Ran ran;
  ran.status = runner.run(one, ran.outputs);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  ran.seconds = seconds.count();
  return ran;
}

int runOne(CaseRunner &runner, const Case &one, const RunOptions &options) {
  Ran ran = runTimed(runner, one);
  if (!options.output.empty() && !ran.outputs.empty())
    if (Status s = writeOutputs(options.output, ran.outputs); !s.ok())
      return finish(s);
  if (options.json && !runner.getPlace().empty()) {
    nlohmann::ordered_json json{{"version", 1}};
    json.update(describeRun(runner, ran.status, ran.outputs, ran.seconds));
    fmt::print("{}", printed(json));
  }
  return finish(ran.status);
}

/// Runs all cases and prints "case N: ok, SECONDS s" or "case N: FAILED,
/// SECONDS s: why" after each, or JSON behind all.
int runAll(CaseRunner &runner, const std::vector<Case> &cases,
           const std::optional<Device> &device, bool asJson) {
  int worst = exitDone;
  nlohmann::ordered_json json{{"version", 1},
                              {"cases", nlohmann::ordered_json::array()}};
  for (size_t i = 0; i < cases.size(); ++i) {
    Ran ran = runTimed(runner, cases[i]);
    const Status &status = ran.status;
    // Diagnostics of a compilation have been printed.
    bool compiles = status.ok() || !status.message().empty();
    if (asJson)
      json["cases"].push_back(
          describeRun(runner, status, ran.outputs, ran.seconds));
    else
      fmt::print("case {}: {}, {:.3f} s{}{}\n", i + 1,
                 status.ok() ? "ok" : "FAILED", ran.seconds,
                 status.ok() ? "" : ": ",
                 compiles ? status.message() : "the op does not compile");
    std::fflush(stdout);
    if (!status.ok())
      worst = std::max<int>(worst, status.code() == ErrorCode::Failed
                                       ? exitFailed
                                       : exitBadInput);
    if (!compiles)
      return worst;
    // After an illegal access the context is lost, and every case would fail.
    if (!status.ok() && device && !device->synchronize().ok()) {
      printError(fmt::format("the GPU is lost after case {} of {}", i + 1,
                             cases.size()));
      return exitFailed;
    }
  }
  if (asJson)
    fmt::print("{}", printed(json));
  return worst;
}

int runRun(RunOptions options) {
  if (Status s = checkChoices(options); !s.ok())
    return report(s);
  options.one.problem.sets = options.source.sets;
  Result<Case> one = parseCase(options.one);
  if (!one.ok())
    return report(one.status());
  Result<std::vector<Case>> cases = std::vector<Case>();
  if (!options.cases.empty())
    cases = readCases(options.cases, options.one);
  if (!cases.ok())
    return report(cases.status());
  Result<CompileRequest> request = makeRequest(options.source);
  if (!request.ok())
    return report(request.status());
  Result<std::optional<Device>> device =
      chooseDevice(options.device, request->arch);
  if (!device.ok())
    return report(device.status());
  if (*device)
    request->device = (*device)->name();
  std::optional<SimOptions> sim;
  if (options.device == "sim") {
    sim = options.sim;
    sim->variant = options.physical.variant;
    if (request->arch.empty())
      request->arch = "sm_80";
  }
  CaseRunner runner(std::move(*request), *device, options.physical, sim);
  if (options.json)
    runner.setQuiet();
  return options.cases.empty() ? runOne(runner, *one, options)
                               : runAll(runner, *cases, *device, options.json);
}

} // namespace

Action addRun(CLI::App &app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command = app.add_subcommand("run", "compile and execute");
  addSourceFlags(*command, options->source,
                 "default: that of the GPU; on sim sm_80, on ref none");
  addCaseFlags(*command, options->one);
  command->add_option(
      "-o", options->output,
      "a file for the outputs (safetensors; default: they are not "
      "written)");
  command->add_flag("--json", options->json,
                    "print where it ran, statistics of every output and its "
                    "comparisons as JSON");
  command->add_option(
      "--device", options->device,
      "gpu, gpu:N, ref or sim (default: gpu if there is one, else "
      "ref)");
  command->add_option("--cases", options->cases,
                      "a file with the options of one case per line, from "
                      "--shape to --compare; compiles once (default: the one "
                      "case of the other options)");
  command->add_option(
      "--form", options->physical.form,
      "tile, sm:seq or sm:async, with --device ref: execute this form, "
      "absent lanes poisoned (default: the program itself)");
  command->add_option(
      "--variant", options->physical.variant,
      "of --form sm:seq or sm:async, or with --device sim (default: the first "
      "that applies)");
  command->add_option("--text", options->physical.text,
                      "with --form: execute this file of that form (default: "
                      "what the compiler emits)");
  command->add_option("--schedules", options->sim.schedules,
                      "with --device sim: execute in so many orders, which "
                      "must give the same bits (default: 4, the extremes)");
  command->add_option("--lanes", options->sim.text,
                      "with --device sim: execute this file of form sm:lanes "
                      "(default: what the compiler emits)");
  command->add_option("--coverage", options->sim.coverage,
                      "with --lanes: a file for the numbers of the lines that "
                      "were executed (no default)");
  return [options] { return runRun(*options); };
}

} // namespace selvedge::cli
