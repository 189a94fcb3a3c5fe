// The functions of selvedge.h.
// SPDX-License-Identifier: MIT
#include "runtime/src/CApiGuard.h"
#include "runtime/src/CApiOp.h"
#include "selvedge/DLPack.h"
#include "selvedge/Op.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <memory_resource>

using namespace selvedge;
using capi::fail;
using capi::failNull;
using capi::guarded;

namespace {

thread_local std::string lastError;
thread_local selvedge_status lastStatus = SELVEDGE_OK;

/// Arguments as the runtime takes them; those of a launch fit the stack.
class Arguments {
public:
  Status read(const selvedge_arguments &from, int ordinal);

  LaunchView view() const {
    return {tensors, scalars, dims, workspace, workspaceBytes};
  }

private:
  std::array<std::byte, 2048> scratch;
  std::pmr::monotonic_buffer_resource memory{scratch.data(), scratch.size()};
  std::pmr::vector<TensorRef> tensors{&memory};
  std::pmr::vector<ScalarRef> scalars{&memory};
  std::pmr::vector<DimRef> dims{&memory};
  void *workspace = nullptr;
  uint64_t workspaceBytes = 0;
};

/// "the name of tensor 3 is null".
Status nullAt(const char *what, size_t index) {
  return Status::badInput(fmt::format("the {} {} is null", what, index));
}

Status Arguments::read(const selvedge_arguments &from, int ordinal) {
  workspace = from.workspace;
  workspaceBytes = from.workspace_bytes;
  if ((from.tensor_count && !from.tensors) ||
      (from.scalar_count && !from.scalars) || (from.dim_count && !from.dims))
    return Status::badInput("an array of arguments is null and its count is "
                            "not 0");
  tensors.reserve(from.tensor_count);
  scalars.reserve(from.scalar_count);
  dims.reserve(from.dim_count);
  for (size_t i = 0; i < from.tensor_count; ++i) {
    const auto &[name, tensor] = from.tensors[i];
    if (!name || !tensor)
      return nullAt(name ? "address of tensor" : "name of tensor", i);
    Result<TensorRef> ref = referToDLPack(
        name, *static_cast<const dlpack::Tensor *>(tensor), ordinal);
    if (!ref.ok())
      return Status(ref.status().code(), fmt::format("tensor '{}': {}", name,
                                                     ref.status().message()));
    tensors.push_back(*ref);
  }
  for (size_t i = 0; i < from.scalar_count; ++i) {
    if (!from.scalars[i].name)
      return nullAt("name of scalar", i);
    scalars.push_back({from.scalars[i].name, from.scalars[i].value});
  }
  for (size_t i = 0; i < from.dim_count; ++i) {
    if (!from.dims[i].name)
      return nullAt("name of dim", i);
    dims.push_back({from.dims[i].name, from.dims[i].value});
  }
  return Status();
}

std::string describe(const Manifest &manifest, const Plan &plan) {
  std::string text;
  for (const PlannedLaunch &planned : plan.launches) {
    const ManifestLaunch &launch = *planned.launch;
    text += fmt::format(
        "{}: variant {}, grid {} x {} x {}{}{}, {} threads, {} bytes of shared "
        "memory, {} tensor maps\n",
        launch.kernel, manifest.variants[planned.variant].name, planned.grid[0],
        planned.grid[1], planned.grid[2],
        launch.persistent ? " (persistent)" : "",
        planned.isDependent ? ", begins early" : "", launch.block,
        launch.smemBytes, planned.maps.size());
  }
  return text;
}

selvedge_op *load(const Result<Artifact> &artifact,
                  const Result<Device> &device) {
  return capi::makeOp(!artifact.ok() ? artifact.status()
                      : !device.ok() ? device.status()
                                     : Op::load(*artifact, *device),
                      device);
}

selvedge_op *loadBytes(const void *bytes, size_t size,
                       const Result<Device> &device) {
  return load(decodeArtifact({static_cast<const char *>(bytes), size}), device);
}

/// Copies what fits; says so where that is not all.
selvedge_status copyText(const std::string &from, char *text, size_t size) {
  size_t count = size ? std::min(from.size(), size - 1) : 0;
  if (size) {
    std::memcpy(text, from.data(), count);
    text[count] = 0;
  }
  if (count == from.size())
    return SELVEDGE_OK;
  std::string message = fmt::format("the text needs {} bytes, there are {}",
                                    from.size() + 1, size);
  return fail(SELVEDGE_SHORT_BUFFER, message.c_str());
}

selvedge_status describeTo(const char *path,
                           const selvedge_arguments &arguments, char *text,
                           size_t size) {
  Result<Artifact> artifact = readArtifact(path);
  if (!artifact.ok())
    return fail(artifact.status());
  Result<Manifest> manifest = parseManifest(artifact->manifest);
  if (!manifest.ok())
    return fail(manifest.status());
  // On a GPU that has room for all of it.
  if (Result<std::vector<size_t>> places =
          fitToDevice(*manifest, std::numeric_limits<int64_t>::max(), "any");
      !places.ok())
    return fail(places.status());
  Arguments read;
  if (Status s = read.read(arguments, 0); !s.ok())
    return fail(s);
  LaunchView args = read.view();
  // An address of any alignment will do: nothing is launched.
  Result<uint64_t> bytes = workspaceSize(*manifest, args);
  if (!bytes.ok())
    return fail(bytes.status());
  args.workspace = reinterpret_cast<void *>(workspaceAlign);
  args.workspaceBytes = *bytes;
  Result<Plan> plan = planLaunch(*manifest, args);
  if (!plan.ok())
    return fail(plan.status());
  return copyText(describe(*manifest, *plan) +
                      fmt::format("workspace: {} bytes\n", *bytes),
                  text, size);
}

/// `act(op, view)`, a Status, of arguments in the caller's memory.
template <typename Act>
selvedge_status withArguments(const selvedge_op *op,
                              const selvedge_arguments *arguments,
                              const Act &act) {
  if (!op || !arguments)
    return failNull(op ? "the arguments are null" : "the op is null");
  return guarded(SELVEDGE_FAILED, [&] {
    Arguments read;
    if (Status s = read.read(*arguments, op->ordinal); !s.ok())
      return fail(s);
    Status status = act(op->op, read.view());
    return status.ok() ? SELVEDGE_OK : fail(status);
  });
}

selvedge_status launch(const selvedge_op *op,
                       const selvedge_arguments *arguments, void *stream,
                       const LaunchOptions &options) {
  return withArguments(op, arguments, [&](const Op &loaded, const auto &view) {
    return loaded.launch(view, stream, options);
  });
}

} // namespace

