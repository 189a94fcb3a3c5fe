// Device `gpu`: execution between canaries.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/CompileCached.h"
#include "compiler/Target/TargetInfo.h"
#include "tools/selvedge/RepeatedOutputs.h"
#include "tools/selvedge/RunDevices.h"
#include "tools/selvedge/Suggest.h"
#include "tools/selvedge/Support.h"
#include "tools/selvedge/Terminal.h"

#include <charconv>
#include <fmt/format.h>
#include <functional>
#include <optional>
#include <ranges>

namespace selvedge::cli {

namespace {

/// The type in which registers are poisoned: that of the data.
DType mainType(const Manifest &signature) {
  for (const ManifestTensor &tensor : signature.tensors)
    if (isFloat(tensor.dtype))
      return tensor.dtype;
  return DType::F32;
}

} // namespace

Result<int> parseOrdinal(const std::string &device, bool isGpuOnly) {
  const char *expected = isGpuOnly ? "gpu or gpu:N" : "gpu, gpu:N, sim or ref";
  std::vector<std::string> known = {"gpu", "gpu:0"};
  if (!isGpuOnly)
    known.insert(known.end(), {"sim", "ref"});
  if (device.empty() || device == "gpu")
    return 0;
  constexpr std::string_view prefix = "gpu:";
  int ordinal = -1;
  const char *end = device.data() + device.size();
  if (device.starts_with(prefix))
    if (auto [stop, error] =
            std::from_chars(device.data() + prefix.size(), end, ordinal);
        error != std::errc() || stop != end)
      ordinal = -1;
  if (ordinal < 0)
    return Status::badInput(
        fmt::format("--device '{}' is unknown: expected {}{}", device, expected,
                    didYouMean(device, known)));
  return ordinal;
}

Result<std::string> bestArch(const Device &device) {
  auto [major, minor] = device.capability();
  Status last;
  for (const TargetInfo &target : targets | std::views::reverse) {
    Result<LoadPath> path =
        chooseLoadPath(std::string(target.name), major, minor);
    if (path.ok())
      return std::string(target.name);
    last = path.status();
  }
  return last;
}

Result<GpuOp> GpuOp::load(const CompileRequest &request, const Device &device) {
  auto [major, minor] = device.capability();
  if (Result<LoadPath> path = chooseLoadPath(request.arch, major, minor);
      !path.ok())
    return path.status();
  std::optional<Patience> patience(workOf(request));
  CompileResult compiled =
      compileCached(forOneDevice(request, device.sharedMemoryPerBlock()));
  patience.reset();
  if (Status s = statusOf(compiled); !s.ok())
    return s;
  Result<Op> op =
      Op::load({compiled.manifest, compiled.ptx, compiled.cubin}, device);
  if (!op.ok())
    return op.status();
  return GpuOp(device, std::move(*op));
}

Status GpuOp::launchAll(const Execution &execution, DType poisonType,
                        const std::vector<LaunchArgs> &launches) {
  bool scrubs = execution.poison != Poison::None;
  if (scrubs && !scrubber) {
    Result<Scrubber> loaded = Scrubber::load(device);
    if (!loaded.ok())
      return loaded.status();
    scrubber = std::move(*loaded);
  }
  for (const LaunchArgs &args : launches) {
    Status status;
    if (scrubs)
      status = scrubber->run(execution.poison, poisonType);
    if (status.ok())
      status = op.launch(args);
    if (!status.ok())
      return status;
  }
  return device.synchronize();
}

Result<GpuOutcome> GpuOp::run(const Problem &problem,
                              const Execution &execution) {
  Result<Images> given = makeImages(problem, execution, /*written=*/false);
  if (!given.ok())
    return given.status();
  Result<PlacedTensors> inputs = placeTensors(device, *given);
  if (!inputs.ok())
    return inputs.status();
  Result<Placed> workspace =
      placeWorkspace(op.manifest(), device, execution.poison, problem);
  if (!workspace.ok())
    return workspace.status();
  TensorView temps = workspace->view();
  auto argumentsFor = [&](const PlacedTensors &outputs) {
    LaunchArgs args;
    for (const auto &tensors : {std::cref(*inputs), std::cref(outputs)})
      for (const auto &[name, one] : tensors.get())
        args.tensors[name] = one.view();
    args.scalars = problem.scalars;
    args.dims = problem.givenDims();
    args.workspace = temps.data;
    args.workspaceBytes = static_cast<uint64_t>(temps.shape[0]) * 4;
    return args;
  };
  auto checkOthers = [&] {
    Status status = checkWorkspace(device, *workspace);
    return status.ok() ? checkTensors(problem, device, *inputs).status()
                       : status;
  };
  Result<Images> before = makeImages(problem, execution, /*written=*/true);
  if (!before.ok())
    return before.status();
  Result<RepeatedOutputs> outputs =
      RepeatedOutputs::place(device, *before, execution.launches);
  if (!outputs.ok())
    return outputs.status();
  GpuOutcome outcome;
  while (!outputs->isDone()) {
    Result<std::vector<const PlacedTensors *>> round = outputs->nextRound();
    if (!round.ok())
      return round.status();
    std::vector<LaunchArgs> launches;
    for (const PlacedTensors *one : *round)
      launches.push_back(argumentsFor(*one));
    if (outcome.variant.empty()) {
      Result<Plan> plan =
          planLaunch(op.manifest(), launches.front(), device.multiprocessors());
      if (!plan.ok())
        return plan.status();
      outcome.variant = variantName(op.manifest(), *plan);
    }
    Status status = launchAll(execution, mainType(problem.signature), launches);
    // What launches must not write to is looked at after the first ones and the
    // last ones.
    if (status.ok() && (outputs->isFirst() || outputs->isDone()))
      status = checkOthers();
    if (status.ok())
      status = outputs->check(problem, outcome.outputs);
    if (!status.ok())
      return status;
  }
  return outcome;
}

} // namespace selvedge::cli
