// The dynamic shared memory of kernels.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_TARGET_LANES_SHAREDMEMORY_H
#define SELVEDGE_COMPILER_TARGET_LANES_SHAREDMEMORY_H

#include "dialect/Sm/Sm.h"

#include "mlir/IR/BuiltinOps.h"

namespace selvedge::lanes {

/// Declares the symbol that all kernels address, once per module.
void declareSharedMemory(mlir::ModuleOp module);

/// Bytes of an mbarrier, and of what a mailbox holds.
inline constexpr int64_t mbarrierBytes = 8, mailBytes = 4;

/// Where a kernel in form async keeps its buffers, mbarriers and mailboxes.
class SharedLayout {
public:
  explicit SharedLayout(sm::KernelOp kernel);

  /// The first byte of what an allocation gives.
  int64_t offsetOf(mlir::Value allocated) const {
    return offsets.lookup(allocated);
  }
  /// Bytes of all.
  int64_t getBytes() const { return bytes; }
  /// What takes most of them; null where there is no buffer.
  sm::AllocOp getLargest() const { return largest; }

private:
  void place(mlir::Value allocated, int64_t size, int64_t align);

  llvm::DenseMap<mlir::Value, int64_t> offsets;
  int64_t bytes = 0;
  sm::AllocOp largest;
};

/// Tells the launches of `kernel` how many bytes it needs.
void setSharedBytes(mlir::ModuleOp module, llvm::StringRef kernel,
                    int64_t bytes);

} // namespace selvedge::lanes

#endif // SELVEDGE_COMPILER_TARGET_LANES_SHAREDMEMORY_H
