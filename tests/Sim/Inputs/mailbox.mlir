// A thread posts the words of a warp one by one, through one word and two barriers.
// launch: threads=64 shared=64 in=128 out=128
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
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant 32 : i32
  %full = arith.addi %base, %c16 : i32
  %empty = arith.addi %full, %c8 : i32
  %isFirst = arith.cmpi eq, %tid, %c0 : i32
  scf.if %isFirst {
    llvm.inline_asm has_side_effects "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}" %full, %c1 : (i32, i32) -> () // wrong: llvm.inline_asm has_side_effects "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}" %full, %c2 : (i32, i32) -> ()
    llvm.inline_asm has_side_effects "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}" %empty, %c1 : (i32, i32) -> () // wrong: llvm.inline_asm has_side_effects "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}" %empty, %c2 : (i32, i32) -> ()
  }
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%c0) : (i32) -> () // guard
  %isPoster = arith.cmpi eq, %warp, %c0 : i32
  scf.if %isPoster {
    %isThread = arith.cmpi eq, %lane, %c0 : i32
    scf.if %isThread {
      scf.for %i = %c0 to %c32 step %c1 : i32 {
        %parity = arith.andi %i, %c1 : i32
        %parityBefore = arith.xori %parity, %c1 : i32
        llvm.inline_asm has_side_effects "{ .reg .pred p; WAIT_${:uid}: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; @!p bra WAIT_${:uid}; }", "r,r,~{memory}" %empty, %parityBefore : (i32, i32) -> () // guard // wrong: llvm.inline_asm has_side_effects "{ .reg .pred p; WAIT_${:uid}: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; @!p bra WAIT_${:uid}; }", "r,r,~{memory}" %empty, %parity : (i32, i32) -> ()
        %at = arith.muli %i, %c4 : i32
        %atWide = arith.extsi %at : i32 to i64
        %place = llvm.getelementptr %in[%atWide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
        %v = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %place : (!llvm.ptr<1>) -> i32
        llvm.inline_asm has_side_effects "st.shared.b32 [$0], $1;", "r,r,~{memory}" %base, %v : (i32, i32) -> ()
        llvm.inline_asm has_side_effects "mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}" %full : (i32) -> () // guard
      }
    }
  } else {
    scf.for %i = %c0 to %c32 step %c1 : i32 {
      %parity = arith.andi %i, %c1 : i32
      llvm.inline_asm has_side_effects "{ .reg .pred p; WAIT_${:uid}: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; @!p bra WAIT_${:uid}; }", "r,r,~{memory}" %full, %parity : (i32, i32) -> () // guard // wrong: llvm.inline_asm has_side_effects "{ .reg .pred p; WAIT_${:uid}: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; @!p bra WAIT_${:uid}; }", "r,r,~{memory}" %full, %c0 : (i32, i32) -> ()
      %v = llvm.inline_asm has_side_effects "ld.shared.b32 $0, [$1];", "=r,r,~{memory}" %base : (i32) -> i32
      llvm.call_intrinsic "llvm.nvvm.bar.warp.sync"(%all) : (i32) -> () // guard
      %leads = arith.cmpi eq, %lane, %c0 : i32
      llvm.inline_asm has_side_effects "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b,~{memory}" %empty, %leads : (i32, i1) -> () // guard // wrong: llvm.inline_asm has_side_effects "mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}" %empty : (i32) -> ()
      %isMine = arith.cmpi eq, %i, %lane : i32
      scf.if %isMine {
        %c32b = arith.constant -128 : i64
        %place = llvm.getelementptr %to[%c32b] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
        llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %v, %place : (i32, !llvm.ptr<1>) -> ()
      }
    }
  }
  llvm.return
}
