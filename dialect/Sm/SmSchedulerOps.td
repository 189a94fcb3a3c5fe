// Device operations of the sm dialect: which tile a thread block takes next, and which launch follows.
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

def Sm_AwaitLaunchOp : Sm_Op<"await_launch", [ParentOneOf<["KernelOp", "RoleOp"]>, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until the launches before this one are complete, and what they have written is there";
  let description = [{
    Threads execute it before they read what an earlier launch of the op writes, or write what one uses, which `verify-sm-launches` proves of kernels whose launch is `dependent`: in a kernel all threads do, in a
    role its threads. The thread blocks of such a launch may start while the launch before it still runs. That one ends only behind its own wait if it is dependent, so all launches of the op before this one are
    complete behind the wait. Where a launch is not dependent nothing is waited for.
    Lowers to `griddepcontrol.wait` (PTX ISA, "griddepcontrol"). Example: `sm.await_launch`.
  }];
  let assemblyFormat = "attr-dict";
}

def Sm_AdmitLaunchOp : Sm_Op<"admit_launch", [HasParent<"KernelOp">, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "lets a dependent launch that follows begin, once all thread blocks have come here or ended";
  let description = [{
    Its thread blocks then take what room there is and wait (`sm.await_launch`): nothing that this kernel writes has to be there yet. Where no launch depends on this one nothing happens.
    Lowers to `griddepcontrol.launch_dependents`. Example: `sm.admit_launch`.
  }];
  let assemblyFormat = "attr-dict";
}

#endif
