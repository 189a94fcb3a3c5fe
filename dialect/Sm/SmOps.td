// Device operations of the sm dialect, forms seq and async.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_SM_SMOPS_TD
#define SELVEDGE_DIALECT_SM_SMOPS_TD

include "dialect/Sm/SmInterfaces.td"
include "dialect/Tile/TileInterfaces.td"
include "dialect/Sm/SmPlanOps.td"

def Sm_Tile : Type<CPred<"::selvedge::sm::isRegisterTile($_self)">, "register tile (ranked tensor with #sm.layout)">;
def Sm_Index : Type<CPred<"$_self.isInteger(32) || (::selvedge::sm::isRegisterTile($_self) && ::mlir::getElementTypeOrSelf($_self).isInteger(32))">,
                    "i32 or register tile of i32">;
def Sm_Bool : Type<CPred<"$_self.isInteger(1) || (::selvedge::sm::isRegisterTile($_self) && ::mlir::getElementTypeOrSelf($_self).isInteger(1))">,
                   "i1 or register tile of i1">;
def Sm_Value : Type<CPred<"$_self.isIntOrFloat() || ::selvedge::sm::isRegisterTile($_self)">, "scalar or register tile">;
def Sm_Operand : Type<CPred<"::mlir::isa<::selvedge::sm::BufferType>($_self) || ::selvedge::sm::isRegisterTile($_self)">,
                      "shared-memory buffer or register tile">;

def Sm_KernelOp : Sm_Op<"kernel", [Symbol, IsolatedFromAbove, SingleBlock]> {
  let summary = "a kernel, executed by every thread block of a launch";
  let description = [{
    Block arguments are the values named by `args` in order, except that a tensor is one argument of type `!tile.tensor` here, where `args` lists it as
    #sm.pointer; its strides are implied until the form `lanes`. `warps` is the number of warps of a thread block, `of` the kernel of a program that it was lowered from, `schedule` how warps with roles are to execute it.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ArrayAttr:$args, I64Attr:$warps, OptionalAttr<Tile_SourceAttr>:$source,
                       OptionalAttr<Sm_RoleScheduleAttr>:$schedule);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `args` $args `warps` $warps (`of` $source^)? (`schedule` $schedule^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Name of the tensor that an argument is, or whose map it is.
    ::llvm::StringRef getTensorName(::mlir::Value argument);
    /// Whether its warps have roles.
    bool hasRoles();
  }];
}

def Sm_ReturnOp : Sm_Op<"return", [Terminator, Pure, HasParent<"KernelOp">]> {
  let summary = "end of a kernel";
  let assemblyFormat = "attr-dict";
}

def Sm_BlockIdOp : Sm_Op<"block_id", [Pure]> {
  let summary = "number of the thread block in its one-dimensional grid";
  let description = [{
    With `windows` the grid is a table with so many columns, which divide the number of blocks, numbered row by row. Blocks then take its places in windows of whole rows, 256 places or one row each, and within a window column by column:
    places of equal columns are taken beside each other, and every place by one block.

    Example: of 6 blocks in 2 columns, and windows of 4 places, block 1 takes row 1 of column 0: `sm.block_id windows %two` is 2 there.
  }];
  let arguments = (ins Optional<I32>:$columns);
  let results = (outs I32:$result);
  let assemblyFormat = "(`windows` $columns^)? attr-dict";
  let builders = [OpBuilder<(ins "::mlir::Type":$type), [{ build($_builder, $_state, type, ::mlir::Value()); }]>];
  let extraClassDeclaration = [{
    /// Places of a window of more than one row.
    static constexpr int64_t windowPlaces = 256;
    /// The place that block number `block` of `blocks` takes in a table of so many columns.
    static int64_t placeOf(int64_t block, int64_t blocks, int64_t columns);
  }];
}

def Sm_RangeOp : Sm_Op<"range", [Pure]> {
  let summary = "the index tile start + 0..size-1 of one axis";
  let arguments = (ins I32:$start);
  let results = (outs Sm_Tile:$result);
  let assemblyFormat = "$start attr-dict `:` type($result)";
}

