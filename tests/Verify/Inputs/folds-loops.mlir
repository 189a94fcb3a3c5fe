// A kernel that stores in a loop of one step, and what it is without that loop.
// SPDX-License-Identifier: MIT
#i = #tile.axes<"i">
tile.program @p.before dims ["M"] tensors [
  #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0] -> (s0)>,
  #tile.tensor_arg<name = "y", role = inout, elementType = f32, shape = ()[s0] -> (s0)>
] scalars [] requires [] params {} {
  tile.kernel @k ranges [#tile.iter<name = "i", extent = ()[s0] -> (s0), block = "B">] axes [#tile.axis<name = "i", block = "B">] {
  ^bb0(%M: i32, %x: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %i0: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %i = tile.range %i0 : tensor<?xi32, #i>
    %rows = tile.splat %M : i32 -> tensor<?xi32, #i>
    %in = arith.cmpi slt, %i, %rows : tensor<?xi32, #i>
    %old = tile.load %y[%i : tensor<?xi32, #i>] where(%in : tensor<?xi1, #i>) : <1, f32> -> tensor<?xf32, #i>
    %sum = scf.for %t = %zero to %M step %one iter_args(%acc = %old) -> (tensor<?xf32, #i>) : i32 {
      %a = tile.load %x[%t : i32] : <1, f32> -> f32
      %wide = tile.splat %a : f32 -> tensor<?xf32, #i>
      %next = arith.addf %acc, %wide : tensor<?xf32, #i>
      scf.yield %next : tensor<?xf32, #i>
    }
    scf.for %s = %zero to %one step %one : i32 {
      tile.store %sum, %y[%i : tensor<?xi32, #i>] where(%in : tensor<?xi1, #i>) : tensor<?xf32, #i>, <1, f32>
    }
    %after = tile.load %y[%i : tensor<?xi32, #i>] where(%in : tensor<?xi1, #i>) : <1, f32> -> tensor<?xf32, #i>
    tile.store %after, %y[%i : tensor<?xi32, #i>] where(%in : tensor<?xi1, #i>) : tensor<?xf32, #i>, <1, f32>
    tile.return
  }
}

tile.program @p dims ["M"] tensors [
  #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0] -> (s0)>,
  #tile.tensor_arg<name = "y", role = inout, elementType = f32, shape = ()[s0] -> (s0)>
] scalars [] requires [] params {} {
  tile.kernel @k ranges [#tile.iter<name = "i", extent = ()[s0] -> (s0), block = "B">] axes [#tile.axis<name = "i", block = "B">] {
  ^bb0(%M: i32, %x: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %i0: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %i = tile.range %i0 : tensor<?xi32, #i>
    %rows = tile.splat %M : i32 -> tensor<?xi32, #i>
    %in = arith.cmpi slt, %i, %rows : tensor<?xi32, #i>
    %old = tile.load %y[%i : tensor<?xi32, #i>] where(%in : tensor<?xi1, #i>) : <1, f32> -> tensor<?xf32, #i>
    %sum = scf.for %t = %zero to %M step %one iter_args(%acc = %old) -> (tensor<?xf32, #i>) : i32 {
      %a = tile.load %x[%t : i32] : <1, f32> -> f32
      %wide = tile.splat %a : f32 -> tensor<?xf32, #i>
      %next = arith.addf %acc, %wide : tensor<?xf32, #i>
      scf.yield %next : tensor<?xf32, #i>
    }
    tile.store %sum, %y[%i : tensor<?xi32, #i>] where(%in : tensor<?xi1, #i>) : tensor<?xf32, #i>, <1, f32>
    %after = tile.load %y[%i : tensor<?xi32, #i>] where(%in : tensor<?xi1, #i>) : <1, f32> -> tensor<?xf32, #i>
    tile.store %after, %y[%i : tensor<?xi32, #i>] where(%in : tensor<?xi1, #i>) : tensor<?xf32, #i>, <1, f32>
    tile.return
  }
}
