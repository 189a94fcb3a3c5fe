// Expressions over dims as people write them.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_TILE_AFFINEWORDS_H
#define SELVEDGE_DIALECT_TILE_AFFINEWORDS_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <string>

namespace selvedge::tile {

/// An expression over symbols with the names of their dims: "(G + 1) * R".
std::string wordsOf(mlir::AffineExpr expr, mlir::ArrayAttr dims);

} // namespace selvedge::tile

#endif // SELVEDGE_DIALECT_TILE_AFFINEWORDS_H
