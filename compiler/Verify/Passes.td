// The independent verifier: it reads the IR and trusts nobody.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_PASSES_TD
#define SELVEDGE_COMPILER_VERIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def StripAttributes : Pass<"strip-discardable-attributes"> {
  let summary = "Remove what is not part of the program's meaning before it is verified";
  let description = [{
    A pass may leave discardable attributes as notes for itself. The verifiers, and everything that runs after them, see none: a note that is wrong changes nothing.

    Before: `tile.load %x[...] {selvedge.padded} ...`
    After: `tile.load %x[...] ...`
  }];
}

def VerifyTilePadding : Pass<"verify-tile-padding", "::selvedge::tile::KernelOp"> {
  let summary = "Prove that absent lanes, whatever bits they hold, reach no sink";
  let description = [{
    Abstract interpretation of a kernel after `tile-obligations`, before softmax is expanded. Every load's own presence starts a fact per predicate p: "where p is false this
    value is garbage", or zero if the load fills. Elementwise operations keep the fact as garbage; a select under a condition that implies p replaces it by the state of its false arm.
    Demanded where the presence of a sink is false, and wherever a lane would be garbage, else an error:

    - `tile.reduce`: the identity at every absent lane of the reduced axes;
    - `tile.softmax_update`: -inf;
    - `tile.dot`: the annihilator pair, one operand zero and the other zero, or data that no predicate on its own axes removes;
    - `tile.store`: a presence that implies every predicate of the value;
    - a loop bound, or an index of a memory access that is not predicated by it: no garbage.

    Refused: `tile.reduce max %x over ["j"]` where `%x` derives from a load with presence on "j" and no select to -inf follows.
    Shares nothing with the passes that insert; reads no attribute but a load's fill, which is what the lowering obeys.
  }];
}

def VerifyTileKnown : Pass<"verify-tile-known", "::selvedge::tile::KernelOp"> {
  let summary = "Prove what tile.known claims";
  let description = [{
    Each compare behind a `tile.known` must hold in all lanes, given the bounds of the loops around it, the block sizes, and what the op's `requires` promises about values in memory. Needs
    `tile-bind-blocks`.

    Accepted: in `scf.for %j = 0 to %e step 64` with `%e = min(N, len) - 63`, `tile.known (tile.range %j < splat len)`.
    Refused: the same with `%e = min(N, len) - 62`.
  }];
}

def VerifyTileParts : Pass<"verify-tile-parts", "::mlir::ModuleOp"> {
  let summary = "Prove that passes which split loops leave out no step that does something, and run none twice";
  let description = [{
    Runs the passes `of` and compares each program with a copy that they do not see (translation validation; nothing that they leave is believed). Accesses, reductions of the loops and branches are
    the same, in the same order, on the same values; a `tile.known` counts as the predicate that it claims. In the place of a loop there may be several, its parts, each with its body and the
    values that the part before carries. Proved of their bounds, for every size of a block:

    - a part runs steps of the loop only: it begins a whole number of steps after the loop's lower bound, and ends at or before its upper bound;
    - every step of a part comes after every step of the parts before it: none runs twice;
    - a step that no part runs does nothing: wherever all of the presence of a sink is true, the step is no step of the loop, and with such sinks no carried value changes and nothing is stored.

    Before:
    ```mlir
    scf.for %j = %c0 to %N step %bn { %in = arith.cmpi slt, (tile.range %j), (tile.splat %len) ... }
    ```
    Accepted: `scf.for %j = %c0 to %full step %bn` and `scf.for %j = %up to %last step %bn` with `%last = min(N, len)`, `%full = %last - %bn + 1` and `%up = ceil(%full / %bn) * %bn`.
    Refused: the same with `%last = min(N, len) - 1`, with `%up + %bn`, with the second loop twice, or with one of them before the other.

    Without `of`, a program `NAME.before` is what the program `NAME` is compared with.
  }];
  let constructor = "::selvedge::verify::createVerifyTileParts(nullptr)";
  let options = [Option<"of", "of", "std::string", "\"\"", "Passes that are verified">];
}

