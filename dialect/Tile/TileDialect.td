// The tile dialect: what a kernel means.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_TILE_TILEDIALECT_TD
#define SELVEDGE_DIALECT_TILE_TILEDIALECT_TD

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::selvedge::tile";
  let summary = "kernels over partial tiles, before any scheduling decision";
  let description = [{
    A tile is a total array `tensor<?x?xf32, #tile.axes<"i", "j">>`: an element type and a *set* of named axes.
    Elementwise arithmetic uses `arith` and `math` on such tensors; loops are `scf.for`. Every axis has the extent `?`
    until `tile-bind-blocks` binds the plan's sizes.

    Presence (which lanes exist) is not a property of a value but an explicit operand of the operations that consume
    it, the *sinks*: `load`, `store`, `reduce`, `dot`, `softmax_update`. A lane whose presence is false holds any bits.
    Only sinks give presence a meaning; no pass may widen a sink's predicate.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

#endif
