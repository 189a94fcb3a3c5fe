// Passes that decide how a kernel runs.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_PASSES_TD
#define SELVEDGE_COMPILER_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileExpandSoftmax : Pass<"tile-expand-softmax"> {
  let summary = "Replace softmax operations by their definition in plain tile operations";
  let description = [{
    Every step guards the reference: `r = max == -inf ? 0 : max`, so that rows without keys so far have weights of exactly 0 and no step computes
    `-inf - -inf`. The comparison is `max == -inf`, which is false for NaN.

    Before:
    ```mlir
    %p, %m1, %l1, %acc1 = tile.softmax_update %s, %m, %l rescales (%acc ...) over "j" ...
    ```
    After:
    ```mlir
    %t = tile.reduce max %s over ["j"] ...
    %m1 = arith.maximumf %m, %t
    %r = arith.select (%m1 == -inf), 0, %m1
    %p = math.exp2 ((%s - broadcast %r) * log2(e))
    %a = math.exp2 ((%m - %r) * log2(e))
    %l1 = %l * %a + (tile.reduce add %p over ["j"])
    %acc1 = %acc * broadcast %a
    ```
    Needs `tile-obligations` to have run: absent scores are -inf.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::selvedge::tile::TileDialect"];
}

def TileExpandProducts : Pass<"tile-expand-products"> {
  let summary = "Replace products that tensor cores do not take by multiplications and sums";
  let description = [{
    Tensor cores multiply two tiles of bf16 or of f16 with two axes each over one shared axis. Other products (f32 operands, a matrix and a vector, several contracted axes) are
    sums of products of elements, in f32. Comes before the safety passes, which see a plain reduction.

    Before: `%c = tile.dot %a, %b init %acc over ["k"] where(%p)`, `%b` a vector
    After: `%ab = arith.mulf %a, broadcast %b fastmath<contract>`, `%c = arith.addf %acc, (tile.reduce add %ab over ["k"] where(%p))`

    The flag lets the reduction add each product as it is made, by a fused multiply-add.

    In kernels that `in` names all products are: a product on tensor cores makes its rows and columns at least 16 long, and no plan may have room for that.
  }];
  let options = [ListOption<"in", "in", "std::string", "Kernels of which all products are replaced">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::selvedge::tile::TileDialect"];
}

def TileFlattenNests : Pass<"tile-flatten-nests", "::selvedge::tile::KernelOp"> {
  let summary = "Make the blocks of a list's entries steps of one loop";
  let description = [{
    A loop over a list whose entries are a few blocks each has short loops in it, and whatever runs ahead, copies or products, would end with each of them. Where the inner loop carries a
    softmax, its bounds are a small constant apart at most and each of its sinks tests its end, both loops become one with `ceil(extent / step)` steps per entry. An entry that ends early
    goes on with steps in which every lane is absent: they change nothing. `verify-tile-nests` compares both forms.

    Before:
    ```mlir
    scf.for %t = %c0 to %n step %c1 { %lo = tile.load %list[%t]; %hi = arith.addi %lo, %c128; scf.for %j = %lo to %hi step %bn { ... } }
    ```
    After, with `%k = ceil(128 / %bn)`:
    ```mlir
    scf.for %s = %c0 to %n * %k step %c1 { %t = arith.divui %s, %k; %lo = tile.load %list[%t]; %j = %lo + (%s mod %k) * %bn; ... }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def TileLoopParts : Pass<"tile-loop-parts"> {
  let summary = "Split loops where predicates become true everywhere, and skip steps that do nothing";
  let description = [{
    A predicate `index + lane <= bound` is true in all lanes of a step before some index and in none past another; both follow from its linear form. A loop becomes up to three: steps
    before all lower bounds hold, full steps, steps in which some upper bound cuts. In the full part the compares are wrapped in `tile.known`, which
    `verify-tile-known` proves and `tile-simplify-presence` removes with their loads' predicates and masks. Steps in which a predicate holds nowhere are left out where every
    carried value would keep its value. In a universal version, whose copies take longer than masks, what would become three loops becomes one, whose steps all test.

    Before:
    ```mlir
    scf.for %j = %c0 to %N step %bn { %in = arith.cmpi slt, (tile.range %j), (tile.splat %kv_len); tile.load %K[...] where(%in : ...) ... }
    ```
    After:
    ```mlir
    scf.for %j = %c0 to %full step %bn { %true = tile.known %in; tile.load %K[...] where(%true : ...) ... }
    scf.for %j = %full_up to %last step %bn { tile.load %K[...] where(%in : ...) ... }
    ```
    with `%last = min(N, kv_len)`, `%full = %last - %bn + 1`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::selvedge::tile::TileDialect"];
}

def TileSplitColumns : Pass<"tile-split-columns", "::selvedge::tile::KernelOp"> {
  let summary = "Give blocks of columns that no registers hold thread blocks of their own";
  let description = [{
    An accumulator of 16 rows and N columns takes a warp N/2 registers per thread; of more than 416 columns, a dimension bound at compile time, ptxas spills. Where nothing is summed up along the columns
    the kernel gets a range over blocks of them. The plan makes these as wide as registers allow, in equal parts, since what comes before the product (scores, their softmax) is computed again for each.
    What is stored without the columns the first block stores. A kernel that reads what it stores is left alone,
    and one with several such axes.

    Before:
    ```mlir
    tile.kernel @main ranges [<i, extent M, block "BM">] axes [..., <"DV", extent = 512>] {
    ^bb0(..., %i0: i32):
      %d = tile.range %c0 : tensor<?xi32, #tile.axes<"DV">>
      tile.store %o, %y[%i, %d] where(%in, %e)
      tile.store %l, %lse[%i] where(%in)
    ```
    After:
    ```mlir
    tile.kernel @main ranges [<DV, extent 512, block "BDV">, <i, extent M, block "BM">] axes [..., <"DV", block = "BDV">] {
    ^bb0(..., %d0: i32, %i0: i32):
      %first = arith.cmpi slt, %d0, %c1 : i32
      %d = tile.range %d0 : tensor<?xi32, #tile.axes<"DV">>
      tile.store %o, %y[%i, %d] where(%in, %e)
      tile.store %l, %lse[%i] where(%in, %first)
    ```
    Runs before the safety passes and verifiers, which see what it made; `verify-tile-columns` compares that with what it was.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TilePackRows : Pass<"tile-pack-rows", "::mlir::ModuleOp"> {
  let summary = "Give a program that reads the same operands for several blocks a second version that reads them once";
  let description = [{
    A range `u` that runs one by one, and a range `i` in blocks, while the operands of products that a kernel's loops load depend on neither: each `u` has a thread block of its own, and all load the
    same. Where `i` is short its blocks are mostly empty besides. The second version has one range `r` over both, `u` fastest, in blocks: rows of a tile are pairs, `i = r / R` and `u = r mod R`.
    What was the same for all rows because only `u` decided becomes a tile along them. It is for dims where packing can only gain: at least two `u`, not more than the smallest block has rows, and
    at most half as many `i` as that, so that packed blocks are at most half of the others.

    Before:
    ```mlir
    tile.program @op ... {
      tile.kernel @main ranges [<u, extent R>, <i, extent M, block "BM">] axes [<"i", block = "BM">, ...] {
      ^bb0(..., %u: i32, %i0: i32):
        %i = tile.range %i0
        %h = arith.addi (arith.muli %g, %R), %u
        tile.load %q[%i, %h, %d] ...
    ```
    After: the same, and
    ```mlir
    tile.program @op.packed ... packed_of @op where affine_map<()[M, R, ...] -> (R - 2, -R + 64, -M + 32)> {
      tile.kernel @main ranges [<i, extent M * R, block "BM">] axes [<"i", block = "BM">, ...] {
      ^bb0(..., %r0: i32):
        %r = tile.range %r0
        %i = arith.divui %r, (tile.splat %R)
        %u = arith.remui %r, (tile.splat %R)
        %h = arith.addi (tile.splat (arith.muli %g, %R)), %u
        tile.load %q[%i, %h, %d] ...
    ```
    Runs before the safety passes and verifiers, which see both programs.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::selvedge::tile::TileDialect"];
}

def TileSingleParts : Pass<"tile-single-parts", "::mlir::ModuleOp"> {
  let summary = "Give a program whose launches divide ranges into parts a second version for one part, which nothing joins";
  let description = [{
    A launch chooses how many parts `S` a range has. Each part is computed by thread blocks of its own, which store what they found in temps, and a second kernel joins the parts. Where there is one part
    it has nothing to do but to read and write. The second version, for `S == 1`, has one kernel for both: the second kernel's operations follow the first one's, with the value that was stored in place of
    each load, and the loop over the parts is its one step.

    The kernels follow each other; the first one stores to temps alone, and no other kernel accesses these. The second one has the first one's ranges and axes but for the parts, no product and no loop in
    blocks.

    Before:
    ```mlir
    tile.kernel @parts ranges [<s, extent S>, <i, extent M, block "BM">] ... {
      tile.store %o, %po[%s, %i]
    }
    tile.kernel @combine ranges [<i, extent M, block "CM">] ... {
      %sum = scf.for %s = %c0 to %S step %c1 iter_args(%t = %zero) { %p = tile.load %po[%s, %i]  scf.yield arith.addf %t, %p }
      tile.store %sum, %y[%i]
    }
    ```
    After: the same, and
    ```mlir
    tile.program @op.single ... version <single> of @op where affine_map<()[M, S] -> (-S + 1)> {
      tile.kernel @parts ranges [<i, extent M, block "BM">] ... {
        %sum = arith.addf %zero, %o
        tile.store %sum, %y[%i]
    ```
    Runs before the safety passes and verifiers, which see both programs. `verify-tile-packs` proves that the stores are the same.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::selvedge::tile::TileDialect"];
}

def TileSplitVariants : Pass<"tile-split-variants", "::mlir::ModuleOp"> {
  let summary = "Give a program that warpgroups will execute a second version for any strides";
  let description = [{
    Bulk copies and `wgmma` want other block sizes than the element-wise code that takes tensors of any strides. Programs whose kernels cannot use warpgroups stay alone.
    Pairs of which no tensor has a dimension may be more than 32 bits count, and so may the steps of a loop up to a product of dims (keys of pages). The universal version tests that; the other one is launched only
    where they are not.

    Before: `tile.program @op ...`
    After: `tile.program @op ...`, `tile.program @op.universal ... universal_of @op ...`
  }];
  let options = [Option<"arch", "arch", "std::string", "\"sm_80\"", "Target architecture">];
  let dependentDialects = ["::selvedge::tile::TileDialect"];
}

def TileUniformIndices : Pass<"tile-uniform-indices", "::selvedge::tile::KernelOp"> {
  let summary = "Make scalars of quotients that are equal in all lanes of a step";
  let description = [{
    Rows in pages of P are `table[b, j / P]` and `j mod P` of a range. Where the length of a step divides P and each step begins at a multiple of it, a step lies in one page: its number and what the table
    holds there are one scalar each, and the rows are the range, shifted. That a step begins at such a multiple follows from the loop's bounds and step. The table is read where the step's first lane is
    present; of a lane that the loop's end is compared with that is no matter. Predicates of lanes stay as they are. `verify-tile-indices` compares the kernel with what it was.

    Before: `%x = arith.floordivsi (tile.range %j), (tile.splat %c64)`, `%page = tile.load %table[%b, %x] where(%in)`, `tile.load %k[%page, (arith.subi (tile.range %j), (arith.muli %x, %c64)), %d]`
    After: `%n = arith.floordivsi %j, %c64`, `%page = tile.load %table[%b, %n] : i32`, `tile.load %k[%page, (arith.addi (tile.splat (arith.subi %first, %j)), (tile.range %j)), %d]`, `%first` a multiple of the step
    in 0..63
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::selvedge::tile::TileDialect"];
}

def TileRowClasses : Pass<"tile-row-classes", "::mlir::ModuleOp"> {
  let summary = "Give a program that reads rows more than once versions for rows of some length";
  let description = [{
    Where loops that follow each other read the same rows, all but the first find them in the first cache of the multiprocessor, if what runs at a time fits: blocks resident x rows of each x bytes of
    a row. Registers decide how many threads are resident, so the longer a row, the more threads must share it; a short row keeps few busy. At 64 registers 1024 threads are resident, and
    of 228 KB (sm_90a) or 164 KB (sm_80) each has 128 bytes, rounded down to a power of two: T threads share rows of up to 128 T bytes of all tensors that are read so. There are versions for 32, 64
    and 256 threads, tried in this order, and one of 512 for whatever is longer. All read vectors of 16 bytes; the program itself serves the rest.

    Programs with products, and those whose rows are not along one run-time dim, stay alone. Rows that serve several rows of a thread block's tile (`x[i, j]` in a kernel over blocks of `i` and `k`) ask for no versions:
    what is computed of an element then takes longer than reading it again.

    Before:
    ```mlir
    tile.program @op ... {
      tile.kernel @main ... {
        scf.for %j = ... { tile.load %x[%i, (tile.range %j)] : tensor<?x?xbf16, #tile.axes<"i", "j">> ... }
        scf.for %j = ... { tile.load %x[%i, (tile.range %j)] : tensor<?x?xbf16, #tile.axes<"i", "j_1">> ... }
    ```
    After: the same, and
    ```mlir
    tile.program @op.upto2048 ... sized_of @op threads 32 where affine_map<()[M, N] -> (-N + 2048)> { ... }
    tile.program @op.upto4096 ... sized_of @op threads 64 where affine_map<()[M, N] -> (-N + 4096)> { ... }
    tile.program @op.upto16384 ... sized_of @op threads 256 where affine_map<()[M, N] -> (-N + 16384)> { ... }
    tile.program @op.aligned ... sized_of @op threads 512 { ... }
    ```
  }];
  let options = [Option<"arch", "arch", "std::string", "\"sm_80\"", "Target architecture">];
  let dependentDialects = ["::selvedge::tile::TileDialect"];
}

def TileInteriorParts : Pass<"tile-interior-parts", "::mlir::ModuleOp"> {
  let summary = "Let full steps of blocks that lie inside their tensors test nothing";
  let description = [{
    Loads of a full step may still test predicates of the block, such as the rows of a matrix product. Where all of them hold in all lanes the first of two loops runs, in which they are
    wrapped in `tile.known`; else the second. Programs for which bulk copies are planned (those with a universal version) stay as they are: descriptors test for nothing.

    Before:
    ```mlir
    %in = arith.cmpi slt, (tile.range %i0), (tile.splat %M)
    scf.for %k = %low to %high step %bk { tile.load %A[...] where(%in : ...) ... }
    ```
    After:
    ```mlir
    scf.for %k = %low to (min %high, %inside * 2^31) step %bk { %true = tile.known %in; tile.load %A[...] where(%true : ...) ... }
    scf.for %k = %low to (min %high, (1 - %inside) * 2^31) step %bk { tile.load %A[...] where(%in : ...) ... }
    ```
    with `%inside = max(min(1, %M - %i0 - %bm + 1), 0)`. Follows `tile-loop-parts`; loops with other predicates of the index are left alone, and loops whose predicates are all the same in every lane.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::selvedge::tile::TileDialect"];
}

def TileBindBlocks : Pass<"tile-bind-blocks"> {
  let summary = "Choose block sizes and warps for each kernel and bind them";
  let description = [{
    The plan solver ranks the candidates whose registers and shared memory fit the target; the first is bound, or the one that `tiles` names for the kernel (`main:BM128-BN64-w8;...`, see
    `PlanChoice.h`), for the reason that `origin` gives to `explain`. Extents are padded to a multiple of 16.

    Before: `%j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>`, `tile.block_size "BN"`.
    After: `%j = tile.range %j0 : tensor<64xi32, #tile.axes<"j">>`, `arith.constant 64 : i32`, and the kernel's `sizes` and `warps`.
  }];
  let options = [Option<"arch", "arch", "std::string", "\"sm_80\"", "Target architecture">,
                 Option<"tiles", "tiles", "std::string", "", "Plans to bind instead of the first">,
                 Option<"origin", "origin", "std::string", "", "Who chose them, and why">];
  let dependentDialects = ["::selvedge::sm::SmDialect", "::mlir::arith::ArithDialect", "::selvedge::tile::TileDialect"];
}

def TileToSm : Pass<"tile-to-sm", "::mlir::ModuleOp"> {
  let summary = "Lower bound tile kernels to sm.seq and sm.plan";
  let description = [{
    Gives every axis a layout over registers, threads and warps, turns operands of `tile.dot` into copies to shared memory (or keeps them in registers where the
    layout allows it), and writes the host plan with two variants: `aligned` (16-byte accesses) and `universal`,
    after `packed` (16-byte accesses) if there is a packed program. Reductions and products keep their presence, for `verify-sm-padding`.

    Before: `%k = tile.load %K[...] where(...) {fill = zero}`, `tile.dot %q, %k over ["D"] where(%pd)`.
    After: `sm.copy %K[...] where(...) to %buf ...`, `sm.mma %qbuf, %buf init %zero over "D" where(%pd)`.
  }];
  let options = [Option<"arch", "arch", "std::string", "\"sm_80\"", "Target architecture">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::selvedge::sm::SmDialect"];
}

def SmMaskWide : Pass<"sm-mask-wide", "::selvedge::sm::KernelOp"> {
  let summary = "Absent lanes are made zero before a tile is narrowed";
  let description = [{
    An operand of 16 bits is zero in its absent lanes. Elements of 16 bits share registers by twos, which a choice per element would take apart and put together again; of f32 it is one operation. What
    is zero before it is narrowed is zero behind it.

    Before: `%n = sm.convert %x sat`, `%m = arith.select %present, %n, 0`
    After: `%w = arith.select %present, %x, 0`, `%m = sm.convert %w sat`
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::selvedge::sm::SmDialect"];
}

def SmScheduleRoles : Pass<"sm-schedule-roles", "::mlir::ModuleOp"> {
  let summary = "Decide how warps with roles are to execute kernels of form seq";
  let description = [{
    For kernels whose copies a TMA descriptor can describe and whose products have 64 rows per warpgroup. The decisions are an attribute of the kernel, `#sm.roles`, which says what each of them means; `sm-warp-roles` emits them.

    A product whose operand is computed from another product of its step lags one step behind, beside the products of the next; warpgroups start their products in turn (named barriers), so that one computes while another multiplies. In such loops an online
    softmax speculates that its maximum stays. With such a softmax the steps of a tile go from the last keys to the first: masked ones meet its first step, which does not speculate, and no other has rows to clear. The masked loops on either side of a window and the one between become
    one loop, which masks scores in a branch. Where a mask lets the rows of warpgroups end at different steps, these go forwards, and a warpgroup is idle in those after its own. Loops that only add products up become one loop, whose products stay in flight beside those of the next step.

    The tiles of loops travel through rings of two to four slots, as shared memory allows (five where warpgroups leave steps out). Results leave in bulk, in parts where they do not fit as a whole; beside products that cross warpgroups they take the slots of an operand of which each warpgroup reads its own part, if the next tile's operands then fit.

    The kernel is changed where that helps. What a step loads along rows and columns, a bias for one, comes through a ring, too, and lanes read it (`sm.read`): where it ends with the tensor alone, and two slots fit. So do vectors along columns that a step loads of sums of the op, the rows' normalizers for one. Where steps multiply what they stage,
    masked loops on either side of one of whole steps become one loop with it: a branch has what masked steps compute, and what whole ones do. Products that lag and vectors of the next step then go on where the masks end. Other kernels stay as they are, and so do those of which some operation
    has no place in the form: their location says why (`strict`: an error).

    Before: `sm.kernel @main args [...] warps 8 { scf.for %j { sm.copy %K[...] to %buf; %s = sm.mma %q, %buf ... } }`
    After: `sm.kernel @main args [...] warps 8 schedule <overlap = lagged, order = backward, slots = 2, tileSlots = 2, storeParts = 1, speculates = true, pipelined = true, inTurn = true> { ... }`
  }];
  let options = [Option<"report", "report", "bool", "false", "Say why a kernel stays as it is">,
                 Option<"strict", "strict", "bool", "false", "Fail where a kernel with a plan for roles cannot have them">,
                 ListOption<"without", "without", "std::string", "Kernels that stay as they are, named as in a choice of plans">,
                 ListOption<"loads", "loads", "std::string", "Kernels whose lanes load what a step reads, named the same way">,
                 ListOption<"apart", "apart", "std::string", "Kernels whose masked loops and the one between stay apart, named the same way">,
                 ListOption<"off", "off", "std::string", "What schedules leave out: turns, pipeline, backward, speculation, lag">,
                 Option<"slots", "slots", "int64_t", "4", "Most slots of a ring">,
                 Option<"drop", "drop", "bool", "false", "Leave out variants that warpgroups would execute: the last one serves all tensors">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::selvedge::sm::SmDialect"];
}

def SmWarpRoles : Pass<"sm-warp-roles", "::mlir::ModuleOp"> {
  let summary = "Let one thread copy in bulk while warpgroups multiply (form roles)";
  let description = [{
    Emits what the kernel's `schedule` says (`sm-schedule-roles`); kernels without one stay as they are. Copies move to a role of one thread; the tiles of loops travel through rings, each guarded by a full and an empty mbarrier. The other role executes everything else on 64 rows per warpgroup, with `wgmma` for
    products, and releases a slot after the last product that reads it is complete. Reductions and products keep their presence, and slots say what they hold.
    Predicates that are bounds of the tensor are left to the descriptor, which reads zeros beyond them; rows that others
    remove are cleared before they are read (`sm.clear`). Where a softmax speculates, weights are taken against the maximum of the steps
    before, and a warp in which the sum of a thread's weights grows past a limit takes the exact step. Joined loops mask scores in a branch (`sm.whole` says in the other arm that none is absent); in steps that a warpgroup leaves out (`sm.idle`) it passes its turn and releases their tiles.
    Where the loops' bounds are the same for all thread blocks the launch becomes persistent, and neighbouring tiles share operands where steps bring all of them. Results leave
    through shared memory by TMA where their rows are whole words of 16 bytes, else thread by thread: a branch decides where the extent is known at run time only. Where they leave in parts, what is computed from accumulators is computed part by part. The variant is renamed to `bulk`. Rows that are pairs of indices are copied in pieces (`#sm.pairs`). A schedule that
    the kernel does not allow is an error.

    Before: `scf.for %j { sm.copy %K[...] to %buf; %s = sm.mma %q, %buf ... }`
    After:
    ```mlir
    sm.role "copy" ... single { scf.for %j { sm.wait %empty; sm.expect %full; sm.tma_load %K[...] to %slot signal %full } }
    sm.role "products" ... { scf.for %j { sm.wait %full; %s = sm.wgmma %q, %slot ...; sm.wgmma_wait 0, %s; sm.arrive %empty } }
    ```
  }];
  let options = [Option<"slots", "slots", "int64_t", "4", "Most slots of a ring that the schedule could have had, for explanations">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::selvedge::sm::SmDialect"];
}

def SmVectorsAhead : Pass<"sm-vectors-ahead", "::selvedge::sm::KernelOp"> {
  let summary = "Load vectors of a step of products one step ahead";
  let description = [{
    In kernels without roles. A step would wait for what it loads from global memory: a vector beside products, such as the rows' normalizers. Each thread of a warp loads one or two elements of the next step's, and threads give each
    other what they need by shuffles when it is used. Only where every element exists: one that does not is absent in its own step alone.

    Before: `scf.for %i ... { %l = sm.load %lse[%h, %range] : ... -> tensor<64xf32, #columns> }`
    After: `scf.for %i ... iter_args(%held = %first) { %next = sm.load ... -> tensor<64xf32, #spread>; %l = sm.relayout %held; scf.yield %next }`
  }];
  let dependentDialects = ["::selvedge::sm::SmDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def SmEarlyLoads : Pass<"sm-early-loads", "::selvedge::sm::KernelOp"> {
  let summary = "Load what a step reads from global memory before its products are awaited";
  let description = [{
    In kernels with roles. Threads that multiply read biases and masks from global memory themselves. A load behind the wait for a product begins when that product is done, and its latency is not hidden. Loads of a step stand at its
    beginning instead, with the arithmetic of their indices. Only loads of tensors that the kernel does not write, whose indices each thread knows before: others stay, and so do vectors.

    Before: `scf.for %j ... { sm.wait %full; %p = sm.wgmma ...; %s = sm.wgmma_wait 0, %p; %b = sm.load %bias[%i, %j]; arith.addf %s, %b }`
    After: `scf.for %j ... { %b = sm.load %bias[%i, %j]; sm.wait %full; %p = sm.wgmma ...; %s = sm.wgmma_wait 0, %p; arith.addf %s, %b }`
  }];
  let dependentDialects = ["::selvedge::sm::SmDialect"];
}

def SmWideStores : Pass<"sm-wide-stores", "::selvedge::sm::KernelOp"> {
  let summary = "Let threads that store or add to memory touch longer parts of rows";
  let description = [{
    Of an accumulator whose rows are contiguous in memory threads hold pairs, and four of them what lies side by side. Threads exchange registers by shuffles.

    Stores of vectors: until threads side by side touch a whole sector of 32 bytes, or each a vector of 16 bytes. Of bf16 each thread then stores 8 bytes instead of twice 4, and a sector is written at once.
    Additions, one element each: sixteen threads touch a row instead of eight, and an instruction half as many rows (of an H200: 1.36 ms instead of 1.85 for what takes 3.81 by columns of accumulators).

    Before: `sm.store %t, %o[%i, %d] vector 2`, `"d" regs[: 2, 8] by[: 1, 8] lanes[: 2, 4, 0, 0, 0]`
    After: `%w = sm.relayout %t; sm.store %w, %o[%i, %d2] vector 4`, `"d" regs[: 4, 4] by[: 1, 16] lanes[: 8, 4, 0, 0, 0]`
  }];
  let dependentDialects = ["::selvedge::sm::SmDialect", "::mlir::arith::ArithDialect"];
}

def SmReduceScratch : Pass<"sm-reduce-scratch", "::selvedge::sm::KernelOp"> {
  let summary = "Give what exchanges parts between threads a buffer, and a barrier where it is used again";
  let description = [{
    Reductions across warps, and tiles that other threads need in another layout. What they exchange is then in the program, and `verify-sm-async` orders it like any other buffer. A loop whose rounds pass another barrier, such as that of a second reduction, needs none.

    Before: `scf.for { %m = sm.reduce max %x over "j" ... }`, the axis spread over warps
    After: `%parts = sm.alloc ...`, `scf.for { %m = sm.reduce max %x over "j" through %parts ...; sm.barrier }`
  }];
  let dependentDialects = ["::selvedge::sm::SmDialect"];
}

def SmDependentLaunches : Pass<"sm-dependent-launches", "::mlir::ModuleOp"> {
  let summary = "Let each launch of an op but the first begin while those before it run";
  let description = [{
    For targets whose kernels can wait for each other. Starting a kernel takes some microseconds, as long as a short kernel runs. Thread blocks of a dependent launch start as soon as those of the launch before leave room, and wait
    until that launch is complete before they first read what an earlier one writes, or write what one uses: roles each for themselves, other kernels at one place, or at last where they end. The launch before
    admits them where it begins, or behind its own wait if it begins with that: its own thread blocks come first.
    The first launch of an op depends on none: what ran before may be anybody's.

    Before: `sm.launch @main ...`, `sm.launch @combine ...`
    After: `sm.launch @main ...`, where @main begins with `sm.admit_launch`; `sm.launch @combine ... dependent`, where @combine begins with `sm.await_launch`
  }];
  let dependentDialects = ["::selvedge::sm::SmDialect"];
}

def SmDropPresence : Pass<"sm-drop-presence", "::selvedge::sm::KernelOp"> {
  let summary = "Drop what only the verifiers read: the presence of sinks and the contents of slots";
  let description = [{
    After it no operand is left that costs an instruction without having an effect. Operations that only those operands needed go too.

    Before: `%s = sm.slot %ring[%i] holds[%b, %j] where(%p)`, `%m = sm.reduce max %x over "j" where(%p)`
    After: `%s = sm.slot %ring[%i]`, `%m = sm.reduce max %x over "j"`
  }];
}

def SmFoldWeights : Pass<"sm-fold-weights", "::selvedge::sm::KernelOp"> {
  let summary = "Exponents of weights by one multiplication and addition";
  let description = [{
    A weight is exp(score - normalizer), and 0 where the score is -inf. Where all normalizers of a warp's threads are smaller than 2^100 in magnitude, which they hardly ever are not, a score of -inf has
    the exponent -inf, and the factor of the scores, that of the exponent and the difference are one operation. Elsewhere (Inf, NaN, what is too large) the warp computes as the program says. The weights
    are equal but for rounding.

    Before: `%x = arith.mulf %s, %scale`, `%w = select (arith.cmpf oeq, %x, -inf), 0, (math.exp (arith.subf %x, (sm.broadcast %n)))`
    After:
    ```
    %n2 = arith.mulf %n, -log2e
    %w = scf.if (sm.any (arith.cmpf uge, |%n|, 2^100)) { as before } else { math.exp2 (math.fma %s, %scale * log2e, (sm.broadcast %n2)) }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::selvedge::sm::SmDialect"];
}

def SmKeepInfinity : Pass<"sm-keep-infinity", "::selvedge::sm::KernelOp"> {
  let summary = "Saturating narrowing keeps Inf";
  let description = [{
    `as T` saturates finite values and keeps Inf and NaN, but `cvt.satfinite` turns Inf into the largest number (PTX ISA, "cvt") and `cvt` what is too large into Inf. Where a warp gets Inf or NaN from
    the latter it chooses lane by lane. Narrowing that clamps, as that of softmax weights (`tile-clamp-weights`), is left alone. Where what is narrowed is computed again if it is not finite (`tile-exact-masks`), this test
    stands before that one: what is not finite is not finite narrowed. Such tests become `sm.not_finite`, which takes one operation per register instead of three.

    Before: `%n = sm.convert %x sat`
    After:
    ```
    %kept = sm.convert %x inf
    %found = sm.not_finite %kept
    %n = scf.if %found { select (arith.cmpf oeq, |%x|, inf), %kept, (sm.convert %x clamp) } else { %kept }
    ```
    Before: `%e = scf.if (sm.any (arith.cmpf uge |%x|, inf)) { %again } else { %x }`, `%n = sm.convert %e sat`
    After:
    ```
    %kept = sm.convert %x inf
    %n = scf.if (sm.not_finite %kept) {
      %e = scf.if (sm.not_finite %x) { %again } else { %x }
      select (arith.cmpf oeq, |%e|, inf), (sm.convert %e inf), (sm.convert %e clamp)
    } else { %kept }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::selvedge::sm::SmDialect"];
}

def SmSingleSteps : Pass<"sm-single-steps", "::selvedge::sm::KernelOp"> {
  let summary = "Make branches of loops that have one step at most";
  let description = [{
    Such as those for what whole steps leave: there is nothing to copy ahead, no ring that wraps and no buffer that is used again. Kernels with roles stay as they are: theirs are steps of one pipeline.

    Before: `%r = scf.for %j = %low to %high step %c64 iter_args(%x = %a) { ... scf.yield %y }` with `%high` at most 64 above `%low`
    After: `%r = scf.if (arith.cmpi slt, %low, %high) { ... scf.yield %y } else { scf.yield %a }`
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::selvedge::sm::SmDialect"];
}

def SmSkipEmptyTiles : Pass<"sm-skip-empty-tiles", "::selvedge::sm::KernelOp"> {
  let summary = "Have tiles without a row take no steps";
  let description = [{
    Segments are given more tiles than they need (`requires segments(cu, N)`). The others have rows of no segment, of which no store writes one: their loops end before the first step, and loops of one step that have become branches are not taken. Tiles that are counted from dims alone all
    have rows, and kernels with roles are not handed tiles without. Bounds become smaller by a minimum, so that what was known of them still is.

    Before: `scf.for %j = %low to %high step %c64 { ... }`, and each store tests `arith.cmpi slt, (sm.range %first), (sm.splat %end)`
    After: `%room = arith.select (arith.cmpi slt, %first, %end), %c2147483647, %c0`, `scf.for %j = %low to (arith.minsi %high, %room) step %c64 { ... }`
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def SmLazySoftmax : Pass<"sm-lazy-softmax", "::selvedge::sm::KernelOp"> {
  let summary = "Have an online softmax raise its maximum only when scores outgrow it";
  let description = [{
    Weights and sums are the same against any reference, as long as no weight leaves the range of its type. A step takes its weights against the maximum that it finds, while no exponent of 2 exceeds it by more than 8; no
    accumulator is rescaled then and no thread talks to another. Where one does, or is NaN, a warp's threads vote, reduce the step's maximum and rescale. The factor of the scores and log2(e) are one, exponents one
    multiply-add each, and every thread sums up its own weights: threads meet after the loop. A factor that is not positive takes the second way in each step; masked scores, which are -inf, are not multiplied by one.
    Kernels with roles have a step of their own; rows that several warps share stay as they are, and so do softmaxes without accumulators, which wait for memory.

    Before: `%top = sm.reduce max %s`, `%m = maximumf %max, %top`, `%w = exp2 ((%s - ref %m) * log2e)`, `%acc * alpha`
    After: `%over = sm.any (sm.fold max %s * %f > %max + 8)`, `%m, %sum, %acc = scf.if %over { reduce, rescale } else { %max, ... }`, `%w = exp2 (fma %s, %f, -ref %m)`
  }];
  let options = [ListOption<"without", "without", "std::string", "Kernels that stay as they are, named as in a choice of plans">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::selvedge::sm::SmDialect"];
}

def SmLongTilesFirst : Pass<"sm-long-tiles-first", "::selvedge::sm::KernelOp"> {
  let summary = "Take the tiles of a row of the grid from the longest to the shortest";
  let description = [{
    Thread blocks start in the order of their numbers. Where the number of steps grows along the fastest range (a causal mask) its last tiles come first, so that short ones fill what is left of the chip at the end. With `windows`
    blocks take several rows of the grid together, tiles of equal length beside each other: short tiles of one row otherwise begin beside long ones of the next. Kernels with roles order their tiles themselves.

    Before: `%block = sm.block_id; %place = arith.remui %block, %count`
    After: `%block = sm.block_id windows %count; %place = arith.remui %block, %count; %i = (%count - 1) - %place`
  }];
  let options = [Option<"windows", "windows", "bool", "false", "Take tiles of equal length of several rows beside each other">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::selvedge::sm::SmDialect"];
}

def SmAsyncCopies : Pass<"sm-async-copies", "::selvedge::sm::KernelOp"> {
  let summary = "Make copies asynchronous and pipeline the loops that contain them (form async)";
  let description = [{
    A copy whose operands depend on the loop's index and on values from outside only is issued one iteration ahead into a ring of `stages` buffers. One await and
    one barrier at the top of the iteration make the current stage visible and prove that every warp is done with the stage that the next copies fill.
    The copies of a branch are issued at its beginning, into slots of the rings of the loops beside it, and each is awaited before its first use.
    Where two buffers take more than every GPU has (99 KB), and one each does not, a kernel of few warps has one each: what is read first is issued again behind its last reader, what is read later at the top of the iteration.
    So it has where two take more than `shared`, or than the devices of its version have; copies that do not come one after the other are then issued again behind their last readers.
    Other copies are issued where they stood and awaited before their first use, unless that is a loop whose awaits cover them; an await leaves those in flight that were issued after its own in the same block. Slots say what they hold, for the verifiers.

    Before: `scf.for %j { sm.copy ... to %buf; sm.mma %a, %buf ... where(%p) }`
    After: `sm.copy_async (first)`, `scf.for %j { sm.await; sm.barrier; sm.copy_async (next); sm.mma %a, %slot ... }`
  }];
  let options = [Option<"stages", "stages", "int64_t", "2", "Buffers per pipelined copy">,
                 Option<"shared", "shared", "int64_t", "0", "Bytes of shared memory that a thread block has; 0: any number">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::selvedge::sm::SmDialect"];
}

#endif
