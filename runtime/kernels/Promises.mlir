// Kernels that count the elements of a tensor that break a promise, and find the first.
// SPDX-License-Identifier: MIT
//
// Position p is the p-th element in the order of indices. It lies at `data` plus, per dimension, index times distance in bytes. `walk` has 16 bytes per dimension, the innermost one first: extent and distance. Of the outermost dimension only the distance is needed: `outer`. `inner` is the size of `walk` in bytes. An element is an i64 or, if `isWide` is 0, an i32.
//
// `found` holds the number of such elements and the first position, 2^63 - 1 if there is none. Launches add to it.
//
// runtime/src/PromisesPtx.inc is the PTX of this file. tests/runtime/promises-ptx.test compares them and says how to write it; tests/Sim/PromisesTest.cpp executes this file.

// Elements outside `lo`..`hi`, or inside of it if `isInside` is 1. If `reads` is 2 instead of 1, the element before takes the place of `lo`.
llvm.func @selvedge_outside(
    %data: !llvm.ptr<1>, %isWide: i32, %count: i64, %outer: i64, %inner: i32, %walk: !llvm.ptr<1>, %found: !llvm.ptr<1>,
    %lo: i64, %hi: i64, %reads: i32, %isInside: i32) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %c256 = arith.constant 256 : i64
  %zero = arith.constant 0 : i64
  %none = arith.constant 9223372036854775807 : i64
  %wide = arith.cmpi ne, %isWide, %c0 : i32
  %inside = arith.cmpi ne, %isInside, %c0 : i32
  %tid = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
  %block = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.ctaid.x"() : () -> i32
  %blocks = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.nctaid.x"() : () -> i32
  %tid64 = arith.extui %tid : i32 to i64
  %block64 = arith.extui %block : i32 to i64
  %blocks64 = arith.extui %blocks : i32 to i64
  %before = arith.muli %block64, %c256 : i64
  %start = arith.addi %before, %tid64 : i64
  %threads = arith.muli %blocks64, %c256 : i64

  %number, %first = scf.for %position = %start to %count step %threads iter_args(%n = %zero, %at = %none) -> (i64, i64) : i64 {
    // The element, then the one before; the first one has itself before it.
    %value, %low = scf.for %k = %c0 to %reads step %c1 iter_args(%v = %zero, %l = %lo) -> (i64, i64) : i32 {
      %k64 = arith.extui %k : i32 to i64
      %back = arith.subi %position, %k64 : i64
      %place = arith.maxsi %back, %zero : i64
      %rest, %offset = scf.for %d = %c0 to %inner step %c16 iter_args(%r = %place, %o = %zero) -> (i64, i64) : i32 {
        %pair = llvm.getelementptr %walk[%d] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
        %second = llvm.getelementptr %pair[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
        %extent = llvm.inline_asm has_side_effects "ld.global.b64 $0, [$1];", "=l,l" %pair : (!llvm.ptr<1>) -> i64
        %distance = llvm.inline_asm has_side_effects "ld.global.b64 $0, [$1];", "=l,l" %second : (!llvm.ptr<1>) -> i64
        %quotient = arith.divui %r, %extent : i64
        %whole = arith.muli %quotient, %extent : i64
        %index = arith.subi %r, %whole : i64
        %step = arith.muli %index, %distance : i64
        %sum = arith.addi %o, %step : i64
        scf.yield %quotient, %sum : i64, i64
      }
      %far = arith.muli %rest, %outer : i64
      %bytes = arith.addi %offset, %far : i64
      %address = llvm.getelementptr %data[%bytes] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      %element = scf.if %wide -> i64 {
        %word = llvm.inline_asm has_side_effects "ld.global.b64 $0, [$1];", "=l,l" %address : (!llvm.ptr<1>) -> i64
        scf.yield %word : i64
      } else {
        %word = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %address : (!llvm.ptr<1>) -> i32
        %extended = arith.extsi %word : i32 to i64
        scf.yield %extended : i64
      }
      %isItself = arith.cmpi eq, %k, %c0 : i32
      %v2 = arith.select %isItself, %element, %v : i64
      %l2 = arith.select %isItself, %l, %element : i64
      scf.yield %v2, %l2 : i64, i64
    }
    %isBelow = arith.cmpi slt, %value, %low : i64
    %isAbove = arith.cmpi sgt, %value, %hi : i64
    %isOutside = arith.ori %isBelow, %isAbove : i1
    %isFound = arith.xori %isOutside, %inside : i1
    %more = arith.extui %isFound : i1 to i64
    %n2 = arith.addi %n, %more : i64
    %here = arith.select %isFound, %position, %none : i64
    %at2 = arith.minsi %at, %here : i64
    scf.yield %n2, %at2 : i64, i64
  }
  %isAny = arith.cmpi ne, %number, %zero : i64
  scf.if %isAny {
    %place = llvm.getelementptr %found[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %x = llvm.inline_asm has_side_effects "atom.relaxed.gpu.global.add.u64 $0, [$1], $2;", "=l,l,l,~{memory}" %found, %number : (!llvm.ptr<1>, i64) -> i64
    %y = llvm.inline_asm has_side_effects "atom.relaxed.gpu.global.min.u64 $0, [$1], $2;", "=l,l,l,~{memory}" %place, %first : (!llvm.ptr<1>, i64) -> i64
  }
  llvm.return
}

// Elements that are not negative and equal one at an earlier position. `table` has more `slots` than the tensor has elements. A slot holds -1 or a position, and from then on positions of elements of that value only, each less than the one before. Of two positions that meet, the later one is an element to be found: each but the first of a value meets a lesser one once.
llvm.func @selvedge_repeated(
    %data: !llvm.ptr<1>, %isWide: i32, %count: i64, %outer: i64, %inner: i32, %walk: !llvm.ptr<1>, %found: !llvm.ptr<1>,
    %table: !llvm.ptr<1>, %slots: i64) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %c256 = arith.constant 256 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %eight = arith.constant 8 : i64
  %c32 = arith.constant 32 : i64
  %free = arith.constant -1 : i64
  %false = arith.constant false
  %true = arith.constant true
  // 2^64 divided by the golden ratio.
  %golden = arith.constant 0x9E3779B97F4A7C15 : i64
  %none = arith.constant 9223372036854775807 : i64
  %wide = arith.cmpi ne, %isWide, %c0 : i32
  %tid = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
  %block = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.ctaid.x"() : () -> i32
  %blocks = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.nctaid.x"() : () -> i32
  %tid64 = arith.extui %tid : i32 to i64
  %block64 = arith.extui %block : i32 to i64
  %blocks64 = arith.extui %blocks : i32 to i64
  %before = arith.muli %block64, %c256 : i64
  %start = arith.addi %before, %tid64 : i64
  %threads = arith.muli %blocks64, %c256 : i64

  %number, %first = scf.for %position = %start to %count step %threads iter_args(%n = %zero, %at = %none) -> (i64, i64) : i64 {
    %rest, %offset = scf.for %d = %c0 to %inner step %c16 iter_args(%r = %position, %o = %zero) -> (i64, i64) : i32 {
      %pair = llvm.getelementptr %walk[%d] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
      %second = llvm.getelementptr %pair[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      %extent = llvm.inline_asm has_side_effects "ld.global.b64 $0, [$1];", "=l,l" %pair : (!llvm.ptr<1>) -> i64
      %distance = llvm.inline_asm has_side_effects "ld.global.b64 $0, [$1];", "=l,l" %second : (!llvm.ptr<1>) -> i64
      %quotient = arith.divui %r, %extent : i64
      %whole = arith.muli %quotient, %extent : i64
      %index = arith.subi %r, %whole : i64
      %step = arith.muli %index, %distance : i64
      %sum = arith.addi %o, %step : i64
      scf.yield %quotient, %sum : i64, i64
    }
    %far = arith.muli %rest, %outer : i64
    %bytes = arith.addi %offset, %far : i64
    %address = llvm.getelementptr %data[%bytes] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %element = scf.if %wide -> i64 {
      %word = llvm.inline_asm has_side_effects "ld.global.b64 $0, [$1];", "=l,l" %address : (!llvm.ptr<1>) -> i64
      scf.yield %word : i64
    } else {
      %word = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %address : (!llvm.ptr<1>) -> i32
      %extended = arith.extsi %word : i32 to i64
      scf.yield %extended : i64
    }
    %isCounted = arith.cmpi sge, %element, %zero : i64
    // The later one of two that met, if any.
    %later = scf.if %isCounted -> i64 {
      %product = arith.muli %element, %golden : i64
      %high = arith.shrui %product, %c32 : i64
      %mixed = arith.xori %product, %high : i64
      %home = arith.remui %mixed, %slots : i64
      %s, %met = scf.while (%slot = %home) : (i64) -> (i64, i64) {
        %slotBytes = arith.muli %slot, %eight : i64
        %cell = llvm.getelementptr %table[%slotBytes] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
        %seen = llvm.inline_asm has_side_effects "ld.relaxed.gpu.global.b64 $0, [$1];", "=l,l,~{memory}" %cell : (!llvm.ptr<1>) -> i64
        %looksFree = arith.cmpi eq, %seen, %free : i64
        %held = scf.if %looksFree -> i64 {
          %old = llvm.inline_asm has_side_effects "atom.relaxed.gpu.global.cas.b64 $0, [$1], $2, $3;", "=l,l,l,l,~{memory}" %cell, %free, %position : (!llvm.ptr<1>, i64, i64) -> i64
          scf.yield %old : i64
        } else {
          scf.yield %seen : i64
        }
        %wasFree = arith.cmpi eq, %held, %free : i64
        %isEqual, %other = scf.if %wasFree -> (i1, i64) {
          scf.yield %false, %none : i1, i64
        } else {
          %rest2, %offset2 = scf.for %d = %c0 to %inner step %c16 iter_args(%r = %held, %o = %zero) -> (i64, i64) : i32 {
            %pair = llvm.getelementptr %walk[%d] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
            %second = llvm.getelementptr %pair[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
            %extent = llvm.inline_asm has_side_effects "ld.global.b64 $0, [$1];", "=l,l" %pair : (!llvm.ptr<1>) -> i64
            %distance = llvm.inline_asm has_side_effects "ld.global.b64 $0, [$1];", "=l,l" %second : (!llvm.ptr<1>) -> i64
            %quotient = arith.divui %r, %extent : i64
            %whole = arith.muli %quotient, %extent : i64
            %index = arith.subi %r, %whole : i64
            %step = arith.muli %index, %distance : i64
            %sum = arith.addi %o, %step : i64
            scf.yield %quotient, %sum : i64, i64
          }
          %far2 = arith.muli %rest2, %outer : i64
          %bytes2 = arith.addi %offset2, %far2 : i64
          %address2 = llvm.getelementptr %data[%bytes2] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
          %element2 = scf.if %wide -> i64 {
            %word = llvm.inline_asm has_side_effects "ld.global.b64 $0, [$1];", "=l,l" %address2 : (!llvm.ptr<1>) -> i64
            scf.yield %word : i64
          } else {
            %word = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %address2 : (!llvm.ptr<1>) -> i32
            %extended = arith.extsi %word : i32 to i64
            scf.yield %extended : i64
          }
          %isSame = arith.cmpi eq, %element2, %element : i64
          %isEarlier = arith.cmpi slt, %position, %held : i64
          %replaces = arith.andi %isSame, %isEarlier : i1
          %holder = scf.if %replaces -> i64 {
            %old = llvm.inline_asm has_side_effects "atom.relaxed.gpu.global.min.u64 $0, [$1], $2;", "=l,l,l,~{memory}" %cell, %position : (!llvm.ptr<1>, i64) -> i64
            scf.yield %old : i64
          } else {
            scf.yield %held : i64
          }
          %loser = arith.maxsi %holder, %position : i64
          scf.yield %isSame, %loser : i1, i64
        }
        %isOver = arith.ori %wasFree, %isEqual : i1
        %goesOn = arith.xori %isOver, %true : i1
        %following = arith.addi %slot, %one : i64
        %isEnd = arith.cmpi eq, %following, %slots : i64
        %next = arith.select %isEnd, %zero, %following : i64
        scf.condition(%goesOn) %next, %other : i64, i64
      } do {
      ^bb0(%slot: i64, %other: i64):
        scf.yield %slot : i64
      }
      scf.yield %met : i64
    } else {
      scf.yield %none : i64
    }
    %isFound = arith.cmpi ne, %later, %none : i64
    %more = arith.extui %isFound : i1 to i64
    %n2 = arith.addi %n, %more : i64
    %at2 = arith.minsi %at, %later : i64
    scf.yield %n2, %at2 : i64, i64
  }
  %isAny = arith.cmpi ne, %number, %zero : i64
  scf.if %isAny {
    %place = llvm.getelementptr %found[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %x = llvm.inline_asm has_side_effects "atom.relaxed.gpu.global.add.u64 $0, [$1], $2;", "=l,l,l,~{memory}" %found, %number : (!llvm.ptr<1>, i64) -> i64
    %y = llvm.inline_asm has_side_effects "atom.relaxed.gpu.global.min.u64 $0, [$1], $2;", "=l,l,l,~{memory}" %place, %first : (!llvm.ptr<1>, i64) -> i64
  }
  llvm.return
}
