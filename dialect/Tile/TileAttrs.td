// Attributes and types of the tile dialect.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_TILE_TILEATTRS_TD
#define SELVEDGE_DIALECT_TILE_TILEATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "dialect/Tile/TileDialect.td"

class Tile_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::selvedge::tile";
  let genSpecializedAttr = 0;
}

def Tile_RoleEnum : Tile_Enum<"Role", "direction of a tensor argument", [
  I32EnumAttrCase<"In", 0, "in">, I32EnumAttrCase<"Out", 1, "out">,
  I32EnumAttrCase<"InOut", 2, "inout">, I32EnumAttrCase<"Temp", 3, "temp">]>;

def Tile_OverflowEnum : Tile_Enum<"Overflow", "what a narrowing does with finite values out of range", [
  I32EnumAttrCase<"Sat", 0, "sat">, I32EnumAttrCase<"Inf", 1, "inf">, I32EnumAttrCase<"Clamp", 2, "clamp">]>;
def Tile_OverflowAttr : EnumAttr<Tile_Dialect, Tile_OverflowEnum, "overflow">;

def Tile_CombineEnum : Tile_Enum<"Combine", "combining function of a reduction", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Max", 1, "max">,
  I32EnumAttrCase<"Min", 2, "min">]>;
def Tile_CombineAttr : EnumAttr<Tile_Dialect, Tile_CombineEnum, "combine">;

def Tile_FillEnum : Tile_Enum<"Fill", "state demanded of a load's absent lanes", [
  I32EnumAttrCase<"Any", 0, "any">, I32EnumAttrCase<"Zero", 1, "zero">]>;
def Tile_FillAttr : EnumAttr<Tile_Dialect, Tile_FillEnum, "fill"> {
  let assemblyFormat = "`<` $value `>`";
}

def Tile_VersionEnum : Tile_Enum<"VersionKind", "what a version of a program is made for", [
  I32EnumAttrCase<"Program", 0, "program">, I32EnumAttrCase<"Universal", 1, "universal">,
  I32EnumAttrCase<"Packed", 2, "packed">, I32EnumAttrCase<"Rows", 3, "rows">,
  I32EnumAttrCase<"Single", 4, "single">]>;

