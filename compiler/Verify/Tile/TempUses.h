// What a temp or output is to the kernels of a program.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_TILE_TEMPUSES_H
#define SELVEDGE_COMPILER_VERIFY_TILE_TEMPUSES_H

#include "dialect/Tile/Tile.h"

namespace selvedge::verify {

/// Proves that every element of `temp`, a temp or an output, is defined where
/// it is loaded: the first of `covering`, the stores that write all of it,
/// stands in a kernel before each that loads it, and no kernel both loads and
/// stores it, as its iterations run in any order.
mlir::LogicalResult checkTempUses(tile::ProgramOp program,
                                  tile::TensorArgAttr temp,
                                  llvm::ArrayRef<tile::StoreOp> covering);

/// Says in an error about `temp` which kernels read it.
void noteTempReaders(mlir::InFlightDiagnostic &diag, tile::ProgramOp program,
                     tile::TensorArgAttr temp);
/// Says in an error about a load of a temp which kernels write it.
void noteTempWriters(mlir::InFlightDiagnostic &diag, tile::LoadOp load);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_TILE_TEMPUSES_H
