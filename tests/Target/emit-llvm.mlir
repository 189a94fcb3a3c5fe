// Inline assembly may synchronise threads: LLVM must not move it into branches.
// RUN: selvedge-opt %s -emit-llvm -o /dev/null | FileCheck %s

// CHECK-LABEL: define ptx_kernel void @asm
// CHECK: call void asm sideeffect "bar.sync 0;", ""() #[[ATTRIBUTES:.*]]
// CHECK: attributes #[[ATTRIBUTES]] = { convergent nounwind }
llvm.func @asm() attributes {nvvm.kernel} {
  llvm.inline_asm has_side_effects "bar.sync 0;", "" : () -> ()
  llvm.return
}
