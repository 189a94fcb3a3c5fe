// Device operations of the sm dialect, form roles: warps that do different work, bulk copies, warpgroup products.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_SM_SMROLEOPS_TD
#define SELVEDGE_DIALECT_SM_SMROLEOPS_TD

include "dialect/Sm/SmBulkOps.td"

def Sm_RoleOp : Sm_Op<"role", [NoTerminator, SingleBlock, HasParent<"KernelOp">]> {
  let summary = "what some warpgroups of the thread block do, side by side with the other roles";
  let description = [{
    Warpgroups `first` to `first + warpgroups - 1` execute the body with `registers` registers per thread (PTX ISA, "setmaxnreg"); the block argument is the warpgroup's number within
    the role. Inside, layouts spread a tile over the four warps of one warpgroup. With `single` one thread executes the body and the others are done: the first one, or with `warps` n
    `from` w the first one of each of n warps, which the block argument then numbers. So several roles can share a warpgroup.
    Constraints:
    - (C1) `registers` is a multiple of 8 from 24 to 240.
    - (C2) `warps` come with `single`, and are warps of one warpgroup.
    - (C3) roles that share a warpgroup follow each other, have the same `registers` and no warp in common.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$first, I64Attr:$warpgroups, I64Attr:$registers, UnitAttr:$single, DefaultValuedAttr<I64Attr, "0">:$firstWarp,
                       DefaultValuedAttr<I64Attr, "0">:$warps);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{ $name `first` $first `warpgroups` $warpgroups `registers` $registers (`single` $single^)? (`warps` $warps^ `from` $firstWarp)? attr-dict-with-keyword $body }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Warps of a warpgroup with threads that execute the body.
    uint64_t getNumWarps() { return getWarps() != 0 ? getWarps() : getSingle() ? 1 : 4; }
    /// Whether both run on warps of one warpgroup.
    bool sharesWarpgroup(RoleOp other) {
      return getFirst() < other.getFirst() + other.getWarpgroups() && other.getFirst() < getFirst() + getWarpgroups();
    }
  }];
}

def Sm_WarpgroupLeaderOp : Sm_Op<"leader", [Pure]> {
  let summary = "true in one thread of the warpgroup";
  let results = (outs I1:$result);
  let assemblyFormat = "attr-dict";
}

def Sm_BlockCountOp : Sm_Op<"block_count", [Pure]> {
  let summary = "number of thread blocks of the launch";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

//===-- Synchronisation ----------------------------------------------------===//

def Sm_MBarrierOp : Sm_Op<"mbarrier", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a ring of mbarriers in shared memory; a phase ends after its arrivals and expected bytes";
  let results = (outs Sm_MBarrierType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Sm_InitMBarriersOp : Sm_Op<"init_mbarriers", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "initialises mbarriers and makes them visible to all threads and to the asynchronous proxy";
  let description = [{ Lowers to `mbarrier.init` by one thread, `fence.mbarrier_init` and a barrier of the whole block. }];
  let arguments = (ins Variadic<Sm_MBarrierType>:$barriers);
  let assemblyFormat = "$barriers attr-dict `:` type($barriers)";
}

def Sm_WaitOp : Sm_Op<"wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until the phase of parity `parity` of an mbarrier is complete";
  let description = [{ A fresh mbarrier passes a wait for parity 1: who fills a ring starts with 1, who drains it with 0. }];
  let arguments = (ins Sm_MBarrierType:$barrier, I32:$stage, I32:$parity);
  let assemblyFormat = "$barrier `[` $stage `]` `parity` $parity attr-dict `:` type($barrier)";
}

def Sm_ArriveOp : Sm_Op<"arrive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "arrives at an mbarrier: this thread, or once per warp";
  let arguments = (ins Sm_MBarrierType:$barrier, I32:$stage, UnitAttr:$perWarp);
  let assemblyFormat = "$barrier `[` $stage `]` (`per_warp` $perWarp^)? attr-dict `:` type($barrier)";
}

def Sm_ExpectOp : Sm_Op<"expect", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "arrives at an mbarrier and announces the bytes that bulk copies will deliver in this phase";
  let arguments = (ins Sm_MBarrierType:$barrier, I32:$stage, I64Attr:$bytes);
  let assemblyFormat = "$barrier `[` $stage `]` `bytes` $bytes attr-dict `:` type($barrier)";
}

