// The sm dialect: how a kernel runs on a multiprocessor.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_SM_SMDIALECT_TD
#define SELVEDGE_DIALECT_SM_SMDIALECT_TD

include "mlir/IR/OpBase.td"

def Sm_Dialect : Dialect {
  let name = "sm";
  let cppNamespace = "::selvedge::sm";
  let summary = "kernels as executed by the warps of one thread block, and the host program that launches them";
  let description = [{
    One dialect, several forms, each lower than the one before:

    - `seq`: memory spaces, layouts, copies with their fills, MMA shapes; one logical thread, sequential.
    - `async`: copies return tokens, loops are pipelined, awaits and barriers stand where tokens are consumed.
    - `roles`: warpgroups do different work; rings of buffers guarded by mbarriers connect them; copies and products are bulk operations of the hardware.
    - `lanes`: per-thread scalars and vectors, one to one with llvm and nvvm intrinsics.

    A register tile is `tensor<64x128xf32, #sm.layout<...>>`: the encoding says which thread holds which element in which register. Elementwise
    operations are `arith` and `math` on such tensors, loops are `scf.for`.
  }];
  let dependentDialects = ["::selvedge::tile::TileDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

#endif