def VerifyTileFolds : Pass<"verify-tile-folds", "::mlir::ModuleOp"> {
  let summary = "Prove that passes which fold leave every result as it is";
  let description = [{
    Runs the passes `of` and compares each program with a copy that they do not see. Both have the same stores, loops and branches in the same order: stores of the same value to the same elements of the same tensor
    under the same predicates, loops with the same bounds and the same initial and yielded values. What reaches none of these may come and go. Values are compared as functions of lanes:

    - a scalar and a tile that holds it in all lanes are the same; integers are sums of multiples modulo 2^width;
    - a compare of equal integers, a condition with a constant side, and a select by a constant are what they give;
    - a predicate that always holds says nothing; a sink that no lane enters gives its identity;
    - a loop whose bounds are numbers and that has one step is that step;
    - a load reads the same if its tensor, indices, presence and fill are the same and as much was stored to the tensor before;
    - a product is the sum of its products.

    Before: `%p = arith.cmpi slt, %i, %i`, `%y = arith.select %p, %a, %b`, `tile.store %y, %o[%i]`
    Accepted: `tile.store %b, %o[%i]`.
    Refused: `tile.store %a, %o[%i]`, no store, another presence, the same store of a tensor that is loaded behind another store.

    Without `of`, a program `NAME.before` is what the program `NAME` is compared with.
  }];
  let constructor = "::selvedge::verify::createVerifyTileFolds()";
  let options = [Option<"of", "of", "std::string", "\"\"", "Passes that are verified">];
}

def VerifyTilePacks : Pass<"verify-tile-packs", "::mlir::ModuleOp"> {
  let summary = "Prove that versions for some dims compute what the program does";
  let description = [{
    Runs the passes `of` and compares each packed version with its program, and each other program with itself, as they were before. A kernel of a version may have one range less: a range over a dim R, whose
    coordinate was a scalar, and another one in blocks have become one range in blocks, as long as both together. Proved:

    - the rows' axis has no indices but those that begin where a block does, and nothing is summed over it;
    - each store has the rows, so that it is made once for each pair;
    - with `r / R` for the row and `r mod R` for the scalar, all is as `verify-tile-folds` demands.

    A version for one part of what launches divide has one kernel for two. Its dim of parts is 1, and the condition says so. Proved:

    - the first of the two stores to temps alone, and no kernel of the version loads from them;
    - a load of the second has the elements and predicates of a store of the first, and is what was stored;
    - the stores of the second are those of the one kernel, in the same loops, and so are loops of the first.

    Accepted: `tile.store %v, %o[%row, %u]` with `%row = arith.divui %r, %R`, `%u = arith.remui %r, %R`.
    Refused: the same with `%row` and `%u` exchanged, with another dim than R, with a range of M pairs, or a store without the rows.

    Without `of` the pass compares a module with itself: a version whose program stands beside it.
  }];
  let constructor = "::selvedge::verify::createVerifyTilePacks()";
  let options = [Option<"of", "of", "std::string", "\"\"", "Passes that are verified">];
}

def VerifyTileNests : Pass<"verify-tile-nests", "::mlir::ModuleOp"> {
  let summary = "Prove that passes which make one loop of a loop over short loops run the same steps";
  let description = [{
    Runs the passes `of` and compares each program with a copy that they do not see. A loop of `count * k` steps that divides its index by `k`, where `k` is an extent over a step, rounded up, is taken apart
    again: into a loop over `count` entries, and in it one over `k` steps. Proved of the two programs then is what `verify-tile-parts` proves, the other way round:

    - operations are the same, in the same order, on the same values;
    - the inner loop runs every step of the program's, each once and in order;
    - a step that the program's does not have does nothing.

    The number of steps is cut at the largest extent, and no block is taken to have more than 4096 elements: an index that wraps nevertheless is refused by `verify-sm-bounds`.

    Before: `scf.for %t = %c0 to %n step %c1 { scf.for %j = %lo to %hi step %bn { ... } }` with `%hi - %lo <= 128`
    Accepted: `scf.for %s = %c0 to %n * %k step %c1 { %j = %lo + (%s mod %k) * %bn ... }` with `%k = ceil(128 / %bn)` and `%t = %s / %k`.
    Refused: the same with `ceil(64 / %bn)`, without the compare of `%j` with `%hi` in a sink, or with the list read at `%s`.

    Without `of`, a program `NAME.before` is what the program `NAME` is compared with.
  }];
  let constructor = "::selvedge::verify::createVerifyTileNests()";
  let options = [Option<"of", "of", "std::string", "\"\"", "Passes that are verified">];
}

