// Device operations of the sm dialect, form roles: which tile a thread block takes next.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_SM_SMSCHEDULEROPS_TD
#define SELVEDGE_DIALECT_SM_SMSCHEDULEROPS_TD

include "dialect/Sm/SmOps.td"

def Sm_NextTileOp : Sm_Op<"next_tile", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "number of the thread block's next tile, handed out at run time to whoever comes first";
  let description = [{
    A thread block starts with the tile of its own number and executes this once per tile that it has, by one thread, before it needs the result; from `tiles` on there is none. (Fixed numbers
    are the last one plus `sm.block_count`.) `counter` holds one i32 that is 0 between launches: who takes the launch's last number sets it back. A launch has at least as many tiles as
    blocks, and a counter of its own while it runs. Lowers to one `atom.global.add`.
    Constraints:
    - (C1) the counter is a tensor of i32 with one dimension.
  }];
  let arguments = (ins Tile_TensorType:$counter, I32:$tiles);
  let results = (outs I32:$number);
  let assemblyFormat = "$counter `of` $tiles attr-dict `:` type($counter)";
  let hasVerifier = 1;
}

#endif
