// sm.plan: the host side of an op.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_SM_SMPLANOPS_TD
#define SELVEDGE_DIALECT_SM_SMPLANOPS_TD

include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialect/Sm/SmAttrs.td"

class Sm_Op<string mnemonic, list<Trait> traits = []> : Op<Sm_Dialect, mnemonic, traits>;

def Sm_PlanOp : Sm_Op<"plan", [NoTerminator, SingleBlock]> {
  let summary = "host program of an op: its signature and variants, tried in order";
  let description = [{
    A straight-line program over dims, strides and pointers, carried by the manifest (docs/manifest.md). Affine maps take `dims` as symbols.
    Constraints:
    - (C1) the last variant has an empty `when` and no `conditions`.
  }];
  let arguments = (ins StrAttr:$op, StrArrayAttr:$dims, TypedArrayAttrBase<Tile_TensorArgAttr, "tensor arguments">:$tensors,
                       TypedArrayAttrBase<Tile_ScalarArgAttr, "scalar arguments">:$scalars,
                       TypedArrayAttrBase<Tile_RequireAttr, "promises">:$promises, DictionaryAttr:$params);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{ $op `dims` $dims `tensors` $tensors `scalars` $scalars `requires` $promises `params` $params
                          attr-dict-with-keyword $body }];
  let hasVerifier = 1;
}

def Sm_VariantOp : Sm_Op<"variant", [NoTerminator, SingleBlock, HasParent<"PlanOp">]> {
  let summary = "the launches for one class of strides and alignments";
  let description = [{
    `when` names the tensors that must be contiguous in their last dimension and aligned to `align` bytes. Every result of `conditions`, a map of the dims, must be at least 0.
    `version` is that of the program that the launches execute; with `bulk` a kernel copies by tensor maps. Example: `sm.variant <packed> bulk when ["q", "k"] align 16 { ... }`.
  }];
  let arguments = (ins Tile_VersionAttr:$version, UnitAttr:$bulk, StrArrayAttr:$when, I64Attr:$align, OptionalAttr<AffineMapAttr>:$conditions);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$version (`bulk` $bulk^)? `when` $when `align` $align (`dims` $conditions^)? attr-dict-with-keyword $body";
  let extraClassDeclaration = [{
    /// What people read: `universal`, `aligned`, `bulk`, `packed`, `upto512`, `aligned_99k`.
    std::string getName() { return nameOf(getVersion(), getBulk()); }
    /// Whether it is for launches of one part: it has fewer kernels than other variants, and no launch of it takes the place of another one's.
    bool isOfSingleParts() { return getVersion().getKind() == ::selvedge::tile::VersionKind::Single; }
    static std::string nameOf(::selvedge::tile::VersionAttr version, bool isBulk = false);
  }];
}

def Sm_LaunchOp : Sm_Op<"launch", [HasParent<"VariantOp">]> {
  let summary = "launches a kernel on a one-dimensional grid";
  let description = [{
    The grid is the product of the map's results, each at least 0; with `persistent` at most the number of multiprocessors. `args` lists the kernel's arguments in order: #sm.pointer, #sm.tensor_map, #sm.stride, #sm.dim, #sm.scalar.
    `when` names the tensors of the variant's `when` that this kernel needs aligned. Where all launches of a plan say so each is chosen by itself (docs/manifest.md).
    A `dependent` launch may begin while the launch before it in the variant still runs: its kernel waits (`sm.await_launch`).
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, AffineMapAttr:$grid, I64Attr:$block, I64Attr:$smem, ArrayAttr:$args, OptionalAttr<StrArrayAttr>:$when, UnitAttr:$persistent, UnitAttr:$dependent);
  let assemblyFormat = "$kernel `grid` $grid (`persistent` $persistent^)? (`dependent` $dependent^)? `block` $block `smem` $smem `args` $args (`when` $when^)? attr-dict";
}

#endif
