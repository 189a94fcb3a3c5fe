// mma.m16n8k16: lanes give their registers and store what they get.
// launch: threads=32 shared=0 in=768 out=512 type=bf16
// SPDX-License-Identifier: MIT
llvm.mlir.global external @selvedge_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @kernel(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 32, 1, 1>} {
  %c16 = arith.constant 16 : i32
  %c24 = arith.constant 24 : i32
  %zero = arith.constant 0.0 : f32
  %tid = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
  %fromBytes = arith.muli %tid, %c24 : i32
  %fromWide = arith.extui %fromBytes : i32 to i64
  %from = llvm.getelementptr %in[%fromWide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %a0p = llvm.getelementptr %from[0] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %a0 = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %a0p : (!llvm.ptr<1>) -> i32
  %a1p = llvm.getelementptr %from[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %a1 = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %a1p : (!llvm.ptr<1>) -> i32
  %a2p = llvm.getelementptr %from[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %a2 = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %a2p : (!llvm.ptr<1>) -> i32
  %a3p = llvm.getelementptr %from[12] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %a3 = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %a3p : (!llvm.ptr<1>) -> i32
  %b0p = llvm.getelementptr %from[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %b0 = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %b0p : (!llvm.ptr<1>) -> i32
  %b1p = llvm.getelementptr %from[20] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %b1 = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %b1p : (!llvm.ptr<1>) -> i32
  %d = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%a0, %a1, %a2, %a3, %b0, %b1, %zero, %zero, %zero, %zero) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %f0 = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>
  %r0 = llvm.bitcast %f0 : f32 to i32
  %f1 = llvm.extractvalue %d[1] : !llvm.struct<(f32, f32, f32, f32)>
  %r1 = llvm.bitcast %f1 : f32 to i32
  %f2 = llvm.extractvalue %d[2] : !llvm.struct<(f32, f32, f32, f32)>
  %r2 = llvm.bitcast %f2 : f32 to i32
  %f3 = llvm.extractvalue %d[3] : !llvm.struct<(f32, f32, f32, f32)>
  %r3 = llvm.bitcast %f3 : f32 to i32
  %toBytes = arith.muli %tid, %c16 : i32
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
  llvm.return
}
