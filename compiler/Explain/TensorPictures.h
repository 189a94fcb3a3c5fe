// One picture of a tensor for all accesses that see the same of it.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_EXPLAIN_TENSORPICTURES_H
#define SELVEDGE_COMPILER_EXPLAIN_TENSORPICTURES_H

#include "compiler/Explain/Explanation.h"

namespace selvedge::explain {

/// The tiles of accesses that cut the tensor in the same way.
struct TensorPanel {
  Picture picture;
  std::vector<const Record *> records;
  /// What absent lanes of each record are.
  std::vector<std::string> absent;
};

/// All pictures of one tensor.
struct TensorPictures {
  const Tensor *tensor = nullptr;
  std::vector<TensorPanel> panels;
};

/// The pictures of `explanation` that show tensors, in the order of the
/// signature. A lane is present if any access of the panel has it.
std::vector<TensorPictures> mergePictures(const Explanation &explanation);

} // namespace selvedge::explain

#endif // SELVEDGE_COMPILER_EXPLAIN_TENSORPICTURES_H