def Sm_SplatOp : Sm_Op<"splat", [Pure]> {
  let summary = "a register tile whose lanes all hold one scalar";
  let arguments = (ins AnyType:$value);
  let results = (outs Sm_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
}

def Sm_BroadcastOp : Sm_Op<"broadcast", [Pure]> {
  let summary = "repeats a register tile along the axes that it lacks; moves no data";
  let description = [{
    Constraints:
    - (C1) each axis of the source is an axis of the result with the same layout.
  }];
  let arguments = (ins Sm_Tile:$source);
  let results = (outs Sm_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Sm_IsPresentOp : Sm_Op<"is_present", [Pure]> {
  let summary = "whether the caller passed an optional tensor: its pointer is not null";
  let arguments = (ins Tile_TensorType:$tensor);
  let results = (outs I1:$result);
  let assemblyFormat = "$tensor attr-dict `:` type($tensor)";
}

def Sm_LoadOp : Sm_Op<"load", [AttrSizedOperandSegments, MemoryEffects<[MemRead]>, Tile_SinkInterface, Tile_TensorAccessInterface]> {
  let summary = "loads elements of a tensor into registers";
  let description = [{
    Memory of lanes where a `presence` is false is never touched; their value is zero. `vector` elements along the last dimension may be read by one
    access where all of them are present: the lowering of tile proved their addresses aligned and adjacent.

    `cache` is a hint, for kernels that read something twice: `evict_last` if the bytes are read again (`ld.global.L1::evict_last`), `evict_first` if they are not.
  }];
  let arguments = (ins Tile_TensorType:$tensor, Variadic<Sm_Index>:$indices, Variadic<Sm_Bool>:$presence, I64Attr:$vector, OptionalAttr<Sm_CacheAttr>:$cache);
  let results = (outs Sm_Value:$result);
  let assemblyFormat = [{ $tensor `[` ($indices^ `:` type($indices))? `]` (`where` `(` $presence^ `:` type($presence) `)`)?
                          `vector` $vector (`cache` $cache^)? attr-dict `:` type($tensor) `->` type($result) }];
}

def Sm_StoreOp : Sm_Op<"store", [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>, Tile_SinkInterface, Tile_TensorAccessInterface]> {
  let summary = "stores the present lanes of a register tile to a tensor";
  let description = [{ `vector` as for `sm.load`. `cache` is `streaming` (`st.global.cs`) where a kernel reads other bytes twice and these never. }];
  let arguments = (ins Sm_Value:$value, Tile_TensorType:$tensor, Variadic<Sm_Index>:$indices, Variadic<Sm_Bool>:$presence, I64Attr:$vector, OptionalAttr<Sm_CacheAttr>:$cache);
  let assemblyFormat = [{ $value `,` $tensor `[` ($indices^ `:` type($indices))? `]` (`where` `(` $presence^ `:` type($presence) `)`)?
                          `vector` $vector (`cache` $cache^)? attr-dict `:` type($value) `,` type($tensor) }];
  let extraClassDeclaration = [{ bool isStore() { return true; } }];
}

def Sm_ConvertOp : Sm_Op<"convert", [Pure]> {
  let summary = "narrows f32 to bf16, f16 or a float of 8 bits, rounding to nearest even; see tile.convert";
  let arguments = (ins Sm_Value:$source, Tile_OverflowAttr:$overflow);
  let results = (outs Sm_Value:$result);
  let assemblyFormat = "$source $overflow attr-dict `:` type($source) `->` type($result)";
}

def Sm_RelayoutOp : Sm_Op<"relayout", [Pure, DeclareOpInterfaceMethods<Sm_ExchangeInterface>]> {
  let summary = "the same tile, held by other threads or registers";
  let description = [{
    Stands where two layouts meet. It costs nothing where every thread holds all elements that it needs. Where every warp does, lanes offer registers to each other by `shfl.sync`, unless so many
    have to be moved and chosen that shared memory is cheaper (`WarpMove.h`). Otherwise forms `async` and later need `scratch`: each thread writes what it holds, all meet at a barrier of the
    block, each reads what it needs. Another barrier must come before the next use.
    Constraints:
    - (C1) source and result have the same axes, sizes and element type.
    - (C2) `scratch` has one element, of at least a byte, for each of the tile.

    Example: `%t = sm.relayout %s through %scratch : !sm.buffer<...> : tensor<64x32xf32, #sm.layout<...>> -> tensor<64x32xf32, #sm.layout<...>>`
  }];
  let arguments = (ins Sm_Tile:$source, Optional<Sm_BufferType>:$scratch);
  let results = (outs Sm_Tile:$result);
  let assemblyFormat = "$source (`through` $scratch^ `:` type($scratch))? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How it is done without shared memory; none where it needs that.
    std::optional<WarpMove> findMove();
  }];
}

def Sm_ReduceOp : Sm_Op<"reduce", [Pure, AttrSizedOperandSegments, DeclareOpInterfaceMethods<Sm_ExchangeInterface>, Tile_SinkInterface]> {
  let summary = "combines all lanes along one axis; every thread that holds a part gets the result";
  let description = [{
    Lowers to a tree over registers, `shfl.sync.bfly` over lanes and an exchange through shared memory over warps. `max` and `min` propagate NaN.
    `presence` removes nothing: the program combines only the lanes where all of it is true, so elsewhere the source must hold the identity, which `verify-sm-padding` proves. It
    is there for the proofs and costs no instruction: `sm-drop-presence` drops it before the form `lanes`.
    Where the axis is spread over warps, forms `async` and later need `scratch`, a row of one element per thread for each register of the result: each warp writes its part, all meet at a
    barrier of the block, each reads the parts of the others. Another barrier must come before the next use.
    Constraints:
    - (C1) the result has the source's layout without the axis `over`.
    - (C2) every predicate has the axis `over`, and only axes of the source, with their extents.
  }];
  let arguments = (ins Tile_CombineAttr:$kind, Sm_Tile:$source, StrAttr:$over, Variadic<Sm_Bool>:$presence, Optional<Sm_BufferType>:$scratch);
  let results = (outs Sm_Value:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::selvedge::tile::Combine":$kind, "::mlir::Value":$source, "::mlir::StringAttr":$over,
                                 "::mlir::ValueRange":$presence), [{
    build($_builder, $_state, type, kind, source, over, presence, ::mlir::Value());
  }]>];
  let assemblyFormat = [{ $kind $source `over` $over (`where` `(` $presence^ `:` type($presence) `)`)? (`through` $scratch^ `:` type($scratch))?
                          attr-dict `:` type($source) `->` type($result) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{ bool isForProofs() { return true; } }];
}

def Sm_AllocOp : Sm_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a buffer in shared memory, its contents undefined";
  let results = (outs Sm_BufferType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Sm_SlotOp : Sm_Op<"slot", [Pure, AttrSizedOperandSegments]> {
  let summary = "one stage of a ring of buffers";
  let description = [{
    Who reads a tile may say which: `holds` is the index of its first element, per dimension of the tensor, and `presence` the predicates by which its elements exist. Both are there for the
    proofs: `verify-sm-padding` takes them as they are, `verify-sm-async` compares them with the copy that fills the slot, and `sm-drop-presence` drops them. Where a predicate is false elements are
    zero, but anything where its position is one of `garbage`.
    A vector that says what it holds and is read has come where it is named: `verify-sm-async` takes that for a read, and what follows that verifier may read it from there on.
    Constraints:
    - (C1) the result is one stage of the ring, along axes of its own: tiles of several tensors may take turns in a ring.
    - (C2) every predicate has axes of the buffer only, with their extents; scalars concern the whole tile.
    - (C3) `garbage` has positions of predicates.
  }];
  let arguments = (ins Sm_BufferType:$ring, I32:$stage, Variadic<I32>:$indices, Variadic<Sm_Bool>:$presence, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$garbage);
  let results = (outs Sm_BufferType:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$ring, "::mlir::Value":$stage), [{
    build($_builder, $_state, type, ring, stage, ::mlir::ValueRange(), ::mlir::ValueRange());
  }]>];
  let assemblyFormat = [{ $ring `[` $stage `]` (`holds` `[` $indices^ `]`)? (`where` `(` $presence^ `:` type($presence) `)`)? (`garbage` $garbage^)?
                          attr-dict `:` type($ring) `->` type($result) }];
  let hasVerifier = 1;
}

class Sm_CopyLikeOp<string mnemonic> : Sm_Op<mnemonic, [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>, Tile_SinkInterface, Tile_TensorAccessInterface, Sm_BufferFillInterface]> {
  let arguments = (ins Tile_TensorType:$tensor, Variadic<Sm_Index>:$indices, Variadic<Sm_Bool>:$presence, Sm_BufferType:$buffer,
                       Sm_LayoutAttr:$layout, I64Attr:$vector, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$garbage);
  let assemblyFormat = [{ $tensor `[` ($indices^ `:` type($indices))? `]` (`where` `(` $presence^ `:` type($presence) `)`)? (`garbage` $garbage^)?
                     `to` $buffer `layout` $layout `vector` $vector attr-dict `:` type($tensor) `,` type($buffer) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The predicates that are tested.
    ::llvm::SmallVector<::mlir::Value> getTested() { return tile::testedOf(getPresence(), getGarbage()); }
  }];
}

def Sm_CopyOp : Sm_CopyLikeOp<"copy"> {
  let summary = "copies a tile from global to shared memory, zero-filling absent lanes";
  let description = [{
    Every element of the buffer is written: with the tensor's element where all of `presence` is true, with zero elsewhere, whose memory is never touched. The indices have the
    layout `layout` (who copies what); each access moves `vector` elements of a row. Predicates at the positions `garbage` are not tested, as for `tile.load`; they are there for the
    proofs, and `sm-drop-presence` drops them.
    Form `async` replaces it by `sm.copy_async`.
    Constraints:
    - (C1) `garbage` has positions of predicates.
  }];
}

def Sm_CopyAsyncOp : Sm_CopyLikeOp<"copy_async"> {
  let summary = "as sm.copy, complete for the issuing thread when its token is awaited";
  let description = [{
    Lowers to `cp.async.cg.shared.global` with a source size of 16 or 0 and one `cp.async.commit_group` (PTX ISA, "cp.async"); accesses that are not 16 bytes wide, or whose lanes differ in
    presence, become loads and shared stores.
  }];
  let results = (outs Sm_TokenType:$token);
}

def Sm_AwaitOp : Sm_Op<"await", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for the thread's own part of a copy; a barrier then makes all parts visible";
  let description = [{ Copies complete in order; up to `pending` of those that were issued last may be left. Lowers to `cp.async.wait_group`. }];
  let arguments = (ins Sm_TokenType:$token, DefaultValuedAttr<I64Attr, "0">:$pending);
  let assemblyFormat = "$token (`pending` $pending^)? attr-dict";
}

