// Device `gpu`: execution between canaries.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/CompileCached.h"
#include "compiler/Target/TargetInfo.h"
#include "tools/selvedge/GuardedImage.h"
#include "tools/selvedge/RunDevices.h"
#include "tools/selvedge/Support.h"

#include <charconv>
#include <fmt/format.h>
#include <memory>
#include <ranges>

namespace selvedge::cli {

namespace {

using Image = std::shared_ptr<const GuardedImage>;

/// An image in device memory.
struct Placed {
  Image image;
  DeviceBuffer buffer;

  static Result<Placed> upload(const Device &device, const std::string &name,
                               Image image) {
    Result<DeviceBuffer> buffer = device.allocate(image->bytes().size());
    Status status = buffer.ok() ? device.copyTo(buffer->data(), image->bytes())
                                : buffer.status();
    if (!status.ok())
      return Status(status.code(),
                    fmt::format("tensor '{}': {}", name, status.message()));
    return Placed{std::move(image), std::move(*buffer)};
  }

  TensorView view() const { return image->view(buffer.data()); }

  Status download(const Device &device, std::vector<std::byte> &now) const {
    now.resize(image->bytes().size());
    return device.copyFrom(now, buffer.data());
  }
};

using Images = std::map<std::string, Image>;
using PlacedTensors = std::map<std::string, Placed>;

bool isWritten(const ManifestTensor &tensor) {
  return tensor.role == Role::Out || tensor.role == Role::InOut;
}

/// The inputs, or what is written to.
Result<Images> makeImages(const Problem &problem, const Execution &execution,
                          bool written) {
  Images images;
  for (const ManifestTensor &tensor : problem.signature.tensors) {
    auto given = problem.inputs.find(tensor.name);
    bool isGiven = given != problem.inputs.end();
    if (tensor.role == Role::Temp || isWritten(tensor) != written ||
        (!written && !isGiven))
      continue;
    Result<std::vector<int64_t>> shape =
        shapeOf(problem.signature, tensor, problem.dims);
    if (!shape.ok())
      return shape.status();
    auto layout = execution.layouts.find(tensor.name);
    GuardedImage image(tensor.dtype,
                       makeLayout(layout == execution.layouts.end()
                                      ? LayoutKind::Contiguous
                                      : layout->second,
                                  *shape, tensor.broadcasts),
                       execution.poison);
    std::span<const uint8_t> chosen;
    if (execution.reference && execution.poison != Poison::None && !written)
      chosen = execution.reference->reads.at(tensor.name);
    if (isGiven)
      image.store(given->second.data, chosen);
    images.emplace(tensor.name,
                   std::make_shared<GuardedImage>(std::move(image)));
  }
  return images;
}

Result<PlacedTensors> placeTensors(const Device &device, const Images &images) {
  PlacedTensors placed;
  for (const auto &[name, image] : images) {
    Result<Placed> one = Placed::upload(device, name, image);
    if (!one.ok())
      return one.status();
    placed.emplace(name, std::move(*one));
  }
  return placed;
}

/// The workspace, poisoned by the types of the temps in it.
Result<Placed> placeWorkspace(const Manifest &manifest, const Device &device,
                              Poison poison, const Problem &problem) {
  // The program's manifest may order its dims differently.
  Result<DimValues> dims = bindDims(manifest, {}, problem.givenDims());
  if (!dims.ok())
    return dims.status();
  if (Status s = chooseLaunchSizes(manifest, *dims, device.multiprocessors());
      !s.ok())
    return s;
  Result<std::vector<uint64_t>> offsets = workspaceLayout(manifest, *dims);
  if (!offsets.ok())
    return offsets.status();
  std::vector<std::byte> content(offsets->back());
  for (size_t i = 0; i < manifest.tensors.size(); ++i)
    fillPoison(poison, manifest.tensors[i].dtype,
               std::span(content).subspan((*offsets)[i],
                                          (*offsets)[i + 1] - (*offsets)[i]));
  // workspaceAlign is a multiple of the element's size.
  auto words = static_cast<int64_t>(content.size()) / sizeOf(DType::F32);
  GuardedImage image(DType::F32, makeLayout(LayoutKind::Contiguous, {words}),
                     poison);
  image.store(content);
  return Placed::upload(device, "workspace",
                        std::make_shared<GuardedImage>(std::move(image)));
}

/// All bytes of tensors, canaries and gaps, too.
using Bytes = std::map<std::string, std::vector<std::byte>>;

Result<Bytes> downloadAll(const Device &device, const PlacedTensors &placed) {
  Bytes bytes;
  for (const auto &[name, one] : placed)
    if (Status s = one.download(device, bytes[name]); !s.ok())
      return s;
  return bytes;
}

/// Checks every tensor, of which these are the bytes now, and takes what was
/// written.
Result<Outputs> checkTensors(const Problem &problem,
                             const PlacedTensors &placed, const Bytes &bytes) {
  Outputs outputs;
  for (const auto &[name, one] : placed) {
    const ManifestTensor &tensor =
        problem.signature.tensors[*problem.signature.findTensor(name)];
    bool written = isWritten(tensor);
    const std::vector<std::byte> &now = bytes.at(name);
    if (Status s = one.image->check(name, now, !written); !s.ok())
      return s;
    if (written)
      outputs[name] = {tensor.dtype, one.view().shape, one.image->load(now)};
  }
  return outputs;
}

/// The type in which registers are poisoned: that of the data.
DType mainType(const Manifest &signature) {
  for (const ManifestTensor &tensor : signature.tensors)
    if (isFloat(tensor.dtype))
      return tensor.dtype;
  return DType::F32;
}

} // namespace

Result<int> parseOrdinal(const std::string &device) {
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
    return Status::badInput(fmt::format(
        "--device '{}' is unknown: expected gpu, gpu:N or ref", device));
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
  CompileResult compiled =
      compileCached(forOneDevice(request, device.sharedMemoryPerBlock()));
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
  // Every launch has outputs of its own.
  Result<Images> before = makeImages(problem, execution, /*written=*/true);
  if (!before.ok())
    return before.status();
  std::vector<PlacedTensors> written;
  std::vector<LaunchArgs> launches;
  for (int64_t i = 0; i < execution.launches; ++i) {
    Result<PlacedTensors> outputs = placeTensors(device, *before);
    if (!outputs.ok())
      return outputs.status();
    LaunchArgs &args = launches.emplace_back();
    for (const PlacedTensors *tensors : {&*inputs, &*outputs})
      for (const auto &[name, one] : *tensors)
        args.tensors[name] = one.view();
    args.scalars = problem.scalars;
    args.dims = problem.givenDims();
    args.workspace = temps.data;
    args.workspaceBytes = static_cast<uint64_t>(temps.shape[0]) * 4;
    written.push_back(std::move(*outputs));
  }
  Result<Plan> plan =
      planLaunch(op.manifest(), launches.front(), device.multiprocessors());
  if (!plan.ok())
    return plan.status();
  GpuOutcome outcome;
  outcome.variant = variantName(op.manifest(), *plan);
  if (Status s = launchAll(execution, mainType(problem.signature), launches);
      !s.ok())
    return s;
  std::vector<std::byte> scratch;
  Status untouched = workspace->download(device, scratch);
  if (untouched.ok())
    untouched = workspace->image->check("workspace", scratch, false);
  if (!untouched.ok())
    return untouched;
  Result<Bytes> read = downloadAll(device, *inputs);
  if (!read.ok())
    return read.status();
  if (Result<Outputs> none = checkTensors(problem, *inputs, *read); !none.ok())
    return none.status();
  Bytes first;
  for (size_t i = 0; i < written.size(); ++i) {
    Result<Bytes> bytes = downloadAll(device, written[i]);
    if (!bytes.ok())
      return bytes.status();
    // What the first launch left has been checked.
    if (i > 0 && *bytes == first)
      continue;
    Result<Outputs> outputs = checkTensors(problem, written[i], *bytes);
    if (!outputs.ok())
      return outputs.status();
    if (i == 0) {
      first = std::move(*bytes);
      outcome.outputs = std::move(*outputs);
    } else if (Status s = compareBits(
                   problem, *outputs,
                   fmt::format("launch {} of {}", i + 1, written.size()),
                   outcome.outputs, "the first");
               !s.ok()) {
      return s;
    }
  }
  return outcome;
}

} // namespace selvedge::cli
