// Tiles for tests of shared memory.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TESTS_PHYSICAL_TILES_H
#define SELVEDGE_TESTS_PHYSICAL_TILES_H

#include "compiler/Reference/TileValue.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace selvedge::testing {

/// A tile of i 2 x j 1, with one value in both rows.
inline reference::TileRef columnOf(double value, mlir::MLIRContext &context) {
  auto result = std::make_shared<reference::TileValue>();
  result->shape.push(mlir::StringAttr::get(&context, "i"), 2);
  result->shape.push(mlir::StringAttr::get(&context, "j"), 1);
  result->values.assign(2, value);
  return result;
}

} // namespace selvedge::testing

#endif // SELVEDGE_TESTS_PHYSICAL_TILES_H