def Sm_NamedBarrierOp : Sm_Op<"named_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "hardware barrier number `id` of `threads` threads: waits, or with `arrive` only counts";
  let arguments = (ins I32:$id, I64Attr:$threads, UnitAttr:$arrive);
  let assemblyFormat = "$id `threads` $threads (`arrive` $arrive^)? attr-dict";
}

def Sm_ProxyFenceOp : Sm_Op<"proxy_fence", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "orders this thread's shared-memory writes before later reads by the asynchronous proxy (TMA, wgmma)";
  let assemblyFormat = "attr-dict";
}

def Sm_MailboxOp : Sm_Op<"mailbox", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a ring of 32-bit words in shared memory, guarded by an mbarrier that the program chooses";
  let results = (outs Sm_MailboxType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Sm_PostOp : Sm_Op<"post", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a word for another role; the arrive that follows publishes it";
  let arguments = (ins I32:$value, Sm_MailboxType:$mailbox, I32:$stage);
  let assemblyFormat = "$value `to` $mailbox `[` $stage `]` attr-dict `:` type($mailbox)";
}

def Sm_ReceiveOp : Sm_Op<"receive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "reads a word that another role posted, the same in all lanes; by whole warps, or by the thread of a `single` role";
  let arguments = (ins Sm_MailboxType:$mailbox, I32:$stage);
  let results = (outs I32:$value);
  let assemblyFormat = "$mailbox `[` $stage `]` attr-dict `:` type($mailbox)";
}

def Sm_AnyOp : Sm_Op<"any", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "whether a condition holds in any lane of the warp";
  let arguments = (ins Sm_Bool:$condition);
  let results = (outs I1:$result);
  let assemblyFormat = "$condition attr-dict `:` type($condition)";
}

def Sm_NotFiniteOp : Sm_Op<"not_finite", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "whether some lane of the warp holds Inf or NaN in a tile";
  let description = [{
    Costs one operation per two registers: their product is added up, and zero times the sum is NaN then. Finite elements of 2^64 and more, whose products overflow, may count as well, so what the
    result guards has to be right for them, too. Elements of f16 are multiplied with zero, one operation per register: finite ones never count.
  }];
  let arguments = (ins Sm_Tile:$source);
  let results = (outs I1:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

//===-- Bulk copies --------------------------------------------------------===//

def Sm_TmaLoadOp : Sm_Op<"tma_load", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>, Tile_SinkInterface, Tile_TensorAccessInterface, Sm_BufferFillInterface]> {
  let summary = "copies a box of a tensor to a buffer; elements outside the tensor arrive as zero";
  let description = [{
    `indices` has one index per dimension of the tensor, in its order. One bulk copy per panel of the buffer; each panel's bytes count towards the expected bytes of `barrier`, those outside the
    tensor too. One thread executes it. (PTX ISA, "cp.async.bulk.tensor".)
    `presence` removes nothing: it says which elements of the box the program has, for the proofs only (`sm-drop-presence`).
  }];
  let arguments = (ins Sm_TensorMapType:$map, Sm_Integers:$indices, Variadic<Sm_Bool>:$presence, Sm_BufferType:$buffer, Sm_MBarrierType:$barrier, I32:$stage);
  let assemblyFormat = [{ $map `[` $indices `]` (`where` `(` $presence^ `:` type($presence) `)`)? `to` $buffer `signal` $barrier `[` $stage `]`
                          attr-dict `:` type($map) `,` type($buffer) `,` type($barrier) }];
  let extraClassDeclaration = [{
    ::mlir::Value getAccessed() { return getMap(); }
    ::llvm::SmallVector<::mlir::Value> getTested() { return {}; }
    bool isForProofs() { return true; }
    bool isOfLanes() { return false; }
  }];
}

def Sm_TmaStoreOp : Sm_Op<"tma_store", [MemoryEffects<[MemRead, MemWrite]>, Tile_TensorAccessInterface]> {
  let summary = "copies a buffer to a box of a tensor, clipped to the tensor, and commits the copies as one group";
  let description = [{
    With the attribute `tile.adds` each element is added to the tensor's, an f32, by one atomic operation; their order is not fixed. (PTX ISA, "cp.async.bulk.tensor",
    "cp.reduce.async.bulk.tensor".)
  }];
  let arguments = (ins Sm_BufferType:$buffer, Sm_TensorMapType:$map, Sm_Integers:$indices);
  let assemblyFormat = "$buffer `to` $map `[` $indices `]` attr-dict `:` type($buffer) `,` type($map)";
  let extraClassDeclaration = [{
    ::mlir::Value getAccessed() { return getMap(); }
    ::llvm::SmallVector<::mlir::Value> getTested() { return {}; }
    bool isStore() { return true; }
    bool isOfLanes() { return false; }
  }];
}

