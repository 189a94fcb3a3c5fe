// LLVM dialect -> LLVM IR -> PTX, in process.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_TARGET_PTX_TRANSLATE_H
#define SELVEDGE_COMPILER_TARGET_PTX_TRANSLATE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
struct LogicalResult;
} // namespace llvm

namespace mlir {
class DialectRegistry;
class ModuleOp;
template <typename OpTy>
class OwningOpRef;
} // namespace mlir

namespace selvedge::ptx {

/// Registers the LLVM and NVVM dialects and their translation. A context whose
/// modules go through translateToLLVM() needs it.
void registerTranslations(mlir::DialectRegistry &registry);

/// A module with the kernels, device functions and globals of `module` only:
/// what belongs to the host or to an earlier form stays behind.
mlir::OwningOpRef<mlir::ModuleOp> extractDeviceCode(mlir::ModuleOp module);

/// PTX of one module from that of several, each with one kernel. The same text
/// as if one module had held them.
std::string joinPtx(llvm::ArrayRef<std::string> parts);

/// Runs addLowerToLLVMPasses() on a module of device code.
llvm::LogicalResult lowerToLLVMDialect(mlir::ModuleOp module);

/// Translates device code in the LLVM dialect. Null on error, which the MLIR
/// context's diagnostics explain.
std::unique_ptr<llvm::Module> translateToLLVM(mlir::ModuleOp module,
                                              llvm::LLVMContext &context);

/// Fails when any instruction, call or function may assume that values are
/// finite, not NaN, of no particular zero sign or associative: every such flag
/// lets LLVM drop a guard that the safety passes inserted. The message lists
/// the offenders.
llvm::Error lintFastMath(const llvm::Module &module);

/// Fails unless `kernel` of some PTX executes `griddepcontrol.wait` in its
/// first basic block, before all accesses to memory: neither LLVM nor a pass
/// may have moved one ahead of it. For kernels whose launch is dependent.
llvm::Error checkLaunchWait(llvm::StringRef ptx, llvm::StringRef kernel);

/// The same of a kernel that waits later: fails where an address that is
/// computed from one of these parameters is used ahead of the first wait in the
/// text, or where there is none.
llvm::Error checkLateWait(llvm::StringRef ptx, llvm::StringRef kernel,
                          const llvm::DenseSet<unsigned> &parameters);

/// Emits PTX for `arch` (see TargetInfo.h). Changes `module`.
llvm::Expected<std::string> emitPtx(llvm::Module &module, llvm::StringRef arch);

} // namespace selvedge::ptx

#endif // SELVEDGE_COMPILER_TARGET_PTX_TRANSLATE_H
