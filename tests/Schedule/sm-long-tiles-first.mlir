// Where tiles grow along the fastest range its last ones come first; with windows, tiles of equal length of several rows run beside each other, whatever the direction. A loop over heads around the steps has no length of its own.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(sm.kernel(sm-long-tiles-first))' | FileCheck %s --check-prefixes=CHECK,ROWS
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(sm.kernel(sm-long-tiles-first{windows=true}))' | FileCheck %s --check-prefixes=CHECK,WINDOWS

// CHECK-LABEL: sm.kernel @grows
// CHECK-SAME: args
// CHECK-NEXT: ^bb0(%[[M:.*]]: i32, %{{.*}}: i32):
// ROWS: %[[BLOCK:.*]] = sm.block_id{{$}}
// CHECK: %[[COUNT:.*]] = arith.ceildivsi %[[M]]
// WINDOWS: %[[BLOCK:.*]] = sm.block_id windows %[[COUNT]]
// CHECK-NEXT: %[[PLACE:.*]] = arith.remui %[[BLOCK]], %[[COUNT]]
// CHECK: %[[LAST:.*]] = arith.subi %[[COUNT]], %{{.*}}
// CHECK: %[[TURNED:.*]] = arith.subi %[[LAST]], %[[PLACE]]
// CHECK: arith.divui %[[BLOCK]], %[[COUNT]]
// CHECK: arith.muli %[[TURNED]]
sm.kernel @grows args [#sm.dim<"M">, #sm.dim<"R">] warps 4 {
^bb0(%m: i32, %r: i32):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %block = sm.block_id
  %count = arith.ceildivsi %m, %c64 : i32
  %place = arith.remui %block, %count : i32
  %head = arith.divui %block, %count : i32
  %first = arith.muli %place, %c64 : i32
  %end = arith.addi %first, %c64 : i32
  scf.for %h = %c0 to %r step %c1 : i32 {
    scf.for %j = %c0 to %end step %c64 : i32 {
      sm.barrier
    }
  }
  sm.return
}

// CHECK-LABEL: sm.kernel @shrinks
// ROWS: sm.block_id{{$}}
// WINDOWS: sm.block_id windows
// CHECK-NOT: arith.subi
// CHECK: sm.return
sm.kernel @shrinks args [#sm.dim<"M">, #sm.dim<"N">] warps 4 {
^bb0(%m: i32, %n: i32):
  %c64 = arith.constant 64 : i32
  %block = sm.block_id
  %count = arith.ceildivsi %n, %c64 : i32
  %place = arith.remui %block, %count : i32
  %first = arith.muli %place, %c64 : i32
  scf.for %i = %first to %m step %c64 : i32 {
    sm.barrier
  }
  sm.return
}

// CHECK-LABEL: sm.kernel @equal
// CHECK: sm.block_id{{$}}
// CHECK: sm.return
sm.kernel @equal args [#sm.dim<"M">, #sm.dim<"N">] warps 4 {
^bb0(%m: i32, %n: i32):
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %block = sm.block_id
  %count = arith.ceildivsi %n, %c64 : i32
  %place = arith.remui %block, %count : i32
  scf.for %i = %c0 to %m step %c64 : i32 {
    sm.barrier
  }
  sm.return
}
