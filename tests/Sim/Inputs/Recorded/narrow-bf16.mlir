// Two floats to halves of a word: any bits, Inf and NaN.
// launch: threads=32 shared=0 in=256 out=128 type=bits
// SPDX-License-Identifier: MIT
llvm.mlir.global external @selvedge_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @kernel(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 32, 1, 1>} {
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %tid = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
  %fromBytes = arith.muli %tid, %c8 : i32
  %fromWide = arith.extui %fromBytes : i32 to i64
  %from = llvm.getelementptr %in[%fromWide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %ap = llvm.getelementptr %from[0] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %a = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %ap : (!llvm.ptr<1>) -> i32
  %bp = llvm.getelementptr %from[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %b = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %bp : (!llvm.ptr<1>) -> i32
  %x = llvm.bitcast %a : i32 to f32
  %y = llvm.bitcast %b : i32 to f32
  %p = llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn"(%x, %y) : (f32, f32) -> vector<2xbf16>
  %r = llvm.bitcast %p : vector<2xbf16> to i32
  %toBytes = arith.muli %tid, %c4 : i32
  %toWide = arith.extui %toBytes : i32 to i64
  %to = llvm.getelementptr %out[%toWide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %rq = llvm.getelementptr %to[0] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r, %rq : (i32, !llvm.ptr<1>) -> ()
  llvm.return
}
