// Attributes and types of the sm dialect.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_SM_SMATTRS_TD
#define SELVEDGE_DIALECT_SM_SMATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "dialect/Sm/SmDialect.td"
include "dialect/Sm/SmEnums.td"
include "dialect/Tile/TileAttrs.td"

def Sm_CacheAttr : EnumAttr<Sm_Dialect, Sm_CacheEnum, "cache">;

class Sm_Attr<string name, string attrMnemonic> : AttrDef<Sm_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Sm_AxisLayoutAttr : Sm_Attr<"AxisLayout", "axis"> {
  let summary = "how one axis is spread over registers, lanes and warps";
  let description = [{
    Index along the axis = sum of `digit * stride` over the register modes (`regSizes`, `regStrides`; first mode fastest) + `lanes[b]` for each set bit b of the lane
    number + `warps[b]` for each set bit b of the warp number. A stride of 0 repeats the axis. Bits need not be powers of two apart: tiles of 48 or 80 exist.

    Example, the rows of an `m16n8` accumulator held by 4 warps:
    `#sm.axis<name = "i", regSizes = [2, 1], regStrides = [8, 16], lanes = [0, 0, 1, 2, 4], warps = [16, 32]>`.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, OptionalArrayRefParameter<"int64_t">:$regSizes,
                        OptionalArrayRefParameter<"int64_t">:$regStrides, OptionalArrayRefParameter<"int64_t">:$lanes,
                        OptionalArrayRefParameter<"int64_t">:$warps);
  let assemblyFormat = "`<` $name `regs` `[` (`:` $regSizes^)? `]` `by` `[` (`:` $regStrides^)? `]` `lanes` `[` (`:` $lanes^)? `]` `warps` `[` (`:` $warps^)? `]` `>`";
  let extraClassDeclaration = [{
    /// Registers per thread along this axis.
    int64_t getNumRegs() const;
    /// Index contributed by register number `reg` (0 <= reg < getNumRegs()).
    int64_t regOffset(int64_t reg) const;
    /// The indices that a thread holds, by register.
    ::llvm::SmallVector<int64_t> indicesOf(int64_t lane, int64_t warp) const;
    /// Number of indices covered: 1 + the largest index.
    int64_t getSize() const;
  }];
}

def Sm_LayoutAttr : Sm_Attr<"Layout", "layout"> {
  let summary = "layout of a register tile: one #sm.axis per tensor dimension";
  let parameters = (ins ArrayRefParameter<"::selvedge::sm::AxisLayoutAttr">:$axes);
  let assemblyFormat = "`<` $axes `>`";
  let extraClassDeclaration = [{
    /// Registers per thread; the last axis is fastest.
    int64_t getNumRegs() const;
    /// Position of the axis, or -1.
    int64_t indexOf(::mlir::StringAttr axis) const;
    /// Register number along each axis of register `reg`.
    ::llvm::SmallVector<int64_t> unflatten(int64_t reg) const;
    /// Inverse of unflatten().
    int64_t flatten(::llvm::ArrayRef<int64_t> regs) const;
  }];
}

def Sm_RoleScheduleAttr : Sm_Attr<"RoleSchedule", "roles"> {
  let summary = "how warps with roles are to execute a kernel of form seq";
  let description = [{
    `sm-schedule-roles` decides it, `sm-warp-roles` emits what it says. It may be edited between the two: what is emitted is proved as always, and a schedule that the kernel does not allow is an error.

    - `overlap`: `apart`, a step's products are awaited in the step; `lagged`, a product whose operand is computed from another one runs beside the products of the next step; `in_flight`, all loops are one, whose products stay in flight.
    - `order`: steps `forward`; `backward`, those that are masked come first; or forwards where a warpgroup is `idle` in steps of which its rows see nothing.
    - `slots` of the rings of loops, `tileSlots` of those of a tile's operands: 2 let the next tile's arrive during this one.
    - `storeParts`: results leave in bulk, in so many parts; 0, lanes store them. `host` is the operand of a tile in whose slots they are staged, the first one 0, without it they have slots of their own.
    - `speculates`: weights of an online softmax are taken against the maximum of the steps before.
    - `joined`: masked steps and those between are one loop.
    - `pipelined`: a tile's last product runs beside the first ones of the next tile.
    - `inTurn`: warpgroups multiply in turn.
    - `late`: a step multiplies across warpgroups what the one before staged, and warps of their own send the results.

    Constraints:
    - (C1) there are at least 2 `slots`, 1 or 2 `tileSlots`, no `storeParts` below 0.
    - (C2) with `speculates` or `pipelined` products are `lagged`.
    - (C3) steps in another order than `forward`, and loops that are `joined`, speculate.

    Example: `#sm.roles<overlap = lagged, order = backward, slots = 2, tileSlots = 2, storeParts = 1, speculates = true, pipelined = true, inTurn = true>`.
  }];
  let parameters = (ins EnumParameter<Sm_OverlapEnum>:$overlap, EnumParameter<Sm_StepOrderEnum>:$order, "int64_t":$slots, "int64_t":$tileSlots,
                        "int64_t":$storeParts, DefaultValuedParameter<"int64_t", "-1">:$host, DefaultValuedParameter<"bool", "false">:$speculates,
                        DefaultValuedParameter<"bool", "false">:$joined, DefaultValuedParameter<"bool", "false">:$pipelined,
                        DefaultValuedParameter<"bool", "false">:$inTurn, DefaultValuedParameter<"bool", "false">:$late);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Sm_BufferType : TypeDef<Sm_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a two-dimensional tile in shared memory, or a ring of them";
  let description = [{
    Rows of `cols` elements, `rowBytes` apart. The 16-byte chunk c of row r lies at chunk `c ^ (r & swizzle)`, which lets `ldmatrix` read eight rows of one
    chunk column without bank conflicts. `stages` copies of the tile follow each other.
    With `panel p` the columns are cut into panels of p columns; each panel is stored as such a tile of its own, one after the other, which is the form that bulk copies write and `wgmma` reads.
    With `interleaved true` row r of each eight lies in place r / 2 + 4 * (r mod 2). The threads that hold the rows of an accumulator in this order write four rows at a time to
    a swizzled buffer of 32-bit elements, and no two of them to one bank: neighbouring rows would meet there.
    A vector is one row along the axis `""`. With `lead n`, a power of two, it lies up to n - 1 elements behind the beginning of its stage: that is the last multiple of n among the tensor's columns
    that is no more than the vector's first one, where a bulk copy may begin.
    Constraints:
    - (C1) a lead is a power of two, at most 128 bytes of elements, of a vector.

    Examples: `!sm.buffer<"i" x "j", 64 x 64 x bf16, swizzle 7, stages 4, panel 64, interleaved true>`, `!sm.buffer<"" x "i", 1 x 64 x f32, swizzle 0, stages 2 lead 4>`
  }];
  let parameters = (ins "::mlir::StringAttr":$rowAxis, "::mlir::StringAttr":$colAxis, "int64_t":$rows, "int64_t":$cols,
                        "::mlir::Type":$elementType, "int64_t":$swizzle, "int64_t":$stages,
                        DefaultValuedParameter<"int64_t", "0">:$panel, DefaultValuedParameter<"bool", "false">:$interleaved, DefaultValuedParameter<"int64_t", "0">:$lead);
  let builders = [TypeBuilder<(ins "::mlir::StringAttr":$rowAxis, "::mlir::StringAttr":$colAxis, "int64_t":$rows, "int64_t":$cols, "::mlir::Type":$elementType,
                                   "int64_t":$swizzle, "int64_t":$stages, "int64_t":$panel), [{
    return $_get($_ctxt, rowAxis, colAxis, rows, cols, elementType, swizzle, stages, panel, /*interleaved=*/false, /*lead=*/0);
  }]>];
  let genVerifyDecl = 1;
  let assemblyFormat = [{ `<` $rowAxis `x` $colAxis `,` $rows `x` $cols `x` $elementType `,` `swizzle` $swizzle `,` `stages` $stages (`,` `panel` $panel^)?
                          (`,` `interleaved` $interleaved^)? (`lead` $lead^)? `>` }];
  let extraClassDeclaration = [{
    /// Bytes of one row.
    int64_t getRowBytes() const { return getCols() * (getElementType().getIntOrFloatBitWidth() / 8); }
    /// Columns of a stage: with a lead 128 bytes more, so that the next one begins as copies without swizzle need it.
    int64_t getStageCols() const { return getLead() ? getCols() + 128 * 8 / getElementType().getIntOrFloatBitWidth() : getCols(); }
    /// Bytes of one stage, of the whole ring.
    int64_t getStageBytes() const { return getRows() * (getRowBytes() / getCols() * getStageCols()); }
    int64_t getBytes() const { return getStageBytes() * getStages(); }
    /// Columns and bytes per row of a panel: all of them where there are none.
    int64_t getPanelCols() const { return getPanel() ? getPanel() : getCols(); }
    int64_t getPanelRowBytes() const { return getRowBytes() / getCols() * getPanelCols(); }
    /// Whether it has columns alone.
    bool isVector() const { return getRowAxis().empty(); }
    /// Its axes and their extents.
    ::llvm::SmallVector<std::pair<::mlir::StringAttr, int64_t>, 2> getAxes() const;
    /// The dimension along which the box of a descriptor has its rows; none of a vector.
    std::optional<size_t> getRowDimension(::llvm::ArrayRef<int64_t> box) const;
    /// The same tile with another number of stages.
    BufferType withStages(int64_t stages) const;
    /// The same tile along other axes.
    BufferType withAxes(::mlir::StringAttr rows, ::mlir::StringAttr cols) const;
    /// The same tile with its rows interleaved.
    BufferType withInterleavedRows() const;
    /// The same vector with a lead.
    BufferType withLead(int64_t lead) const;
  }];
}

def Sm_TokenType : TypeDef<Sm_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "completion of an asynchronous copy";
}

