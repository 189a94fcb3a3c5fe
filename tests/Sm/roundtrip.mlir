// Form seq, form async and the host plan print, parse back, and survive the generic form.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %S/../Tile/roundtrip.mlir --tile-expand-softmax --cse '--tile-bind-blocks=arch=sm_80' --canonicalize --cse --tile-to-sm --canonicalize --cse -o %t.seq.mlir
// RUN: selvedge-opt %t.seq.mlir | selvedge-opt -mlir-print-op-generic | selvedge-opt | FileCheck %s --check-prefixes=CHECK,SEQ
// RUN: selvedge-opt %t.seq.mlir '-pass-pipeline=builtin.module(sm.kernel(sm-async-copies),cse)' -o %t.async.mlir
// RUN: selvedge-opt %t.async.mlir | selvedge-opt -mlir-print-op-generic | selvedge-opt | FileCheck %s --check-prefixes=CHECK,ASYNC
// CHECK: sm.plan "flash_fwd" dims ["B", "M", "G", "R", "N"]
// CHECK: sm.launch @flash_fwd_main_aligned grid {{.*}} block 128
// CHECK: sm.kernel @flash_fwd_main_aligned args [#sm.dim<"M">
// CHECK: sm.alloc : <"j" x "DV", 64 x 128 x bf16, swizzle 7
// CHECK: sm.block_id
// CHECK: sm.range {{.*}} #sm.layout<<"i" regs[: 2, 2] by[: 8, 16] lanes[: 0, 0, 1, 2, 4] warps[: 32, 64]>>>
// SEQ: sm.copy {{.*}} where({{.*}}) to {{.*}} layout {{.*}} vector 8
// ASYNC: sm.copy_async {{.*}} where({{.*}}) to {{.*}} layout {{.*}} vector 8
// ASYNC: sm.await
// ASYNC: sm.barrier
// ASYNC: sm.slot {{.*}} holds[{{.*}}] where({{.*}}) :
// CHECK: sm.mma {{.*}} init {{.*}} over "D"
// CHECK: sm.broadcast
// CHECK: sm.reduce max {{.*}} over "j" where({{.*}}) :
// CHECK: sm.convert {{.*}} sat
// CHECK: sm.mma {{.*}} over "j" where({{.*}}) :
// CHECK: sm.store {{.*}} vector 2
// CHECK: sm.return
