// SPDX-License-Identifier: MIT
llvm.func @loads(%p: !llvm.ptr<1>, %n: i32, %x: f32) -> f32 {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %s = scf.for %i = %c0_i32 to %n step %c1_i32 iter_args(%t = %x) -> (f32) : i32 {
    %at = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %w = llvm.inline_asm has_side_effects asm_dialect = att "ld.global.b32 $0, [$1];", "=r,l" %at : (!llvm.ptr<1>) -> i32
    %f = llvm.bitcast %w : i32 to f32
    %u = arith.addf %t, %f : f32
    scf.yield %u : f32
  }
  llvm.return %s : f32
}
// Sixteen of these would load 128 registers.
llvm.func @wide(%p: !llvm.ptr<1>, %n: i32, %x: i32) -> i32 {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %s = scf.for %i = %c0_i32 to %n step %c1_i32 iter_args(%t = %x) -> (i32) : i32 {
    %at = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %w = llvm.inline_asm has_side_effects asm_dialect = att "ld.global.v8.b32 {$0, $1, $2, $3, $4, $5, $6, $7}, [$8];", "=r,=r,=r,=r,=r,=r,=r,=r,l" %at : (!llvm.ptr<1>) -> !llvm.struct<(i32, i32, i32, i32, i32, i32, i32, i32)>
    %f = llvm.extractvalue %w[0] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i32, i32)>
    %u = arith.addi %t, %f : i32
    scf.yield %u : i32
  }
  llvm.return %s : i32
}
llvm.func @stores(%p: !llvm.ptr<1>, %n: i32, %x: i32) {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  scf.for %i = %c0_i32 to %n step %c1_i32 : i32 {
    %at = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %w = llvm.inline_asm has_side_effects asm_dialect = att "ld.global.b32 $0, [$1];", "=r,l" %at : (!llvm.ptr<1>) -> i32
    llvm.inline_asm has_side_effects asm_dialect = att "st.global.b32 [$0], $1;", "l,r" %at, %w : (!llvm.ptr<1>, i32) -> ()
  }
  llvm.return
}
llvm.func @blocks(%p: !llvm.ptr<1>, %n: i32, %x: i32) -> i32 {
  %c0_i32 = arith.constant 0 : i32
  %c64_i32 = arith.constant 64 : i32
  %s = scf.for %i = %c0_i32 to %n step %c64_i32 iter_args(%t = %x) -> (i32) : i32 {
    %w = llvm.inline_asm has_side_effects asm_dialect = att "ld.global.b32 $0, [$1];", "=r,l" %p : (!llvm.ptr<1>) -> i32
    scf.yield %w : i32
  }
  llvm.return %s : i32
}
// It does not begin at 0.
llvm.func @later(%p: !llvm.ptr<1>, %n: i32, %x: i32) -> i32 {
  %c1_i32 = arith.constant 1 : i32
  %s = scf.for %i = %c1_i32 to %n step %c1_i32 iter_args(%t = %x) -> (i32) : i32 {
    %w = llvm.inline_asm has_side_effects asm_dialect = att "ld.global.b32 $0, [$1];", "=r,l" %p : (!llvm.ptr<1>) -> i32
    scf.yield %w : i32
  }
  llvm.return %s : i32
}