class Tile_Attr<string name, string attrMnemonic> : AttrDef<Tile_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Tile_AxesAttr : Tile_Attr<"Axes", "axes"> {
  let summary = "names of a tile's axes, one per tensor dimension";
  let description = [{
    Axes are equal by name. In every tile of a kernel they stand in the order of the kernel's `axes` list, so that equal sets of axes are equal types.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names);
  let assemblyFormat = "`<` $names `>`";
  let extraClassDeclaration = [{
    /// Position of `axis`, or -1.
    int64_t indexOf(::mlir::StringAttr axis) const {
      for (auto [i, name] : ::llvm::enumerate(getNames()))
        if (name == axis) return static_cast<int64_t>(i);
      return -1;
    }
  }];
}

def Tile_AxisAttr : Tile_Attr<"Axis", "axis"> {
  let summary = "an axis of a kernel and where its size comes from";
  let description = [{
    Either `block`, the name of a size that the plan binds (`by BM`), or `extent`, the logical extent of a whole dimension bound at compile time (`:`); the
    plan may pad an extent, the lanes past it are absent.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, OptionalParameter<"::mlir::StringAttr">:$block,
                        DefaultValuedParameter<"int64_t", "0">:$extent);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tile_IterAttr : Tile_Attr<"Iter", "iter"> {
  let summary = "one range of a kernel: independent iterations 0..extent, by a block or by 1";
  let description = [{
    `extent` takes the op's dims as symbols. One that depends on the size of its own block takes that as d0: tiles of `n` rows that are cut in `m` places are at most those of `(d0)[s0, s1] -> (s0 + s1 * d0)`. Once bound no extent
    has a d0.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::AffineMap":$extent,
                        OptionalParameter<"::mlir::StringAttr">:$block);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// The extent where its block has `size` elements: a map of the dims alone.
    ::mlir::AffineMap getExtentFor(int64_t size) const;
  }];
}

def Tile_VersionAttr : Tile_Attr<"Version", "version"> {
  let summary = "a version of a program, as its kernels and variants are told apart";
  let description = [{
    `program`: the program itself. `universal`: scheduled for tensors of any strides. `packed`: rows of several heads in one tile. `rows`: rows of at most
    `limit` elements, or all longer ones without a limit. `single`: one part of what a launch divides. Example: `#tile.version<rows, 512>`. With `shared` it is the same for devices whose thread blocks have no more than so many bytes of shared
    memory. Example: `#tile.version<packed shared 101376>`.
  }];
  let parameters = (ins EnumParameter<Tile_VersionEnum>:$kind, OptionalParameter<"int64_t", "0">:$limit,
                        OptionalParameter<"int64_t", "0">:$shared);
  let builders = [AttrBuilder<(ins "VersionKind":$kind, "int64_t":$limit), [{ return $_get($_ctxt, kind, limit, /*shared=*/0); }]>];
  let assemblyFormat = "`<` $kind (`,` $limit^)? (`shared` $shared^)? `>`";
  let extraClassDeclaration = [{
    /// What people read: `universal`, `upto512`, `packed_99k`; empty for the program itself.
    std::string str() const;
    /// The same for devices with so much shared memory; for any with 0.
    VersionAttr forDevicesWith(int64_t shared) const { return get(getContext(), getKind(), getLimit(), shared); }
    /// `_99k`; empty where it is for any device.
    std::string deviceSuffix() const;
  }];
}

def Tile_SourceAttr : Tile_Attr<"Source", "source"> {
  let summary = "the kernel of a program that a kernel of the target was lowered from";
  let description = [{ `kernel` is nested in the op's name, whichever version it stands in. Example: `#tile.source<@flash_fwd::@main, <packed>>`. }];
  let parameters = (ins "::mlir::SymbolRefAttr":$kernel, "::selvedge::tile::VersionAttr":$version);
  let assemblyFormat = "`<` $kernel `,` $version `>`";
  let extraClassDeclaration = [{
    /// What people read, and the key of a plan: `main`, `packed.main`.
    std::string str() const;
    /// The kernel of the version for any device.
    SourceAttr forAnyDevice() const { return get(getContext(), getKernel(), getVersion().forDevicesWith(0)); }
  }];
}

def Tile_TensorArgAttr : Tile_Attr<"TensorArg", "tensor_arg"> {
  let summary = "a tensor of an op's signature";
  let description = [{
    `shape` maps the op's dims (symbols, in the order of the op's `dims`) to extents. `init` is the value of elements that no kernel stores:
    a float attribute, or the string "keep"; absent for inputs and temps. An unsigned byte is `ui8` here and `i8` in kernels, whose operations say how it is widened.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, EnumParameter<Tile_RoleEnum>:$role,
                        "::mlir::Type":$elementType, "::mlir::AffineMap":$shape,
                        DefaultValuedParameter<"bool", "false">:$isOptional,
                        OptionalParameter<"::mlir::Attribute">:$init,
                        DefaultValuedParameter<"Overflow", "Overflow::Sat">:$overflow);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tile_ScalarArgAttr : Tile_Attr<"ScalarArg", "scalar_arg"> {
  let summary = "a scalar of an op's signature";
  let description = [{ `value` is the default: a float or integer attribute, or an affine map of the op's dims. }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::Type":$type,
                        OptionalParameter<"::mlir::Attribute">:$value);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tile_RequireAttr : Tile_Attr<"Require", "require"> {
  let summary = "the caller's promise that an integer tensor's elements lie in lo..hi, both inclusive";
  let description = [{ `ordered`: and that none is less than the one before it. }];
  let parameters = (ins "::mlir::StringAttr":$tensor, "::mlir::AffineMap":$lo, "::mlir::AffineMap":$hi,
                        DefaultValuedParameter<"bool", "false">:$ordered);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tile_TensorType : TypeDef<Tile_Dialect, "Global"> {
  let mnemonic = "tensor";
  let summary = "handle of a strided tensor in global memory";
  let description = [{ Pointer and strides are run-time values; the shape stands in the op's `tensors`. }];
  let parameters = (ins "unsigned":$rank, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $rank `,` $elementType `>`";
}

#endif
