// Structure and memory operations of the tile dialect.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_TILE_TILEOPS_TD
#define SELVEDGE_DIALECT_TILE_TILEOPS_TD

include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialect/Tile/TileAttrs.td"
include "dialect/Tile/TileInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

def Tile_Tile : Type<CPred<"::selvedge::tile::isTile($_self)">, "tile (ranked tensor with #tile.axes)">;
def Tile_Index : Type<CPred<"$_self.isInteger(32) || (::selvedge::tile::isTile($_self) && ::mlir::getElementTypeOrSelf($_self).isInteger(32))">,
                                "i32 or tile of i32">;
def Tile_Bool : Type<CPred<"$_self.isInteger(1) || (::selvedge::tile::isTile($_self) && ::mlir::getElementTypeOrSelf($_self).isInteger(1))">,
                               "i1 or tile of i1">;
def Tile_Value : Type<CPred<"$_self.isIntOrFloat() || ::selvedge::tile::isTile($_self)">, "scalar or tile">;

def Tile_ProgramOp : Tile_Op<"program", [Symbol, SymbolTable, NoTerminator, SingleBlock, IsolatedFromAbove]> {
  let summary = "an op of the language: a signature and its kernels, run in order";
  let description = [{
    `dims` names the run-time dimensions. All affine maps of the signature take them as symbols, in this order.
    Constraints:
    - (C1) dims, tensors and scalars have distinct names.
    - (C2) every kernel's leading block arguments are the dims (i32), then the tensors, then the scalars.
    - (C3) a `packed` version has `conditions`, a `universal` one none; they take the dims as symbols.
    - (C4) a `rows` version has `row_threads`.

    A program may have versions: `version` says what one is made for, `of` whose it is. `universal` is scheduled for any strides (`tile-split-variants`); `packed`
    is launched only where every result of `conditions`, a map of the dims, is at least 0 (`tile-pack-rows`), and so is `single` (`tile-single-parts`); of `rows` there is one per length of the rows that are read more than
    once, with `row_threads` of a block that share a row (`tile-row-classes`). A program with a universal version has `conditions` where its pairs might be more than 32 bits count. Plans of a program take at most `shared_memory` bytes per thread block, where that is less than what the target has; any version
    may have one that is the same but for that, for devices with less.

    Example:
    ```mlir
    tile.program @copy dims ["N"] tensors [
        #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0] -> (s0)>,
        #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0] -> (s0), init = 0.0 : f32>]
        scalars [] requires [] params {} {
      ...
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$dims,
                       TypedArrayAttrBase<Tile_TensorArgAttr, "tensor arguments">:$tensors,
                       TypedArrayAttrBase<Tile_ScalarArgAttr, "scalar arguments">:$scalars,
                       TypedArrayAttrBase<Tile_RequireAttr, "promises">:$promises,
                       DictionaryAttr:$params, OptionalAttr<Tile_VersionAttr>:$version, OptionalAttr<FlatSymbolRefAttr>:$version_of,
                       OptionalAttr<I64Attr>:$row_threads, OptionalAttr<AffineMapAttr>:$conditions,
                       OptionalAttr<I64Attr>:$shared_memory);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{ $sym_name `dims` $dims `tensors` $tensors `scalars` $scalars `requires` $promises
                          `params` $params (`version` $version^ `of` $version_of)? (`threads` $row_threads^)?
                          (`where` $conditions^)? (`shared` $shared_memory^)? attr-dict-with-keyword $body }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether a tensor that is always passed has that extent, which is `maxExtent` at most then.
    bool hasExtent(::mlir::AffineExpr extent);
    /// Number of leading block arguments that every kernel shares.
    unsigned getNumSharedArgs() { return getDims().size() + getTensors().size() + getScalars().size(); }
    /// The program of which this one is a version, or its own name.
    ::llvm::StringRef getBaseName() { return getVersionOf().value_or(getSymName()); }
    /// What it is made for; `Program` for the program itself.
    VersionKind getKind();
    /// Whether passes made it for some dims before they took the program to the target: it has kernels of its own, which nobody has written.
    bool isForSomeDims() { return getKind() == VersionKind::Packed || getKind() == VersionKind::Single; }
    /// Whether it is a version of no other program.
    bool isBase() { return !getVersion(); }
    /// Whether it is for devices whose thread blocks have less shared memory than those of others.
    bool isForSmallDevices() { return getVersion() && getVersion()->getShared() != 0; }
    /// Makes it the version of `base`, with a name of its own.
    void makeVersion(ProgramOp base, VersionAttr version);
    /// Whether bulk copies are planned for it, whose descriptors know the extents of tensors: it has a universal version for others.
    bool isForBulkCopies();
    /// Whether some kernel loads or stores a tensor: a version may have a temp that none does.
    bool accesses(TensorArgAttr tensor);
    /// Typed access to the signature.
    TensorArgAttr getTensorArg(unsigned i) { return ::mlir::cast<TensorArgAttr>(getTensors()[i]); }
    ScalarArgAttr getScalarArg(unsigned i) { return ::mlir::cast<ScalarArgAttr>(getScalars()[i]); }
  }];
}

def Tile_KernelOp : Tile_Op<"kernel", [Symbol, HasParent<"ProgramOp">, IsolatedFromAbove, SingleBlock]> {
  let summary = "a set of independent iterations";
  let description = [{
    Block arguments: the op's dims, tensors and scalars, then one i32 per entry of `ranges`: the iteration's index or, for a range with a block, the
    first index of its block. `axes` lists every axis of the body in canonical order. The number of iterations follows from dims alone.
    Constraints:
    - (C1) the block arguments have these types.
    - (C2) axes have distinct names and either a block or an extent above 0.
    - (C3) once bound (`tile-bind-blocks`), `sizes` gives each axis its size, at least its extent, and `warps` the size of a thread block. With `sharedOperands` warps share columns of accumulators, too, so that computed operands go through shared memory.
    - (C4) extents of ranges depend on dims; one with a block, until it is bound, on the size of that block, too.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypedArrayAttrBase<Tile_IterAttr, "ranges">:$ranges,
                       TypedArrayAttrBase<Tile_AxisAttr, "axes">:$axes,
                       OptionalAttr<DictionaryAttr>:$sizes, OptionalAttr<I64Attr>:$warps, UnitAttr:$sharedOperands);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{ $sym_name `ranges` $ranges `axes` $axes (`sizes` $sizes^)? (`warps` $warps^)? attr-dict-with-keyword $body }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Names the kernel in what it is lowered to.
    SourceAttr getSource();
    /// The op that the kernel belongs to.
    ProgramOp getProgram();
    /// Block arguments by kind: run-time dims, tensors, scalars, coordinates.
    ::mlir::BlockArgument getDimArg(unsigned i);
    ::mlir::BlockArgument getTensorArgument(unsigned i);
    ::mlir::BlockArgument getScalarArgument(unsigned i);
    ::mlir::BlockArgument getCoord(unsigned i);
    /// Signature of the tensor that a block argument stands for.
    TensorArgAttr getTensorArgOf(::mlir::Value tensor);
    /// Whether it stores the init of a tensor: no kernel of an author has such a name.
    bool isInit() { return getSymName().starts_with("init_"); }
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Terminator, Pure, HasParent<"KernelOp">]> {
  let summary = "end of a kernel";
  let assemblyFormat = "attr-dict";
}

def Tile_BlockSizeOp : Tile_Op<"block_size", [Pure]> {
  let summary = "a size that the plan binds";
  let description = [{ Used as the step of a blocked loop. Example: `%s = tile.block_size "BN"`. }];
  let arguments = (ins StrAttr:$block);
  let results = (outs I32:$result);
  let assemblyFormat = "$block attr-dict";
}

def Tile_RangeOp : Tile_Op<"range", [Pure]> {
  let summary = "the index tile start + 0..size-1 of one axis";
  let description = [{ Example: `%j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>`. }];
  let arguments = (ins I32:$start);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$start attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "a tile whose lanes all hold one scalar";
  let arguments = (ins AnyType:$value);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "repeats a tile along the axes that it lacks";
  let description = [{
    Constraints:
    - (C1) the source's axes are a proper subset of the result's, with equal extents and element type.
  }];
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_KnownOp : Tile_Op<"known", [Pure, AllTypesMatch<["predicate", "result"]>]> {
  let summary = "a predicate that its place in the program makes true in all lanes";
  let description = [{ A claim: `verify-tile-known` proves it from the bounds of the loops around it; then it is the constant true. }];
  let arguments = (ins Tile_Bool:$predicate);
  let results = (outs Tile_Bool:$result);
  let assemblyFormat = "$predicate attr-dict `:` type($predicate)";
}

def Tile_IsPresentOp : Tile_Op<"is_present", [Pure]> {
  let summary = "whether the caller passed an optional tensor";
  let arguments = (ins Tile_TensorType:$tensor);
  let results = (outs I1:$result);
  let assemblyFormat = "$tensor attr-dict `:` type($tensor)";
}

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments, MemoryEffects<[MemRead]>, Tile_SinkInterface, Tile_TensorAccessInterface]> {
  let summary = "the elements of a tensor at index tiles";
  let description = [{
    One index per dimension: a scalar, or a tile (index tiles that share an axis are zipped). The result has the union of the indices' axes; without
    axes it is a scalar. A lane exists where all of `presence` is true; memory of other lanes is never touched and their value is any
    bits (`fill = any`) or zero (`fill = zero`). Predicates at the positions `garbage` say what exists but are not tested: where only such a one is false the lane holds what lies
    in memory.
    Constraints:
    - (C1) as many indices as the tensor has dimensions.
    - (C2) the result has the indices' axes and the tensor's element type.
    - (C3) the axes of every predicate are axes of the result.
    - (C4) `garbage` has positions of predicates.

    Example: `%q = tile.load %Q[%b, %i, %h, %d] where(%in : tensor<?xi1, #tile.axes<"i">>) ...`
  }];
  let arguments = (ins Tile_TensorType:$tensor, Variadic<Tile_Index>:$indices, Variadic<Tile_Bool>:$presence,
                       DefaultValuedAttr<Tile_FillAttr, "Fill::Any">:$fill, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$garbage);
  let results = (outs Tile_Value:$result);
  let extraClassDeclaration = [{
    /// The predicates that are tested.
    ::llvm::SmallVector<::mlir::Value> getTested() { return testedOf(getPresence(), getGarbage()); }
  }];
  let assemblyFormat = [{ $tensor `[` ($indices^ `:` type($indices))? `]` (`where` `(` $presence^ `:` type($presence) `)`)? (`garbage` $garbage^)?
                          attr-dict `:` type($tensor) `->` type($result) }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>, Tile_SinkInterface, Tile_TensorAccessInterface]> {
  let summary = "writes the present lanes of a tile to a tensor";
  let description = [{
    Lanes whose `presence` is false are not written. A value that lacks an axis of the indices is repeated along it.
    Constraints:
    - (C1) as many indices as the tensor has dimensions, and the tensor's element type.
    - (C2) the axes of value and predicates are axes of the indices.
  }];
  let arguments = (ins Tile_Value:$value, Tile_TensorType:$tensor, Variadic<Tile_Index>:$indices, Variadic<Tile_Bool>:$presence);
  let assemblyFormat = [{ $value `,` $tensor `[` ($indices^ `:` type($indices))? `]` (`where` `(` $presence^ `:` type($presence) `)`)?
                          attr-dict `:` type($value) `,` type($tensor) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{ bool isStore() { return true; } }];
}

#endif
