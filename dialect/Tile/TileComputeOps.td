// Computing operations of the tile dialect: conversion, dot, reduce, softmax.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_TILE_TILECOMPUTEOPS_TD
#define SELVEDGE_DIALECT_TILE_TILECOMPUTEOPS_TD

include "dialect/Tile/TileOps.td"

def Tile_ConvertOp : Tile_Op<"convert", [Pure]> {
  let summary = "narrows f32 to bf16, f16 or a float of 8 bits, rounding to nearest even";
  let description = [{
    Inf and NaN are kept. A finite value out of range becomes the largest finite value (`sat`) or Inf (`inf`). With `clamp` Inf, too, becomes the largest finite value: what `cvt.rn.satfinite` does, for
    values that are never Inf. PTX: `cvt.rn.satfinite.{bf16,f16}.f32` (`clamp`), `cvt.rn` (`inf`), and both (`sat`). Floats of 8 bits are what
    `cvt.rn.satfinite.{e4m3x2,e5m2x2}.f32` makes, by integer arithmetic (`sm-byte-floats`).
    Constraints:
    - (C1) equal axes; the source is f32, the result bf16, f16, f8E4M3FN or f8E5M2.
    - (C2) a float of 8 bits comes with `clamp`.

    Example: `%y = tile.convert %x clamp : tensor<?xf32, #tile.axes<"i">> -> tensor<?xf8E4M3FN, #tile.axes<"i">>`
  }];
  let arguments = (ins Tile_Value:$source, Tile_OverflowAttr:$overflow);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$source $overflow attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_DotOp : Tile_Op<"dot", [Pure, AttrSizedOperandSegments, Tile_SinkInterface]> {
  let summary = "multiplies two tiles and sums over the axes they share and name";
  let description = [{
    result = init + sum over `over` of lhs * rhs, in f32. Lanes of the contracted axes where any of `presence` is false do not contribute, whatever they hold.
    Constraints:
    - (C1) every axis of `over` is an axis of both operands.
    - (C2) the result has the remaining axes of both operands, element type f32, and so has `init`.
    - (C3) every predicate mentions an axis of `over`, and its axes are axes of an operand.
  }];
  let arguments = (ins Tile_Tile:$lhs, Tile_Tile:$rhs, Optional<Tile_Value>:$init, StrArrayAttr:$over, Variadic<Tile_Bool>:$presence);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{ $lhs `,` $rhs (`init` $init^ `:` type($init))? `over` $over (`where` `(` $presence^ `:` type($presence) `)`)?
                          attr-dict `:` type($lhs) `,` type($rhs) `->` type($result) }];
  let hasVerifier = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure, Tile_SinkInterface]> {
  let summary = "combines the present lanes along axes";
  let description = [{
    Over no present lane the result is the identity: 0 (add), -inf (max), +inf (min); for i32 the extreme integers. `max` and `min` propagate NaN.
    Constraints:
    - (C1) the result has the source's axes without `over`, and its element type.
    - (C2) every predicate mentions an axis of `over`, and its axes are axes of the source.
  }];
  let arguments = (ins Tile_CombineAttr:$kind, Tile_Tile:$source, StrArrayAttr:$over, Variadic<Tile_Bool>:$presence);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{ $kind $source `over` $over (`where` `(` $presence^ `:` type($presence) `)`)?
                          attr-dict `:` type($source) `->` type($result) }];
  let hasVerifier = 1;
}

def Tile_AnyOp : Tile_Op<"any", [Pure]> {
  let summary = "whether a condition holds in some lane";
  let description = [{
    A hint where to look: each warp asks the lanes that it holds, and warps may differ. What depends on the result must be right whatever it is where the condition is false in all lanes that it
    computes. Example: `%redo = tile.any %bad : tensor<?x?xi1, #tile.axes<"i", "DV">>`.
  }];
  let arguments = (ins Tile_Bool:$condition);
  let results = (outs I1:$result);
  let assemblyFormat = "$condition attr-dict `:` type($condition)";
}

