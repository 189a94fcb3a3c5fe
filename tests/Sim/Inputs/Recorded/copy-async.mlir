// cp.async with every size of its source.
// launch: threads=32 shared=512 in=512 out=512 type=bf16
// SPDX-License-Identifier: MIT
llvm.mlir.global external @selvedge_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @kernel(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c15 = arith.constant 15 : i32
  %c16 = arith.constant 16 : i32
  %c128 = arith.constant 128 : i32
  %c512 = arith.constant 512 : i32
  %tid = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
  %shared = llvm.mlir.addressof @selvedge_smem : !llvm.ptr<3>
  %base = llvm.ptrtoint %shared : !llvm.ptr<3> to i32
  %offset = arith.muli %tid, %c4 : i32
  %bytes = arith.muli %tid, %c16 : i32
  %wide = arith.extui %bytes : i32 to i64
  %source = llvm.getelementptr %in[%wide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %slot = arith.addi %base, %bytes : i32
  %inRow = arith.andi %tid, %c15 : i32
  %isSecond = arith.cmpi ult, %c15, %tid : i32
  %size = arith.select %isSecond, %c16, %inRow : i32
  llvm.inline_asm has_side_effects "cp.async.cg.shared.global [$0], [$1], 16, $2;", "r,l,r,~{memory}" %slot, %source, %size : (i32, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.wait.group"(%c0) : (i32) -> ()
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
