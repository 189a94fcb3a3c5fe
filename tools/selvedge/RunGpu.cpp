// Device `gpu`: execution between guard bytes.
// SPDX-License-Identifier: MIT
#include "selvedge/Op.h"
#include "tools/selvedge/RunDevices.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace selvedge::cli {

namespace {

/// On each side; a multiple of 256, which keeps the tensors aligned.
constexpr size_t guardBytes = 1024;

/// A tensor, or the workspace, in device memory with guards around it.
class GuardedBuffer {
public:
  /// Uploads `content` between guards of `poison`.
  static Result<GuardedBuffer> create(const Device &device, DType dtype,
                                      Poison poison,
                                      std::span<const std::byte> content) {
    GuardedBuffer guarded;
    guarded.image.resize(content.size() + 2 * guardBytes);
    std::span<std::byte> image(guarded.image);
    // A guard of zeros would not show that a zero was written.
    Poison guard = poison == Poison::None ? Poison::Random : poison;
    fillPoison(guard, dtype, image.first(guardBytes));
    fillPoison(guard, dtype, image.last(guardBytes));
    std::copy(content.begin(), content.end(), image.begin() + guardBytes);
    Result<DeviceBuffer> buffer = device.allocate(image.size());
    if (!buffer.ok())
      return buffer.status();
    guarded.buffer = std::move(*buffer);
    if (Status s = device.copyTo(guarded.buffer.data(), image); !s.ok())
      return s;
    return guarded;
  }

  /// Address of the content.
  void *data() const { return static_cast<char *>(buffer.data()) + guardBytes; }
  /// Bytes of the content.
  size_t size() const { return image.size() - 2 * guardBytes; }

  /// Downloads the content and checks what must not have changed.
  Result<std::vector<std::byte>>
  fetch(const Device &device, const std::string &name, bool isReadOnly) const {
    std::vector<std::byte> now(image.size());
    if (Status s = device.copyFrom(now, buffer.data()); !s.ok())
      return s;
    for (size_t i = 0; i < now.size(); ++i) {
      bool inside = i >= guardBytes && i < guardBytes + size();
      if (now[i] == image[i] || (inside && !isReadOnly))
        continue;
      auto offset = static_cast<int64_t>(i) - static_cast<int64_t>(guardBytes);
      return Status::failed(
          inside ? fmt::format("a kernel wrote to input '{}' at byte {}", name,
                               offset)
                 : fmt::format("a kernel wrote outside '{}', at byte {} of {}",
                               name, offset, size()));
    }
    return std::vector<std::byte>(now.begin() + guardBytes,
                                  now.end() - guardBytes);
  }

private:
  DeviceBuffer buffer;
  /// What was uploaded.
  std::vector<std::byte> image;
};

/// Everything a launch needs in device memory.
struct Placement {
  std::map<std::string, GuardedBuffer> tensors;
  LaunchArgs args;
};

Status placeTensors(const Problem &problem, const Device &device, Poison poison,
                    Placement &placement) {
  for (const ManifestTensor &tensor : problem.signature.tensors) {
    auto given = problem.inputs.find(tensor.name);
    bool isOutput = tensor.role == Role::Out || tensor.role == Role::InOut;
    if (tensor.role == Role::Temp ||
        (given == problem.inputs.end() && !isOutput))
      continue;
    Result<HostArray> array = makeArray(problem, tensor);
    if (!array.ok())
      return array.status();
    if (given != problem.inputs.end())
      array->data = given->second.data;
    else
      fillPoison(poison, tensor.dtype, array->data);
    Result<GuardedBuffer> buffer =
        GuardedBuffer::create(device, tensor.dtype, poison, array->data);
    if (!buffer.ok())
      return Status(buffer.status().code(),
                    fmt::format("tensor '{}': {}", tensor.name,
                                buffer.status().message()));
    placement.args.tensors[tensor.name] =
        contiguousView(buffer->data(), tensor.dtype, array->shape);
    placement.tensors.emplace(tensor.name, std::move(*buffer));
  }
  return Status();
}

/// The workspace, poisoned by the types of the temps in it.
Result<GuardedBuffer> placeWorkspace(const Manifest &manifest,
                                     const Device &device, Poison poison,
                                     LaunchArgs &args, const Problem &problem) {
  // The program's manifest may order its dims differently.
  Result<DimValues> dims = bindDims(manifest, {}, problem.namedDims());
  if (!dims.ok())
    return dims.status();
  Result<std::vector<uint64_t>> layout = workspaceLayout(manifest, *dims);
  if (!layout.ok())
    return layout.status();
  std::vector<std::byte> content(layout->back());
  for (size_t i = 0; i < manifest.tensors.size(); ++i)
    fillPoison(poison, manifest.tensors[i].dtype,
               std::span(content).subspan((*layout)[i],
                                          (*layout)[i + 1] - (*layout)[i]));
  Result<GuardedBuffer> buffer =
      GuardedBuffer::create(device, DType::F32, poison, content);
  if (buffer.ok()) {
    args.workspace = buffer->data();
    args.workspaceBytes = content.size();
  }
  return buffer;
}

Result<Outputs> fetchOutputs(const Problem &problem, const Device &device,
                             const Placement &placement) {
  Outputs outputs;
  for (const auto &[name, buffer] : placement.tensors) {
    const ManifestTensor &tensor =
        problem.signature.tensors[*problem.signature.findTensor(name)];
    bool isInput = tensor.role == Role::In;
    Result<std::vector<std::byte>> content =
        buffer.fetch(device, name, isInput);
    if (!content.ok())
      return content.status();
    if (!isInput)
      outputs[name] = {tensor.dtype, placement.args.tensors.at(name).shape,
                       std::move(*content)};
  }
  return outputs;
}

} // namespace

Result<std::string> bestArch(const Device &device) {
  auto [major, minor] = device.capability();
  Status last;
  for (const char *arch : {"sm_90a", "sm_80"}) {
    Result<LoadPath> path = chooseLoadPath(arch, major, minor);
    if (path.ok())
      return std::string(arch);
    last = path.status();
  }
  return last;
}

Result<Outputs> runOnGpu(const Problem &problem, const Device &device,
                         Poison poison) {
  auto [major, minor] = device.capability();
  if (Result<LoadPath> path =
          chooseLoadPath(problem.request.arch, major, minor);
      !path.ok())
    return path.status();
  CompileResult compiled = compile(problem.request);
  if (Status s = statusOf(compiled); !s.ok())
    return s;
  Result<Op> op =
      Op::load({compiled.manifest, compiled.ptx, compiled.cubin}, device);
  if (!op.ok())
    return op.status();
  Placement placement;
  placement.args.scalars = problem.scalars;
  placement.args.dims = problem.namedDims();
  if (Status s = placeTensors(problem, device, poison, placement); !s.ok())
    return s;
  Result<GuardedBuffer> workspace =
      placeWorkspace(op->manifest(), device, poison, placement.args, problem);
  if (!workspace.ok())
    return workspace.status();
  Status status = op->launch(placement.args);
  if (status.ok())
    status = device.synchronize();
  if (!status.ok())
    return status;
  if (Result<std::vector<std::byte>> untouched =
          workspace->fetch(device, "workspace", false);
      !untouched.ok())
    return untouched.status();
  return fetchOutputs(problem, device, placement);
}

} // namespace selvedge::cli
