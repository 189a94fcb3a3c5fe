// Copies by threads in two slots; a thread reads what another one has copied.
// launch: threads=64 shared=2048 in=2048 out=2048
// SPDX-License-Identifier: MIT
llvm.mlir.global external @selvedge_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @kernel(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 64, 1, 1>} {
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
  %c2 = arith.constant 2 : i32
  %c16 = arith.constant 16 : i32
  %c1024 = arith.constant 1024 : i32
  %bytes = arith.muli %tid, %c16 : i32
  %bytesWide = arith.extsi %bytes : i32 to i64
  %first = llvm.getelementptr %in[%bytesWide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %second = llvm.getelementptr %first[1024] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %slot0 = arith.addi %base, %bytes : i32
  %slot1 = arith.addi %slot0, %c1024 : i32
  llvm.inline_asm has_side_effects "cp.async.cg.shared.global [$0], [$1], 16, $2;", "r,l,r,~{memory}" %slot0, %first, %c16 : (i32, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> () // guard
  llvm.inline_asm has_side_effects "cp.async.cg.shared.global [$0], [$1], 16, $2;", "r,l,r,~{memory}" %slot1, %second, %c16 : (i32, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> () // guard
  llvm.call_intrinsic "llvm.nvvm.cp.async.wait.group"(%c1) : (i32) -> () // wrong: llvm.call_intrinsic "llvm.nvvm.cp.async.wait.group"(%c2) : (i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%c0) : (i32) -> () // guard
  %quarter = arith.addi %base, %offset : i32
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    %c256 = arith.constant 256 : i32
    %part = arith.muli %i, %c256 : i32
    %at = arith.addi %quarter, %part : i32
    %v = llvm.inline_asm has_side_effects "ld.shared.b32 $0, [$1];", "=r,r,~{memory}" %at : (i32) -> i32
    %partWide = arith.extsi %part : i32 to i64
    %place = llvm.getelementptr %to[%partWide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %v, %place : (i32, !llvm.ptr<1>) -> ()
  }
  llvm.call_intrinsic "llvm.nvvm.cp.async.wait.group"(%c0) : (i32) -> () // wrong: llvm.call_intrinsic "llvm.nvvm.cp.async.wait.group"(%c1) : (i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%c0) : (i32) -> () // guard
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    %c256 = arith.constant 256 : i32
    %part = arith.muli %i, %c256 : i32
    %behind = arith.addi %part, %c1024 : i32
    %at = arith.addi %quarter, %behind : i32
    %v = llvm.inline_asm has_side_effects "ld.shared.b32 $0, [$1];", "=r,r,~{memory}" %at : (i32) -> i32
    %partWide = arith.extsi %behind : i32 to i64
    %place = llvm.getelementptr %to[%partWide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %v, %place : (i32, !llvm.ptr<1>) -> ()
  }
  llvm.return
}
