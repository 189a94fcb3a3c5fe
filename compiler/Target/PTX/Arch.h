// The architectures that PTX is emitted for.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_TARGET_PTX_ARCH_H
#define SELVEDGE_COMPILER_TARGET_PTX_ARCH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace selvedge::ptx {

/// Names accepted as `--arch`, oldest first.
llvm::ArrayRef<llvm::StringRef> knownArchs();

/// True for a name of knownArchs().
bool isKnownArch(llvm::StringRef arch);

} // namespace selvedge::ptx

#endif // SELVEDGE_COMPILER_TARGET_PTX_ARCH_H
