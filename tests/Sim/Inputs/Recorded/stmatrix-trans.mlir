// stmatrix.x4 to rows that lie in another order than the lanes.
// launch: threads=32 shared=512 in=512 out=512 type=bf16
// SPDX-License-Identifier: MIT
llvm.mlir.global external @selvedge_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @kernel(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c13 = arith.constant 13 : i32
  %c16 = arith.constant 16 : i32
  %c31 = arith.constant 31 : i32
  %c128 = arith.constant 128 : i32
  %c512 = arith.constant 512 : i32
  %tid = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
  %shared = llvm.mlir.addressof @selvedge_smem : !llvm.ptr<3>
  %base = llvm.ptrtoint %shared : !llvm.ptr<3> to i32
  %offset = arith.muli %tid, %c4 : i32
  %fromBytes = arith.muli %tid, %c16 : i32
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
  %mixed = arith.muli %tid, %c13 : i32
  %moved = arith.addi %mixed, %c3 : i32
  %row = arith.andi %moved, %c31 : i32
  %rowBytes = arith.muli %row, %c16 : i32
  %address = arith.addi %base, %rowBytes : i32
  llvm.inline_asm has_side_effects "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [$0], {$1, $2, $3, $4};", "r,r,r,r,r,~{memory}" %address, %a0, %a1, %a2, %a3 : (i32, i32, i32, i32, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%c0) : (i32) -> ()
  scf.for %i = %offset to %c512 step %c128 : i32 {
    %iWide = arith.extui %i : i32 to i64
    %target = llvm.getelementptr %out[%iWide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %place = arith.addi %base, %i : i32
    %word = llvm.inline_asm has_side_effects "ld.shared.b32 $0, [$1];", "=r,r,~{memory}" %place : (i32) -> i32
    llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %word, %target : (i32, !llvm.ptr<1>) -> ()
  }
  llvm.return
}
