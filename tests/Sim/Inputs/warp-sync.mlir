// The lanes of a warp hand words to each other, which shuffles and votes do not order. Then all write the same bytes.
// launch: threads=32 shared=128 in=128 out=128
// SPDX-License-Identifier: MIT
llvm.mlir.global external @selvedge_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @kernel(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c31 = arith.constant 31 : i32
  %all = arith.constant -1 : i32
  %shared = llvm.mlir.addressof @selvedge_smem : !llvm.ptr<3>
  %base = llvm.ptrtoint %shared : !llvm.ptr<3> to i32
  %tid = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
  %lane = arith.andi %tid, %c31 : i32
  %warp = arith.shrui %tid, %c5 : i32
  %offset = arith.muli %tid, %c4 : i32
  %wide = arith.extsi %offset : i32 to i64
  %from = llvm.getelementptr %in[%wide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %to = llvm.getelementptr %out[%wide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %mine = arith.addi %base, %offset : i32
  %mirrorOffset = arith.xori %offset, %c4 : i32
  %other = arith.addi %base, %mirrorOffset : i32
  %isZero = arith.cmpi eq, %tid, %c0 : i32
  %v = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %from : (!llvm.ptr<1>) -> i32
  llvm.inline_asm has_side_effects "st.shared.b32 [$0], $1;", "r,r,~{memory}" %mine, %v : (i32, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.bar.warp.sync"(%all) : (i32) -> () // guard // wrong: %taken = llvm.call_intrinsic "llvm.nvvm.shfl.sync.bfly.i32"(%all, %v, %c1, %c31) : (i32, i32, i32, i32) -> i32 // wrong: %isAny = llvm.call_intrinsic "llvm.nvvm.vote.any.sync"(%all, %isZero) : (i32, i1) -> i1
  %w = llvm.inline_asm has_side_effects "ld.shared.b32 $0, [$1];", "=r,r,~{memory}" %other : (i32) -> i32
  llvm.call_intrinsic "llvm.nvvm.bar.warp.sync"(%all) : (i32) -> () // guard
  llvm.inline_asm has_side_effects "st.shared.b32 [$0], $1;", "r,r,~{memory}" %mine, %w : (i32, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.bar.warp.sync"(%all) : (i32) -> () // guard
  %x = llvm.inline_asm has_side_effects "ld.shared.b32 $0, [$1];", "=r,r,~{memory}" %other : (i32) -> i32
  llvm.call_intrinsic "llvm.nvvm.bar.warp.sync"(%all) : (i32) -> () // guard
  llvm.inline_asm has_side_effects "st.shared.b32 [$0], $1;", "r,r,~{memory}" %base, %c5 : (i32, i32) -> () // wrong: llvm.inline_asm has_side_effects "st.shared.b32 [$0], $1;", "r,r,~{memory}" %base, %tid : (i32, i32) -> ()
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %x, %to : (i32, !llvm.ptr<1>) -> ()
  llvm.return
}
