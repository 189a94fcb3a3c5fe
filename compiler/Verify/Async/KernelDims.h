// How a kernel cuts its dimensions into blocks.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ASYNC_KERNELDIMS_H
#define SELVEDGE_COMPILER_VERIFY_ASYNC_KERNELDIMS_H

#include "dialect/Sm/Sm.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace selvedge::verify {

/// A dimension, and the largest and the least constant, but 1, by which it, or
/// a sum or bound made of it, is divided, or in steps of which a loop goes up
/// to it. Of a multiple of it, as many of its elements as the constant has.
struct Dim {
  mlir::Value value;
  int64_t block = 1, step = 0;
  /// Where one element counts for whole steps (pages): how many of theirs.
  int64_t perElement = 1;
  /// As many elements as so long a sequence takes; one where they count for
  /// none.
  int64_t numFor(int64_t length) const {
    return perElement > 1
               ? std::max<int64_t>(1, llvm::divideCeil(length, perElement))
               : 1;
  }
  /// The divisions and loops that cut it into steps.
  llvm::SmallPtrSet<mlir::Operation *, 4> steps = {};
  /// Whether the end of a loop is made of it.
  bool isLoopEnd = false;
};

Dim measure(mlir::Value value);

/// Whether each element of number `symbol` of the launch's plan has tiles of
/// its own.
bool hasTilesOfItsOwn(sm::LaunchOp launch, unsigned symbol);

/// The same of number `symbol` of the launch's plan. Where each of its elements
/// has tiles of its own, what it is only taken from cuts nothing.
Dim measure(mlir::Value value, sm::LaunchOp launch, unsigned symbol);

/// A larger step makes a trial too long.
inline constexpr int64_t mostStep = 1024;

/// The constant steps of a kernel's loops from 2 to `most`, the largest first.
llvm::SmallVector<int64_t> stepsOf(sm::KernelOp kernel, int64_t most);

/// Whether the caller gives integers, such as the length of a window.
bool hasCallersIntegers(sm::KernelOp kernel);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ASYNC_KERNELDIMS_H
