// A box of a tensor of 40 rows of 60 elements, from [-5, -8] on.
// launch: threads=32 shared=3072 in=5120 out=2048 type=bf16
// SPDX-License-Identifier: MIT
llvm.mlir.global external @selvedge_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @kernel(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %map: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c128 = arith.constant 128 : i32
  %c2048 = arith.constant 2048 : i32
  %x = arith.constant -8 : i32
  %y = arith.constant -5 : i32
  %tid = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
  %shared = llvm.mlir.addressof @selvedge_smem : !llvm.ptr<3>
  %base = llvm.ptrtoint %shared : !llvm.ptr<3> to i32
  %offset = arith.muli %tid, %c4 : i32
  %full = arith.addi %base, %c2048 : i32
  %isFirst = arith.cmpi eq, %tid, %c0 : i32
  scf.if %isFirst {
    llvm.inline_asm has_side_effects "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}" %full, %c1 : (i32, i32) -> ()
    llvm.inline_asm has_side_effects "fence.mbarrier_init.release.cluster;", "~{memory}"  : () -> ()
    llvm.inline_asm has_side_effects "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}" %full, %c2048 : (i32, i32) -> ()
    llvm.inline_asm has_side_effects "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3}], [$4];", "r,l,r,r,r,~{memory}" %base, %map, %x, %y, %full : (i32, !llvm.ptr, i32, i32, i32) -> ()
  }
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%c0) : (i32) -> ()
  llvm.inline_asm has_side_effects "{ .reg .pred p; WAIT_${:uid}: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; @!p bra WAIT_${:uid}; }", "r,r,~{memory}" %full, %c0 : (i32, i32) -> ()
  scf.for %i = %offset to %c2048 step %c128 : i32 {
    %iWide = arith.extui %i : i32 to i64
    %target = llvm.getelementptr %out[%iWide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %place = arith.addi %base, %i : i32
    %word = llvm.inline_asm has_side_effects "ld.shared.b32 $0, [$1];", "=r,r,~{memory}" %place : (i32) -> i32
    llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %word, %target : (i32, !llvm.ptr<1>) -> ()
  }
  llvm.return
}
