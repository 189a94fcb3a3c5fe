// The sm dialect's C++ interface.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_SM_SM_H
#define SELVEDGE_DIALECT_SM_SM_H

#include "dialect/Sm/WarpMove.h"
#include "dialect/Tile/Tile.h"

#include "dialect/Sm/SmEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/Sm/SmAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/Sm/SmTypes.h.inc"

#include "dialect/Sm/SmDialect.h.inc"

namespace selvedge::sm {

/// True for a ranked tensor that carries #sm.layout, one axis per dimension.
bool isRegisterTile(mlir::Type type);

/// Layout of a register tile; null for other types.
LayoutAttr layoutOf(mlir::Type type);
/// Whether threads hold rows along `axis` as a warpgroup's product leaves them,
/// of an A with interleaved rows or of one without.
bool isAccumulatorRows(AxisLayoutAttr axis, bool isInterleaved);
/// An accumulator's type with its rows interleaved.
mlir::Type interleaveRows(mlir::Type tile, mlir::StringAttr rowAxis);

/// Whether each warp, or each thread, holds elements that no other one has.
bool isOfOneWarp(LayoutAttr layout);
bool isHeldOnce(LayoutAttr layout);

/// Layout of one partial result per thread along `over`; see sm.fold.
LayoutAttr foldedLayout(LayoutAttr source, mlir::StringAttr over);

} // namespace selvedge::sm

#include "dialect/Sm/SmInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialect/Sm/SmRoleOps.h.inc"

namespace selvedge::sm {

/// The kernel's arguments as a launch passes them: a tensor is its pointer and
/// its strides.
mlir::ArrayAttr launchArgs(KernelOp kernel);

/// Strides of the last dimensions, in elements, that follow from a tensor's
/// declaration: of temps, whose rows the runtime pads (`tempStrides()`), as
/// long as extents are constants. Empty for what callers lay out.
llvm::SmallVector<int64_t> knownStrides(tile::TensorArgAttr tensor);

} // namespace selvedge::sm

#endif // SELVEDGE_DIALECT_SM_SM_H
