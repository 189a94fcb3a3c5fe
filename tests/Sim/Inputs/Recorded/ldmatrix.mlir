// ldmatrix.x4 of rows that lie in another order than the lanes.
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
  scf.for %i = %offset to %c512 step %c128 : i32 {
    %iWide = arith.extui %i : i32 to i64
    %source = llvm.getelementptr %in[%iWide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %word = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %source : (!llvm.ptr<1>) -> i32
    %place = arith.addi %base, %i : i32
    llvm.inline_asm has_side_effects "st.shared.b32 [$0], $1;", "r,r,~{memory}" %place, %word : (i32, i32) -> ()
  }
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%c0) : (i32) -> ()
  %mixed = arith.muli %tid, %c13 : i32
  %moved = arith.addi %mixed, %c3 : i32
  %row = arith.andi %moved, %c31 : i32
  %rowBytes = arith.muli %row, %c16 : i32
  %address = llvm.getelementptr %shared[%rowBytes] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  %d = llvm.call_intrinsic "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3"(%address) : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
  %r0 = llvm.extractvalue %d[0] : !llvm.struct<(i32, i32, i32, i32)>
  %r1 = llvm.extractvalue %d[1] : !llvm.struct<(i32, i32, i32, i32)>
  %r2 = llvm.extractvalue %d[2] : !llvm.struct<(i32, i32, i32, i32)>
  %r3 = llvm.extractvalue %d[3] : !llvm.struct<(i32, i32, i32, i32)>
  %toBytes = arith.muli %tid, %c16 : i32
  %toWide = arith.extui %toBytes : i32 to i64
  %to = llvm.getelementptr %out[%toWide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %r0q = llvm.getelementptr %to[0] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r0, %r0q : (i32, !llvm.ptr<1>) -> ()
  %r1q = llvm.getelementptr %to[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r1, %r1q : (i32, !llvm.ptr<1>) -> ()
  %r2q = llvm.getelementptr %to[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r2, %r2q : (i32, !llvm.ptr<1>) -> ()
  %r3q = llvm.getelementptr %to[12] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %r3, %r3q : (i32, !llvm.ptr<1>) -> ()
  llvm.return
}
