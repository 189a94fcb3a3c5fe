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

#endif
