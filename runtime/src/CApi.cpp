// The functions of selvedge.h.
// SPDX-License-Identifier: MIT
#include "selvedge/selvedge.h"

#include "selvedge/DLPack.h"
#include "selvedge/Op.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace selvedge;

/// The op, and the GPU whose tensors it takes.
struct selvedge_op {
  Op op;
  int ordinal = 0;
};

namespace {

thread_local std::string lastError;

/// Records an error; the value is what the caller returns.
int fail(const std::string &message) {
  lastError = message;
  return -1;
}

Result<LaunchArgs> convert(const selvedge_arguments &arguments, int ordinal) {
  LaunchArgs args;
  args.workspace = arguments.workspace;
  args.workspaceBytes = arguments.workspace_bytes;
  for (size_t i = 0; i < arguments.tensor_count; ++i) {
    const selvedge_tensor &entry = arguments.tensors[i];
    Result<TensorView> view =
        fromDLPack(*static_cast<const dlpack::Tensor *>(entry.tensor), ordinal);
    if (!view.ok())
      return Status(
          view.status().code(),
          fmt::format("tensor '{}': {}", entry.name, view.status().message()));
    args.tensors[entry.name] = std::move(*view);
  }
  for (size_t i = 0; i < arguments.scalar_count; ++i)
    args.scalars[arguments.scalars[i].name] = arguments.scalars[i].value;
  return args;
}

std::string describe(const Manifest &manifest, const Plan &plan) {
  std::string text;
  for (const PlannedLaunch &planned : plan.launches) {
    const ManifestLaunch &launch = *planned.launch;
    text += fmt::format(
        "{}: variant {}, grid {} x {} x {}{}, {} threads, {} bytes of shared "
        "memory, {} tensor maps\n",
        launch.kernel, manifest.variants[plan.variant].name, planned.grid[0],
        planned.grid[1], planned.grid[2],
        launch.persistent ? " (persistent)" : "", launch.block,
        launch.smemBytes, planned.maps.size());
  }
  return text;
}

} // namespace

const char *selvedge_last_error(void) { return lastError.c_str(); }

selvedge_op *selvedge_load(const char *path, int ordinal) {
  auto refuse = [](const Status &status) -> selvedge_op * {
    fail(status.message());
    return nullptr;
  };
  Result<Artifact> artifact = readArtifact(path);
  if (!artifact.ok())
    return refuse(artifact.status());
  Result<Device> device = Device::open(ordinal);
  if (!device.ok())
    return refuse(device.status());
  Result<Op> op = Op::load(*artifact, *device);
  if (!op.ok())
    return refuse(op.status());
  return new selvedge_op{std::move(*op), ordinal};
}

void selvedge_unload(selvedge_op *op) { delete op; }

const char *selvedge_origin(const selvedge_op *op) {
  return op->op.origin().c_str();
}

int selvedge_workspace_size(const selvedge_op *op,
                            const selvedge_arguments *arguments,
                            uint64_t *bytes) {
  Result<LaunchArgs> args = convert(*arguments, op->ordinal);
  if (!args.ok())
    return fail(args.status().message());
  Result<uint64_t> size = op->op.workspaceSize(*args);
  if (!size.ok())
    return fail(size.status().message());
  *bytes = *size;
  return 0;
}

int selvedge_launch(const selvedge_op *op, const selvedge_arguments *arguments,
                    void *stream) {
  Result<LaunchArgs> args = convert(*arguments, op->ordinal);
  if (!args.ok())
    return fail(args.status().message());
  Status status = op->op.launch(*args, stream);
  return status.ok() ? 0 : fail(status.message());
}

int selvedge_describe(const char *path, const selvedge_arguments *arguments,
                      char *text, size_t size) {
  Result<Artifact> artifact = readArtifact(path);
  if (!artifact.ok())
    return fail(artifact.status().message());
  Result<Manifest> manifest = parseManifest(artifact->manifest);
  if (!manifest.ok())
    return fail(manifest.status().message());
  Result<LaunchArgs> args = convert(*arguments, 0);
  if (!args.ok())
    return fail(args.status().message());
  // An address of any alignment will do: nothing is launched.
  Result<uint64_t> bytes = workspaceSize(*manifest, *args);
  if (!bytes.ok())
    return fail(bytes.status().message());
  args->workspace = reinterpret_cast<void *>(workspaceAlign);
  args->workspaceBytes = *bytes;
  Result<Plan> plan = planLaunch(*manifest, *args);
  if (!plan.ok())
    return fail(plan.status().message());
  std::string lines = describe(*manifest, *plan);
  lines += fmt::format("workspace: {} bytes\n", *bytes);
  if (size == 0)
    return 0;
  size_t count = std::min(lines.size(), size - 1);
  std::memcpy(text, lines.data(), count);
  text[count] = 0;
  return 0;
}
