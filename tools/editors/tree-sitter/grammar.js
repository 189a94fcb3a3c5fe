// The grammar of docs/language.md for tree-sitter. `tree-sitter generate` makes src from it; 0.22.6 made the one here.
// SPDX-License-Identifier: MIT

// Words that cannot be names, and words that are names wherever the grammar has no use for them.
const reserved =
  "op fn kernel let var for in by if else where as zeros true false inf valid super extends requires temp view launch when inout diff schedule";
const shared = "keep off segments split unique vjp";

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
// A pattern for names other than `words`; tree-sitter would else read `let for = 1` as the name `for`.
const nameOtherThan = (words) => {
  const rest = (begin) => {
    const letter = [...(begin ? letters + "0123456789" : letters)];
    const leads = letter.filter((each) => words.some((word) => word.startsWith(begin + each)));
    const others = letter.filter((each) => !leads.includes(each)).join("");
    const ways = [`[${others}][A-Za-z0-9_]*`, ...leads.map((each) => each + rest(begin + each))];
    return `(${ways.join("|")})${begin && !words.includes(begin) ? "?" : ""}`;
  };
  return new RegExp(rest(""));
};

const some = (rule) => seq(rule, repeat(seq(",", rule)));
// As `some`, or none; a comma may follow the last one.
const list = (rule) => optional(seq(some(rule), optional(",")));
const binary = (left, operator, right) => seq(field("left", left), field("operator", operator), field("right", right));

