// Attention that also carries a value of which the order of steps matters, and that a step without weights changes. The language has no such program:
// trace = trace * 0.5 + sum(s, j) would depend on the block size.
module {
  tile.program @decay dims ["B", "M", "H", "N"] tensors [#tile.tensor_arg<name = "q", role = in, elementType = bf16, shape = ()[s0, s1, s2, s3] -> (s0, s1, s2, 64)>, #tile.tensor_arg<name = "k", role = in, elementType = bf16, shape = ()[s0, s1, s2, s3] -> (s0, s3, s2, 64)>, #tile.tensor_arg<name = "v", role = in, elementType = bf16, shape = ()[s0, s1, s2, s3] -> (s0, s3, s2, 64)>, #tile.tensor_arg<name = "o", role = out, elementType = bf16, shape = ()[s0, s1, s2, s3] -> (s0, s1, s2, 64), init = 0.000000e+00 : f32>, #tile.tensor_arg<name = "w", role = out, elementType = f32, shape = ()[s0, s1, s2, s3] -> (s0, s2, s1), init = 0.000000e+00 : f32>] scalars [] requires [] params {D = 64 : i64, T = bf16} {
    tile.kernel @main ranges [#tile.iter<name = "b", extent = ()[s0, s1, s2, s3] -> (s0)>, #tile.iter<name = "h", extent = ()[s0, s1, s2, s3] -> (s2)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3] -> (s1), block = "BM">] axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "D", extent = 64>, #tile.axis<name = "j", block = "BN">] {
    ^bb0(%arg0: i32, %arg1: i32, %arg2: i32, %arg3: i32, %arg4: !tile.tensor<4, bf16>, %arg5: !tile.tensor<4, bf16>, %arg6: !tile.tensor<4, bf16>, %arg7: !tile.tensor<4, bf16>, %arg8: !tile.tensor<3, f32>, %arg9: i32, %arg10: i32, %arg11: i32):
      %0 = tile.range %arg11 : tensor<?xi32, #tile.axes<"i">>
      %1 = tile.splat %arg1 : i32 -> tensor<?xi32, #tile.axes<"i">>
      %2 = arith.cmpi slt, %0, %1 : tensor<?xi32, #tile.axes<"i">>
      %c0_i32 = arith.constant 0 : i32
      %3 = tile.range %c0_i32 : tensor<?xi32, #tile.axes<"D">>
      %c64_i32 = arith.constant 64 : i32
      %4 = tile.splat %c64_i32 : i32 -> tensor<?xi32, #tile.axes<"D">>
      %5 = arith.cmpi slt, %3, %4 : tensor<?xi32, #tile.axes<"D">>
      %6 = tile.load %arg4[%arg9, %0, %arg10, %3 : i32, tensor<?xi32, #tile.axes<"i">>, i32, tensor<?xi32, #tile.axes<"D">>] where(%2, %5 : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"D">>) : <4, bf16> -> tensor<?x?xbf16, #tile.axes<"i", "D">>
      %cst = arith.constant 0xFF800000 : f32
      %7 = tile.splat %cst : f32 -> tensor<?xf32, #tile.axes<"i">>
      %cst_0 = arith.constant 0.000000e+00 : f32
      %8 = tile.splat %cst_0 : f32 -> tensor<?xf32, #tile.axes<"i">>
      %9 = tile.splat %cst_0 : f32 -> tensor<?x?xf32, #tile.axes<"i", "D">>
      %10 = tile.block_size "BN"
      %11 = tile.splat %arg3 : i32 -> tensor<?xi32, #tile.axes<"j">>
      %12 = tile.broadcast %0 : tensor<?xi32, #tile.axes<"i">> -> tensor<?x?xi32, #tile.axes<"i", "j">>
      %cst_1 = arith.constant 5.000000e-01 : f32
      %13 = tile.splat %cst_1 : f32 -> tensor<?xf32, #tile.axes<"i">>
      %14:4 = scf.for %arg12 = %c0_i32 to %arg3 step %10 iter_args(%arg13 = %7, %arg14 = %8, %arg15 = %9, %arg16 = %8) -> (tensor<?xf32, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>, tensor<?x?xf32, #tile.axes<"i", "D">>, tensor<?xf32, #tile.axes<"i">>)  : i32 {
        %17 = tile.range %arg12 : tensor<?xi32, #tile.axes<"j">>
        %18 = arith.cmpi slt, %17, %11 : tensor<?xi32, #tile.axes<"j">>
        %19 = tile.load %arg5[%arg9, %17, %arg10, %3 : i32, tensor<?xi32, #tile.axes<"j">>, i32, tensor<?xi32, #tile.axes<"D">>] where(%18, %5 : tensor<?xi1, #tile.axes<"j">>, tensor<?xi1, #tile.axes<"D">>) : <4, bf16> -> tensor<?x?xbf16, #tile.axes<"D", "j">>
        %20 = tile.dot %6, %19 over ["D"] where(%5 : tensor<?xi1, #tile.axes<"D">>) : tensor<?x?xbf16, #tile.axes<"i", "D">>, tensor<?x?xbf16, #tile.axes<"D", "j">> -> tensor<?x?xf32, #tile.axes<"i", "j">>
        %21 = tile.broadcast %17 : tensor<?xi32, #tile.axes<"j">> -> tensor<?x?xi32, #tile.axes<"i", "j">>
        %22 = arith.cmpi sle, %21, %12 : tensor<?x?xi32, #tile.axes<"i", "j">>
        %weights, %newMax, %newSum, %newAccs = tile.softmax_update %20, %arg13, %arg14 rescales(%arg15 : tensor<?x?xf32, #tile.axes<"i", "D">>) over "j" where(%18, %22 : tensor<?xi1, #tile.axes<"j">>, tensor<?x?xi1, #tile.axes<"i", "j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, tensor<?xf32, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">> -> tensor<?x?xf32, #tile.axes<"i", "j">>, tensor<?xf32, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>, tensor<?x?xf32, #tile.axes<"i", "D">>
        %23 = arith.mulf %arg16, %13 : tensor<?xf32, #tile.axes<"i">>
        %24 = tile.reduce  add %20 over ["j"] where(%18 : tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
        %25 = arith.addf %23, %24 : tensor<?xf32, #tile.axes<"i">>
        %26 = tile.convert %weights  sat : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?x?xbf16, #tile.axes<"i", "j">>
        %27 = tile.load %arg6[%arg9, %17, %arg10, %3 : i32, tensor<?xi32, #tile.axes<"j">>, i32, tensor<?xi32, #tile.axes<"D">>] where(%18, %5 : tensor<?xi1, #tile.axes<"j">>, tensor<?xi1, #tile.axes<"D">>) : <4, bf16> -> tensor<?x?xbf16, #tile.axes<"D", "j">>
        %28 = tile.dot %26, %27 init %newAccs : tensor<?x?xf32, #tile.axes<"i", "D">> over ["j"] where(%18, %22 : tensor<?xi1, #tile.axes<"j">>, tensor<?x?xi1, #tile.axes<"i", "j">>) : tensor<?x?xbf16, #tile.axes<"i", "j">>, tensor<?x?xbf16, #tile.axes<"D", "j">> -> tensor<?x?xf32, #tile.axes<"i", "D">>
        scf.yield %newMax, %newSum, %28, %25 : tensor<?xf32, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>, tensor<?x?xf32, #tile.axes<"i", "D">>, tensor<?xf32, #tile.axes<"i">>
      }
      %15 = tile.softmax_normalize %14#2, %14#1 : tensor<?x?xf32, #tile.axes<"i", "D">>, tensor<?xf32, #tile.axes<"i">> -> tensor<?x?xf32, #tile.axes<"i", "D">>
      %16 = tile.convert %15  sat : tensor<?x?xf32, #tile.axes<"i", "D">> -> tensor<?x?xbf16, #tile.axes<"i", "D">>
      tile.store %16, %arg7[%arg9, %0, %arg10, %3 : i32, tensor<?xi32, #tile.axes<"i">>, i32, tensor<?xi32, #tile.axes<"D">>] where(%2, %5 : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"D">>) : tensor<?x?xbf16, #tile.axes<"i", "D">>, <4, bf16>
      tile.store %14#3, %arg8[%arg9, %arg10, %0 : i32, i32, tensor<?xi32, #tile.axes<"i">>] where(%2 : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, <3, f32>
      tile.return
    }
  }
}

