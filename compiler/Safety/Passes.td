// Passes that make the contract true.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SAFETY_PASSES_TD
#define SELVEDGE_COMPILER_SAFETY_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileClampWeights : Pass<"tile-clamp-weights", "::selvedge::tile::ProgramOp"> {
  let summary = "Have the narrowing of softmax weights clamp: they are never Inf";
  let description = [{
    `as T` keeps Inf, for which `cvt.rn.satfinite` is not enough. The weights of a step are 1 at most, or NaN, and so is the weight of a score against a finished state if that score is one that the state has seen:
    the same expression of indices which run over the same numbers, stored nowhere else than where the step had a score. Any other value keeps Inf, whatever it looks like.

    Before: `%w, %max, %sum = tile.softmax_update %s, ...`, `%n = tile.convert %w sat`
    After: `%n = tile.convert %w clamp`
    Not: `tile.convert (math.exp2 (arith.subf %x, %y)) sat`
  }];
}

def TileFoldIntegers : Pass<"tile-fold-integers", "::selvedge::tile::KernelOp"> {
  let summary = "Fold what is the same whatever its integers are";
  let description = [{
    No integer is less than itself, every one equals itself, and `x - x`, `x + y - x` and `x - y + y` do not depend on what cancels. A conjunction, a disjunction or a select that this decides is one of its sides; a product, a reduction or a step of a
    softmax that no lane enters leaves what it is added to, or gives what one over no lane gives. The index of a range of one number is 0, and a loop of one step is its body.
    Upstream folds the same once sizes are bound, when tiles have constants. Then kernels are made of fewer tensors than the programs they are compared with (`verify-sm-outputs`), and constants stand among the predicates of sinks. So
    this comes before all other passes, equal operations being one; what passes are compared with is the program behind it. A predicate that always holds is none of a sink's, and one that is the same along an axis does not have that; the presence of loads and stores is
    otherwise as it was.

    Before:
    ```mlir
    %n = arith.cmpi ne, (tile.load %x[%i]), (tile.load %x[%i])
    %s = arith.select %n, %a, %b
    ```
    After: `%b` in the place of `%s`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::selvedge::tile::TileDialect"];
}

def TileExactCompares : Pass<"tile-exact-compares", "::selvedge::tile::ProgramOp"> {
  let summary = "Compare sums of indices and scalars as the integers that they mean";
  let description = [{
    A compare of sums of `tile.range`s, i32 scalars and constants becomes one of a range, or the difference of two, with everything else: summed in 64 bits, clamped to 32. Ranges start at indices
    of the kernel or of a loop, 0 to 2^31 - 1026, so that with the lanes of a block they and their differences lie between -2^31 + 2 and 2^31 - 3: a clamped sum compares like the sum itself,
    whatever the scalars are. A scalar compare keeps the index of a loop on its left. Compares without additions stay, and so do those of other values (loaded tiles, products), which wrap.
    The sum is computed in front of the loops that do not change it.

    Before:
    ```mlir
    %a = arith.subi (tile.range %i0), (tile.splat %W)
    %p = arith.cmpi sgt, (tile.broadcast (tile.range %j0)), (tile.broadcast %a)
    ```
    After:
    ```mlir
    %w = arith.subi (constant 0 : i64), (arith.extsi %W)
    %c = arith.trunci (arith.minsi (arith.maxsi %w, -2147483648), 2147483647) : i64 to i32
    %d = arith.subi (tile.broadcast (tile.range %j0)), (tile.broadcast (tile.range %i0))
    %p = arith.cmpi sgt, %d, (tile.splat %c)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::selvedge::tile::TileDialect"];
}

def TileObligations : Pass<"tile-obligations", "::selvedge::tile::ProgramOp"> {
  let summary = "Give the absent lanes of every sink the state that the sink needs";
  let description = [{
    Afterwards lowerings may ignore the presence of every sink but `tile.load` and `tile.store`; it stays in the IR as the demand that `verify-tile-padding` checks.

    - `tile.reduce`: absent lanes become the identity by a select, unless it is a sum of what is 0 there: loads by their fill, softmax weights, and sums and products of such.
    - `tile.softmax_update`: absent scores become -inf by a select, the last operation before the maximum. Of its conditions those are left out that others imply in rows that exist.
    - `tile.dot`: the annihilator-pair rule. Wherever a contracted lane is absent, each operand that knows of it is exactly 0: a load by its fill, for which it takes
      predicates of the product on its own axes (`where mask[j] > 0` on keys), softmax weights because their score was -inf, anything else by a select. A predicate that only one operand can see (a causal mask on weights) leaves the other operand as present data.
      Products of one tile share its select where lanes that only one of them removes do not exist, as a load that the tile is computed from says: others must see them.
    - `tile.load`: a predicate that depends on memory is not tested (`garbage`) where nobody demands a zero and what becomes of the lanes is removed later: keys past `kv_len`, whose scores are -inf. With
      `votes` it is, where only rows that exist are without those lanes: warps will vote with all rows.

    Each access and each select gets a safety note in its location, which `selvedge explain` reads.

    Before:
    ```mlir
    %k = tile.load %K[...] where(%p : ...) : ...
    %s = tile.dot %q, %k over ["D"] : ...
    %w, ... = tile.softmax_update %s, ... over "j" where(%p : ...) ...
    ```
    After:
    ```mlir
    %k = tile.load %K[...] where(%p : ...) garbage [0] {fill = #tile.fill<zero>} : ...
    %s = tile.dot %q, %k over ["D"] : ...
    %t = arith.select (broadcast %p), %s, (splat -inf)
    %w, ... = tile.softmax_update %t, ... over "j" where(%p : ...) ...
    ```
  }];
  let options = [Option<"votes", "votes", "bool", "false", "Whether results are going to be tested, by votes of warps (tile-exact-masks)">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::selvedge::tile::TileDialect"];
}

def TileOutputInit : Pass<"tile-output-init", "::selvedge::tile::ProgramOp"> {
  let summary = "Initialise every output that the kernels do not provably store completely";
  let description = [{
    An output is covered when one store outside any branch indexes each dimension by a range or loop over exactly that dimension, each by another one, depends on all ranges and loops around it, and
    is predicated by those bounds only. Any other output with an `out_init` other than keep gets a kernel, run first, that stores the constant over the whole shape.
    Where the only store writes the rows of all segments of a `requires segments`, the kernel stores the rows before the first one and behind the last one. Where each segment has rows of its own, it
    stores those behind the segment's length. Of a temp that kernels use in rows of segments only, it stores the rows from the first segment to the last one. Each of these kernels looks at all ends
    of segments first: where they break the promise (one lies outside of the rows, or before the one before it), it stores the whole shape.

    Before: `kernel main(i in M by BM) { if ... { o[i] = ... } }`
    After: `kernel init_o(i0 in M by BI) { o[i0] = out_init }` and the kernel as before.
    Of segments: `kernel init_o(i0 in Q by BI) { o[i0] = out_init where i0 < cu[0] || i0 >= cu[B] || broken }`
    Of rows of each: `kernel init_o(b in B, i in L by BI) { o[b, i] = out_init where i >= cu[b + 1] - cu[b] || broken }`
    Of a temp: `kernel init_t(i0 in Q by BI) { t[i0] = out_init where i0 >= cu[0] || broken, i0 < cu[B] || broken }
    `broken = cu[0] < 0 || cu[B] > Q || max(select(cu[b] > cu[b + 1], 1, 0), b) > 0`, in a loop over blocks of b.`
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::selvedge::tile::TileDialect"];
}

def TileSimplifyPresence : Pass<"tile-simplify-presence"> {
  let summary = "Remove predicates that the bound sizes or other predicates make true";
  let description = [{
    Compares of an index tile that starts at a constant with a constant are decided by interval arithmetic; a block of one element lies inside of the extent of its range. True predicates
    leave presence lists, conjunctions and selects; selects by the opposite of what a part of a loop makes true (`tile.known`) are their other side. Nor is a predicate of a load needed beside a mask from memory that was loaded under it and is false for the 0 elsewhere, as in
    `where(j < N, mask[j] > 0)`; loads for which bulk copies are planned keep it: a descriptor tests for nothing.
    Safety notes remember the positions of those that are gone.

    Before: `arith.cmpi slt, (tile.range 0 : tensor<128xi32, ...>), (tile.splat 128)`, `tile.load ... where(%that)`
    After: `tile.load ...` without the predicate.
    Needs `tile-bind-blocks`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::selvedge::tile::TileDialect"];
}

def TileExactMasks : Pass<"tile-exact-masks", "::selvedge::tile::KernelOp"> {
  let summary = "Let data that a mask removes have no influence at all, NaN and Inf included (mode mask = exact)";
  let description = [{
    A product adds weights of exactly 0 for lanes that a mask removes, and 0 times NaN or Inf is NaN: where the mask speaks of an axis that the other operand lacks, that operand is data of other
    rows and cannot be zeroed. What it does to the sum is sticky. So after the loops the sum is tested once, and where some element is not finite the loops run again, lane by lane of
    the contracted axis: products are element-wise, and each term is selected by its presence before it is added. The steps of the loops stay as they are.
    What is made of the sum before it is narrowed or stored, by operations that keep Inf and NaN wherever the sum matters, is tested in its place, and computed again with it: narrowing tests
    that anyway (`sm-keep-infinity`). A sum that is read otherwise is tested itself, and all that the loops carry is computed again.

    Before:
    ```mlir
    %r:2 = scf.for %j = %low to %high step %bn iter_args(%m = ..., %acc = %zero) {
      ...
      %sum = tile.dot %p, %v init %scaled over ["j"] where(%keep : tensor<128x64xi1, #tile.axes<"i", "j">>) : ...
      scf.yield %max, %sum
    }
    %o = arith.mulf %r#1, %factor
    tile.store (tile.convert %o), ...
    ```
    After:
    ```mlir
    %r:2 = scf.for ... as before
    %o = arith.mulf %r#1, %factor
    %bad = tile.any (arith.cmpf uge (math.absf %o), +inf)
    %e = scf.if %bad {
      %s:2 = scf.for %j = %low to %high step 1 iter_args(%m = ..., %acc = %zero) {
        ... with axis "j.lane" of one element in place of "j"
        %term = arith.select (tile.broadcast %keep), (arith.mulf (tile.broadcast %p), (tile.broadcast %v)), 0
        %sum = arith.addf %scaled, (tile.reduce add %term over ["j.lane"] where(%keep ...))
        scf.yield %max, %sum
      }
      %again = arith.mulf %s#1, %factor
      scf.yield %again
    } else {
      scf.yield %o
    }
    tile.store (tile.convert %e), ...
    ```
    Follows the passes that split loops and bind sizes; of the parts of a loop the last tests every predicate. Kernels whose products have no such mask stay as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::selvedge::tile::TileDialect"];
}

#endif