def VerifyTileColumns : Pass<"verify-tile-columns", "::mlir::ModuleOp"> {
  let summary = "Prove that kernels over blocks of columns do together what they did with all columns at once";
  let description = [{
    Runs the passes `of` and compares each program with a copy that they do not see. A kernel may have one more range, its first one, by blocks of an axis that was whole, and as long as that. Proved:

    - no operation joins elements along the axis, and none but the axis' ranges depends on the block: an element is computed as before, in the one block that has it;
    - a store whose indices have the axis is made by every block, any other one by the first alone, whose presence ends with `%block < 1`;
    - no tensor that the kernel stores to is read there: the blocks run in any order.

    Then the range is taken back, and the programs must be the same operations in the same order on the same values.

    Accepted: `tile.store %l, %lse[%i] where(%in, %first)` with `%first = arith.cmpi slt, %block, %c1`.
    Refused: the same without `%first`; a sum over the axis; a range of the axis that begins at 0.

    Without `of`, a program `NAME.before` is what the program `NAME` is compared with.
  }];
  let constructor = "::selvedge::verify::createVerifyTileColumns()";
  let options = [Option<"of", "of", "std::string", "\"\"", "Passes that are verified">];
}

def VerifyTileIndices : Pass<"verify-tile-indices", "::mlir::ModuleOp"> {
  let summary = "Prove that passes which write indices anew access the same elements";
  let description = [{
    Runs the passes `of` and compares each kernel with a copy that they do not see. All but arithmetic of integers, and loads of integers from tensors that the kernel does not write, is the same operation in the
    same order. Its integers have the same normal form: a sum of multiples modulo 2^32, in which a quotient loses what is less than a common divisor of the rest and of what it is divided by, and a tile that has
    one value in all lanes is a scalar. A step of a loop begins at a multiple of its length if the first one does, which is proved by cases of the minima and maxima in the bounds; ranges do not wrap. A load of integers reads an element that the program
    reads, at least where the program does.

    Before: `%page = tile.load %table[%b, (arith.floordivsi (tile.range %j), %c64)] where(%in)`
    Accepted: `%page = tile.load %table[%b, (arith.floordivsi %j, %c64)]`, where each step of 64 begins at a multiple of 64.
    Refused: the same where steps begin anywhere, with `%c32`, or where `%more`, which does not guard the load before.

    Without `of`, a program `NAME.before` is what the program `NAME` is compared with.
  }];
  let constructor = "::selvedge::verify::createVerifyTileIndices(nullptr)";
  let options = [Option<"of", "of", "std::string", "\"\"", "Passes that are verified">];
}

def VerifyTileGuards : Pass<"verify-tile-guards", "::mlir::ModuleOp"> {
  let summary = "Demand guards for rows that nothing contributes to";
  let description = [{
    Runs the passes `of`, which expand softmax operations or schedule what they have become. A maximum of no term is -inf, and an exponential against it may be exp(-inf - -inf); a sum of no term is 0,
    and a quotient by it 0 / 0. Neither may be left without its guard, in any part of a loop, if the program had none such before the passes: what it writes itself gives what it gives.
    `verify-sm-demands` demands the same of kernels.

    Accepted: `exp2((s - (m == -inf ? 0 : m)) * c)`, `l == 0 ? 0 : acc * (1 / l)`.
    Refused: the same with `m`, with `m <= -inf`, with `acc * (1 / l)`, or with the arms swapped.
  }];
  let constructor = "::selvedge::verify::createVerifyTileGuards()";
  let options = [Option<"of", "of", "std::string", "\"\"", "Passes that are verified">];
}

