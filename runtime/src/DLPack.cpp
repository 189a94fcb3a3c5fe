// Tensors of other frameworks, by the DLPack convention.
// SPDX-License-Identifier: MIT
#include "selvedge/DLPack.h"

#include <fmt/format.h>

namespace selvedge::inline runtime {

namespace {

constexpr int32_t cudaDevice = 2;
constexpr int32_t cudaManagedDevice = 13;
constexpr int32_t maxRank = 64;

struct TypeCode {
  DType type;
  uint8_t code;
  uint8_t bits;
};

constexpr TypeCode typeCodes[] = {
    {DType::BF16, 4, 16}, {DType::F16, 2, 16},  {DType::F32, 2, 32},
    {DType::F64, 2, 64},  {DType::I32, 0, 32},  {DType::I64, 0, 64},
    {DType::I8, 0, 8},    {DType::U8, 1, 8},    {DType::Bool, 6, 8},
    {DType::E4M3, 10, 8}, {DType::E5M2, 12, 8},
};

} // namespace

Result<TensorRef> referToDLPack(std::string_view name,
                                const dlpack::Tensor &tensor, int ordinal) {
  if (tensor.device.type != cudaDevice &&
      tensor.device.type != cudaManagedDevice)
    return Status::badInput(fmt::format(
        "the tensor is on device type {}, expected CUDA", tensor.device.type));
  if (tensor.device.type == cudaDevice && tensor.device.id != ordinal)
    return Status::badInput(fmt::format("the tensor is on GPU {}, expected {}",
                                        tensor.device.id, ordinal));
  if (tensor.byteOffset > 0 && !tensor.data)
    return Status::badInput("the tensor has an offset but no address");
  if (tensor.ndim < 0 || tensor.ndim > maxRank ||
      (tensor.ndim > 0 && !tensor.shape))
    return Status::badInput(
        fmt::format("the tensor has {} dimensions", tensor.ndim));
  for (const TypeCode &known : typeCodes) {
    if (known.code != tensor.dtype.code || known.bits != tensor.dtype.bits ||
        tensor.dtype.lanes != 1)
      continue;
    TensorRef ref;
    ref.name = name;
    ref.dtype = known.type;
    auto rank = static_cast<size_t>(tensor.ndim);
    ref.shape = {tensor.shape, rank};
    if (tensor.strides)
      ref.strides = {tensor.strides, rank};
    else
      ref.contiguous = true;
    if (tensor.data)
      ref.data = static_cast<char *>(tensor.data) + tensor.byteOffset;
    return ref;
  }
  return Status::badInput(fmt::format(
      "the element type (code {}, {} bits, {} lanes) is not supported",
      tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes));
}

dlpack::DataType toDLPack(DType type) {
  for (const TypeCode &known : typeCodes)
    if (known.type == type)
      return {known.code, known.bits, 1};
  return {};
}

Result<TensorView> fromDLPack(const dlpack::Tensor &tensor, int ordinal) {
  Result<TensorRef> ref = referToDLPack("", tensor, ordinal);
  if (!ref.ok())
    return ref.status();
  return toTensorView(*ref);
}

dlpack::Tensor toDLPack(TensorView &view, int ordinal) {
  dlpack::Tensor tensor = {};
  tensor.data = view.data;
  tensor.device = {cudaDevice, ordinal};
  tensor.ndim = static_cast<int32_t>(view.shape.size());
  tensor.dtype = toDLPack(view.dtype);
  tensor.shape = view.shape.data();
  tensor.strides = view.strides.data();
  return tensor;
}

} // namespace selvedge::inline runtime