def Sm_MBarrierType : TypeDef<Sm_Dialect, "MBarrier"> {
  let mnemonic = "mbarrier";
  let summary = "a ring of mbarriers whose phases each need `arrivals` arrivals";
  let parameters = (ins "int64_t":$arrivals, "int64_t":$stages);
  let assemblyFormat = "`<` `arrivals` $arrivals `,` `stages` $stages `>`";
}

def Sm_MailboxType : TypeDef<Sm_Dialect, "Mailbox"> {
  let mnemonic = "mailbox";
  let summary = "a ring of 32-bit words";
  let parameters = (ins "int64_t":$stages);
  let assemblyFormat = "`<` `stages` $stages `>`";
}

def Sm_TensorMapType : TypeDef<Sm_Dialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "a TMA descriptor: a tensor of `rank` dimensions cut into boxes";
  let parameters = (ins "int64_t":$rank, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $rank `,` $elementType `>`";
}

def Sm_CounterType : TypeDef<Sm_Dialect, "Counter"> {
  let mnemonic = "counter";
  let summary = "an i32 in global memory that is 0 between launches";
}

def Sm_PointerArgAttr : Sm_Attr<"PointerArg", "pointer"> {
  let summary = "kernel argument: base pointer of a tensor";
  let description = [{
    `strides` are those of the last dimensions, in elements, where the plan knows them: of a temp, which the runtime lays out (`knownStrides()`). Others are arguments of the launch.

    Example: `#sm.pointer<"sums" strides[: 128, 1]>`, of a temp `f32[B, H, M, 128]`.
  }];
  let parameters = (ins "::mlir::StringAttr":$tensor, OptionalArrayRefParameter<"int64_t">:$strides);
  let assemblyFormat = "`<` $tensor (`strides` `[` `:` $strides^ `]`)? `>`";
}
def Sm_PairsAttr : Sm_Attr<"Pairs", "pairs"> {
  let summary = "two dimensions of a tensor as one: index r is r / n along `outer` and r mod n, from a first index, along `inner`";
  let description = [{
    n is the run-time dim `by`. Rows begin at a multiple of their number, a power of two, which n need not divide. A bulk copy takes them in pieces, and each piece is a box of one of three
    descriptors: `groups` has as many groups (all pairs of one outer index) as there are rows for, `group` has one, and `part` has as many pairs as n and the number of rows have as a common divisor.
    Rows that begin with a group are a box of `groups`, others parts up to the next group and whole groups; parts are left behind the last one. An operation names the descriptor of `groups`.
  }];
  let parameters = (ins "int64_t":$outer, "int64_t":$inner, "::mlir::StringAttr":$by, EnumParameter<Sm_PieceEnum>:$piece);
  let assemblyFormat = "`<` $outer `,` $inner `by` $by `in` $piece `>`";
  let builders = [AttrBuilder<(ins "int64_t":$outer, "int64_t":$inner, "::mlir::StringAttr":$by), [{
    return $_get($_ctxt, outer, inner, by, ::selvedge::sm::Piece::Groups);
  }]>];
}
def Sm_TensorMapArgAttr : Sm_Attr<"TensorMapArg", "tensor_map"> {
  let summary = "kernel argument: TMA descriptor of a tensor; one extent of the box per dimension";
  let description = [{
    Rows of the box are swizzled by 128 bytes, as a buffer's are with the swizzle 7, or with the swizzle 0 not at all.
    With `pairs` the box's extent along the outer dimension is that of both together, the one along the inner dimension 1, and bulk copies take the index of the pair in the place of the outer one. The
    descriptor's box is the piece that `pairs` says.
  }];
  let parameters = (ins "::mlir::StringAttr":$tensor, ArrayRefParameter<"int64_t">:$box, OptionalParameter<"::selvedge::sm::PairsAttr">:$pairs,
                        DefaultValuedParameter<"int64_t", "7">:$swizzle);
  let assemblyFormat = "`<` $tensor `box` `[` `:` $box `]` (`pairs` $pairs^)? (`swizzle` $swizzle^)? `>`";
  let extraClassDeclaration = [{
    /// The same rows by a descriptor of other pieces.
    TensorMapArgAttr in(::selvedge::sm::Piece piece);
  }];
}
def Sm_StrideArgAttr : Sm_Attr<"StrideArg", "stride"> {
  let summary = "kernel argument: stride of a tensor's dimension, i64, in elements";
  let parameters = (ins "::mlir::StringAttr":$tensor, "int64_t":$dim);
  let assemblyFormat = "`<` $tensor `,` $dim `>`";
}
def Sm_DimArgAttr : Sm_Attr<"DimArg", "dim"> {
  let summary = "kernel argument: a run-time dimension, i32";
  let parameters = (ins "::mlir::StringAttr":$dim);
  let assemblyFormat = "`<` $dim `>`";
}
def Sm_CounterArgAttr : Sm_Attr<"CounterArg", "counter"> {
  let summary = "kernel argument: a counter that no other launch uses while this one runs; the runtime provides it";
}
def Sm_ScalarArgAttr : Sm_Attr<"ScalarArg", "scalar"> {
  let summary = "kernel argument: a scalar of the signature";
  let parameters = (ins "::mlir::StringAttr":$scalar);
  let assemblyFormat = "`<` $scalar `>`";
}

#endif
