// `selvedge run`.
// SPDX-License-Identifier: MIT
#include "selvedge/Safetensors.h"
#include "tools/selvedge/Commands.h"
#include "tools/selvedge/RunDevices.h"
#include "tools/selvedge/SourceFlags.h"

#include <charconv>
#include <fmt/format.h>
#include <memory>
#include <optional>

namespace selvedge::cli {

namespace {

struct RunOptions {
  SourceOptions source;
  ProblemOptions problem;
  std::string output;
  std::string device;
  /// Of device `ref`; its poison is that of `poison`.
  PhysicalOptions physical;
  std::string poison = "nan";
  std::string compare;
  std::string seed = "0";
};

Status checkChoices(const RunOptions &options) {
  const std::string &device = options.device;
  if (device == "sim")
    return Status::badInput(
        "--device sim is not available yet: expected gpu or ref");
  if (!device.empty() && device != "gpu" && device != "ref")
    return Status::badInput(
        fmt::format("--device '{}' is unknown: expected gpu or ref", device));
  if (!poisonFromName(options.poison))
    return Status::badInput(
        fmt::format("--poison '{}' is unknown: expected none, nan, inf, "
                    "neginf, max, random or subnormal",
                    options.poison));
  const PhysicalOptions &physical = options.physical;
  if (!physical.form.empty() && physical.form != "tile" &&
      physical.form != "sm:seq")
    return Status::badInput(fmt::format(
        "--form '{}' is unknown: expected tile or sm:seq", physical.form));
  if (!physical.form.empty() && device != "ref")
    return Status::badInput("--form is for --device ref: a GPU executes the "
                            "cubin");
  if (!physical.variant.empty() && physical.form != "sm:seq")
    return Status::badInput("--variant is for --form sm:seq: other forms have "
                            "no variants");
  if (!options.compare.empty() && options.compare != "ref")
    return Status::badInput(fmt::format(
        "--compare '{}' is unknown: expected ref", options.compare));
  if (options.output == "-")
    return Status::badInput("-o - is for text, and run writes safetensors");
  if (!options.problem.inputFile.empty() && !options.problem.omitted.empty())
    return Status::badInput("--omit is for random inputs: with -i, leave the "
                            "tensor out of the file");
  return Status();
}

/// Chooses the device; nullopt: `ref`. Completes `arch` for a GPU.
Result<std::optional<Device>> chooseDevice(const std::string &wanted,
                                           std::string &arch) {
  const std::optional<Device> reference;
  if (wanted == "ref")
    return reference;
  Result<Device> device = Device::open();
  if (!device.ok() && wanted.empty())
    return reference;
  if (!device.ok())
    return Status::unavailable(
        fmt::format("--device gpu: {}", device.status().message()));
  if (!arch.empty())
    return std::optional<Device>(*device);
  Result<std::string> best = bestArch(*device);
  if (!best.ok() && wanted.empty())
    return reference;
  if (!best.ok())
    return best.status();
  arch = *best;
  return std::optional<Device>(*device);
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

int execute(const RunOptions &options, const Problem &problem,
            const std::optional<Device> &device) {
  std::map<std::string, ReferenceOutput> reference;
  Footprint loaded;
  if (!device || options.compare == "ref") {
    auto result = runOnReference(problem, loaded);
    if (!result.ok())
      return finish(result.status());
    reference = std::move(*result);
  }
  PhysicalOptions physical = options.physical;
  physical.poison = options.poison;
  bool isPhysical = !physical.form.empty();
  Result<Outputs> outputs =
      device       ? runOnGpu(problem, *device, *poisonFromName(options.poison))
      : isPhysical ? runPhysical(problem, physical, loaded)
                   : roundOutputs(problem, reference);
  if (!outputs.ok())
    return finish(outputs.status());
  fmt::print(
      "{} on {}\n", problem.signature.op,
      device ? fmt::format("gpu ({}, {})", device->name(), problem.request.arch)
      : isPhysical
          ? fmt::format("ref ({}, poison {})", physical.form, physical.poison)
          : "ref");
  summarise(problem, *outputs);
  if (!options.output.empty())
    if (Status s = writeOutputs(options.output, *outputs); !s.ok())
      return finish(s);
  bool fine =
      options.compare.empty() || compareOutputs(problem, *outputs, reference);
  return fine ? exitDone : exitFailed;
}

int runRun(const RunOptions &options) {
  if (Status s = checkChoices(options); !s.ok())
    return report(s);
  Result<CompileRequest> request = makeRequest(options.source);
  if (!request.ok())
    return report(request.status());
  Result<std::optional<Device>> device =
      chooseDevice(options.device, request->arch);
  if (!device.ok())
    return report(device.status());
  ProblemOptions problemOptions = options.problem;
  const char *end = options.seed.data() + options.seed.size();
  auto [stop, error] =
      std::from_chars(options.seed.data(), end, problemOptions.seed);
  if (error != std::errc() || stop != end)
    return report(Status::badInput(
        fmt::format("--seed expects an integer in 0..2^64 - 1, but got '{}'",
                    options.seed)));
  problemOptions.sets = options.source.sets;
  Result<Problem> problem = makeProblem(std::move(*request), problemOptions);
  if (!problem.ok())
    return finish(problem.status());
  return execute(options, *problem, *device);
}

} // namespace

Action addRun(CLI::App &app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command = app.add_subcommand("run", "compile and execute");
  addSourceFlags(*command, options->source);
  auto repeated = [&](const char *name, std::vector<std::string> &values,
                      const char *help) {
    command->add_option(name, values, help)
        ->type_size(1)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  repeated("--shape", options->problem.shapes, "dims: B=2,M=1024,...");
  repeated("--omit", options->problem.omitted,
           "leave an optional tensor out of random inputs");
  command->add_option("-i", options->problem.inputFile,
                      "inputs (safetensors; default: random)");
  command->add_option("-o", options->output, "outputs (safetensors)");
  command->add_option("--device", options->device,
                      "gpu or ref (default: gpu if there is one)");
  command->add_option("--seed", options->seed,
                      "seed of random inputs (default 0)");
  command->add_option("--poison", options->poison,
                      "none, nan (default), inf, neginf, max, random or "
                      "subnormal: what outputs, workspace and guards hold "
                      "before the launch; with --form also absent lanes");
  command->add_option("--form", options->physical.form,
                      "tile or sm:seq, with --device ref: execute this form, "
                      "absent lanes poisoned, instead of the program itself");
  command->add_option("--variant", options->physical.variant,
                      "of --form sm:seq (default: the first that applies)");
  command->add_option("--compare", options->compare,
                      "ref: compare with the reference and its error bounds");
  return [options] { return runRun(*options); };
}

} // namespace selvedge::cli
