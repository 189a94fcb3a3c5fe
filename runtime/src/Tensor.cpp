// Element types, shapes and strides.
// SPDX-License-Identifier: MIT
#include "selvedge/Tensor.h"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace selvedge::inline runtime {

namespace {

struct TypeInfo {
  DType type;
  int64_t size;
  const char *name;
  const char *safetensors;
};

constexpr std::array<TypeInfo, 11> typeTable = {{
    {DType::BF16, 2, "bf16", "BF16"},
    {DType::F16, 2, "f16", "F16"},
    {DType::F32, 4, "f32", "F32"},
    {DType::F64, 8, "f64", "F64"},
    {DType::I32, 4, "i32", "I32"},
    {DType::I64, 8, "i64", "I64"},
    {DType::I8, 1, "i8", "I8"},
    {DType::U8, 1, "u8", "U8"},
    {DType::Bool, 1, "bool", "BOOL"},
    {DType::E4M3, 1, "e4m3", "F8_E4M3"},
    {DType::E5M2, 1, "e5m2", "F8_E5M2"},
}};

const TypeInfo &infoOf(DType type) {
  return typeTable[static_cast<size_t>(type)];
}

} // namespace

int64_t sizeOf(DType type) { return infoOf(type).size; }

bool isFloat(DType type) {
  return type == DType::BF16 || type == DType::F16 || type == DType::F32 ||
         type == DType::F64 || type == DType::E4M3 || type == DType::E5M2;
}

const char *nameOf(DType type) { return infoOf(type).name; }

const char *safetensorsNameOf(DType type) { return infoOf(type).safetensors; }

std::optional<DType> dtypeFromName(std::string_view name) {
  for (const TypeInfo &info : typeTable)
    if (name == info.name)
      return info.type;
  return std::nullopt;
}

std::optional<DType> dtypeFromSafetensorsName(std::string_view name) {
  for (const TypeInfo &info : typeTable)
    if (name == info.safetensors)
      return info.type;
  return std::nullopt;
}

std::vector<int64_t> contiguousStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size());
  writeContiguousStrides(shape, strides);
  return strides;
}

void writeContiguousStrides(std::span<const int64_t> shape,
                            std::span<int64_t> strides) {
  // Unsigned, so that the strides of a shape too large to exist do not
  // overflow; elementCount() refuses such shapes.
  uint64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = static_cast<int64_t>(stride);
    stride *= shape[i] > 1 ? static_cast<uint64_t>(shape[i]) : 1;
  }
}

TensorView contiguousView(void *data, DType dtype, std::vector<int64_t> shape) {
  TensorView view;
  view.data = data;
  view.dtype = dtype;
  view.strides = contiguousStrides(shape);
  view.shape = std::move(shape);
  return view;
}

static Result<int64_t> productOf(std::span<const int64_t> shape) {
  int64_t count = 1;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return Status::badInput(
          fmt::format("shape {} has a negative extent", shapeToString(shape)));
    if (extent == 0) {
      empty = true;
      continue;
    }
    // Also where another extent is 0: strides are formed from these products.
    if (__builtin_mul_overflow(count, extent, &count))
      return Status::badInput(
          fmt::format("shape {} has too many elements", shapeToString(shape)));
  }
  return empty ? 0 : count;
}

Result<int64_t> elementCount(const std::vector<int64_t> &shape) {
  return productOf(shape);
}

Result<int64_t> byteCount(DType dtype, const std::vector<int64_t> &shape) {
  return byteCount(dtype, std::span(shape));
}

Result<int64_t> byteCount(DType dtype, std::span<const int64_t> shape) {
  Result<int64_t> count = productOf(shape);
  if (!count.ok())
    return count;
  int64_t bytes = 0;
  if (__builtin_mul_overflow(*count, sizeOf(dtype), &bytes))
    return Status::badInput(
        fmt::format("shape {} has too many bytes", shapeToString(shape)));
  return bytes;
}

std::string shapeToString(std::span<const int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string indexToString(std::span<const int64_t> shape, int64_t position) {
  std::vector<int64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 0; position /= shape[i])
    index[i] = position % shape[i];
  return shapeToString(index);
}

} // namespace selvedge::inline runtime