def Sm_TmaDrainOp : Sm_Op<"tma_drain", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until all but `pending` of this thread's bulk stores have read their buffers, or with `written` have written memory";
  let arguments = (ins UnitAttr:$written, DefaultValuedAttr<I64Attr, "0">:$pending);
  let assemblyFormat = "(`written` $written^)? (`pending` $pending^)? attr-dict";
}

def Sm_ClearOp : Sm_Op<"clear", [MemoryEffects<[MemWrite]>, Sm_BufferFillInterface]> {
  let summary = "writes zeros to the rows of a buffer, or the columns of a vector, where a predicate is false";
  let description = [{
    For rows that a bulk copy brought although the program has no such elements. Each warpgroup that executes it clears all of them; a proxy fence and a barrier make it visible to `wgmma`.
    Constraints:
    - (C1) every predicate has the buffer's row axis alone, or the column axis of a vector, and the threads of a warpgroup take each row or column and no other: what lies past the last one is
      another tile's.
  }];
  let arguments = (ins Sm_BufferType:$buffer, Variadic<Sm_Bool>:$presence);
  let assemblyFormat = "$buffer `where` `(` $presence `:` type($presence) `)` attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

//===-- Products and reductions --------------------------------------------===//

def Sm_WgmmaOp : Sm_Op<"wgmma", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>, Tile_SinkInterface]> {
  let summary = "starts result = init + lhs * rhs over one axis by one warpgroup; without init the sum starts at 0";
  let description = [{
    The result may be read only after a `sm.wgmma_wait`. The operand with the result's row axis is A, in shared memory or in registers; B is in shared memory, contracted along its columns
    (K-major) or along its rows (MN-major). `plus` adds the products of further pairs, each over its own axis: parts of a tile, or terms per row or column as columns of a small tile.
    Lowers to one fence, `wgmma.mma_async.m64nNk16` per 16 contracted elements and one commit (PTX ISA, "wgmma").
    `presence` says which lanes of the axis `over` contribute, as for `sm.mma`; it is there for the proofs only (`sm-drop-presence`).
    Constraints:
    - (C1) the result has 64 rows and 8 to 256 columns, a multiple of 8; the contracted extent is a multiple of 16, or the 8 of (C2).
    - (C2) buffers have panels of 128 bytes and the swizzle 7; or B has 8 contracted columns and no swizzle beside an A in registers. Its elements are finite then: the instruction
      multiplies each by zero too.
    - (C3) `plus` has two operands per axis.
    - (C4) every predicate has the axis `over`, and only axes of one operand of the first product, with their extents.
    - (C5) the rows of a buffer are interleaved where the threads' rows of the result are, in the A of every product, and nowhere else.
  }];
  let arguments = (ins Sm_Operand:$lhs, Sm_Operand:$rhs, Optional<Sm_Tile>:$init, Variadic<Sm_Operand>:$more, StrAttr:$over, DefaultValuedAttr<StrArrayAttr, "{}">:$moreOver,
                       Variadic<Sm_Bool>:$presence);
  let results = (outs Sm_Tile:$result);
  let assemblyFormat = [{ $lhs `,` $rhs (`init` $init^ `:` type($init))? `over` $over (`plus` `(` $more^ `:` type($more) `)` `over` $moreOver)?
                          (`where` `(` $presence^ `:` type($presence) `)`)? attr-dict `:` type($lhs) `,` type($rhs) `->` type($result) }];
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$lhs, "::mlir::Value":$rhs, "::mlir::Value":$init, "::mlir::StringAttr":$over,
                                "::mlir::ValueRange":$presence), [{
    build($_builder, $_state, type, lhs, rhs, init, ::mlir::ValueRange(), over, $_builder.getStrArrayAttr({}), presence);
  }]>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// One product of the sum.
    struct Pair {
      ::mlir::Value lhs, rhs;
      ::mlir::StringAttr over;
    };
    ::llvm::SmallVector<Pair> getPairs();
    bool isForProofs() { return true; }
  }];
}

def Sm_WgmmaWaitOp : Sm_Op<"wgmma_wait", [MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "waits until at most `pending` groups of products are unfinished and gives the accumulators of those that are";
  let arguments = (ins Sm_Tile:$accumulator, I64Attr:$pending);
  let results = (outs Sm_Tile:$result);
  let assemblyFormat = "$pending `,` $accumulator attr-dict `:` type($accumulator)";
}

