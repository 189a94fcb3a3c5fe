// The request of jit.h as the compiler takes it.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_JITREQUEST_H
#define SELVEDGE_COMPILER_DRIVER_JITREQUEST_H

#include "compiler/Driver/Compiler.h"
#include "selvedge/jit.h"

namespace selvedge::capi {

/// What is missing, null where nothing is. The architecture may be.
const char *findNull(const selvedge_compile_request &from);

/// The same request; its texts are copied.
CompileRequest readRequest(const selvedge_compile_request &from);

} // namespace selvedge::capi

#endif // SELVEDGE_COMPILER_DRIVER_JITREQUEST_H
