// wgmma of operands that are contiguous along k, swizzled by 128 bytes.
// launch: threads=128 shared=32768 in=32768 out=4096 type=bf16
// SPDX-License-Identifier: MIT
llvm.mlir.global external @selvedge_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @kernel(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %c16 = arith.constant 16 : i32
  %c512 = arith.constant 512 : i32
  %c16384 = arith.constant 16384 : i32
  %c32768 = arith.constant 32768 : i32
  %c32 = arith.constant 32 : i32
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
  %formatB = arith.constant 4611686293305360384 : i64
  %startA = arith.shrui %base, %c4 : i32
  %wideA = arith.extui %startA : i32 to i64
  %descA = arith.ori %wideA, %formatA : i64
  %baseB = arith.addi %base, %c16384 : i32
  %startB = arith.shrui %baseB, %c4 : i32
  %wideB = arith.extui %startB : i32 to i64
  %descB = arith.ori %wideB, %formatB : i64
  %sums = llvm.inline_asm has_side_effects "{ .reg .pred scale; wgmma.fence.sync.aligned; setp.ne.b32 scale, 0, 0; wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {$0,$1,$2,$3,$4,$5,$6,$7}, $8, $9, scale, 1, 1, 0, 0; wgmma.commit_group.sync.aligned; }", "=f,=f,=f,=f,=f,=f,=f,=f,l,l,~{memory}" %descA, %descB : (i64, i64) -> !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  %s0 = llvm.extractvalue %sums[0] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  %s1 = llvm.extractvalue %sums[1] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  %s2 = llvm.extractvalue %sums[2] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  %s3 = llvm.extractvalue %sums[3] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  %s4 = llvm.extractvalue %sums[4] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  %s5 = llvm.extractvalue %sums[5] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  %s6 = llvm.extractvalue %sums[6] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  %s7 = llvm.extractvalue %sums[7] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  %done = llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,~{memory}" %s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7 : (f32, f32, f32, f32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  %d0 = llvm.extractvalue %done[0] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  %r0 = llvm.bitcast %d0 : f32 to i32
  %d1 = llvm.extractvalue %done[1] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  %r1 = llvm.bitcast %d1 : f32 to i32
  %d2 = llvm.extractvalue %done[2] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  %r2 = llvm.bitcast %d2 : f32 to i32
  %d3 = llvm.extractvalue %done[3] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  %r3 = llvm.bitcast %d3 : f32 to i32
  %d4 = llvm.extractvalue %done[4] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  %r4 = llvm.bitcast %d4 : f32 to i32
  %d5 = llvm.extractvalue %done[5] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  %r5 = llvm.bitcast %d5 : f32 to i32
  %d6 = llvm.extractvalue %done[6] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  %r6 = llvm.bitcast %d6 : f32 to i32
  %d7 = llvm.extractvalue %done[7] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  %r7 = llvm.bitcast %d7 : f32 to i32
  %toBytes = arith.muli %tid, %c32 : i32
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
  llvm.return
}
