// Element types and the view of a tensor that launches take.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TENSOR_H
#define SELVEDGE_TENSOR_H

#include "selvedge/Result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace selvedge::inline runtime {

/// Element types of tensors and scalars.
enum class DType { BF16, F16, F32, F64, I32, I64, I8, U8, Bool, E4M3, E5M2 };

/// Bytes of one element.
int64_t sizeOf(DType type);

/// True for bf16, f16, f32, f64, e4m3 and e5m2.
bool isFloat(DType type);

/// The language's name: "bf16".
const char *nameOf(DType type);

/// The inverse of nameOf().
std::optional<DType> dtypeFromName(std::string_view name);

/// The name that safetensors files use: "BF16".
const char *safetensorsNameOf(DType type);

/// The inverse of safetensorsNameOf().
std::optional<DType> dtypeFromSafetensorsName(std::string_view name);

/// A tensor in somebody else's memory.
struct TensorView {
  /// Address of the element with all indices 0.
  void *data = nullptr;
  /// Type of the elements.
  DType dtype = DType::F32;
  /// Extents.
  std::vector<int64_t> shape;
  /// Distance of neighbours per dimension, in elements.
  std::vector<int64_t> strides;
};

/// Strides of a contiguous tensor, last dimension fastest.
std::vector<int64_t> contiguousStrides(const std::vector<int64_t> &shape);

/// The same, into memory for as many.
void writeContiguousStrides(std::span<const int64_t> shape,
                            std::span<int64_t> strides);

/// A contiguous view.
TensorView contiguousView(void *data, DType dtype, std::vector<int64_t> shape);

/// Number of elements; an error for negative extents and beyond 2^63 - 1.
Result<int64_t> elementCount(const std::vector<int64_t> &shape);

/// Bytes of a contiguous tensor; an error for negative extents and beyond
/// 2^63 - 1.
Result<int64_t> byteCount(DType dtype, const std::vector<int64_t> &shape);
Result<int64_t> byteCount(DType dtype, std::span<const int64_t> shape);

/// "[2, 8, 128]".
std::string shapeToString(std::span<const int64_t> shape);

/// "[1, 0, 5]": the index of the element at a position of a contiguous tensor.
std::string indexToString(std::span<const int64_t> shape, int64_t position);

} // namespace selvedge::inline runtime

#endif // SELVEDGE_TENSOR_H
