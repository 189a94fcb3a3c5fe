// Tensors of `run` in device memory, between canaries.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/PlacedTensors.h"

#include <fmt/format.h>

namespace selvedge::cli {

static bool isWritten(const ManifestTensor &tensor) {
  return tensor.role == Role::Out || tensor.role == Role::InOut;
}

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

Result<Placed> Placed::allocate(const Device &device, const std::string &name,
                                std::shared_ptr<const GuardedImage> image) {
  constexpr uint64_t unit = BitCompare::alignment;
  Result<DeviceBuffer> buffer =
      device.allocate((image->bytes().size() + unit - 1) / unit * unit);
  if (!buffer.ok())
    return Status(
        buffer.status().code(),
        fmt::format("tensor '{}': {}", name, buffer.status().message()));
  return Placed(std::move(image), std::move(*buffer));
}

Result<Placed> Placed::upload(const Device &device, const std::string &name,
                              std::shared_ptr<const GuardedImage> image) {
  Result<Placed> placed = allocate(device, name, std::move(image));
  if (!placed.ok())
    return placed;
  if (Status s = device.copyTo(placed->buffer.data(), placed->image->bytes());
      !s.ok())
    return Status(s.code(), fmt::format("tensor '{}': {}", name, s.message()));
  return placed;
}

Result<Placed> Placed::makeRoom(const Device &device,
                                const std::string &name) const {
  return allocate(device, name, image);
}

Status Placed::restore(const Device &device, const Placed &from) const {
  return device.copyWithin(buffer.data(), from.buffer.data(), buffer.size());
}

Status Placed::compare(const BitCompare &compare, const Placed &other,
                       void *flag) const {
  return compare.run(buffer.data(), other.buffer.data(), buffer.size(), flag);
}

Status Placed::download(const Device &device,
                        std::vector<std::byte> &now) const {
  now.resize(image->bytes().size());
  return device.copyFrom(now, buffer.data());
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

Result<DimValues> launchedDims(const Manifest &program, const Device &device,
                               const Problem &problem) {
  // The program's manifest may order its dims differently.
  Result<DimValues> dims = bindDims(program, {}, problem.givenDims());
  if (!dims.ok())
    return dims.status();
  if (Status s = chooseLaunchSizes(program, *dims, device.multiprocessors());
      !s.ok())
    return s;
  return dims;
}

Result<Placed> placeWorkspace(const Manifest &program, const Device &device,
                              Poison poison, const Problem &problem) {
  Result<DimValues> dims = launchedDims(program, device, problem);
  if (!dims.ok())
    return dims.status();
  Result<std::vector<uint64_t>> offsets = workspaceLayout(program, *dims);
  if (!offsets.ok())
    return offsets.status();
  std::vector<std::byte> content(offsets->back());
  for (size_t i = 0; i < program.tensors.size(); ++i)
    fillPoison(poison, program.tensors[i].dtype,
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

Result<Outputs> checkTensors(const Problem &problem, const Device &device,
                             const PlacedTensors &placed) {
  Outputs outputs;
  std::vector<std::byte> now;
  for (const auto &[name, one] : placed) {
    const ManifestTensor &tensor =
        problem.signature.tensors[*problem.signature.findTensor(name)];
    bool written = isWritten(tensor);
    Status status = one.download(device, now);
    if (status.ok())
      status = one.getImage().check(name, now, !written);
    if (!status.ok())
      return status;
    if (written)
      outputs[name] = {tensor.dtype, one.view().shape,
                       one.getImage().load(now)};
  }
  return outputs;
}

Status checkWorkspace(const Device &device, const Placed &workspace) {
  std::vector<std::byte> now;
  if (Status s = workspace.download(device, now); !s.ok())
    return s;
  return workspace.getImage().check("workspace", now, false);
}

} // namespace selvedge::cli
