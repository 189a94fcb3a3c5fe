// Form roles prints, parses back, and survives the generic form.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %S/SM90/flash_bwd_d128.mlir | selvedge-opt -mlir-print-op-generic | selvedge-opt | FileCheck %s
// RUN: selvedge-opt %S/SM90/flash_bwd_d128.mlir -o %t.1.mlir
// RUN: selvedge-opt %t.1.mlir -mlir-print-op-generic | selvedge-opt -o %t.2.mlir
// RUN: diff %t.1.mlir %t.2.mlir
// CHECK: sm.role "load" first 0 warpgroups 1 registers 24 single {
// CHECK: sm.bulk_load {{.*}} to {{.*}} signal {{.*}} : <4, bf16>, <"i" x "e", 64 x 8 x bf16, swizzle 0, stages 1>, <arrivals 1, stages 2>
// CHECK: sm.role "add" first 0 warpgroups 1 registers 24 single warps 2 from 1 {
// CHECK: sm.bulk_reduce add {{.*}} to {{.*}} : <"thread" x "register", 128 x 32 x f32, swizzle 0, stages 1, panel 4>, <5, f32>
// CHECK: sm.role "differentiate" first 1 warpgroups 2 registers 240 {
// CHECK: sm.panel {{.*}} -> <"j" x "d", 64 x 64 x bf16, swizzle 7, stages 1, panel 64>
// CHECK: sm.wgmma {{.*}} over "e" plus({{.*}}) over ["d"] : tensor<64x8xbf16
// CHECK: sm.warp_sync
// CHECK: sm.wgmma {{.*}} init {{.*}} over "i" :
// CHECK: sm.stage_fragment
// RUN: selvedge-opt %S/SM90/flash_causal_d128.mlir | selvedge-opt -mlir-print-op-generic | selvedge-opt | FileCheck %s --check-prefix=NEXT
// NEXT: sm.next_tile %
// RUN: selvedge compile %templates/flash_fwd.tile --set D=64 --set causal=true --arch sm_90a --emit sm:seq -o - | selvedge-opt --sm-schedule-roles --sm-warp-roles | selvedge-opt -mlir-print-op-generic | selvedge-opt | FileCheck %s --check-prefix=CLAIMS
// CLAIMS: sm.whole where(
// CLAIMS: sm.in_order %
// CLAIMS: sm.idle where(
// RUN: selvedge compile %templates/flash_fwd.tile --set D=256 --set DV=256 --arch sm_90a --emit sm:async -o - | selvedge-opt '-pass-pipeline=builtin.module(sm.kernel(sm-keep-infinity))' | selvedge-opt -mlir-print-op-generic | selvedge-opt | FileCheck %s --check-prefix=STORES
// RUN: selvedge compile %templates/flash_bwd.tile --set D=64 --arch sm_90a --emit sm:async -o - | selvedge-opt -mlir-print-op-generic | selvedge-opt | FileCheck %s --check-prefix=LAUNCHES
// LAUNCHES: sm.launch @flash_bwd_keys_packed {{.*}} persistent dependent block {{.*}} when ["
// LAUNCHES: sm.admit_launch
// LAUNCHES: sm.await_launch
// RUN: selvedge compile %S/../programs/minimal/loads-through-rings.tile --op biased --arch sm_90a --emit sm:async -o - | selvedge-opt -mlir-print-op-generic | selvedge-opt | FileCheck %s --check-prefix=READS
// READS: sm.read %{{.*}} : <"i" x "j", 64 x 64 x bf16, swizzle 7, stages 1, panel 64> -> tensor<64x64xbf16
// RUN: selvedge compile %S/../programs/minimal/vectors-through-rings.tile --op started --arch sm_90a --emit sm:async -o - | selvedge-opt -mlir-print-op-generic | selvedge-opt | FileCheck %s --check-prefix=VECTORS
// VECTORS: #sm.tensor_map<"sums" box[: 64] swizzle 0>
// VECTORS: sm.read %{{.*}} : <"" x "i", 1 x 64 x f32, swizzle 0, stages 1> -> tensor<64xf32
// STORES: sm.not_finite %{{.*}} : tensor<64x64xbf16
// STORES: sm.tma_drain pending 1
// STORES: sm.tma_drain written
