// RUN: selvedge-opt %s -verify-diagnostics -emit-ptx=arch=sm_70

// expected-error@below {{unknown architecture 'sm_70'}}
module {
  llvm.func @empty() attributes {nvvm.kernel} {
    llvm.return
  }
}
