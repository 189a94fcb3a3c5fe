// What `compile --json` prints.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_COMPILEJSON_H
#define SELVEDGE_TOOLS_SELVEDGE_COMPILEJSON_H

#include "compiler/Driver/Compiler.h"
#include "selvedge/Manifest.h"

#include <string>

namespace selvedge::cli {

/// Kernels with their registers, spills and shared memory, times of the phases,
/// plans and remarks.
std::string describeCompiled(const Manifest &manifest,
                             const CompileRequest &request,
                             const CompileResult &result,
                             const std::string &output);

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_COMPILEJSON_H
