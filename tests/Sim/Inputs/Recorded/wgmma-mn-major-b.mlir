// wgmma with B contiguous along its columns, two panels of them.
// launch: threads=128 shared=32768 in=32768 out=18432 type=bf16
// SPDX-License-Identifier: MIT
llvm.mlir.global external @selvedge_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @kernel(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %c16 = arith.constant 16 : i32
  %c512 = arith.constant 512 : i32
  %c16384 = arith.constant 16384 : i32
  %c32768 = arith.constant 32768 : i32
  %c144 = arith.constant 144 : i32
  %c16383 = arith.constant 16383 : i32
  %tid = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
  %shared = llvm.mlir.addressof @selvedge_smem : !llvm.ptr<3>
  %base = llvm.ptrtoint %shared : !llvm.ptr<3> to i32
  %offset = arith.muli %tid, %c4 : i32
  scf.for %i = %offset to %c32768 step %c512 : i32 {
    %iWide = arith.extui %i : i32 to i64
    %source = llvm.getelementptr %in[%iWide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %word = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %source : (!llvm.ptr<1>) -> i32
    %place = arith.addi %base, %i : i32
    llvm.inline_asm has_side_effects "st.shared.b32 [$0], $1;", "r,r,~{memory}" %place, %word : (i32, i32) -> ()
  }
  llvm.inline_asm has_side_effects "fence.proxy.async.shared::cta;", "~{memory}"  : () -> ()
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%c0) : (i32) -> ()
  %formatA = arith.constant 4611686293305360384 : i64
  %formatB = arith.constant 4611686293338849280 : i64
  %startA = arith.shrui %base, %c4 : i32
  %wideA = arith.extui %startA : i32 to i64
  %descA = arith.ori %wideA, %formatA : i64
  %baseB = arith.addi %base, %c16384 : i32
  %startB = arith.shrui %baseB, %c4 : i32
  %wideB = arith.extui %startB : i32 to i64
  %descB = arith.ori %wideB, %formatB : i64
  %sums = llvm.inline_asm has_side_effects "{ .reg .pred scale; wgmma.fence.sync.aligned; setp.ne.b32 scale, 0, 0; wgmma.mma_async.sync.aligned.m64n72k16.f32.bf16.bf16 {$0,$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24,$25,$26,$27,$28,$29,$30,$31,$32,$33,$34,$35}, $36, $37, scale, 1, 1, 0, 1; wgmma.commit_group.sync.aligned; }", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,l,l,~{memory}" %descA, %descB : (i64, i64) -> !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s0 = llvm.extractvalue %sums[0] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s1 = llvm.extractvalue %sums[1] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s2 = llvm.extractvalue %sums[2] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s3 = llvm.extractvalue %sums[3] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s4 = llvm.extractvalue %sums[4] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s5 = llvm.extractvalue %sums[5] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s6 = llvm.extractvalue %sums[6] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s7 = llvm.extractvalue %sums[7] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s8 = llvm.extractvalue %sums[8] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s9 = llvm.extractvalue %sums[9] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s10 = llvm.extractvalue %sums[10] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s11 = llvm.extractvalue %sums[11] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s12 = llvm.extractvalue %sums[12] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s13 = llvm.extractvalue %sums[13] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s14 = llvm.extractvalue %sums[14] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s15 = llvm.extractvalue %sums[15] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s16 = llvm.extractvalue %sums[16] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s17 = llvm.extractvalue %sums[17] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s18 = llvm.extractvalue %sums[18] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s19 = llvm.extractvalue %sums[19] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s20 = llvm.extractvalue %sums[20] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s21 = llvm.extractvalue %sums[21] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s22 = llvm.extractvalue %sums[22] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s23 = llvm.extractvalue %sums[23] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s24 = llvm.extractvalue %sums[24] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s25 = llvm.extractvalue %sums[25] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s26 = llvm.extractvalue %sums[26] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s27 = llvm.extractvalue %sums[27] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s28 = llvm.extractvalue %sums[28] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s29 = llvm.extractvalue %sums[29] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s30 = llvm.extractvalue %sums[30] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s31 = llvm.extractvalue %sums[31] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s32 = llvm.extractvalue %sums[32] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s33 = llvm.extractvalue %sums[33] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s34 = llvm.extractvalue %sums[34] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %s35 = llvm.extractvalue %sums[35] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %done = llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,~{memory}" %s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7, %s8, %s9, %s10, %s11, %s12, %s13, %s14, %s15, %s16, %s17, %s18, %s19, %s20, %s21, %s22, %s23, %s24, %s25, %s26, %s27, %s28, %s29, %s30, %s31, %s32, %s33, %s34, %s35 : (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %d0 = llvm.extractvalue %done[0] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r0 = llvm.bitcast %d0 : f32 to i32
  %d1 = llvm.extractvalue %done[1] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r1 = llvm.bitcast %d1 : f32 to i32
  %d2 = llvm.extractvalue %done[2] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r2 = llvm.bitcast %d2 : f32 to i32
  %d3 = llvm.extractvalue %done[3] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r3 = llvm.bitcast %d3 : f32 to i32
  %d4 = llvm.extractvalue %done[4] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r4 = llvm.bitcast %d4 : f32 to i32
  %d5 = llvm.extractvalue %done[5] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r5 = llvm.bitcast %d5 : f32 to i32
  %d6 = llvm.extractvalue %done[6] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r6 = llvm.bitcast %d6 : f32 to i32
  %d7 = llvm.extractvalue %done[7] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r7 = llvm.bitcast %d7 : f32 to i32
  %d8 = llvm.extractvalue %done[8] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r8 = llvm.bitcast %d8 : f32 to i32
  %d9 = llvm.extractvalue %done[9] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r9 = llvm.bitcast %d9 : f32 to i32
  %d10 = llvm.extractvalue %done[10] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r10 = llvm.bitcast %d10 : f32 to i32
  %d11 = llvm.extractvalue %done[11] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r11 = llvm.bitcast %d11 : f32 to i32
  %d12 = llvm.extractvalue %done[12] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r12 = llvm.bitcast %d12 : f32 to i32
  %d13 = llvm.extractvalue %done[13] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r13 = llvm.bitcast %d13 : f32 to i32
  %d14 = llvm.extractvalue %done[14] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r14 = llvm.bitcast %d14 : f32 to i32
  %d15 = llvm.extractvalue %done[15] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r15 = llvm.bitcast %d15 : f32 to i32
  %d16 = llvm.extractvalue %done[16] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r16 = llvm.bitcast %d16 : f32 to i32
  %d17 = llvm.extractvalue %done[17] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r17 = llvm.bitcast %d17 : f32 to i32
  %d18 = llvm.extractvalue %done[18] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r18 = llvm.bitcast %d18 : f32 to i32
  %d19 = llvm.extractvalue %done[19] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r19 = llvm.bitcast %d19 : f32 to i32
  %d20 = llvm.extractvalue %done[20] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r20 = llvm.bitcast %d20 : f32 to i32
  %d21 = llvm.extractvalue %done[21] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r21 = llvm.bitcast %d21 : f32 to i32
  %d22 = llvm.extractvalue %done[22] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r22 = llvm.bitcast %d22 : f32 to i32
  %d23 = llvm.extractvalue %done[23] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r23 = llvm.bitcast %d23 : f32 to i32
  %d24 = llvm.extractvalue %done[24] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r24 = llvm.bitcast %d24 : f32 to i32
  %d25 = llvm.extractvalue %done[25] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r25 = llvm.bitcast %d25 : f32 to i32
  %d26 = llvm.extractvalue %done[26] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r26 = llvm.bitcast %d26 : f32 to i32
  %d27 = llvm.extractvalue %done[27] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r27 = llvm.bitcast %d27 : f32 to i32
  %d28 = llvm.extractvalue %done[28] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r28 = llvm.bitcast %d28 : f32 to i32
  %d29 = llvm.extractvalue %done[29] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r29 = llvm.bitcast %d29 : f32 to i32
  %d30 = llvm.extractvalue %done[30] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r30 = llvm.bitcast %d30 : f32 to i32
  %d31 = llvm.extractvalue %done[31] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r31 = llvm.bitcast %d31 : f32 to i32
  %d32 = llvm.extractvalue %done[32] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r32 = llvm.bitcast %d32 : f32 to i32
  %d33 = llvm.extractvalue %done[33] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r33 = llvm.bitcast %d33 : f32 to i32
  %d34 = llvm.extractvalue %done[34] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r34 = llvm.bitcast %d34 : f32 to i32
  %d35 = llvm.extractvalue %done[35] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  %r35 = llvm.bitcast %d35 : f32 to i32
  %toBytes = arith.muli %tid, %c144 : i32
  %toWide = arith.extui %toBytes : i32 to i64
  %to = llvm.getelementptr %out[%toWide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %r0q = llvm.getelementptr %to[0] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r0, %r0q : (i32, !llvm.ptr<1>) -> ()
  %r1q = llvm.getelementptr %to[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r1, %r1q : (i32, !llvm.ptr<1>) -> ()
  %r2q = llvm.getelementptr %to[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r2, %r2q : (i32, !llvm.ptr<1>) -> ()
  %r3q = llvm.getelementptr %to[12] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r3, %r3q : (i32, !llvm.ptr<1>) -> ()
  %r4q = llvm.getelementptr %to[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r4, %r4q : (i32, !llvm.ptr<1>) -> ()
  %r5q = llvm.getelementptr %to[20] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r5, %r5q : (i32, !llvm.ptr<1>) -> ()
  %r6q = llvm.getelementptr %to[24] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r6, %r6q : (i32, !llvm.ptr<1>) -> ()
  %r7q = llvm.getelementptr %to[28] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r7, %r7q : (i32, !llvm.ptr<1>) -> ()
  %r8q = llvm.getelementptr %to[32] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r8, %r8q : (i32, !llvm.ptr<1>) -> ()
  %r9q = llvm.getelementptr %to[36] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r9, %r9q : (i32, !llvm.ptr<1>) -> ()
  %r10q = llvm.getelementptr %to[40] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r10, %r10q : (i32, !llvm.ptr<1>) -> ()
  %r11q = llvm.getelementptr %to[44] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r11, %r11q : (i32, !llvm.ptr<1>) -> ()
  %r12q = llvm.getelementptr %to[48] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r12, %r12q : (i32, !llvm.ptr<1>) -> ()
  %r13q = llvm.getelementptr %to[52] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r13, %r13q : (i32, !llvm.ptr<1>) -> ()
  %r14q = llvm.getelementptr %to[56] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r14, %r14q : (i32, !llvm.ptr<1>) -> ()
  %r15q = llvm.getelementptr %to[60] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r15, %r15q : (i32, !llvm.ptr<1>) -> ()
  %r16q = llvm.getelementptr %to[64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r16, %r16q : (i32, !llvm.ptr<1>) -> ()
  %r17q = llvm.getelementptr %to[68] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r17, %r17q : (i32, !llvm.ptr<1>) -> ()
  %r18q = llvm.getelementptr %to[72] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r18, %r18q : (i32, !llvm.ptr<1>) -> ()
  %r19q = llvm.getelementptr %to[76] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r19, %r19q : (i32, !llvm.ptr<1>) -> ()
  %r20q = llvm.getelementptr %to[80] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r20, %r20q : (i32, !llvm.ptr<1>) -> ()
  %r21q = llvm.getelementptr %to[84] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r21, %r21q : (i32, !llvm.ptr<1>) -> ()
  %r22q = llvm.getelementptr %to[88] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r22, %r22q : (i32, !llvm.ptr<1>) -> ()
  %r23q = llvm.getelementptr %to[92] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r23, %r23q : (i32, !llvm.ptr<1>) -> ()
  %r24q = llvm.getelementptr %to[96] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r24, %r24q : (i32, !llvm.ptr<1>) -> ()
  %r25q = llvm.getelementptr %to[100] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r25, %r25q : (i32, !llvm.ptr<1>) -> ()
  %r26q = llvm.getelementptr %to[104] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r26, %r26q : (i32, !llvm.ptr<1>) -> ()
  %r27q = llvm.getelementptr %to[108] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r27, %r27q : (i32, !llvm.ptr<1>) -> ()
  %r28q = llvm.getelementptr %to[112] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r28, %r28q : (i32, !llvm.ptr<1>) -> ()
  %r29q = llvm.getelementptr %to[116] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r29, %r29q : (i32, !llvm.ptr<1>) -> ()
  %r30q = llvm.getelementptr %to[120] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r30, %r30q : (i32, !llvm.ptr<1>) -> ()
  %r31q = llvm.getelementptr %to[124] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r31, %r31q : (i32, !llvm.ptr<1>) -> ()
  %r32q = llvm.getelementptr %to[128] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r32, %r32q : (i32, !llvm.ptr<1>) -> ()
  %r33q = llvm.getelementptr %to[132] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r33, %r33q : (i32, !llvm.ptr<1>) -> ()
  %r34q = llvm.getelementptr %to[136] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r34, %r34q : (i32, !llvm.ptr<1>) -> ()
  %r35q = llvm.getelementptr %to[140] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r35, %r35q : (i32, !llvm.ptr<1>) -> ()
  llvm.return
}
