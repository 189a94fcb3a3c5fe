// Tensors of other frameworks, by the DLPack convention.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DLPACK_H
#define SELVEDGE_DLPACK_H

#include "selvedge/LaunchView.h"

namespace selvedge::inline runtime {

/// The structures of the DLPack specification, with its layout; a pointer to
/// the specification's own DLTensor can be cast to these.
namespace dlpack {

/// DLDevice.
struct Device {
  /// DLDeviceType: 2 is CUDA, 13 CUDA managed memory.
  int32_t type;
  int32_t id;
};

/// DLDataType.
struct DataType {
  /// DLDataTypeCode: 0 int, 1 uint, 2 float, 4 bfloat, 6 bool.
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

/// DLTensor.
struct Tensor {
  void *data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t *shape;
  /// In elements; null: contiguous.
  int64_t *strides;
  uint64_t byteOffset;
};

} // namespace dlpack

/// The type of elements.
dlpack::DataType toDLPack(DType type);

/// A view of the same memory, which has to be on GPU `ordinal`. Errors name
/// what is not supported: other devices, vector types, other element types.
Result<TensorView> fromDLPack(const dlpack::Tensor &tensor, int ordinal = 0);

/// The same by name, without copies: `tensor` and `name` outlive the result.
Result<TensorRef> referToDLPack(std::string_view name,
                                const dlpack::Tensor &tensor, int ordinal = 0);

/// A description of `view`, whose vectors must outlive the result.
dlpack::Tensor toDLPack(TensorView &view, int ordinal = 0);

} // namespace selvedge::inline runtime

#endif // SELVEDGE_DLPACK_H