def VerifyTileBlocks : Pass<"verify-tile-blocks", "::mlir::ModuleOp"> {
  let summary = "Prove that programs with bound sizes store what they did for these sizes";
  let description = [{
    Runs the passes `of`, which give each axis of a kernel a size, and compares each program with a copy that they do not see. With these sizes in place of its `tile.block_size`, each loop has the same bounds and
    steps, and all else is as `verify-tile-folds` demands; the order of axes that a reduction is over does not matter. Ranges are as long as before; the coordinate of one that is a constant of at most a block is 0.

    Before: `scf.for %j = %c0 to %N step (tile.block_size "BN")`
    Accepted: `scf.for %j = %c0 to %N step %c64` where the axes in blocks of `BN` have 64 lanes.
    Refused: the same with `%c32`, from `%c64`, or to another dim.

    Without `of`, a program `NAME.before` is what the program `NAME` is compared with.
  }];
  let constructor = "::selvedge::verify::createVerifyTileBlocks()";
  let options = [Option<"of", "of", "std::string", "\"\"", "Passes that are verified">];
}

def VerifyTileLoops : Pass<"verify-tile-loops", "::mlir::ModuleOp"> {
  let summary = "Prove that passes keep the loops and branches of kernels";
  let description = [{
    Runs the passes `of` and compares each kernel, of `tile` or of `sm`, with the kernel of a copy that it is made of. Both have the same loops and branches in the same order, nested alike: loops with the same
    bounds and steps, branches with the same conditions, and the same integers that they begin with and hand on. What else they compute is not looked at. Scalars are compared as by `verify-tile-folds`; a number
    that a tile gives is the same if as many came before it. In a kernel of `sm` coordinates are digits of the number of the thread block, the last range's first, times the sizes of blocks.

    Before: `scf.for %j = %c0 to %N step %c64`
    Accepted: the same, with other values carried.
    Refused: from `%c64`, to another dim, with `%c32`, in other branches, or none.
  }];
  let constructor = "::selvedge::verify::createVerifyTileLoops()";
  let options = [Option<"of", "of", "std::string", "\"\"", "Passes that are verified">];
}

def VerifyTileBounds : Pass<"verify-tile-bounds", "::selvedge::tile::KernelOp"> {
  let summary = "Prove that every access stays inside its tensor wherever its presence is true";
  let description = [{
    For every dimension of every `tile.load` and `tile.store`: all of the presence true implies 0 <= index < extent. Known are the kernel's ranges, loops around the access, the lanes of an axis
    (at most 16384 in a block), the compares in the presence, and that dims and extents are at most 2^31 - 16385. i32 arithmetic that may wrap, scalars of the caller and values read from memory may
    be anything: a promise of the caller is not used. A predicate that mentions an optional tensor does not replace the test whether it was passed. Loops end: their bounds are not unbounded data.

    Linear reasoning by MLIR's simplex over monomials, so that `g * R + u < G * R` follows from `g < G` and `u < R`.

    Refused: `tile.load %x[%j]` on an extent N without `%j < N` in its presence, or with `%j <= N`. Accepted: `%j < N - 1`, which is a matter of results, not of memory.
  }];
}

