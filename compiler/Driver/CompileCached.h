// Compilation with a cache of artefacts on disk.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_COMPILECACHED_H
#define SELVEDGE_COMPILER_DRIVER_COMPILECACHED_H

#include "compiler/Driver/Compiler.h"
#include "selvedge/LazyCode.h"

namespace selvedge {

/// compile() with cubin, or its result from the cache of the runtime
/// (selvedge/DiskCache.h); then the only phase is "cache". The key covers
/// source, imported files, op, bindings and arch, the builds of this compiler
/// and of the ptxas at hand, and the plans stored for the program. What failed
/// or had something to say is compiled again. Thread safe.
CompileResult compileCached(const CompileRequest &request);

/// What compileForLaunches() gives.
struct LaunchCode {
  /// Status and diagnostics; no code, and of a program that begins well no
  /// errors of what comes later.
  CompileResult result;
  /// For Op::load(); null where that fails.
  std::shared_ptr<LazyCode> code;
};

/// Compiles what launches need when they need it: the kernels of the variant
/// that the tensors of a launch take, while verifiers work side by side; what
/// they have not agreed to is neither loaded nor kept. Where the first plans do
/// not assemble well, all variants are compiled, with the search of compile().
/// Uses the same cache; there each variant is an entry of its own. Thread
/// safe.
LaunchCode compileForLaunches(const CompileRequest &request);

} // namespace selvedge

#endif // SELVEDGE_COMPILER_DRIVER_COMPILECACHED_H
