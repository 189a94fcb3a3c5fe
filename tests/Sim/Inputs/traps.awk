# Of a kernel one block stops at its beginning, another at its end: -v kernel=NAME -v first=N -v last=N.
# SPDX-License-Identifier: MIT
function trap(block) {
  print "%the" block " = arith.constant " block " : i32"
  print "%is" block " = arith.cmpi eq, %ctaid, %the" block " : i32"
  print "scf.if %is" block " { llvm.inline_asm has_side_effects \"trap;\", \"\" : () -> () }"
}
inside && /^    llvm.return/ { inside = 0; trap(last) }
{ print }
index($0, "llvm.func @" kernel "(") {
  inside = 1
  print "%ctaid = llvm.call_intrinsic \"llvm.nvvm.read.ptx.sreg.ctaid.x\"() : () -> i32"
  trap(first)
}
