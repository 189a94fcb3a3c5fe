; Colours of .tile files. No node has two patterns, so the order of patterns, which editors read differently, is free.
; SPDX-License-Identifier: MIT

(comment) @comment
(path) @string
[(int) (float)] @number
[(true) (false)] @boolean
(inf) @constant.builtin
(out_init "keep" @constant.builtin)
(overflow "sat" @constant.builtin)
(pin "off" @constant.builtin)

[
  "as" "backward" "by" "deterministic" "diff" "else" "extends" "fn" "for" "if" "import" "in" "inout" "kernel" "launch" "let" "op" "out_init"
  "overflow" "requires" "schedule" "temp" "valid" "var" "view" "when" "where" "zeros"
] @keyword

[(type) (kind)] @type
; A type that is compared, as in `T == bf16`.
(compare
  (name) @type
  (#match? @type "^(f32|bf16|f16|e4m3|e5m2|i32|i8|u8|bool)$"))

(op name: (name) @function)
(extends name: (name) @function)
(backward name: (name) @function)
(kernel name: (name) @function)
(schedule kernel: (name) @function)
(hook name: (name) @function)
(method name: (name) @function.method)
(call
  name: (name) @function.builtin
  (#match? @function.builtin "^(exp|log|exp2|log2|tanh|sqrt|rsqrt|abs|sum|max|min|count|any|present|dot|select|rel|online_softmax|softmax_weight)$"))
(call
  name: (name) @function.call
  (#not-match? @function.call "^(exp|log|exp2|log2|tanh|sqrt|rsqrt|abs|sum|max|min|count|any|present|dot|select|rel|online_softmax|softmax_weight)$"))
(super) @function.builtin
(vjp "vjp" @function.builtin)
(vjp name: (name) @function)
(split "split" @function.builtin)
(promise ["segments" "unique"] @function.builtin)

(param name: (name) @variable.parameter)
(arg name: (name) @variable.parameter)
(names (name) @variable.parameter)
(binding name: (name) @property)
(pin name: (name) @property)

["->" ".." "+=" "+:" "<=" ">=" "==" "!=" "&&" "||" "+" "-" "*" "/" "%" "!" "<" ">" "=" "?" "~"] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" "." ":"] @punctuation.delimiter
