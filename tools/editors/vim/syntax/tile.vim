" Colours of Selvedge's .tile files.
" SPDX-License-Identifier: MIT
if exists("b:current_syntax")
  finish
endif
syn match tileComment "//.*$"
syn region tileString start=+"+ end=+"\|$+
syn keyword tileDeclaration op fn kernel let var temp view inout diff
syn keyword tileStatement for in by if else where when import extends requires backward launch schedule valid as zeros out_init overflow deterministic
syn keyword tileType f32 bf16 f16 e4m3 e5m2 i32 i8 u8 bool int float type
syn keyword tileConstant true false inf keep sat
syn keyword tileFunction exp exp2 log log2 tanh sqrt rsqrt abs max min sum count any present dot select split rel segments unique online_softmax softmax_weight vjp super
syn match tileNumber "\<\d\+\(\.\d\+\)\?\([eE][+-]\?\d\+\)\?\>"
hi def link tileComment Comment
hi def link tileString String
hi def link tileDeclaration Keyword
hi def link tileStatement Statement
hi def link tileType Type
hi def link tileConstant Constant
hi def link tileFunction Function
hi def link tileNumber Number
let b:current_syntax = "tile"