def VerifyTileCoverage : Pass<"verify-tile-coverage", "::selvedge::tile::ProgramOp"> {
  let summary = "Prove that every element of every output is stored";
  let description = [{
    For each output that is not kept, one store writes all of its shape, or the kernel `init_<output>` does, with the output's `out_init`, before every other kernel that stores it. A store covers
    the shape if it stands under no condition and

    - the index of each dimension is a number whose digits are ranges of the kernel, loops from 0 and lanes: the lowest digit weighs 1, each other one as much as all below it count
      (`g * R + u` with `u` below R), and all together count at least to the extent. No digit serves two dimensions: `%y[%i, %i]` is a diagonal;
    - ranges and loops that are no digits run at least once whenever the output has elements;
    - its presence is true wherever all indices are inside of the shape, proved as in `verify-tile-bounds`. Of a range that is no digit the first iteration is enough: `%c < 1`.

    Two stores cover the shape together if one of them is that of the init kernel, and leaves out the rows of segments only (`%i < cu[0] || %i >= cu[B]`), or of parts of equal length (`i in (a*P +: P)`), and
    the other one, the only one of its kernel, writes these: its index is the kernel's range over the tiles of the segments, and its presence says where a segment ends. That their tiles are all rows is executed by `verify-sm-outputs`.
    Where rows are counted from the first one of their segment (`%y[%b, %i - %first]`), the init kernel writes those behind its length, `%r >= cu[%b + 1] - cu[%b]`.

    A temp may be initialised from the first segment to the last one, `%i >= cu[0]` and `%i < cu[B]`. Then each load, store and addition of it is proved to lie behind `cu[%b]` and before `cu[%b + 1]`
    for some numbers `%b`, wherever it is present.

    Accepted: `tile.store %v, %y[%i] where(%i < M)` for `%i` in a range over M, or in a loop from 0 to M.
    Refused: the same with `%i < M - 1`, with a range over N, or in a loop to `kv_len[%b]`, unless an init kernel comes first.

    An output is loaded only by kernels behind one that has stored all of it, as a temp is, and never by a kernel that stores it. Refused: `tile.load %y[%i]` in the kernel that stores `%y`.
  }];
}

def VerifySmPadding : Pass<"verify-sm-padding", "::selvedge::sm::KernelOp"> {
  let summary = "Prove on forms seq, async and roles that absent lanes reach no sink and that shared memory is written before it is read";
  let description = [{
    Abstract interpretation of a kernel after `tile-to-sm`. Every presence predicate p of `sm.load` and `sm.copy` starts a fact "where p is false this lane does not exist and holds
    zero". Predicates are equal by expression and axis name, whoever holds the lanes (`#sm.layout`). Arithmetic keeps what it provably keeps: `exp2` of (-inf minus a guarded reference) is zero, an
    unguarded reference (`x > -inf ? x : 0`, or none) proves nothing.

    - `sm.reduce`: the identity at absent lanes of the axis, and wherever a predicate of its `presence` is false; each index of the axis is held once.
    - `sm.mma`: the annihilator pair there; equal extents of the contracted axis; a product with an absent key is an absent score, whatever it holds.
    - `sm.store`: a presence that implies every predicate of the value and of the indices. Loop bounds and branch conditions always exist.
    - `sm.copy`, `sm.stage`: the layout covers every element of the buffer, none outside. A buffer that `sm.mma` reads was written on every path, in this iteration.
    - `vector` accesses: the elements are registers and memory side by side, aligned.

    Where control flow joins a lane is what both paths leave. An arm of a branch may say that predicates are true in it (`sm.whole`, which `verify-sm-async` demands): a fact that these exclude, each by itself or all together as
    inequalities of indices, then speaks of the other arm alone.

    Refused: `sm.reduce max` of a product whose `select ..., -inf` is gone, tests another compare than the `presence`, or selects 0; `sm.mma` on a buffer that one branch does not copy.
    A lane that the program itself fills (`max(t else 0)`) is not in the `presence` and may hold anything that is defined.

    In forms async and roles the contents of a ring's stage are what the `sm.slot` that a product reads says, which `verify-sm-async` compares with the copies. `sm.fold` is a reduction, but weights that
    are zero or NaN pass as long as a vote for NaN guards the sum (`sm.any` of an unordered compare); `sm.contributes` has the demand of a product that lags; `sm.tma_store` clips what lies outside of
    its tensor. Predicates of carried tiles follow the carried index.

    Accepted: `%s = sm.slot %ring[%i] holds[%b, %j] where(%p)`, `sm.wgmma %weights, %s over "j"` with weights that are zero where `%p` is false.
    Refused: the same with a slot that does not say what it holds, or with the vote's compare `ogt` in place of `ugt`.
  }];
}

