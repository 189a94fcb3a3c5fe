// The independent verifier: it reads the IR and trusts nobody.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_PASSES_TD
#define SELVEDGE_COMPILER_VERIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

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

def VerifySmAsync : Pass<"verify-sm-async", "::selvedge::sm::KernelOp"> {
  let summary = "Prove that tokens and barriers order every access to shared memory";
  let description = [{
    Model checking of a kernel after `sm-async-copies`, at the granularity of tiles: two warps execute its loops, branches and scalar integers. What depends on data is tried out:
    a loop runs 0, 1, ... up to 2 * stages + 1 times for the largest ring (stages + 1 inside another such loop, which then runs at most 3 times), a branch goes both ways; values that are
    the same expression agree. Barriers order the same way in every schedule, so one schedule with vector clocks shows every race. Where choices multiply, the enumeration ends after
    half a million operations: outer loops of few iterations are complete by then. Demanded of each (buffer, stage), else an error:

    - a read follows the completion of the last write: each warp has awaited its part, then a barrier;
    - a write follows all earlier reads and writes by all warps;
    - nothing is read that was not written; a stage lies in its ring; a token is awaited once; no copy is in flight at the end.

    Accepted:
    ```mlir
    %t = sm.copy_async %x[...] to %slot ...
    sm.await %t
    sm.barrier
    %s = sm.mma %a, %slot init %zero over "D" ...
    ```
    Refused: the same with the barrier before the await, where another warp's part may be in flight.
    Shares nothing with the passes that insert; reads no attribute that one of them leaves.
  }];
}

#endif
