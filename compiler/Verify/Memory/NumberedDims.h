// Which integers in memory number the elements of a tensor.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_MEMORY_NUMBEREDDIMS_H
#define SELVEDGE_COMPILER_VERIFY_MEMORY_NUMBEREDDIMS_H

#include "dialect/Tile/Tile.h"

#include <string>
#include <vector>

namespace selvedge::verify {

/// Integers of a tensor with which a dimension of another one is indexed, as a
/// table's are that number pages. Executions with lengths in their place would
/// find no page that exists.
struct NumberedDim {
  std::string integers, tensor;
  unsigned dim;
  /// Elements of the dimension that each number stands for.
  int64_t size;
};

/// Those of a kernel: an index that is an element as it was loaded, or a range
/// that begins at a multiple of one.
///
///     %page = tile.load %table[...]   tile.load %pool[%page, ...]
///     %block = tile.load %list[...]   tile.load %k[tile.range %block * 128]
std::vector<NumberedDim> numberedDimsOf(tile::KernelOp kernel);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_MEMORY_NUMBEREDDIMS_H
