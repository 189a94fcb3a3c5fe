// What a plan depends on beside addresses.
// SPDX-License-Identifier: MIT
#include "runtime/src/Signature.h"

#include "runtime/src/TensorMap.h"

#include <algorithm>

namespace selvedge::inline runtime {

namespace {

/// The largest alignment of a tensor's address that a check or a variant asks
/// for; all are powers of two.
int64_t decidingAlign(const Manifest &manifest, size_t tensor) {
  int64_t align =
      std::max(sizeOf(manifest.tensors[tensor].dtype), tensorMapAlign);
  for (const ManifestVariant &variant : manifest.variants)
    for (const ManifestCondition &condition : variant.when)
      if (condition.tensor == tensor)
        align = std::max(align, condition.align);
  return align;
}

/// The lowest bit set of an address and `alignBits`.
uintptr_t lowestBit(const void *data, uintptr_t alignBits) {
  uintptr_t bits = reinterpret_cast<uintptr_t>(data) | alignBits;
  return bits & -bits;
}

} // namespace

Signature::Signature(const Manifest &manifest, const LaunchView &view) {
  tensors.reserve(view.tensors.size());
  for (const TensorRef &ref : view.tensors) {
    auto align = static_cast<uintptr_t>(
        decidingAlign(manifest, *manifest.findTensor(ref.name)));
    tensors.push_back({std::string(ref.name),
                       ref.dtype,
                       ref.contiguous,
                       ref.data == nullptr,
                       align,
                       lowestBit(ref.data, align),
                       {ref.shape.begin(), ref.shape.end()},
                       {ref.strides.begin(), ref.strides.end()}});
  }
  for (const ScalarRef &ref : view.scalars)
    scalars.emplace_back(ref.name);
  for (const DimRef &ref : view.dims)
    dims.emplace_back(ref.name, ref.value);
}

bool Signature::matches(const Tensor &tensor, const TensorRef &ref) {
  return std::ranges::equal(tensor.shape, ref.shape) &&
         std::ranges::equal(tensor.strides, ref.strides) &&
         tensor.contiguous == ref.contiguous && tensor.dtype == ref.dtype &&
         tensor.isNull == (ref.data == nullptr) &&
         tensor.lowestBit == lowestBit(ref.data, tensor.alignBits) &&
         tensor.name == ref.name;
}

bool Signature::matches(const LaunchView &view) const {
  return std::ranges::equal(tensors, view.tensors,
                            [](const Tensor &tensor, const TensorRef &ref) {
                              return matches(tensor, ref);
                            }) &&
         std::ranges::equal(scalars, view.scalars, {}, {}, &ScalarRef::name) &&
         std::ranges::equal(
             dims, view.dims, [](const auto &dim, const DimRef &ref) {
               return dim.second == ref.value && dim.first == ref.name;
             });
}

} // namespace selvedge::inline runtime