def Sm_FoldOp : Sm_Op<"fold", [Pure, Tile_SinkInterface]> {
  let summary = "combines the registers of each thread along one axis; one partial result per thread is left";
  let description = [{
    The axis keeps its name and holds one element per thread: its lane strides are numbered anew. `sm.reduce` over the rest gives what it would have given for the whole.
    `presence` as for `sm.reduce`.
  }];
  let arguments = (ins Tile_CombineAttr:$kind, Sm_Tile:$source, StrAttr:$over, Variadic<Sm_Bool>:$presence);
  let results = (outs Sm_Tile:$result);
  let assemblyFormat = "$kind $source `over` $over (`where` `(` $presence^ `:` type($presence) `)`)? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{ bool isForProofs() { return true; } }];
}

def Sm_AfterOp : Sm_Op<"after", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "keeps what follows behind the first part of a fold";
  let description = [{
    The assembler moves a wait for products ahead of arithmetic that does not need them, and warps then wait while they could compute. Behind this op it stays: the first quarter of the elements of `fold`,
    the result of an `sm.fold`, is computed before anything in memory order after it. Only the order of instructions changes, no value does.
    Constraints:
    - (C1) the fold adds exponentials: its emission relies on sums that have no sign.
  }];
  let arguments = (ins Sm_Tile:$fold);
  let assemblyFormat = "$fold attr-dict `:` type($fold)";
  let hasVerifier = 1;
}

def Sm_InOrderOp : Sm_Op<"in_order", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "keeps what follows behind what stands before";
  let description = [{
    The assembler moves arithmetic ahead of arrivals for which other warps wait. It moves none ahead of the end of a basic block: here an exit that no thread takes, for `number` is never 0, which
    the assembler must not know. Only the order of instructions changes. With `in_flight` it is a trap: at an exit the assembler would await products in flight.
    Constraints, of which `verify-sm-async` proves both:
    - (C1) `number` is not 0.
    - (C2) without `in_flight` no product is in flight.
  }];
  let arguments = (ins I32:$number, UnitAttr:$in_flight);
  let assemblyFormat = "$number (`in_flight` $in_flight^)? attr-dict";
}

def Sm_ContributesOp : Sm_Op<"contributes", [MemoryEffects<[MemWrite]>]> {
  let summary = "says which lanes of a register tile take part in a product of a later step";
  let description = [{
    A product that lags a step behind reads its operand from a carried value, where the predicates of the step that made it are gone. Here they are known: wherever one is false the source must
    hold zero, which `verify-sm-padding` proves. Costs no instruction: `sm-drop-presence` drops it.
    Constraints:
    - (C1) every predicate has the axis `over`, and only axes of the source, with their extents.
  }];
  let arguments = (ins Sm_Tile:$source, StrAttr:$over, Variadic<Sm_Bool>:$presence);
  let assemblyFormat = "$source `over` $over `where` `(` $presence `:` type($presence) `)` attr-dict `:` type($source)";
  let hasVerifier = 1;
}

def Sm_IdleOp : Sm_Op<"idle", [MemoryEffects<[MemWrite]>]> {
  let summary = "says that a step that a warpgroup leaves out has nothing for it";
  let description = [{
    Warpgroups that share tiles need not all take part in each step: rows of the first may see fewer keys than those of the last. Where one leaves a step out, the predicates of its elements stand
    here: wherever all of them are true the step would have had work. `verify-sm-async` demands that nowhere. Costs no instruction: `sm-drop-presence` drops it.
  }];
  let arguments = (ins Variadic<Sm_Bool>:$presence);
  let assemblyFormat = "`where` `(` $presence `:` type($presence) `)` attr-dict";
}

def Sm_WholeOp : Sm_Op<"whole", [MemoryEffects<[MemWrite]>]> {
  let summary = "says that what a warpgroup does without predicates needs none";
  let description = [{
    Rows of one warpgroup of a tile may see all of a step of which rows of another see a part. Where a warpgroup takes such a step without predicates they stand here: all of them are true for all its
    elements, which `verify-sm-async` demands. So they do in the arm of a branch that leaves scores unmasked: what `verify-sm-padding` knows of the other arm's result where one of them is false holds of the
    branch's, for in this arm none is. A bulk store behind it has all rows that its predicates are about: it would write absent ones, too.
    Costs no instruction: `sm-drop-presence` drops it.
  }];
  let arguments = (ins Variadic<Sm_Bool>:$presence);
  let assemblyFormat = "`where` `(` $presence `:` type($presence) `)` attr-dict";
}

#endif
