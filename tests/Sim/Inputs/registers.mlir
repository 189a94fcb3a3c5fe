// One warpgroup gives registers that another one needs.
// launch: threads=640 shared=256 in=2560 out=2560
// SPDX-License-Identifier: MIT
llvm.mlir.global external @selvedge_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @kernel(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 640, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %c24 = arith.constant 24 : i32
  %c31 = arith.constant 31 : i32
  %c160 = arith.constant 160 : i32
  %shared = llvm.mlir.addressof @selvedge_smem : !llvm.ptr<3>
  %base = llvm.ptrtoint %shared : !llvm.ptr<3> to i32
  %tid = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
  %lane = arith.andi %tid, %c31 : i32
  %warp = arith.shrui %tid, %c5 : i32
  %group = arith.shrui %tid, %c7 : i32
  %gives = arith.cmpi eq, %group, %c0 : i32
  scf.if %gives {
    llvm.call_intrinsic "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32"(%c24) : (i32) -> () // guard
  }
  %takes = arith.cmpi eq, %group, %c1 : i32
  scf.if %takes {
    llvm.call_intrinsic "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32"(%c160) : (i32) -> () // wrong: llvm.call_intrinsic "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32"(%c160) : (i32) -> ()
  }
  %offset = arith.muli %tid, %c4 : i32
  %wide = arith.extsi %offset : i32 to i64
  %from = llvm.getelementptr %in[%wide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %to = llvm.getelementptr %out[%wide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %v = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %from : (!llvm.ptr<1>) -> i32
  llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %v, %to : (i32, !llvm.ptr<1>) -> ()
  llvm.return
}
