// The functions of selvedge.h.
// SPDX-License-Identifier: MIT
#include "selvedge/selvedge.h"

#include "selvedge/DLPack.h"
#include "selvedge/Op.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <memory_resource>

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

/// Arguments as the runtime takes them; those of a launch fit the stack.
class Arguments {
public:
  Status read(const selvedge_arguments &from, int ordinal);

  LaunchView view() const {
    return {tensors, scalars, {}, workspace, workspaceBytes};
  }

private:
  std::array<std::byte, 2048> scratch;
  std::pmr::monotonic_buffer_resource memory{scratch.data(), scratch.size()};
  std::pmr::vector<TensorRef> tensors{&memory};
  std::pmr::vector<ScalarRef> scalars{&memory};
  void *workspace = nullptr;
  uint64_t workspaceBytes = 0;
};

Status Arguments::read(const selvedge_arguments &from, int ordinal) {
  workspace = from.workspace;
  workspaceBytes = from.workspace_bytes;
  tensors.reserve(from.tensor_count);
  scalars.reserve(from.scalar_count);
  for (size_t i = 0; i < from.tensor_count; ++i) {
    const auto &[name, tensor] = from.tensors[i];
    Result<TensorRef> ref = referToDLPack(
        name, *static_cast<const dlpack::Tensor *>(tensor), ordinal);
    if (!ref.ok())
      return Status(ref.status().code(), fmt::format("tensor '{}': {}", name,
                                                     ref.status().message()));
    tensors.push_back(*ref);
  }
  for (size_t i = 0; i < from.scalar_count; ++i)
    scalars.push_back({from.scalars[i].name, from.scalars[i].value});
  return Status();
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
  Arguments read;
  if (Status s = read.read(*arguments, op->ordinal); !s.ok())
    return fail(s.message());
  Result<uint64_t> size = op->op.workspaceSize(read.view());
  if (!size.ok())
    return fail(size.status().message());
  *bytes = *size;
  return 0;
}

int selvedge_launch(const selvedge_op *op, const selvedge_arguments *arguments,
                    void *stream) {
  Arguments read;
  if (Status s = read.read(*arguments, op->ordinal); !s.ok())
    return fail(s.message());
  Status status = op->op.launch(read.view(), stream);
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
  Arguments read;
  if (Status s = read.read(*arguments, 0); !s.ok())
    return fail(s.message());
  LaunchView args = read.view();
  // An address of any alignment will do: nothing is launched.
  Result<uint64_t> bytes = workspaceSize(*manifest, args);
  if (!bytes.ok())
    return fail(bytes.status().message());
  args.workspace = reinterpret_cast<void *>(workspaceAlign);
  args.workspaceBytes = *bytes;
  Result<Plan> plan = planLaunch(*manifest, args);
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
