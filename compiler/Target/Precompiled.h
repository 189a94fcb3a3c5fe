// What most files of the targets include, compiled once for all of them. A file
// still includes what it uses. SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_TARGET_PRECOMPILED_H
#define SELVEDGE_COMPILER_TARGET_PRECOMPILED_H

#include "dialect/Precompiled.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#endif // SELVEDGE_COMPILER_TARGET_PRECOMPILED_H
