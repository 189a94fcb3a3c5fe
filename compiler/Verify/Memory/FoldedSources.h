// What a program's stores and sums are made of once operations are folded.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_MEMORY_FOLDEDSOURCES_H
#define SELVEDGE_COMPILER_VERIFY_MEMORY_FOLDEDSOURCES_H

#include "compiler/Verify/Memory/SourceTensors.h"
#include "dialect/Tile/Tile.h"

#include <map>

namespace selvedge::verify {

/// Where equal operations are one and those are folded that give the same
/// whatever an operand is: `x - x`, a select whose condition is `x < x`.
struct FoldedSources {
  /// By tensor what each store to it is made of.
  std::map<std::string, std::vector<SourceTensors::Names>> stores;
  /// What a reduction of the kernel sums up; none of those that are gone.
  llvm::DenseMap<mlir::Operation *, SourceTensors::Names> reductions;
};

/// The kernel stays as it is.
FoldedSources sourcesOnceFolded(tile::KernelOp kernel);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_MEMORY_FOLDEDSOURCES_H
