// How a kernel goes through the elements of a tensor.
// SPDX-License-Identifier: MIT
#include "runtime/src/TensorWalk.h"

namespace selvedge::inline runtime {

namespace {

/// Whether the elements of `outer` lie where those of `inner` would go on.
bool continues(const WalkDimension &outer, const WalkDimension &inner) {
  int64_t next = 0;
  return !__builtin_mul_overflow(inner.extent, inner.distance, &next) &&
         outer.distance == next;
}

} // namespace

int64_t TensorWalk::offsetOf(int64_t position) const {
  int64_t offset = 0;
  for (const WalkDimension &dimension : inner) {
    offset += position % dimension.extent * dimension.distance;
    position /= dimension.extent;
  }
  return offset + position * outer;
}

Result<TensorWalk> walkThrough(const TensorView &tensor) {
  TensorWalk walk;
  Result<int64_t> count = elementCount(tensor.shape);
  if (!count.ok())
    return count.status();
  walk.count = *count;
  if (walk.count == 0)
    return walk;
  std::vector<WalkDimension> &dimensions = walk.inner;
  for (size_t d = tensor.shape.size(); d-- > 0;) {
    WalkDimension dimension{tensor.shape[d], 0};
    if (dimension.extent == 1)
      continue;
    int64_t reach = 0;
    int64_t &end = tensor.strides[d] < 0 ? walk.lowest : walk.highest;
    if (__builtin_mul_overflow(tensor.strides[d], sizeOf(tensor.dtype),
                               &dimension.distance) ||
        __builtin_mul_overflow(dimension.distance, dimension.extent - 1,
                               &reach) ||
        __builtin_add_overflow(end, reach, &end))
      return Status::badInput("the strides reach beyond memory");
    if (!dimensions.empty() && continues(dimension, dimensions.back()))
      dimensions.back().extent *= dimension.extent;
    else
      dimensions.push_back(dimension);
  }
  if (!dimensions.empty()) {
    walk.outer = dimensions.back().distance;
    dimensions.pop_back();
  }
  return walk;
}

} // namespace selvedge::inline runtime
