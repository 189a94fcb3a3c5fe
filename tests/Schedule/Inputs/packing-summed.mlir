// A sum over rows, of one element of the batch: it depends on the block size, so the language has no such program.
module {
  tile.program @summed dims ["B", "M", "N"] tensors [#tile.tensor_arg<name = "x", role = in, elementType = bf16, shape = ()[s0, s1, s2] -> (s0, s1, 64)>, #tile.tensor_arg<name = "w", role = in, elementType = bf16, shape = ()[s0, s1, s2] -> (s2, 64)>, #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2] -> (s0, s1, s2), init = 0.000000e+00 : f32>] scalars [] requires [] params {D = 64 : i64} {
    tile.kernel @main ranges [#tile.iter<name = "b", extent = ()[s0, s1, s2] -> (s0)>, #tile.iter<name = "i", extent = ()[s0, s1, s2] -> (s1), block = "BM">] axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "D", extent = 64>, #tile.axis<name = "n", block = "BN">] {
    ^bb0(%arg0: i32, %arg1: i32, %arg2: i32, %arg3: !tile.tensor<3, bf16>, %arg4: !tile.tensor<2, bf16>, %arg5: !tile.tensor<3, f32>, %arg6: i32, %arg7: i32):
      %0 = tile.range %arg7 : tensor<?xi32, #tile.axes<"i">>
      %1 = tile.splat %arg1 : i32 -> tensor<?xi32, #tile.axes<"i">>
      %2 = arith.cmpi slt, %0, %1 : tensor<?xi32, #tile.axes<"i">>
      %c0_i32 = arith.constant 0 : i32
      %3 = tile.range %c0_i32 : tensor<?xi32, #tile.axes<"D">>
      %c64_i32 = arith.constant 64 : i32
      %4 = tile.splat %c64_i32 : i32 -> tensor<?xi32, #tile.axes<"D">>
      %5 = arith.cmpi slt, %3, %4 : tensor<?xi32, #tile.axes<"D">>
      %6 = tile.load %arg3[%arg6, %0, %3 : i32, tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"D">>] where(%2, %5 : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"D">>) : <3, bf16> -> tensor<?x?xbf16, #tile.axes<"i", "D">>
      %7 = tile.block_size "BN"
      %8 = tile.splat %arg2 : i32 -> tensor<?xi32, #tile.axes<"n">>
      scf.for %arg8 = %c0_i32 to %arg2 step %7  : i32 {
        %9 = tile.range %arg8 : tensor<?xi32, #tile.axes<"n">>
        %10 = arith.cmpi slt, %9, %8 : tensor<?xi32, #tile.axes<"n">>
        %11 = tile.load %arg4[%9, %3 : tensor<?xi32, #tile.axes<"n">>, tensor<?xi32, #tile.axes<"D">>] where(%10, %5 : tensor<?xi1, #tile.axes<"n">>, tensor<?xi1, #tile.axes<"D">>) : <2, bf16> -> tensor<?x?xbf16, #tile.axes<"D", "n">>
        %12 = tile.dot %6, %11 over ["D"] where(%5 : tensor<?xi1, #tile.axes<"D">>) : tensor<?x?xbf16, #tile.axes<"i", "D">>, tensor<?x?xbf16, #tile.axes<"D", "n">> -> tensor<?x?xf32, #tile.axes<"i", "n">>
        %13 = tile.reduce  add %12 over ["i"] where(%2 : tensor<?xi1, #tile.axes<"i">>) : tensor<?x?xf32, #tile.axes<"i", "n">> -> tensor<?xf32, #tile.axes<"n">>
        tile.store %13, %arg5[%arg6, %0, %9 : i32, tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"n">>] where(%10, %2 : tensor<?xi1, #tile.axes<"n">>, tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"n">>, <3, f32>
      }
      tile.return
    }
  }
}

