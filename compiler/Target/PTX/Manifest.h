// The manifest of docs/manifest.md from IR.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_TARGET_PTX_MANIFEST_H
#define SELVEDGE_COMPILER_TARGET_PTX_MANIFEST_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace selvedge::sm {
class PlanOp;
} // namespace selvedge::sm

namespace selvedge::tile {
class ProgramOp;
} // namespace selvedge::tile

namespace selvedge::ptx {

/// The manifest of a host program; `exactMasks` says how it was compiled.
llvm::Expected<std::string> writeManifest(sm::PlanOp plan, llvm::StringRef arch,
                                          llvm::StringRef compilerVersion,
                                          bool exactMasks = false);

/// The manifest of a signature, without `arch` and `variants`.
llvm::Expected<std::string> writeSignature(tile::ProgramOp program,
                                           llvm::StringRef compilerVersion);

} // namespace selvedge::ptx

#endif // SELVEDGE_COMPILER_TARGET_PTX_MANIFEST_H
