// Bulk copies come to one slot, and threads read it: the next copy would overtake them without a fence.
// launch: threads=64 shared=1024 in=2048 out=2048
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
  %c8 = arith.constant 8 : i32
  %c512 = arith.constant 512 : i32
  %c256 = arith.constant 256 : i32
  %c255 = arith.constant 255 : i32
  %c768 = arith.constant 768 : i32
  %full = arith.addi %base, %c768 : i32
  %empty = arith.addi %full, %c8 : i32
  %isFirst = arith.cmpi eq, %tid, %c0 : i32
  scf.if %isFirst {
    llvm.inline_asm has_side_effects "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}" %full, %c1 : (i32, i32) -> ()
    llvm.inline_asm has_side_effects "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}" %empty, %c1 : (i32, i32) -> ()
    llvm.inline_asm has_side_effects "fence.mbarrier_init.release.cluster;", "~{memory}"  : () -> () // guard
  }
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%c0) : (i32) -> () // guard
  %isCopier = arith.cmpi eq, %warp, %c1 : i32
  scf.if %isCopier {
    %isThread = arith.cmpi eq, %lane, %c0 : i32
    scf.if %isThread {
      scf.for %i = %c0 to %c8 step %c1 : i32 {
        %parity = arith.andi %i, %c1 : i32
        %parityBefore = arith.xori %parity, %c1 : i32
        llvm.inline_asm has_side_effects "{ .reg .pred p; WAIT_${:uid}: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; @!p bra WAIT_${:uid}; }", "r,r,~{memory}" %empty, %parityBefore : (i32, i32) -> () // guard
        llvm.inline_asm has_side_effects "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}" %full, %c256 : (i32, i32) -> () // guard // wrong: llvm.inline_asm has_side_effects "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}" %full, %c8 : (i32, i32) -> () // wrong: llvm.inline_asm has_side_effects "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}" %full, %c512 : (i32, i32) -> () // wrong: llvm.inline_asm has_side_effects "mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}" %full : (i32) -> ()
        %at = arith.muli %i, %c256 : i32
        %atWide = arith.extsi %at : i32 to i64
        %place = llvm.getelementptr %in[%atWide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
        llvm.inline_asm has_side_effects "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r,~{memory}" %base, %place, %c256, %full : (i32, !llvm.ptr<1>, i32, i32) -> () // guard
      }
    }
  } else {
    %mine = arith.addi %base, %offset : i32
    %isLeader = arith.cmpi eq, %lane, %c0 : i32
    scf.for %i = %c0 to %c8 step %c1 : i32 {
      %parity = arith.andi %i, %c1 : i32
      llvm.inline_asm has_side_effects "{ .reg .pred p; WAIT_${:uid}: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; @!p bra WAIT_${:uid}; }", "r,r,~{memory}" %full, %parity : (i32, i32) -> () // guard // wrong: llvm.inline_asm has_side_effects "{ .reg .pred p; WAIT_${:uid}: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; @!p bra WAIT_${:uid}; }", "r,r,~{memory}" %full, %c1 : (i32, i32) -> ()
      scf.for %half = %c0 to %c2 step %c1 : i32 {
        %c128 = arith.constant 128 : i32
        %ahead = arith.muli %half, %c128 : i32
        %where = arith.addi %mine, %ahead : i32
        %v = llvm.inline_asm has_side_effects "ld.shared.b32 $0, [$1];", "=r,r,~{memory}" %where : (i32) -> i32
        %step = arith.muli %i, %c256 : i32
        %at = arith.addi %step, %ahead : i32
        %atWide = arith.extsi %at : i32 to i64
        %place = llvm.getelementptr %to[%atWide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
        llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %v, %place : (i32, !llvm.ptr<1>) -> ()
      }
      llvm.inline_asm has_side_effects "fence.proxy.async.shared::cta;", "~{memory}"  : () -> () // guard
      llvm.call_intrinsic "llvm.nvvm.bar.warp.sync"(%all) : (i32) -> () // guard
      scf.if %isLeader {
        llvm.inline_asm has_side_effects "mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}" %empty : (i32) -> () // guard
      }
    }
  }
  llvm.return
}
