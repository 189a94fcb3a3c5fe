// The functions of jit.h that need no GPU: signatures of sources, and the
// reference device.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/JitRequest.h"
#include "compiler/Reference/Reference.h"
#include "runtime/src/CApiGuard.h"
#include "runtime/src/CApiSignature.h"
#include "selvedge/DLPack.h"
#include "selvedge/Numeric.h"
#include "selvedge/Plan.h"

#include <fmt/format.h>
#include <functional>
#include <optional>

using namespace selvedge;
using capi::fail;
using capi::failNull;
using capi::findNull;
using capi::guarded;
using capi::readRequest;

/// DLDeviceType of memory that this process reads.
static constexpr int32_t hostDevice = 1;

static Result<Manifest> readSignature(const CompileRequest &request) {
  CompileResult described = describe(request);
  if (described.status == CompileStatus::Ok)
    return parseManifest(described.manifest, ManifestKind::Signature);
  return described.status == CompileStatus::BadInput
             ? Status::badInput(described.diagnostics)
             : Status::failed(described.diagnostics);
}

/// A tensor of the caller's in host memory.
static Result<TensorView> hostView(const selvedge_tensor &from) {
  dlpack::Tensor tensor = *static_cast<const dlpack::Tensor *>(from.tensor);
  if (tensor.device.type != hostDevice)
    return Status::badInput(
        fmt::format("tensor '{}' is on device type {}, and the reference "
                    "device takes host memory",
                    from.name, tensor.device.type));
  // What the runtime checks of tensors is the same anywhere.
  tensor.device.type = 2;
  tensor.device.id = 0;
  Result<TensorView> view = fromDLPack(tensor);
  if (view.ok())
    return view;
  return Status(view.status().code(), fmt::format("tensor '{}': {}", from.name,
                                                  view.status().message()));
}

/// Calls `visit` with the address of each element, in row-major order.
static void visitElements(const TensorView &view,
                          const std::function<void(char *)> &visit) {
  int64_t size = sizeOf(view.dtype), count = 1;
  for (int64_t extent : view.shape)
    count *= extent;
  std::vector<int64_t> index(view.shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d)
      offset += index[d] * view.strides[d];
    visit(static_cast<char *>(view.data) + offset * size);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < view.shape[d])
        break;
      index[d] = 0;
    }
  }
}

static HostTensor copyInput(const std::string &name, const TensorView &view) {
  HostTensor tensor;
  tensor.name = name;
  tensor.dtype = nameOf(view.dtype);
  tensor.shape = view.shape;
  visitElements(view, [&](const char *element) {
    tensor.values.push_back(loadElement(view.dtype, element, 0));
  });
  return tensor;
}

/// The caller's tensors by position in the manifest; what is missing is empty.
static Result<std::vector<std::optional<TensorView>>>
readTensors(const Manifest &manifest, const selvedge_arguments &arguments) {
  std::vector<std::optional<TensorView>> views(manifest.tensors.size());
  for (size_t i = 0; i < arguments.tensor_count; ++i) {
    const selvedge_tensor &given = arguments.tensors[i];
    std::optional<size_t> index = manifest.findTensor(given.name);
    if (!index)
      return Status::badInput(
          fmt::format("op '{}' has no tensor '{}'", manifest.op, given.name));
    Result<TensorView> view = hostView(given);
    if (!view.ok())
      return view.status();
    const ManifestTensor &tensor = manifest.tensors[*index];
    if (view->dtype != tensor.dtype)
      return Status::badInput(
          fmt::format("tensor '{}' has dtype {}, expected {} of {}",
                      tensor.name, nameOf(view->dtype), nameOf(tensor.dtype),
                      typeToString(manifest, tensor)));
    views[*index] = std::move(*view);
  }
  for (size_t i = 0; i < views.size(); ++i) {
    const ManifestTensor &tensor = manifest.tensors[i];
    if (!views[i] && !tensor.optional && tensor.role != Role::Temp)
      return Status::badInput(fmt::format("tensor '{}' is missing: {}",
                                          tensor.name,
                                          typeToString(manifest, tensor)));
  }
  return views;
}

static Status checkScalars(const Manifest &manifest,
                           const std::map<std::string, double> &scalars) {
  for (const auto &[name, value] : scalars)
    if (!manifest.findScalar(name))
      return Status::badInput(
          fmt::format("op '{}' has no scalar '{}'", manifest.op, name));
  return Status();
}

static Status execute(const CompileRequest &request,
                      const selvedge_arguments &arguments) {
  Result<Manifest> manifest = readSignature(request);
  if (!manifest.ok())
    return manifest.status();
  Result<DimValues> dims = capi::bindArguments(*manifest, arguments);
  if (!dims.ok())
    return dims.status();
  Status status = chooseLaunchSizes(*manifest, *dims);
  if (status.ok())
    status = requireAllDims(*manifest, *dims);
  if (!status.ok())
    return status;
  auto views = readTensors(*manifest, arguments);
  if (!views.ok())
    return views.status();
  std::map<std::string, double> scalars;
  for (size_t i = 0; i < arguments.scalar_count; ++i)
    scalars[arguments.scalars[i].name] = arguments.scalars[i].value;
  if (status = checkScalars(*manifest, scalars); !status.ok())
    return status;
  std::map<std::string, int64_t> named;
  for (size_t i = 0; i < dims->size(); ++i)
    named[manifest->dims[i]] = *(*dims)[i];
  std::vector<HostTensor> inputs, outputs;
  for (size_t i = 0; i < views->size(); ++i) {
    const ManifestTensor &tensor = manifest->tensors[i];
    if (!(*views)[i])
      continue;
    TensorView &view = *(*views)[i];
    Result<std::vector<int64_t>> whole = shapeOf(*manifest, tensor, *dims);
    if (!whole.ok())
      return whole.status();
    broadcast(tensor, *whole, view.shape, view.strides);
    if (tensor.role != Role::Out || tensor.keepsUnstored)
      inputs.push_back(copyInput(tensor.name, view));
  }
  std::string diagnostics;
  if (!runReference(request, named, scalars, inputs, outputs, diagnostics))
    return Status::badInput(diagnostics);
  for (const HostTensor &output : outputs) {
    const std::optional<TensorView> &view =
        (*views)[*manifest->findTensor(output.name)];
    if (!view)
      continue;
    size_t next = 0;
    visitElements(*view, [&](char *element) {
      storeElement(view->dtype, element, 0, output.values[next++]);
    });
  }
  return Status();
}

selvedge_signature *
selvedge_source_signature(const selvedge_compile_request *request) {
  if (!request)
    return failNull("the request is null"), nullptr;
  if (const char *null = findNull(*request))
    return failNull(null), nullptr;
  return guarded<selvedge_signature *>(nullptr, [&]() -> selvedge_signature * {
    Result<Manifest> manifest = readSignature(readRequest(*request));
    if (!manifest.ok())
      return fail(manifest.status()), nullptr;
    return new selvedge_signature(std::move(*manifest));
  });
}

selvedge_status selvedge_run_reference(const selvedge_compile_request *request,
                                       const selvedge_arguments *arguments) {
  if (!request || !arguments)
    return failNull(request ? "the arguments are null" : "the request is null");
  if (const char *null = findNull(*request))
    return failNull(null);
  return guarded(SELVEDGE_FAILED, [&] {
    Status status = execute(readRequest(*request), *arguments);
    return status.ok() ? SELVEDGE_OK : fail(status);
  });
}
