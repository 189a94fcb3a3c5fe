// RUN: selvedge-opt %s -expand-integer-division | FileCheck %s

// CHECK-LABEL: llvm.func @floor
// CHECK-NOT: floordivsi
// CHECK: arith.divsi
llvm.func @floor(%a: i32, %b: i32) -> i32 {
  %q = arith.floordivsi %a, %b : i32
  llvm.return %q : i32
}

// Floating-point maxima stay: PTX has them with NaN propagation.
// CHECK-LABEL: llvm.func @maximum
// CHECK: arith.maximumf
llvm.func @maximum(%a: f32, %b: f32) -> f32 {
  %m = arith.maximumf %a, %b : f32
  llvm.return %m : f32
}
