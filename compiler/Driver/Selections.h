// Which values of integer inputs select something.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_SELECTIONS_H
#define SELVEDGE_COMPILER_DRIVER_SELECTIONS_H

#include "compiler/Driver/Compiler.h"

#include <cstdint>
#include <map>
#include <string>

namespace selvedge {

/// By integer tensor whose elements select pages, blocks or rows of other
/// tensors: how many values from 0 on select something, for these dims. Runs
/// the front end alone.
CompileResult findSelections(const CompileRequest &request,
                             const std::map<std::string, int64_t> &dims,
                             std::map<std::string, int64_t> &counts);

} // namespace selvedge

#endif // SELVEDGE_COMPILER_DRIVER_SELECTIONS_H
