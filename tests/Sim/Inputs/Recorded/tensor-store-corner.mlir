// A box for a tensor of 40 rows of 60 elements, from [-5, -8] on; what it leaves is zero.
// launch: threads=32 shared=2048 in=2048 out=5120 type=bf16
// SPDX-License-Identifier: MIT
llvm.mlir.global external @selvedge_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @kernel(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %map: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %c128 = arith.constant 128 : i32
  %c2048 = arith.constant 2048 : i32
  %x = arith.constant -8 : i32
  %y = arith.constant -5 : i32
  %tid = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
  %shared = llvm.mlir.addressof @selvedge_smem : !llvm.ptr<3>
  %base = llvm.ptrtoint %shared : !llvm.ptr<3> to i32
  %offset = arith.muli %tid, %c4 : i32
  scf.for %i = %offset to %c2048 step %c128 : i32 {
    %iWide = arith.extui %i : i32 to i64
    %source = llvm.getelementptr %in[%iWide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %word = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %source : (!llvm.ptr<1>) -> i32
    %place = arith.addi %base, %i : i32
    llvm.inline_asm has_side_effects "st.shared.b32 [$0], $1;", "r,r,~{memory}" %place, %word : (i32, i32) -> ()
  }
  llvm.inline_asm has_side_effects "fence.proxy.async.shared::cta;", "~{memory}"  : () -> ()
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%c0) : (i32) -> ()
  %isFirst = arith.cmpi eq, %tid, %c0 : i32
  scf.if %isFirst {
    llvm.inline_asm has_side_effects "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$0, {$1, $2}], [$3];", "l,r,r,r,~{memory}" %map, %x, %y, %base : (!llvm.ptr, i32, i32, i32) -> ()
    llvm.inline_asm has_side_effects "cp.async.bulk.commit_group;", "~{memory}"  : () -> ()
    llvm.inline_asm has_side_effects "cp.async.bulk.wait_group 0;", "~{memory}"  : () -> ()
  }
  llvm.return
}
