// Compilation with a cache of artefacts on disk.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_COMPILECACHED_H
#define SELVEDGE_COMPILER_DRIVER_COMPILECACHED_H

#include "compiler/Driver/Compiler.h"

namespace selvedge {

/// compile() with cubin, or its result from the cache of the runtime
/// (selvedge/DiskCache.h); then the only phase is "cache". The key covers
/// source, imported files, op, bindings and arch, the builds of this compiler
/// and of the ptxas at hand, and the plans stored for the program. What failed
/// or had something to say is compiled again. Thread safe.
CompileResult compileCached(const CompileRequest &request);

} // namespace selvedge

#endif // SELVEDGE_COMPILER_DRIVER_COMPILECACHED_H
