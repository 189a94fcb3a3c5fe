// Passes that make the contract true.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SAFETY_PASSES_TD
#define SELVEDGE_COMPILER_SAFETY_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileObligations : Pass<"tile-obligations", "::selvedge::tile::ProgramOp"> {
  let summary = "Give the absent lanes of every sink the state that the sink needs";
  let description = [{
    Afterwards lowerings may ignore the presence of every sink but `tile.load` and `tile.store`; it stays in the IR as the demand that `verify-tile-padding` checks.

    - `tile.reduce`: absent lanes become the identity by a select.
    - `tile.softmax_update`: absent scores become -inf by a select, the last operation before the maximum.
    - `tile.dot`: the annihilator-pair rule. Wherever a contracted lane is absent, each operand that knows of it is exactly 0: a load by its fill, softmax weights because their score
      was -inf, anything else by a select. A predicate that only one operand can see (a causal mask on weights) leaves the other operand as present data.

    Each access and each select gets a safety note in its location, which `selvedge explain` reads.

    Before:
    ```mlir
    %k = tile.load %K[...] where(%p : ...) : ...
    %s = tile.dot %q, %k over ["D"] : ...
    %w, ... = tile.softmax_update %s, ... over "j" where(%p : ...) ...
    ```
    After:
    ```mlir
    %k = tile.load %K[...] where(%p : ...) {fill = #tile.fill<zero>} : ...
    %s = tile.dot %q, %k over ["D"] : ...
    %t = arith.select (broadcast %p), %s, (splat -inf)
    %w, ... = tile.softmax_update %t, ... over "j" where(%p : ...) ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::selvedge::tile::TileDialect"];
}

def TileOutputInit : Pass<"tile-output-init", "::selvedge::tile::ProgramOp"> {
  let summary = "Initialise every output that the kernels do not provably store completely";
  let description = [{
    An output is covered when one store outside any branch indexes each dimension by a range or loop over exactly that dimension, each by another one, depends on all ranges and loops around it, and
    is predicated by those bounds only. Any other output with an `out_init` other than keep gets a kernel, run first, that stores the constant over the whole shape.

    Before: `kernel main(i in M by BM) { if ... { o[i] = ... } }`
    After: `kernel init_o(i0 in M by BI) { o[i0] = out_init }` and the kernel as before.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::selvedge::tile::TileDialect"];
}

def TileSimplifyPresence : Pass<"tile-simplify-presence"> {
  let summary = "Remove predicates that the bound sizes make true";
  let description = [{
    Compares of an index tile that starts at a constant with a constant are decided by interval arithmetic; true predicates leave presence lists, conjunctions and selects.
    Safety notes remember the positions of those that are gone.

    Before: `arith.cmpi slt, (tile.range 0 : tensor<128xi32, ...>), (tile.splat 128)`, `tile.load ... where(%that)`
    After: `tile.load ...` without the predicate.
    Needs `tile-bind-blocks`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::selvedge::tile::TileDialect"];
}

#endif
