// What a plan depends on beside addresses.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_SIGNATURE_H
#define SELVEDGE_RUNTIME_SRC_SIGNATURE_H

#include "selvedge/LaunchView.h"

#include <string>
#include <vector>

namespace selvedge::inline runtime {

/// The properties of arguments that planLaunch() looks at: two launches with
/// equal signatures differ in addresses, scalars and workspace only.
class Signature {
public:
  /// Remembers arguments that planLaunch() accepts.
  Signature(const Manifest &manifest, const LaunchView &view);

  /// Whether planLaunch() would do the same, for a workspace that is
  /// sufficient, and addresses and scalars aside.
  bool matches(const LaunchView &view) const;

private:
  struct Tensor {
    std::string name;
    DType dtype;
    bool contiguous;
    bool isNull;
    /// Addresses are told apart up to this power of two, the largest that
    /// decides anything; one lower bit more than log2 of it.
    uintptr_t alignBits;
    uintptr_t lowestBit;
    std::vector<int64_t> shape, strides;
  };

  static bool matches(const Tensor &tensor, const TensorRef &ref);

  std::vector<Tensor> tensors;
  std::vector<std::string> scalars;
  std::vector<std::pair<std::string, int64_t>> dims;
};

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_SIGNATURE_H