selvedge_op *capi::makeOp(Result<Op> op, const Result<Device> &device) {
  if (!op.ok()) {
    fail(op.status());
    return nullptr;
  }
  selvedge_signature signature(op->manifest());
  return new selvedge_op{std::move(*op), device->ordinal(),
                         std::move(signature)};
}

selvedge_status capi::fail(selvedge_status status,
                           const char *message) noexcept {
  lastStatus = status;
  try {
    lastError = message;
  } catch (...) {
    lastError.clear();
  }
  return status;
}

const char *selvedge_version(void) { return SELVEDGE_VERSION_TEXT; }

const char *selvedge_last_error(void) { return lastError.c_str(); }

selvedge_status selvedge_last_status(void) { return lastStatus; }

selvedge_op *selvedge_load(const char *path, int ordinal) {
  return guarded<selvedge_op *>(nullptr, [&]() -> selvedge_op * {
    if (!path)
      return failNull("the path is null"), nullptr;
    return load(readArtifact(path), Device::open(ordinal));
  });
}

selvedge_op *selvedge_load_memory(const void *bytes, size_t size, int ordinal) {
  return guarded<selvedge_op *>(nullptr, [&]() -> selvedge_op * {
    if (!bytes)
      return failNull("the artefact is null"), nullptr;
    return loadBytes(bytes, size, Device::open(ordinal));
  });
}

selvedge_op *selvedge_load_in_context(const void *bytes, size_t size,
                                      void *context) {
  return guarded<selvedge_op *>(nullptr, [&]() -> selvedge_op * {
    if (!bytes)
      return failNull("the artefact is null"), nullptr;
    return loadBytes(bytes, size, Device::ofContext(context));
  });
}

void selvedge_unload(selvedge_op *op) { delete op; }

const char *selvedge_origin(const selvedge_op *op) {
  return op ? op->op.origin().c_str() : "";
}

const selvedge_signature *selvedge_op_signature(const selvedge_op *op) {
  if (!op)
    failNull("the op is null");
  return op ? &op->signature : nullptr;
}

selvedge_status selvedge_workspace_size(const selvedge_op *op,
                                        const selvedge_arguments *arguments,
                                        uint64_t *bytes) {
  if (!op || !arguments || !bytes)
    return failNull(!op          ? "the op is null"
                    : !arguments ? "the arguments are null"
                                 : "the result is null");
  return guarded(SELVEDGE_FAILED, [&] {
    Arguments read;
    if (Status s = read.read(*arguments, op->ordinal); !s.ok())
      return fail(s);
    Result<uint64_t> size = op->op.workspaceSize(read.view());
    if (!size.ok())
      return fail(size.status());
    *bytes = *size;
    return SELVEDGE_OK;
  });
}

selvedge_status selvedge_prepare(const selvedge_op *op,
                                 const selvedge_arguments *arguments) {
  return withArguments(op, arguments, [](const Op &loaded, const auto &view) {
    return loaded.prepare(view);
  });
}

selvedge_status selvedge_launch(const selvedge_op *op,
                                const selvedge_arguments *arguments,
                                void *stream) {
  return launch(op, arguments, stream, {});
}

selvedge_status selvedge_launch_validated(const selvedge_op *op,
                                          const selvedge_arguments *arguments,
                                          void *stream) {
  return launch(op, arguments, stream, {.validate = true});
}

selvedge_status selvedge_describe(const char *path,
                                  const selvedge_arguments *arguments,
                                  char *text, size_t size) {
  if (!path || !arguments || (!text && size))
    return failNull(!path        ? "the path is null"
                    : !arguments ? "the arguments are null"
                                 : "the text is null");
  return guarded(SELVEDGE_FAILED,
                 [&] { return describeTo(path, *arguments, text, size); });
}
