// Reasons travel in locations: through the obligations, the removal of proved predicates, and CSE.
// RUN: selvedge-opt %s -pass-pipeline='builtin.module(tile.program(tile-obligations,tile-output-init),cse,tile-bind-blocks{arch=sm_80},tile-simplify-presence,cse)' --mlir-print-debuginfo | FileCheck %s

// The load keeps `i < M` and lost `D < 256`; both masks of the reductions are gone.
// CHECK: tile.load {{.*}} where(%{{[0-9]+}} : tensor<{{.*}}"i">>) {{.*}} loc([[LOAD:#loc[0-9]+]])
// CHECK-NOT: arith.select
// CHECK: tile.reduce
// CHECK: tile.store {{.*}} loc([[STORE:#loc[0-9]+]])
// CHECK-DAG: [[LOAD]] = loc(fused<{id = "main.load0", proved = array<i64: 1>, reason = "unread", safety = "load", subject = "x"}>
// CHECK-DAG: [[STORE]] = loc(fused<{id = "main.store0", reason = "covers", safety = "store", subject = "y"}>

module {
  tile.program @rows dims ["M"] tensors [#tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0] -> (s0, 256)>, #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0] -> (s0), init = 0xFF800000 : f32>] scalars [] requires [] params {D = 256 : i64} {
    tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0] -> (s0), block = "BM">] axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "D", extent = 256>] {
    ^bb0(%arg0: i32, %arg1: !tile.tensor<2, f32>, %arg2: !tile.tensor<1, f32>, %arg3: i32):
      %0 = tile.range %arg3 : tensor<?xi32, #tile.axes<"i">>
      %1 = tile.splat %arg0 : i32 -> tensor<?xi32, #tile.axes<"i">>
      %2 = arith.cmpi slt, %0, %1 : tensor<?xi32, #tile.axes<"i">>
      %c0_i32 = arith.constant 0 : i32
      %3 = tile.range %c0_i32 : tensor<?xi32, #tile.axes<"D">>
      %c256_i32 = arith.constant 256 : i32
      %4 = tile.splat %c256_i32 : i32 -> tensor<?xi32, #tile.axes<"D">>
      %5 = arith.cmpi slt, %3, %4 : tensor<?xi32, #tile.axes<"D">>
      %6 = tile.load %arg1[%0, %3 : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"D">>] where(%2, %5 : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"D">>) : <2, f32> -> tensor<?x?xf32, #tile.axes<"i", "D">>
      %7 = tile.reduce  max %6 over ["D"] where(%5 : tensor<?xi1, #tile.axes<"D">>) : tensor<?x?xf32, #tile.axes<"i", "D">> -> tensor<?xf32, #tile.axes<"i">>
      %8 = tile.broadcast %7 : tensor<?xf32, #tile.axes<"i">> -> tensor<?x?xf32, #tile.axes<"i", "D">>
      %9 = arith.subf %6, %8 : tensor<?x?xf32, #tile.axes<"i", "D">>
      %10 = tile.reduce  add %9 over ["D"] where(%5 : tensor<?xi1, #tile.axes<"D">>) : tensor<?x?xf32, #tile.axes<"i", "D">> -> tensor<?xf32, #tile.axes<"i">>
      tile.store %10, %arg2[%0 : tensor<?xi32, #tile.axes<"i">>] where(%2 : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, <1, f32>
      tile.return
    }
  }
}