def VerifySmBounds : Pass<"verify-sm-bounds", "::mlir::ModuleOp"> {
  let summary = "Prove on forms seq and async that every access stays inside its tensor";
  let description = [{
    `verify-tile-bounds` for `sm.load`, `sm.store`, `sm.copy` and `sm.copy_async`, after predicates were simplified, sizes bound and the coordinates decoded from the block number. Shapes come from the `sm.plan` that
    launches the kernel, the range of the block number from the launch's grid: `(id / C) % R < R`, and what is left after all other counts are divided out is below the first count.

    Kernels with roles are left out: their roles tell each other indices, and `verify-sm-outputs` executes them.

    What a kernel, with or without roles, loads and stores is loaded first: the indices are equal, and a barrier of the block stands between load and store, or both have one layout in which
    every thread holds elements of its own.

    Refused: `sm.copy` of a block of 64 rows on an extent N without `%j < N` in its presence; `sm.copy_async` one step ahead without `%next < N`.
  }];
}

def VerifySmAlignment : Pass<"verify-sm-alignment", "::mlir::ModuleOp"> {
  let summary = "Prove that wide accesses are aligned wherever their variant is taken";
  let description = [{
    A launch takes a variant if each tensor of its `when` has a base, and strides of all dimensions but the last, that are multiples of `align` bytes, and a last stride of 1. From that alone follows,
    for each `sm.load`, `sm.store`, `sm.copy` and `sm.copy_async` with `vector` above 1, that its address is a multiple of its width: the tensor is in `when`, `align` is a multiple of the width, and
    the last index of what a thread accesses at once is a multiple of `vector`. A launch with a `when` of its own, which names tensors of the variant's, is taken where those alone are so. Bulk copies and tensor maps move 16 bytes
    and begin at words of so many. A launch passes what its kernel takes: no pointer is another tensor's.

    Accepted: `sm.variant <program> when ["q"] align 16` with `sm.load %q[%i, %j] vector 8` of bf16, `%j` a range that begins at a multiple of 8.
    Refused: the same with `when []`, with `align 8`, with `vector 16`, or with a range that begins at 4. Also `sm.tma_load %map[%row, %row]`, whose box
    begins at any column.
  }];
}

def VerifySmLaunches : Pass<"verify-sm-launches", "::mlir::ModuleOp"> {
  let summary = "Prove that a kernel that may start while others run waits before it uses what they do";
  let description = [{
    A `dependent` launch is not the first of its variant, and its kernel has an `sm.await_launch` among its own operations or those of a role, so that threads execute it on every path. Each operation that reads a tensor which a launch
    before it writes, or writes one that such a launch uses, stands behind a wait of its block or of one around it; none leaves the kernel before. Launches before it are those of all variants: the n-th ones stand for each other. A kernel
    ends only when what it waits for has ended. So by induction all launches before are complete where one goes on behind its wait, be some of them left out because their grids are empty.

    Accepted: `sm.await_launch`, `%x = sm.load %t[...]`.
    Refused: the other order, no `sm.await_launch`, a first launch that is `dependent`.
  }];
}

