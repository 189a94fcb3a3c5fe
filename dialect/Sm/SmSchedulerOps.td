// Device operations of the sm dialect, form roles: which tile a thread block takes next.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_SM_SMSCHEDULEROPS_TD
#define SELVEDGE_DIALECT_SM_SMSCHEDULEROPS_TD

include "dialect/Sm/SmOps.td"

def Sm_NextTileOp : Sm_Op<"next_tile", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "number of the thread block's next tile, handed out at run time to whoever comes first";
  let description = [{
    A thread block starts with the tile of its own number and executes this once per tile that it has, by one thread, before it needs the result; from the launch's number of tiles on there is none. (Fixed numbers
    are the last one plus `sm.block_count`.) `counter` is 0 between launches: `sm.reset_tiles` sets it back. A launch has at least as many tiles as
    blocks, and a counter of its own while it runs. Lowers to one `atom.global.add`.
  }];
  let arguments = (ins Sm_CounterType:$counter);
  let results = (outs I32:$number);
  let assemblyFormat = "$counter attr-dict";
}

def Sm_ResetTilesOp : Sm_Op<"reset_tiles", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "sets the counter of `sm.next_tile` back to 0 where `number` is the launch's last";
  let description = [{
    Each thread block executes it once, with the number that told it that there is no further tile. So nothing waits for a number before it is needed.
  }];
  let arguments = (ins Sm_CounterType:$counter, I32:$number, I32:$tiles);
  let assemblyFormat = "$counter `at` $number `of` $tiles attr-dict";
}

#endif
