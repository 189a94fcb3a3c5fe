// How a kernel goes through the elements of a tensor.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_TENSORWALK_H
#define SELVEDGE_RUNTIME_SRC_TENSORWALK_H

#include "selvedge/Tensor.h"

namespace selvedge::inline runtime {

/// A dimension of a walk.
struct WalkDimension {
  int64_t extent = 1;
  /// Of neighbours, in bytes.
  int64_t distance = 0;
};

/// Where the elements of a tensor lie, in the order of their indices.
/// Dimensions that follow each other in memory are one.
struct TensorWalk {
  /// Elements.
  int64_t count = 0;
  /// All dimensions but the outermost, the innermost one first.
  std::vector<WalkDimension> inner;
  /// Bytes between neighbours of the outermost dimension.
  int64_t outer = 0;
  /// Lowest and highest distance of an element from the tensor's address.
  int64_t lowest = 0, highest = 0;

  /// Bytes from the tensor's address to the element at a position.
  int64_t offsetOf(int64_t position) const;
};

/// The walk through a tensor; an error where 64 bits do not hold its distances.
Result<TensorWalk> walkThrough(const TensorView &tensor);

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_TENSORWALK_H