def Sm_BarrierOp : Sm_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for all threads of the block and orders their shared-memory accesses";
  let assemblyFormat = "attr-dict";
}

def Sm_StageOp : Sm_Op<"stage", [MemoryEffects<[MemRead, MemWrite]>, Sm_BufferFillInterface]> {
  let summary = "writes a register tile to a buffer, where an MMA cannot take it from registers";
  let arguments = (ins Sm_Tile:$source, Sm_BufferType:$buffer);
  let assemblyFormat = "$source `to` $buffer attr-dict `:` type($source) `,` type($buffer)";
  let extraClassDeclaration = [{ ::mlir::Value getStaged() { return getSource(); } }];
}

def Sm_MmaOp : Sm_Op<"mma", [MemoryEffects<[MemRead]>, AllTypesMatch<["init", "result"]>, Tile_SinkInterface]> {
  let summary = "result = init + lhs * rhs over one axis on the tensor cores, in f32";
  let description = [{
    The operand that has the result's row axis becomes A, the other one B: the transposed product is a choice of the layout, not of the program. A may stay in
    registers (an accumulator's registers are the fragment of A in the next product); buffers are read by `ldmatrix`, transposed where needed.
    Lowers to `mma.sync.aligned.m16n8k16.row.col.f32` (PTX ISA, "mma").
    `presence` says which lanes of the contracted axis contribute, as for `sm.reduce`: elsewhere one operand must hold zero, and the other zero or data of other rows.
    Constraints:
    - (C1) both operands have the axis `over` and one more; the result has the other two.
    - (C2) every axis is a multiple of 16; operands are bf16 or f16, of one type.
    - (C3) every predicate has the axis `over`, and only axes of one operand, with their extents.
  }];
  let arguments = (ins Sm_Operand:$lhs, Sm_Operand:$rhs, Sm_Tile:$init, StrAttr:$over, Variadic<Sm_Bool>:$presence);
  let results = (outs Sm_Tile:$result);
  let assemblyFormat = [{ $lhs `,` $rhs `init` $init `over` $over (`where` `(` $presence^ `:` type($presence) `)`)?
                          attr-dict `:` type($lhs) `,` type($rhs) `->` type($result) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{ bool isForProofs() { return true; } }];
}

#endif
