# Behind the first store to the fourth tensor of `partial` a branch that no size takes, which nobody proves: on a square of 3.
# There a store to rows past the end, or a barrier.
/%1 = sm.range %0/ { range = $0; sub(/%1 = sm.range %0/, "%rows = sm.range %far", range) }
/sm.store .*%arg4/ && !done {
  done = 1
  print
  print "%square = arith.muli %arg0, %arg0 : i32"
  print "%three = arith.constant 3 : i32"
  print "%is = arith.cmpi eq, %square, %three : i32"
  print "scf.if %is {"
  if (what == "store") {
    print "%far = arith.addi %0, %arg0 : i32"
    print range
    sub(/%arg4\[%1 /, "%arg4[%rows ")
    sub(/where\(.*\) vector/, "vector")
    print
  } else {
    print "sm.barrier"
  }
  print "}"
  next
}
{ print }