def VerifySmDemands : Pass<"verify-sm-demands", "::mlir::ModuleOp"> {
  let summary = "Compare the demands of scheduled kernels with those of the program that they come from";
  let description = [{
    Runs the passes `of`, which lower `tile` to `sm`, and compares each kernel with the one of the program, whose demands were noted before. A demand is a load of a tensor, a product or a reduction
    over an axis, with what each predicate of its presence says of axes, dims, scalars and tensors: `(j slt select(present kv_len, kv_len[b], N))`. The kernel must have each at least as often (with roles, alone or in a larger one, and where loops have become one twice, be they more: in a tile's first step and in the further ones), and none that the
    program does not have: passes may repeat a step, for its first and last round, and with roles may treat full steps as others, but a predicate that they drop, be it from a copy and its reader at once, is missed here.
    Where a loop of one step has become a branch (`sm-single-steps`) what is less than its bound there is called what the loop's number was. What `verify-sm-padding` proves then rests on predicates that scheduling has handed on.

    Before: `tile.reduce max %s over ["j"] where(%p, %q : tensor<64xi1, #tile.axes<"j">>, tensor<128x64xi1, #tile.axes<"i", "j">>)`
    Accepted: `sm.reduce max %s over "j" where(%p, %q : ...)` with the same compares, once or several times.
    Refused: the same without `%q`, or with a bound that is one more, although nothing else asks for it.
  }];
  let constructor = "::selvedge::verify::createVerifySmDemands()";
  let options = [Option<"of", "of", "std::string", "\"\"", "Passes that are verified">];
}

def VerifySmOrder : Pass<"verify-sm-order", "::mlir::ModuleOp"> {
  let summary = "Prove that kernels with roles take steps in another order only where that changes rounding alone";
  let description = [{
    Runs the passes `of`, which give kernels roles, and looks where these may take the steps of loops in another order than from the lowest index to the highest, or leave some out (`sm.idle`): where
    the index of a bulk copy in a loop is not the loop's number plus something fixed, or a step by itself is not before the loops. There the loops of the kernel as it was in form seq, those that copy tiles, must be free of
    order. Each carried value is

    - a maximum of itself and something that the steps before have no part in;
    - a sum with such;
    - a sum in the scale of such a maximum: `sum * exp2((before - r) * c) + reduce add exp2((x - r) * c)`, or a product with these weights, with one reference `r` and one factor `c`;

    loops that continue each other do the same, and a step stores nothing.

    Accepted: an online softmax whose steps `sm-warp-roles` takes from the last to the first.
    Refused: the same with a carried value `trace * 0.5 + x`, or with weights in the scale of the maximum before.

    Without `of`, a kernel `NAME.before` is what the kernel `NAME` is made of.
  }];
  let constructor = "::selvedge::verify::createVerifySmOrder()";
  let options = [Option<"of", "of", "std::string", "\"\"", "Passes that are verified">];
}

def VerifySmAsync : Pass<"verify-sm-async", "::selvedge::sm::KernelOp"> {
  let summary = "Prove that tokens and barriers order every access to shared memory";
  let description = [{
    Model checking of a kernel after `sm-async-copies`, at the granularity of tiles: two warps execute its loops, branches and scalar integers. What depends on data is tried out:
    a loop runs 0, 1, ... up to 2 * stages + 1 times for the largest ring (stages + 1 inside another such loop, which then runs at most 3 times), a branch goes both ways; values that are
    the same expression agree. Barriers order the same way in every schedule, so one schedule with vector clocks shows every race. Where choices multiply, the enumeration ends after
    half a million operations: outer loops of few iterations are complete by then. Demanded of each (buffer, stage), else an error:

    - a read follows the completion of the last write: each warp has awaited its part, then a barrier;
    - a write follows all earlier reads and writes by all warps;
    - nothing is read that was not written; a stage lies in its ring; a token is awaited once; no copy is in flight at the end;
    - a slot that says what it holds does hold that tile, with zeros at its absent elements.

    Accepted:
    ```mlir
    %t = sm.copy_async %x[...] to %slot ...
    sm.await %t
    sm.barrier
    %s = sm.mma %a, %slot init %zero over "D" ...
    ```
    Refused: the same with the barrier before the await, where another warp's part may be in flight.

    A kernel with roles is executed by two warps of each warpgroup, which stand for four, and the thread of each `single` role, once for each combination of a few concrete sizes (1, 2, 3 and 2 * stages + 1 blocks
    of the dimensions that it cuts into blocks). Bulk copies and `sm.wgmma` run beside their warp until an mbarrier, `sm.tma_drain` or `sm.wgmma_wait` says that they are done. Demanded beside
    the above: the bytes of the copies are those expected, no phase has other arrivals than its own, all agents return, registers of a product in flight are not used, nothing is
    read after the reader has released it, and `sm.proxy_fence` comes between `sm.stage` and what reads its buffer asynchronously.

    Accepted:
    ```mlir
    sm.wait %kfull[%s] parity %p
    %flight = sm.wgmma %q, %kslot over "d" ...
    %scores = sm.wgmma_wait 0, %flight
    sm.arrive %kempty[%s] per_warp
    ```
    Refused: the same with the arrival before the wait.
    Shares nothing with the passes that insert; reads no attribute that one of them leaves.
  }];
  let options = [Option<"nonempty", "nonempty", "bool", "false", "Do not try dimensions of 0: for kernels by hand that need at least one element">];
}

def VerifySmOutputs : Pass<"verify-sm-outputs", "::mlir::ModuleOp"> {
  let summary = "Execute the launches of each variant with small sizes: every access is inside its tensor, every output element written once";
  let description = [{
    What the other verifiers prove they prove of `tile` and of form seq; this one looks at what is emitted, forms async and roles, kernel by kernel in the order of their launches. All thread blocks of
    each launch are executed as `verify-sm-async` does it, with all of its demands, for a few sizes of the dims: two blocks of what is cut into blocks, the last one not full, and two or three of all else (heads,
    batches); a part of a block, with lengths of one and two steps, one more, one less, and none between others; the same without optional tensors; one step and a lane; nothing of what is cut last. Sizes get
    smaller until a budget of work suffices. Then others follow, at and beside multiples of blocks and steps, until every operation has been executed; the largest ones by some thread blocks. An operation that is
    neither executed nor proved never to be is an error. Sizes that take too long are a remark.
    Predicates and indices are computed lane by lane; integers in memory are those lengths, numbers are 1, -1, 1/2 and 0. Demanded, else an error:

    - every lane of a load, copy or store whose presence is true is inside of its tensor;
    - outputs alone are stored to, each element once by all thread blocks together. A launch that stores nothing but constants may come before and initialise it;
    - after the last launch every element of every output that is not kept has been written;
    - each kernel of the program is launched, in the program's order, each output that it stores has a store, rows of segments are all stored; an element of a temp is written before it is read.

    Launches with a `when` of their own may be replaced by those at the same place of a variant for all strides, which must be made of the same kernel. Some such sequences are executed, too.

    Accepted: `sm.launch @init_y`, `sm.launch @main`, where @main stores a part of `y`.
    Refused: the same in the other order, without the first launch, or with a grid of one thread block less.

    Runs the passes `of` first, which lower `tile` to `sm`, if there are any. Then each tile of registers is followed from where its elements were loaded to where they are stored: by axis the
    index of the first lane, and the coordinates that data are indexed with. What an operation joins must lie at one place, and wherever a product, reduction or load is executed its lanes must
    be those that the program has there: its presence, computed for that place. Which sink of the program an operation is the tensors tell whose elements it sums up; where that leaves several it must
    be one of them in all executions. The program is the one before all passes, if the driver has kept it.

    When a launch is over, every lane that the program sums up for rows that were stored, or of which other lanes were summed up, must have been summed up; kernels without roles do so once, where data do not decide. What is stored
    must be made of the tensors that the program makes it of, but for constants.

    Refused: a causal mask made of rows that begin one later than those of the scores; a step without predicates where the program has absent lanes; a loop over keys that begins a step late or ends one early; values loaded from the keys.
  }];
  let constructor = "::selvedge::verify::createVerifySmOutputs()";
  let options = [Option<"of", "of", "std::string", "\"\"", "Passes that are verified">];
}

#endif
