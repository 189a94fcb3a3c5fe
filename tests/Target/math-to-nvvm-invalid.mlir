// Functions that the back end would abort on are refused.
// RUN: selvedge-opt %s -split-input-file -verify-diagnostics -math-to-nvvm

llvm.func @function(%x: f32) -> f32 {
  // expected-error@below {{'math.erf' op has no NVPTX lowering}}
  %y = math.erf %x : f32
  llvm.return %y : f32
}

// -----

llvm.func @type(%x: f64) -> f64 {
  // expected-error@below {{'math.exp' op has no NVPTX lowering for type 'f64'}}
  %y = math.exp %x : f64
  llvm.return %y : f64
}