module.exports = grammar({
  name: "tile",
  word: ($) => $._word,
  extras: ($) => [/[ \t\r\n\f\v]/, $.comment],

  // Where a rule has a precedence, its shared word is no name.
  rules: {
    file: ($) => repeat(choice($.import, $.op, $.fn)),
    import: ($) => seq("import", $.path, ";"),

    // The parts of an op are rules of their own: optional parts in one rule double its states each.
    op: ($) =>
      seq(
        "op",
        field("name", $.name),
        optional($.params),
        optional($.args),
        optional($.extends),
        optional($.requires),
        optional($.outputs),
        optional($.backward),
        repeat($.launch),
        $.body,
      ),
    params: ($) => seq("<", some($.param), ">"),
    param: ($) =>
      seq(
        field("name", $.name),
        optional(seq(":", choice($.kind, seq("{", some($._type), "}")))),
        optional(seq("=", field("default", $._sum))),
      ),
    kind: () => choice("int", "bool", "float", "type"),
    args: ($) => seq("(", list($.arg), ")"),
    arg: ($) =>
      seq(
        optional(choice("inout", "diff")),
        field("name", $.name),
        ":",
        $._type,
        optional($.dims),
        optional("?"),
        optional($.valid),
        optional($.default),
        repeat(choice($.out_init, $.overflow, "deterministic")),
      ),
    dims: ($) => seq("[", list($.dim), "]"),
    dim: ($) => seq(optional("~"), optional(seq(field("name", $.name), "in")), field("extent", $._sum)),
    valid: ($) => seq("valid", $._or),
    default: ($) => seq("=", $._expr),
    out_init: ($) => prec(1, seq("out_init", "(", choice("keep", $._expr), ")")),
    overflow: ($) => seq("overflow", "(", choice("sat", $.inf), ")"),
    extends: ($) => seq("extends", field("name", $.name), optional(seq("<", some($.binding), ">"))),
    binding: ($) => seq(field("name", $.name), "=", field("value", $._sum)),
    requires: ($) => seq("requires", some($.promise)),
    promise: ($) =>
      choice(
        seq(field("name", $.name), "in", $._bounds),
        seq("segments", "(", field("name", $.name), ",", field("to", $._sum), ")"),
        seq("unique", "(", field("name", $.name), ")"),
      ),
    outputs: ($) => seq("->", $.args),
    backward: ($) => seq("backward", field("name", $.name)),
    launch: ($) => seq("launch", field("name", $.name), "in", $._bounds),

    body: ($) => seq("{", repeat(choice($.kernel, $.temp, $.view, $.fn, $.hook, $.schedule)), "}"),
    kernel: ($) => seq("kernel", field("name", $.name), $.ranges, optional(seq("if", field("condition", $._or))), $.block),
    ranges: ($) => seq("(", list($.range), ")"),
    temp: ($) => seq("temp", $.arg, ";"),
    view: ($) => seq("view", field("name", $.name), "[", list($.name), "]", "=", field("value", $._expr), optional($.valid), ";"),
    fn: ($) => seq("fn", $.hook),
    hook: ($) => seq(field("name", $.name), $.names, "=", field("value", $._expr), ";"),
    names: ($) => seq("(", list($.name), ")"),
    schedule: ($) =>
      seq("schedule", optional(field("kernel", $.name)), optional(seq("for", some(field("target", $.name)))), "{", repeat($.pin), "}"),
    pin: ($) => prec(1, seq(field("name", $.name), "=", choice("off", field("value", $._sum)), ";")),

    range: ($) =>
      seq(
        choice(seq(field("name", $.name), "in", choice($._part, $.split)), seq(optional(seq(field("name", $.name), "=")), $._pairs)),
        optional(seq("by", field("block", $.name))),
      ),
    _pairs: ($) => seq($._two_names, "in", "(", field("to", $._sum), ",", field("to", $._sum), ")"),
    _two_names: ($) => seq("(", field("name", $.name), ",", field("name", $.name), ")"),
    _part: ($) => choice(field("to", $._sum), $._bounds, seq("(", field("from", $._sum), "+:", field("length", $._sum), ")")),
    _bounds: ($) => seq(field("from", $._sum), "..", field("to", $._sum)),
    split: ($) => prec(1, seq("split", "(", $._part, ",", field("part", $._sum), ",", field("parts", $._sum), ")")),

    block: ($) => seq("{", repeat(choice($.let, $.var, $.store, $.evaluation, $.for, $.if)), "}"),
    let: ($) => seq("let", choice(field("name", $.name), $._two_names), "=", field("value", $._expr), ";"),
    var: ($) => seq("var", field("name", $.name), "=", field("value", $._expr), ";"),
    store: ($) => seq(field("target", choice($.name, $.index, $.parentheses)), choice("=", "+="), field("value", $._expr), ";"),
    evaluation: ($) => seq($._expr, ";"),
    for: ($) => seq("for", $.range, optional(seq("when", field("condition", $._or))), $.block),
    if: ($) => seq("if", field("condition", $._or), $.block, optional(seq("else", choice($.block, $.if)))),

    // Each level is an operation, or what binds tighter.
    _expr: ($) => choice($.where, $.else, $._or),
    where: ($) => binary($._expr, "where", $._or),
    else: ($) => binary($._expr, "else", $._or),
    _or: ($) => choice($.or, $._and),
    or: ($) => binary($._or, "||", $._and),
    _and: ($) => choice($.and, $._compare),
    and: ($) => binary($._and, "&&", $._compare),
    _compare: ($) => choice($.compare, $._sum),
    compare: ($) => binary($._sum, choice("<", "<=", ">", ">=", "==", "!="), $._sum),
    _sum: ($) => choice($.sum, $._product),
    sum: ($) => binary($._sum, choice("+", "-"), $._product),
    _product: ($) => choice($.product, $._cast),
    product: ($) => binary($._product, choice("*", "/", "%"), $._cast),
    _cast: ($) => choice($.cast, $._unary),
    cast: ($) => seq(field("value", $._cast), "as", $._type),
    _unary: ($) => choice($.unary, $._postfix),
    unary: ($) => seq(field("operator", choice("-", "!")), field("value", $._unary)),
    _postfix: ($) => choice($.index, $.method, $._primary),
    index: ($) => seq(field("of", $._postfix), "[", list(choice($.all, $.slice, $._expr)), "]"),
    all: () => ":",
    slice: ($) => seq(field("from", $._expr), "+:", field("length", $._sum)),
    method: ($) => seq(field("of", $._postfix), ".", field("name", $.name), $.arguments),
    _primary: ($) =>
      choice($.int, $.float, $.true, $.false, $.inf, $.name, $.super, $.call, $.vjp, $.parentheses, $.pair, $.zeros, $.choice),
    call: ($) => seq(field("name", choice($.name, $.super)), $.arguments),
    vjp: ($) => prec(1, seq("vjp", "(", field("name", $.name), ")", $.arguments)),
    arguments: ($) => seq("(", list($._expr), ")"),
    parentheses: ($) => seq("(", $._expr, ")"),
    pair: ($) => seq("(", $._expr, ",", $._expr, ")"),
    zeros: ($) => seq("zeros", $._type, "[", list($._expr), "]"),
    choice: ($) =>
      seq("if", field("condition", $._or), "{", field("value", $._expr), "}", "else", "{", field("otherwise", $._expr), "}"),

    _type: ($) => alias($.name, $.type),
    name: ($) => choice($._other, ...shared.split(" ")),
    _other: () => nameOtherThan(`${reserved} ${shared}`.split(" ")),
    _word: () => /[A-Za-z_][A-Za-z0-9_]*/,
    int: () => /[0-9]+/,
    float: () => /[0-9]+\.[0-9]+([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+/,
    true: () => "true",
    false: () => "false",
    inf: () => "inf",
    super: () => "super",
    path: () => seq('"', token.immediate(/[^"\n]+/), token.immediate('"')),
    comment: () => /\/\/[^\n]*/,
  },
});
