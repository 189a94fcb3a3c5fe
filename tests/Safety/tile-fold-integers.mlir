// What no integer changes is folded, and what no lane enters is gone; the rest stays.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s -pass-pipeline='builtin.module(tile.program(tile.kernel(tile-fold-integers)))' | FileCheck %s

#i = #tile.axes<"i">
#ij = #tile.axes<"i", "j">
tile.program @folds dims ["M"] tensors [
  #tile.tensor_arg<name = "x", role = in, elementType = i32, shape = ()[s0] -> (s0)>,
  #tile.tensor_arg<name = "v", role = in, elementType = f32, shape = ()[s0] -> (s0, s0)>,
  #tile.tensor_arg<name = "y", role = out, elementType = i32, shape = ()[s0] -> (s0), init = 0 : i32>,
  #tile.tensor_arg<name = "z", role = out, elementType = f32, shape = ()[s0] -> (s0), init = 0.0 : f32>
] scalars [] requires [] params {} {
  // CHECK-LABEL: tile.kernel @integers
  tile.kernel @integers ranges [#tile.iter<name = "i", extent = ()[s0] -> (s0), block = "B">] axes [#tile.axis<name = "i", block = "B">] {
  ^bb0(%M: i32, %x: !tile.tensor<1, i32>, %v: !tile.tensor<2, f32>, %y: !tile.tensor<1, i32>, %z: !tile.tensor<1, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #i>
    // CHECK: %[[X:.*]] = tile.load
    // CHECK-NOT: tile.load
    %a = tile.load %x[%i : tensor<?xi32, #i>] : <1, i32> -> tensor<?xi32, #i>
    %b = tile.load %x[%i : tensor<?xi32, #i>] : <1, i32> -> tensor<?xi32, #i>
    %other = tile.splat %M : i32 -> tensor<?xi32, #i>
    // The same number, read twice.
    // CHECK: %[[LESS:.*]] = arith.cmpi slt, %[[X]], %[[M:.*]] :
    %never = arith.cmpi slt, %a, %b : tensor<?xi32, #i>
    %always = arith.cmpi sge, %a, %b : tensor<?xi32, #i>
    %data = arith.cmpi slt, %a, %other : tensor<?xi32, #i>
    %s = arith.select %never, %other, %a : tensor<?xi1, #i>, tensor<?xi32, #i>
    %t = arith.select %always, %s, %other : tensor<?xi1, #i>, tensor<?xi32, #i>
    // CHECK: %[[KEPT:.*]] = arith.select %[[LESS]], %[[X]], %[[M]]
    %u = arith.select %data, %t, %other : tensor<?xi1, #i>, tensor<?xi32, #i>
    %sum = arith.addi %other, %a : tensor<?xi32, #i>
    %m = arith.subi %sum, %b : tensor<?xi32, #i>
    %less = arith.subi %u, %a : tensor<?xi32, #i>
    %again = arith.addi %b, %less : tensor<?xi32, #i>
    %zero = arith.subi %a, %b : tensor<?xi32, #i>
    // CHECK: %[[ZERO:.*]] = tile.splat %{{.*}} : i32
    // CHECK: arith.addi %[[ZERO]], %[[KEPT]]
    // CHECK: arith.addi %{{.*}}, %[[M]]
    %e = arith.addi %zero, %again : tensor<?xi32, #i>
    %f = arith.addi %e, %m : tensor<?xi32, #i>
    // A store that no lane enters keeps its presence.
    // CHECK: tile.store {{.*}} where(%{{.*}} :
    tile.store %f, %y[%i : tensor<?xi32, #i>] where(%never : tensor<?xi1, #i>) : tensor<?xi32, #i>, <1, i32>
    tile.return
  }

  // CHECK-LABEL: tile.kernel @logic
  tile.kernel @logic ranges [#tile.iter<name = "i", extent = ()[s0] -> (s0), block = "B">] axes [#tile.axis<name = "i", block = "B">] {
  ^bb0(%M: i32, %x: !tile.tensor<1, i32>, %v: !tile.tensor<2, f32>, %y: !tile.tensor<1, i32>, %z: !tile.tensor<1, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #i>
    %rows = tile.splat %M : i32 -> tensor<?xi32, #i>
    // CHECK: %[[DATA:.*]] = arith.cmpi slt
    %data = arith.cmpi slt, %i, %rows : tensor<?xi32, #i>
    %always = arith.cmpi sle, %i, %i : tensor<?xi32, #i>
    %yes = arith.constant true
    %all = tile.splat %yes : i1 -> tensor<?xi1, #i>
    %never = arith.xori %always, %all : tensor<?xi1, #i>
    %other = arith.xori %data, %all : tensor<?xi1, #i>
    // CHECK-DAG: %[[OTHER:.*]] = arith.xori %[[DATA]]
    // CHECK-DAG: %[[FALSE:.*]] = arith.constant false
    // CHECK-DAG: %[[NEVER:.*]] = tile.splat %[[FALSE]]
    // CHECK-NOT: arith.ori
    // CHECK-NOT: arith.andi
    %a = arith.ori %data, %always : tensor<?xi1, #i>
    %b = arith.ori %never, %data : tensor<?xi1, #i>
    %c = arith.andi %always, %other : tensor<?xi1, #i>
    %d = arith.andi %data, %never : tensor<?xi1, #i>
    // What always holds makes no lane absent.
    // CHECK: tile.store {{.*}} where(%[[DATA]], %[[OTHER]], %[[NEVER]] :
    tile.store %i, %y[%i : tensor<?xi32, #i>] where(%a, %b, %c, %d : tensor<?xi1, #i>, tensor<?xi1, #i>, tensor<?xi1, #i>, tensor<?xi1, #i>) : tensor<?xi32, #i>, <1, i32>
    tile.return
  }

  // CHECK-LABEL: tile.kernel @sinks
  tile.kernel @sinks ranges [#tile.iter<name = "i", extent = ()[s0] -> (s0), block = "B">] axes [#tile.axis<name = "i", block = "B">, #tile.axis<name = "j", block = "C">] {
  ^bb0(%M: i32, %x: !tile.tensor<1, i32>, %v: !tile.tensor<2, f32>, %y: !tile.tensor<1, i32>, %z: !tile.tensor<1, f32>, %i0: i32):
    %first = arith.constant 0 : i32
    %i = tile.range %i0 : tensor<?xi32, #i>
    %j = tile.range %first : tensor<?xi32, #tile.axes<"j">>
    %never = arith.cmpi ne, %j, %j : tensor<?xi32, #tile.axes<"j">>
    %in = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"j">>
    %some = arith.cmpi slt, %j, %in : tensor<?xi32, #tile.axes<"j">>
    %d = tile.load %v[%i, %j : tensor<?xi32, #i>, tensor<?xi32, #tile.axes<"j">>] : <2, f32> -> tensor<?x?xf32, #ij>
    // CHECK-NOT: tile.reduce max
    // CHECK-NOT: tile.dot
    // CHECK-NOT: tile.softmax_update
    // CHECK: %[[INF:.*]] = arith.constant 0xFF800000 : f32
    // CHECK: %[[MAX:.*]] = tile.splat %[[INF]]
    %max = tile.reduce max %d over ["j"] where(%some, %never : tensor<?xi1, #tile.axes<"j">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #ij> -> tensor<?xf32, #i>
    // CHECK: %[[SUM:.*]] = tile.reduce add %{{.*}} over ["j"] where(
    %sum = tile.reduce add %d over ["j"] where(%some : tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #ij> -> tensor<?xf32, #i>
    %dot = tile.dot %d, %d init %sum : tensor<?xf32, #i> over ["j"] where(%never : tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #ij>, tensor<?x?xf32, #ij> -> tensor<?xf32, #i>
    %w, %m, %s = tile.softmax_update %d, %max, %dot over "j" where(%never : tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #ij>, tensor<?xf32, #i>, tensor<?xf32, #i> -> tensor<?x?xf32, #ij>, tensor<?xf32, #i>, tensor<?xf32, #i>
    // CHECK: %[[NONE:.*]] = tile.splat %{{.*}} : f32 -> tensor<?x?xf32
    // CHECK: tile.reduce add %[[NONE]]
    %weights = tile.reduce add %w over ["j"] : tensor<?x?xf32, #ij> -> tensor<?xf32, #i>
    // CHECK: arith.addf %[[MAX]], %[[SUM]]
    %r = arith.addf %m, %s : tensor<?xf32, #i>
    %q = arith.addf %r, %weights : tensor<?xf32, #i>
    tile.store %q, %z[%i : tensor<?xi32, #i>] : tensor<?xf32, #i>, <1, f32>
    tile.return
  }

  // A range of one number, and a loop of one step, read what 0 reads.
  // CHECK-LABEL: tile.kernel @single
  tile.kernel @single ranges [#tile.iter<name = "s", extent = ()[s0] -> (1)>, #tile.iter<name = "i", extent = ()[s0] -> (s0), block = "B">] axes [#tile.axis<name = "i", block = "B">] {
  ^bb0(%M: i32, %x: !tile.tensor<1, i32>, %v: !tile.tensor<2, f32>, %y: !tile.tensor<1, i32>, %z: !tile.tensor<1, f32>, %s: i32, %i0: i32):
    %first = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %i = tile.range %i0 : tensor<?xi32, #i>
    // CHECK: %[[A:.*]] = tile.load
    // CHECK-NOT: tile.load
    // CHECK-NOT: scf.for
    // CHECK: %[[SUM:.*]] = arith.addf %[[A]], %[[A]]
    // CHECK: arith.addf %[[SUM]], %[[A]]
    %a = tile.load %v[%i, %s : tensor<?xi32, #i>, i32] : <2, f32> -> tensor<?xf32, #i>
    %b = tile.load %v[%i, %first : tensor<?xi32, #i>, i32] : <2, f32> -> tensor<?xf32, #i>
    %sum = arith.addf %a, %b : tensor<?xf32, #i>
    %c = scf.for %t = %first to %one step %one iter_args(%acc = %sum) -> (tensor<?xf32, #i>) : i32 {
      %d = tile.load %v[%i, %t : tensor<?xi32, #i>, i32] : <2, f32> -> tensor<?xf32, #i>
      %e = arith.addf %acc, %d : tensor<?xf32, #i>
      scf.yield %e : tensor<?xf32, #i>
    }
    tile.store %c, %z[%i : tensor<?xi32, #i>] : tensor<?xf32, #i>, <1, f32>
    tile.return
  }
}
