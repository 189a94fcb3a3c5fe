// ptxas as a child process.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_TARGET_PTX_PTXAS_H
#define SELVEDGE_COMPILER_TARGET_PTX_PTXAS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace selvedge::ptx {

/// What `ptxas -v` says about one kernel.
struct KernelResources {
  std::string name;
  int64_t registers = 0;
  int64_t stackBytes = 0;
  int64_t spillStoreBytes = 0;
  int64_t spillLoadBytes = 0;
  /// Static shared memory.
  int64_t smemBytes = 0;
  /// Whose code it is, which ptxas does not know: the name of its plan, and
  /// whether it is for tensors of any strides, or for devices with less shared
  /// memory: its spills are not searched.
  std::string plan;
  bool isUniversal = false;
  /// Whether some warps copy and others multiply.
  bool hasRoles = true;
};

/// What ptxas printed, understood.
struct PtxasLog {
  std::vector<KernelResources> kernels;
  /// Remarks C7500 to C7599: ptxas ignored a register budget or serialised
  /// asynchronous matrix products. Each makes the kernel slow or wrong.
  std::vector<std::string> remarks;
};

/// Parses the output of `ptxas -v`.
PtxasLog parsePtxasLog(llvm::StringRef text);

enum class PtxasStatus {
  Ok,
  /// ptxas is missing, was killed, took too long, or is something else.
  CannotRun,
  /// ptxas ran and refused the PTX, or remarked a C75xx.
  Refused
};

/// Outcome of assemble().
struct PtxasResult {
  PtxasStatus status = PtxasStatus::Ok;
  /// The reason, with ptxas' own output, when not Ok.
  std::string message;
  std::string cubin;
  PtxasLog log;
};

/// Assembles PTX with the program at `ptxas` (see findPtxas()).
PtxasResult assemble(llvm::StringRef ptx, llvm::StringRef arch,
                     llvm::StringRef ptxas);

/// Path of ptxas: `chosen` if not empty, else the variable SELVEDGE_PTXAS, else
/// the first of PATH, CUDA_HOME/bin, /usr/local/cuda/bin, the wheels of PyPI's
/// nvidia-cuda-nvcc in any Python 3, and the .deps folder of a build tree
/// that holds the running program. Empty when that is not an executable file.
std::string findPtxas(llvm::StringRef chosen = "");

} // namespace selvedge::ptx

#endif // SELVEDGE_COMPILER_TARGET_PTX_PTXAS_H
