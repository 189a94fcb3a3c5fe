// Two warps in turns: one arrives where the other waits.
// launch: threads=64 shared=256 in=512 out=512
// SPDX-License-Identifier: MIT
llvm.mlir.global external @selvedge_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @kernel(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %shared = llvm.mlir.addressof @selvedge_smem : !llvm.ptr<3>
  %base = llvm.ptrtoint %shared : !llvm.ptr<3> to i32
  %tid = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
  %lane = arith.andi %tid, %c31 : i32
  %warp = arith.shrui %tid, %c5 : i32
  %offset = arith.muli %lane, %c4 : i32
  %wide = arith.extsi %offset : i32 to i64
  %from = llvm.getelementptr %in[%wide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %to = llvm.getelementptr %out[%wide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %mine = arith.addi %base, %offset : i32
  %mirrorOffset = arith.xori %offset, %c4 : i32
  %isWriter = arith.cmpi eq, %warp, %c0 : i32
  scf.if %isWriter {
    scf.for %i = %c0 to %c4 step %c1 : i32 {
      %at = arith.muli %i, %c128 : i32
      %atWide = arith.extsi %at : i32 to i64
      %place = llvm.getelementptr %from[%atWide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      %v = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %place : (!llvm.ptr<1>) -> i32
      llvm.inline_asm has_side_effects "st.shared.b32 [$0], $1;", "r,r,~{memory}" %mine, %v : (i32, i32) -> ()
      llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"(%c1, %c64) : (i32, i32) -> () // guard
      llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.count"(%c2, %c64) : (i32, i32) -> () // guard // wrong: llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"(%c2, %c64) : (i32, i32) -> ()
    }
  } else {
    scf.for %i = %c0 to %c4 step %c1 : i32 {
      llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.count"(%c1, %c64) : (i32, i32) -> () // guard // wrong: llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.count"(%c2, %c64) : (i32, i32) -> () // wrong: llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.count"(%c1, %c32) : (i32, i32) -> ()
      %v = llvm.inline_asm has_side_effects "ld.shared.b32 $0, [$1];", "=r,r,~{memory}" %mine : (i32) -> i32
      llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"(%c2, %c64) : (i32, i32) -> () // guard
      %at = arith.muli %i, %c128 : i32
      %atWide = arith.extsi %at : i32 to i64
      %place = llvm.getelementptr %to[%atWide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %v, %place : (i32, !llvm.ptr<1>) -> ()
    }
  }
  llvm.return
}
