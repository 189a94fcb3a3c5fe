// `selvedge bench`.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Commands.h"
#include "tools/selvedge/PlacedTensors.h"
#include "tools/selvedge/RunDevices.h"
#include "tools/selvedge/SourceFlags.h"
#include "tools/selvedge/Terminal.h"
#include "tools/selvedge/Tune.h"

#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace selvedge::cli {

namespace {

struct BenchOptions {
  SourceOptions source;
  ProblemOptions problem;
  std::string device;
  bool json = false;
  bool tune = false;
  size_t top = 24;
};

using Json = nlohmann::ordered_json;

Json describe(const Problem &problem, const Device &device,
              const Timing &timing) {
  Json json{{"version", 1},
            {"op", problem.signature.op},
            {"arch", problem.request.arch},
            {"device", device.name()},
            {"shape", problem.namedDims()},
            {"variant", timing.variant},
            {"milliseconds", timing.median},
            {"best_milliseconds", timing.best},
            {"batches", timing.batches},
            {"launches_per_batch", timing.launchesPerBatch}};
  return json;
}

void print(const Problem &problem, const Device &device, const Timing &timing) {
  fmt::print("{} on {} ({}, {}): {:.4f} ms, best {:.4f} ms, {} batches of {} "
             "launches\n",
             problem.signature.op, device.name(), problem.request.arch,
             timing.variant, timing.median, timing.best, timing.batches,
             timing.launchesPerBatch);
}

int runOnce(const Problem &problem, const Device &device, bool asJson) {
  std::optional<Patience> patience(workOf(problem.request));
  CompileResult compiled = compile(problem.request);
  patience.reset();
  if (int status = report(compiled))
    return status;
  Result<Op> op =
      Op::load({compiled.manifest, compiled.ptx, compiled.cubin}, device);
  if (!op.ok())
    return report(op.status());
  Result<BenchArgs> args = BenchArgs::place(problem, device);
  if (!args.ok())
    return report(args.status());
  Result<Timing> timing = args->time(*op);
  if (!timing.ok())
    return report(timing.status());
  if (!asJson) {
    print(problem, device, *timing);
    if (!compiled.plan.empty())
      fmt::print("plan {}\n", compiled.plan);
    return exitDone;
  }
  Json json = describe(problem, device, *timing);
  Result<DimValues> dims = launchedDims(op->manifest(), device, problem);
  if (!dims.ok())
    return report(dims.status());
  for (size_t i = 0; i < dims->size(); ++i)
    json["shape"][op->manifest().dims[i]] = (*dims)[i].value_or(0);
  json["plan"] = compiled.plan;
  fmt::print("{}", printed(json));
  return exitDone;
}

int runTune(const Problem &problem, const Device &device,
            const BenchOptions &options) {
  Result<Tuning> tuning = tune(problem, device, options.top);
  if (!tuning.ok())
    return tuning.status().message().empty()
               ? (tuning.status().code() == ErrorCode::Failed ? exitFailed
                                                              : exitBadInput)
               : report(tuning.status());
  const Tried &winner = tuning->tried[tuning->winner];
  if (!options.json) {
    for (const Tried &tried : tuning->tried)
      fmt::print("{} {}{}\n",
                 tried.dropped.empty()
                     ? fmt::format("{:9.4f} ms", tried.timing.median)
                     : fmt::format("{:>12}", "dropped"),
                 tried.candidate.words,
                 tried.dropped.empty() ? "" : ": " + tried.dropped);
    print(problem, device, winner.timing);
    fmt::print("winner {}\nstored in {}\n", winner.candidate.plan,
               tuning->stored.empty() ? "no file: neither XDG_CACHE_HOME nor "
                                        "HOME is set"
                                      : tuning->stored);
    return exitDone;
  }
  Json json = describe(problem, device, winner.timing);
  json["plan"] = winner.candidate.plan;
  json["stored"] = tuning->stored;
  for (const Tried &tried : tuning->tried) {
    Json one{{"plan", tried.candidate.plan}, {"words", tried.candidate.words}};
    if (tried.dropped.empty())
      one["milliseconds"] = tried.timing.median;
    else
      one["dropped"] = tried.dropped;
    json["candidates"].push_back(one);
  }
  fmt::print("{}", printed(json));
  return exitDone;
}

int runBench(BenchOptions options) {
  Result<int> ordinal = parseOrdinal(options.device, /*isGpuOnly=*/true);
  if (!ordinal.ok())
    return report(ordinal.status());
  Result<Device> device = Device::open(*ordinal);
  if (!device.ok())
    return report(Status::unavailable(
        fmt::format("bench needs a GPU: {}", device.status().message())));
  Result<CompileRequest> request = makeRequest(options.source);
  if (!request.ok())
    return report(request.status());
  if (request->arch.empty()) {
    Result<std::string> best = bestArch(*device);
    if (!best.ok())
      return report(best.status());
    request->arch = *best;
  }
  request->device = device->name();
  *request = forOneDevice(std::move(*request), device->sharedMemoryPerBlock());
  options.problem.sets = options.source.sets;
  Result<Problem> problem = makeProblem(std::move(*request), options.problem);
  if (!problem.ok())
    return problem.status().message().empty() ? exitBadInput
                                              : report(problem.status());
  return options.tune ? runTune(*problem, *device, options)
                      : runOnce(*problem, *device, options.json);
}

} // namespace

Action addBench(CLI::App &app) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App *command = app.add_subcommand(
      "bench", "time an op on the GPU; with --tune find its fastest plan");
  addSourceFlags(*command, options->source, "default: that of the GPU");
  command->add_option("--shape", options->problem.shapes,
                      "NAME=VALUE[,...], binds dims (default: those of the "
                      "tensors of -i; without -i no default)");
  command->add_option("-i", options->problem.inputFile,
                      "inputs (safetensors; default: random)");
  command->add_option(
      "--omit", options->problem.omitted,
      "leave an optional tensor out of random inputs (no default)");
  command->add_option(
      "--fill", options->problem.fills,
      "NAME=VALUE[,VALUE...], values of an input (default: random "
      "ones)");
  command->add_option("--device", options->device,
                      "gpu or gpu:N (default: gpu)");
  command->add_flag("--json", options->json, "as JSON on stdout");
  command->add_flag("--tune", options->tune,
                    "measure the candidates of the plan and store the fastest "
                    "for later compilations");
  command
      ->add_option("--top", options->top,
                   "with --tune: how many candidates, best first by the model "
                   "(default: 24)")
      ->check(CLI::PositiveNumber);
  return [options] { return runBench(*options); };
}

} // namespace selvedge::cli
