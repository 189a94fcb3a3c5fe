// No flag may reach the back end that assumes finite values.
// RUN: selvedge-opt %s -split-input-file -verify-diagnostics -emit-ptx -o /dev/null | FileCheck %s --allow-empty
// CHECK-NOT: .entry refused

// expected-error@below {{@refused_nnan: flags nnan in}}
module {
  llvm.func @refused_nnan(%x: f32) -> f32 {
    %y = arith.addf %x, %x fastmath<nnan> : f32
    llvm.return %y : f32
  }
}

// -----

// expected-error@below {{flags nnan ninf nsz reassoc in}}
module {
  llvm.func @refused_fast(%x: f32) -> f32 {
    %y = llvm.intr.maximum(%x, %x) {fastmathFlags = #llvm.fastmath<fast>} : (f32, f32) -> f32
    llvm.return %y : f32
  }
}

// -----

// expected-error@below {{@refused_nsz: flags nsz in}}
module {
  llvm.func @refused_nsz(%c: i1, %x: f32, %y: f32) -> f32 {
    %z = llvm.select %c, %x, %y {fastmathFlags = #llvm.fastmath<nsz>} : i1, f32
    llvm.return %z : f32
  }
}

// -----

// expected-error@below {{@refused_attribute: function attribute no-nans-fp-math}}
module {
  llvm.func @refused_attribute(%x: f32) -> f32 attributes {no_nans_fp_math = true} {
    llvm.return %x : f32
  }
}

// -----

// Flags that only change rounding pass.
module {
  llvm.func @accepted(%x: f32) -> f32 {
    %y = arith.addf %x, %x fastmath<contract> : f32
    llvm.return %y : f32
  }
}