def Tile_SoftmaxUpdateOp : Tile_Op<"softmax_update", [Pure, AttrSizedOperandSegments, Tile_SinkInterface]> {
  let summary = "one step of the online softmax along an axis";
  let description = [{
    State per row: `max` (initially -inf), the reference that weights are relative to, and `sum` (initially 0), the sum of weights so far; accumulators are relative to the
    same reference. With s' = s where present:
      max' = max(max, max over the axis of s'),  r = max' == -inf ? 0 : max',  weights = exp(s - r), 0 at absent lanes,
      sum' = sum * exp(max - r) + sum over the axis of weights,  acc' = acc * exp(max - r).
    max propagates NaN, so a row with a NaN or +inf score becomes NaN. The reference may be lowered otherwise (lazy, speculative): only rounding may change.
    Reference: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018); Dao, "FlashAttention-2" (2023).
    Constraints:
    - (C1) max and sum have the axes of scores without `over`; weights has the type of scores, all f32.
    - (C2) accumulators are f32 tiles that have the axes of max and lack `over`; results repeat the operands' types.
  }];
  let arguments = (ins Tile_Tile:$scores, Tile_Value:$max, Tile_Value:$sum, Variadic<Tile_Tile>:$accs, StrAttr:$over,
                       Variadic<Tile_Bool>:$presence);
  let results = (outs Tile_Tile:$weights, Tile_Value:$newMax, Tile_Value:$newSum, Variadic<Tile_Tile>:$newAccs);
  let assemblyFormat = [{ $scores `,` $max `,` $sum (`rescales` `(` $accs^ `:` type($accs) `)`)? `over` $over
                          (`where` `(` $presence^ `:` type($presence) `)`)? attr-dict `:` type($scores) `,` type($max) `,` type($sum)
                          `->` type($weights) `,` type($newMax) `,` type($newSum) (`,` type($newAccs)^)? }];
  let hasVerifier = 1;
}

def Tile_SoftmaxIncludeOp : Tile_Op<"softmax_include", [Pure]> {
  let summary = "adds one score per row to the state that has no value of its own (a sink)";
  let description = [{ As `softmax_update` with a single key of the given score, whose weight enters only the sum. }];
  let arguments = (ins Tile_Value:$score, Tile_Value:$max, Tile_Value:$sum, Variadic<Tile_Tile>:$accs);
  let results = (outs Tile_Value:$newMax, Tile_Value:$newSum, Variadic<Tile_Tile>:$newAccs);
  let assemblyFormat = [{ $score `,` $max `,` $sum (`rescales` `(` $accs^ `:` type($accs) `)`)? attr-dict `:` type($score) `,` type($max) `,` type($sum)
                          `->` type($newMax) `,` type($newSum) (`,` type($newAccs)^)? }];
}

def Tile_SoftmaxNormalizeOp : Tile_Op<"softmax_normalize", [Pure]> {
  let summary = "accumulator over the sum of weights, 0 where the sum is 0";
  let description = [{ A row without keys, or with scores of -inf only, has sum 0 and gives 0. A NaN sum gives NaN. }];
  let arguments = (ins Tile_Tile:$acc, Tile_Value:$sum);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$acc `,` $sum attr-dict `:` type($acc) `,` type($sum) `->` type($result)";
}

def Tile_SoftmaxLseOp : Tile_Op<"softmax_lse", [Pure]> {
  let summary = "natural log of the sum of exponentials, -inf where the sum is 0";
  let arguments = (ins Tile_Value:$max, Tile_Value:$sum);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$max `,` $sum attr-dict `:` type($max) `,` type($sum) `->` type($result)";
}

def Tile_SoftmaxWeightOp : Tile_Op<"softmax_weight", [Pure]> {
  let summary = "normalised weight of a score against a finished state";
  let description = [{ exp(score - r) / sum with r as in `softmax_update`; 0 where the sum is 0 or the score is -inf (unless the sum is NaN). }];
  let arguments = (ins Tile_Tile:$score, Tile_Value:$max, Tile_Value:$sum);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$score `,` $max `,` $sum attr-dict `:` type($score) `,` type($max) `,` type($sum) `->` type($result)";
}

#endif
