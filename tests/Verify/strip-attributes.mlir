// Notes that passes leave are gone before a verifier runs; what an operation means stays.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s --strip-discardable-attributes --allow-unregistered-dialect | FileCheck %s
// CHECK: func.func @f(%arg0: i32) -> i32 attributes {tile.broadcast = {}, tile.launch_sizes = [], tile.reduced = [], tile.schedule = [], tile.unique = []} {
// CHECK-NEXT: arith.addi %arg0, %arg0 overflow<nsw> : i32
func.func @f(%a: i32) -> i32 attributes {note.safe, tile.broadcast = {}, tile.launch_sizes = [], tile.reduced = [], tile.schedule = [], tile.unique = []} {
  %0 = arith.addi %a, %a overflow<nsw> {note.padded, note.presence = false} : i32
  return {note.done} %0 : i32
}
