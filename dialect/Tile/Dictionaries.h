// Lists of dictionaries that programs and plans carry as attributes.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_TILE_DICTIONARIES_H
#define SELVEDGE_DIALECT_TILE_DICTIONARIES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace selvedge::tile {

/// Those of the list `name`; none where the attribute is missing. Text may hold
/// anything: what is no dictionary is left out.
llvm::SmallVector<mlir::DictionaryAttr> dictionariesOf(mlir::Operation *op,
                                                       llvm::StringRef name);

} // namespace selvedge::tile

#endif // SELVEDGE_DIALECT_TILE_DICTIONARIES_H
