// Launches an artefact: selvedge compile axpy.tile --arch sm_80 -o axpy.selv
// SPDX-License-Identifier: MIT
#include "selvedge/Op.h"

#include <cstdio>
#include <vector>

using namespace selvedge;

namespace {

int fail(const Status &status) {
  std::fprintf(stderr, "aot: %s\n", status.message().c_str());
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2)
    return fail(Status::badInput("expects an artefact of axpy"));
  Result<Artifact> artifact = readArtifact(argv[1]);
  Result<Device> device = Device::open(0);
  if (!artifact.ok() || !device.ok())
    return fail(artifact.ok() ? device.status() : artifact.status());
  Result<Op> op = Op::load(*artifact, *device); // cubin, or PTX for this GPU
  if (!op.ok())
    return fail(op.status());

  constexpr int64_t m = 3, n = 5;
  std::vector<float> host(m * n);
  for (size_t i = 0; i < host.size(); ++i)
    host[i] = static_cast<float>(i);
  Result<DeviceBuffer> x = device->allocate(m * n * sizeof(float));
  Result<DeviceBuffer> y = device->allocate(m * n * sizeof(float));
  if (!x.ok() || !y.ok())
    return fail(x.ok() ? y.status() : x.status());
  Status status = device->copyTo(x->data(), std::as_bytes(std::span(host)));

  LaunchArgs args;
  args.tensors["x"] = contiguousView(x->data(), DType::F32, {m, n});
  args.tensors["y"] = contiguousView(y->data(), DType::F32, {m, n});
  args.scalars["a"] = 3; // or leave it to its default
  Result<uint64_t> bytes = op->workspaceSize(args); // once per shape
  if (!bytes.ok())
    return fail(bytes.status());
  Result<DeviceBuffer> workspace = device->allocate(*bytes);
  if (!workspace.ok())
    return fail(workspace.status());
  args.workspace = workspace->data();
  args.workspaceBytes = *bytes;
  if (status.ok())
    status = op->launch(args); // on any CUstream, here the default one
  if (status.ok())
    status =
        device->copyFrom(std::as_writable_bytes(std::span(host)), y->data());
  if (!status.ok())
    return fail(status);
  for (float value : host)
    std::printf("%g ", static_cast<double>(value));
  std::printf("\n");
}
