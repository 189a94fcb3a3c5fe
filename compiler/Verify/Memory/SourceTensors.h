// From which tensors the elements of a kernel's tiles are made.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_MEMORY_SOURCETENSORS_H
#define SELVEDGE_COMPILER_VERIFY_MEMORY_SOURCETENSORS_H

#include "compiler/Verify/Memory/RingTiles.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <set>
#include <string>

namespace selvedge::verify {

/// What tells the sinks of a kernel of `tile` or `sm` apart, before and after
/// lowering: the tensors whose elements they sum up. What only decides
/// (conditions, predicates, indices) does not count.
class SourceTensors {
public:
  using Names = std::set<std::string>;

  explicit SourceTensors(mlir::Operation *kernel);

  /// Those of several values together, loops and shared memory included.
  Names of(mlir::ValueRange values) const;
  /// Those of tiles and of what is in shared memory, without those that only a
  /// scalar has, which is the same in all lanes.
  Names ofTiles(mlir::ValueRange values) const;
  /// Those of several values where no loop runs a step.
  Names withoutSteps(mlir::ValueRange values) const;
  /// Those of several values whichever sides of choices between tensors are
  /// taken.
  Names ofAnySide(mlir::ValueRange values) const;
  /// Calls `visit` for each operation that makes a part of the values.
  void walk(mlir::ValueRange values,
            llvm::function_ref<void(mlir::Operation *)> visit) const;

private:
  /// What find() leaves out.
  struct Without {
    bool steps = false, scalars = false;
    /// One side of a choice.
    mlir::Operation *choice = nullptr;
    bool side = false;
  };
  Names find(mlir::ValueRange values,
             llvm::function_ref<void(mlir::Operation *)> visitMaker,
             Without without) const;

  /// What is copied to the rings of shared memory, and what is staged there.
  llvm::DenseMap<RingTiles, Names> copied;
  struct Staged {
    mlir::Value source;
    bool isNamed;
  };
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Staged, 2>> staged;
};

/// What a slot holds where `reader` reads it: the tile that is staged there
/// before, if nothing in between fills the ring; else the slot itself.
/// verify-sm-padding demands that all of a slot is staged, and verify-sm-async
/// that no other role fills it before it has been read.
mlir::Value stagedBefore(mlir::Operation *reader, mlir::Value slot);

/// Calls `visit` for what a value that control flow hands on may be, without
/// `haveSteps` if no loop runs a step; false for other values.
bool visitHandedOn(mlir::Value value,
                   llvm::function_ref<void(mlir::Value)> visit,
                   bool haveSteps = true);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_MEMORY_SOURCETENSORS_H
