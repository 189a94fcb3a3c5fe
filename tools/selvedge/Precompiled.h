// What most files of the command line include, compiled once for all of them. A
// file still includes what it uses. SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_PRECOMPILED_H
#define SELVEDGE_TOOLS_SELVEDGE_PRECOMPILED_H

#include "compiler/Driver/Compiler.h"
#include "runtime/src/Precompiled.h"

#include <CLI/CLI.hpp>

#endif // SELVEDGE_TOOLS_SELVEDGE_PRECOMPILED_H
