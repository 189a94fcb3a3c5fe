// What most files of the compiler include, compiled once for all of them. A
// file still includes what it uses. SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_PRECOMPILED_H
#define SELVEDGE_DIALECT_PRECOMPILED_H

#include "dialect/Sm/Sm.h"
#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/TypeSwitch.h"

#endif // SELVEDGE_DIALECT_PRECOMPILED_H
