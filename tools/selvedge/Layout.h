// How `run` lays tensors out in device memory.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_LAYOUT_H
#define SELVEDGE_TOOLS_SELVEDGE_LAYOUT_H

#include "selvedge/Manifest.h"
#include "selvedge/Tensor.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace selvedge::cli {

/// What `--layout` offers.
enum class LayoutKind {
  /// Last dimension fastest, no gaps.
  Contiguous,
  /// Rows are eight elements apart: alignment stays, gaps appear.
  Padded,
  /// The last two dimensions change places in memory: rows have a stride.
  Transposed,
  /// The two dimensions before the last change places in memory.
  Permuted,
  /// The address is one element off, all else contiguous.
  Unaligned,
  /// Dimensions that the op lets a caller broadcast have the extent 1; where
  /// there are none, the first one with an extent above 1 has stride 0.
  Broadcast
};

/// Where the elements of a tensor lie, in elements from the start of a box.
struct Layout {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  /// The shape that the caller gives: 1 where one element stands for all.
  std::vector<int64_t> given;
  /// Place of the element with all indices 0.
  int64_t offset = 0;
  /// Elements of the box, which ends after the last element.
  int64_t box = 0;

  /// The place of every element, in the order of a contiguous tensor.
  std::vector<int64_t> places() const;
};

/// The layout of a tensor; parseLayouts() knows which ones it can have.
/// `broadcasts` as in ManifestTensor.
Layout makeLayout(LayoutKind kind, const std::vector<int64_t> &shape,
                  const std::vector<bool> &broadcasts = {});

/// Parses NAME=KIND, or KIND alone for every tensor of the op that can have it.
/// Later texts replace earlier ones. Broadcast is for inputs.
Result<std::map<std::string, LayoutKind>>
parseLayouts(const std::vector<std::string> &texts, const Manifest &signature);

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_LAYOUT_H
