// Device operations of the sm dialect, form roles: bulk copies without descriptors, fragments, parts of buffers.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_SM_SMBULKOPS_TD
#define SELVEDGE_DIALECT_SM_SMBULKOPS_TD

include "dialect/Sm/SmOps.td"

def Sm_Integers : Variadic<I32>;

def Sm_PanelOp : Sm_Op<"panel", [Pure]> {
  let summary = "the columns of one panel of a buffer";
  let description = [{
    Lets each warpgroup multiply with columns of its own. Ordered as the whole slot is.
    Constraints:
    - (C1) the source is one stage of a buffer with panels; the result has its rows and the columns of one panel.
  }];
  let arguments = (ins Sm_BufferType:$buffer, I32:$number);
  let results = (outs Sm_BufferType:$result);
  let assemblyFormat = "$buffer `[` $number `]` attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}

def Sm_ColumnsOp : Sm_Op<"columns", [Pure]> {
  let summary = "adjacent indices of a register tile along one axis; moves no data";
  let description = [{
    The result is what the source holds from index `from` of axis `over` on: threads keep what they have.
    Constraints:
    - (C1) source and result differ along `over` only, where each register of the result is one of the source, of the same threads and `from` indices further.
  }];
  let arguments = (ins Sm_Tile:$source, StrAttr:$over, I64Attr:$from);
  let results = (outs Sm_Tile:$result);
  let assemblyFormat = "$source `over` $over `from` $from attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The source's register number along `over` of the result's first one; -1 if there is none.
    int64_t getFirstReg();
  }];
}

def Sm_WgmmaRetireOp : Sm_Op<"wgmma_retire", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until at most `pending` groups of products are unfinished; their registers stay in flight";
  let description = [{ What the finished products have read may be released. Products go on adding up in registers in flight; `sm.wgmma_wait` gives them back. }];
  let arguments = (ins I64Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
}

def Sm_WarpSyncOp : Sm_Op<"warp_sync", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "orders the shared-memory accesses of a warp's threads, so that one of them may arrive for all";
  let assemblyFormat = "attr-dict";
}

def Sm_ReadOp : Sm_Op<"read", [MemoryEffects<[MemRead]>]> {
  let summary = "reads a buffer into a register tile: each thread the elements of its lanes";
  let description = [{
    The way of a tile that a bulk copy brings and that threads compute with. What the slot says of absent elements holds for the result's lanes. An `sm.warp_sync` comes before one thread
    arrives for its warp, since the others may not have read yet. All warps read a vector, each thread its columns. 16-bit tiles are read by `ldmatrix` (PTX ISA, "ldmatrix"), others by the words that a thread has side by side.
    Constraints:
    - (C1) the buffer is one stage; the result has its axes, extents and element type.
    - (C2) a vector with a lead says what it holds: where it begins in its stage follows from that.

    Example: `%t = sm.read %slot : !sm.buffer<"i" x "j", 64 x 64 x bf16, swizzle 7, stages 1, panel 64> -> tensor<64x64xbf16, #sm.layout<...>>`
  }];
  let arguments = (ins Sm_BufferType:$buffer);
  let results = (outs Sm_Tile:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}

def Sm_StageFragmentOp : Sm_Op<"stage_fragment", [MemoryEffects<[MemRead, MemWrite]>, Sm_BufferFillInterface]> {
  let summary = "writes an accumulator's registers to a buffer in the order in which the threads hold them";
  let description = [{
    Row t of the buffer is thread t of the warpgroup, column r register r of the instruction (PTX ISA, "wgmma", D fragment). Each access moves four registers, and neighbouring threads
    write neighbouring addresses: what a bulk operation moves next has no other order, and who reads it from memory applies the inverse.
    Constraints:
    - (C1) the buffer has 128 rows, a column per register of a thread, panels of 16 bytes and no swizzle.
  }];
  let arguments = (ins Sm_Tile:$source, Sm_BufferType:$buffer);
  let assemblyFormat = "$source `to` $buffer attr-dict `:` type($source) `,` type($buffer)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{ ::mlir::Value getStaged() { return getSource(); } }];
}

def Sm_BulkLoadOp : Sm_Op<"bulk_load", [MemoryEffects<[MemRead, MemWrite]>, Tile_TensorAccessInterface, Sm_BufferFillInterface]> {
  let summary = "copies adjacent elements of a tensor to a buffer, as they lie";
  let description = [{
    `indices` is the first element; as many as the buffer has follow it in memory, which the tensor's shape and the variant's `when` ensure. The bytes count towards the expected bytes of
    `barrier`. One thread executes it. (PTX ISA, "cp.async.bulk".)
    Constraints:
    - (C1) tensor and buffer have one element type, the tensor as many dimensions as there are indices.
    - (C2) the buffer is one stage of a multiple of 16 bytes and has no swizzle.
  }];
  let arguments = (ins Tile_TensorType:$tensor, Sm_Integers:$indices, Sm_BufferType:$buffer, Sm_MBarrierType:$barrier, I32:$stage);
  let assemblyFormat = "$tensor `[` $indices `]` `to` $buffer `signal` $barrier `[` $stage `]` attr-dict `:` type($tensor) `,` type($buffer) `,` type($barrier)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::mlir::Value> getTested() { return {}; }
    bool isOfLanes() { return false; }
  }];
}

def Sm_BulkReduceOp : Sm_Op<"bulk_reduce", [MemoryEffects<[MemRead, MemWrite]>, Tile_TensorAccessInterface]> {
  let summary = "combines the elements of a buffer with adjacent elements of a tensor, and commits that as one group";
  let description = [{
    Each element is one atomic operation; their order is not fixed. Addresses as for `sm.bulk_load`. One thread executes it, and `sm.tma_drain` waits for it.
    (PTX ISA, "cp.reduce.async.bulk".)
    Constraints:
    - (C1), (C2) as for `sm.bulk_load`.
    - (C3) the function is `add` and the element type f32.
  }];
  let arguments = (ins Tile_CombineAttr:$kind, Sm_BufferType:$buffer, Tile_TensorType:$tensor, Sm_Integers:$indices);
  let assemblyFormat = "$kind $buffer `to` $tensor `[` $indices `]` attr-dict `:` type($buffer) `,` type($tensor)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::mlir::Value> getTested() { return {}; }
    bool isStore() { return true; }
    bool isOfLanes() { return false; }
  }];
}

#endif
