// The functions of selvedge.h that tell what an op takes.
// SPDX-License-Identifier: MIT
#include "runtime/src/CApiSignature.h"

#include "runtime/src/CApiGuard.h"
#include "selvedge/Artifact.h"
#include "selvedge/DLPack.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace selvedge;
using capi::fail;
using capi::failNull;
using capi::guarded;

namespace {

selvedge_signature *makeSignature(const Result<Artifact> &artifact) {
  Result<Manifest> manifest =
      artifact.ok() ? parseManifest(artifact->manifest) : artifact.status();
  if (manifest.ok())
    return new selvedge_signature(std::move(*manifest));
  fail(manifest.status());
  return nullptr;
}

selvedge_status failIndex() {
  return fail(SELVEDGE_BAD_INPUT, "the index is beyond the last one");
}

} // namespace

Result<DimValues> capi::bindArguments(const Manifest &manifest,
                                      const selvedge_arguments &arguments) {
  std::vector<NamedShape> shapes;
  if ((arguments.tensor_count && !arguments.tensors) ||
      (arguments.scalar_count && !arguments.scalars) ||
      (arguments.dim_count && !arguments.dims))
    return Status::badInput("an array of arguments is null and its count is "
                            "not 0");
  for (size_t i = 0; i < arguments.tensor_count; ++i) {
    const auto &[name, tensor] = arguments.tensors[i];
    if (!name || !tensor)
      return Status::badInput(fmt::format("the {} of tensor {} is null",
                                          name ? "address" : "name", i));
    const auto &read = *static_cast<const dlpack::Tensor *>(tensor);
    if (read.ndim < 0 || (read.ndim > 0 && !read.shape))
      return Status::badInput(
          fmt::format("tensor '{}' has {} dimensions", name, read.ndim));
    if (std::optional<size_t> index = manifest.findTensor(name))
      shapes.push_back({*index, {read.shape, static_cast<size_t>(read.ndim)}});
  }
  for (size_t i = 0; i < arguments.scalar_count; ++i)
    if (!arguments.scalars[i].name)
      return Status::badInput(fmt::format("the name of scalar {} is null", i));
  std::map<std::string, int64_t> fixed;
  for (size_t i = 0; i < arguments.dim_count; ++i) {
    if (!arguments.dims[i].name)
      return Status::badInput(fmt::format("the name of dim {} is null", i));
    fixed[arguments.dims[i].name] = arguments.dims[i].value;
  }
  return bindDims(manifest, shapes, fixed);
}

selvedge_status selvedge_tensor_shape(const selvedge_signature *signature,
                                      const selvedge_arguments *arguments,
                                      size_t index, int64_t *shape) {
  if (!signature || !arguments || !shape)
    return failNull(!signature   ? "the signature is null"
                    : !arguments ? "the arguments are null"
                                 : "the result is null");
  return guarded(SELVEDGE_FAILED, [&] {
    const Manifest &manifest = signature->manifest;
    if (index >= manifest.tensors.size())
      return failIndex();
    Result<DimValues> dims = capi::bindArguments(manifest, *arguments);
    if (!dims.ok())
      return fail(dims.status());
    Result<std::vector<int64_t>> extents =
        shapeOf(manifest, manifest.tensors[index], *dims);
    if (!extents.ok())
      return fail(extents.status());
    std::copy(extents->begin(), extents->end(), shape);
    return SELVEDGE_OK;
  });
}

selvedge_signature *selvedge_read_signature(const char *path) {
  return guarded<selvedge_signature *>(nullptr, [&]() -> selvedge_signature * {
    if (!path)
      return failNull("the path is null"), nullptr;
    return makeSignature(readArtifact(path));
  });
}

selvedge_signature *selvedge_decode_signature(const void *bytes, size_t size) {
  return guarded<selvedge_signature *>(nullptr, [&]() -> selvedge_signature * {
    if (!bytes)
      return failNull("the artefact is null"), nullptr;
    return makeSignature(
        decodeArtifact({static_cast<const char *>(bytes), size}));
  });
}

void selvedge_free_signature(selvedge_signature *signature) {
  delete signature;
}

const char *selvedge_signature_name(const selvedge_signature *signature) {
  return signature ? signature->manifest.op.c_str() : "";
}

const char *selvedge_signature_arch(const selvedge_signature *signature) {
  return signature ? signature->manifest.arch.c_str() : "";
}

size_t selvedge_tensor_count(const selvedge_signature *signature) {
  return signature ? signature->manifest.tensors.size() : 0;
}

size_t selvedge_scalar_count(const selvedge_signature *signature) {
  return signature ? signature->manifest.scalars.size() : 0;
}

size_t selvedge_dim_count(const selvedge_signature *signature) {
  return signature ? signature->manifest.dims.size() : 0;
}

size_t selvedge_param_count(const selvedge_signature *signature) {
  return signature ? signature->manifest.params.size() : 0;
}

selvedge_status selvedge_get_tensor(const selvedge_signature *signature,
                                    size_t index, selvedge_tensor_info *info) {
  if (!signature || !info)
    return failNull(info ? "the signature is null" : "the result is null");
  if (index >= signature->manifest.tensors.size())
    return failIndex();
  const ManifestTensor &tensor = signature->manifest.tensors[index];
  dlpack::DataType type = toDLPack(tensor.dtype);
  *info = {tensor.name.c_str(),
           static_cast<selvedge_role>(tensor.role),
           type.code,
           type.bits,
           tensor.shape.size(),
           tensor.optional,
           signature->types[index].c_str()};
  return SELVEDGE_OK;
}

selvedge_status selvedge_get_scalar(const selvedge_signature *signature,
                                    size_t index, selvedge_scalar_info *info) {
  if (!signature || !info)
    return failNull(info ? "the signature is null" : "the result is null");
  if (index >= signature->manifest.scalars.size())
    return failIndex();
  const ManifestScalar &scalar = signature->manifest.scalars[index];
  dlpack::DataType type = toDLPack(scalar.dtype);
  *info = {scalar.name.c_str(), type.code, type.bits,
           scalar.defaultValue.has_value() || scalar.defaultOfDims.has_value(),
           scalar.defaultValue.value_or(scalar.defaultOfDims ? NAN : 0)};
  return SELVEDGE_OK;
}

const char *selvedge_get_dim(const selvedge_signature *signature,
                             size_t index) {
  if (index < selvedge_dim_count(signature))
    return signature->manifest.dims[index].c_str();
  failIndex();
  return nullptr;
}

selvedge_status selvedge_get_param(const selvedge_signature *signature,
                                   size_t index, const char **name,
                                   const char **value) {
  if (!signature || !name || !value)
    return failNull(signature ? "a result is null" : "the signature is null");
  if (index >= signature->manifest.params.size())
    return failIndex();
  *name = signature->manifest.params[index].first.c_str();
  *value = signature->manifest.params[index].second.c_str();
  return SELVEDGE_OK;
}
