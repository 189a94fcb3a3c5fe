"""Trees as `.tile` text."""
# SPDX-License-Identifier: MIT
import math

LEVEL = {"||": 1, "&&": 2, "<": 3, "<=": 3, ">": 3, ">=": 3, "==": 3, "!=": 3, "+": 4, "-": 4, "*": 5, "/": 5, "%": 5}


def number(value):
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    text = repr(float(value))
    return text


def level(e):
    """How tight an expression binds: 0 where and else, 6 cast, 7 unary, 8 the rest."""
    if e.op in ("where", "else"):
        return 0
    if e.op == "bin":
        return LEVEL[e.name]
    if e.op == "cast":
        return 6
    if e.op in ("neg", "not") or (e.op in ("int", "float") and (e.name < 0 or str(e.name) == "-inf")):
        return 7
    return 8


def show(e, at_least=0):
    text = plain(e)
    return "(" + text + ")" if level(e) < at_least else text


def plain(e):
    a = e.args
    if e.op == "int":
        return str(e.name)
    if e.op == "float":
        return number(e.name)
    if e.op == "bool":
        return "true" if e.name else "false"
    if e.op == "name":
        return e.name
    if e.op == "full":
        return ":"
    if e.op == "slice":
        return show(a[0], 1) + " +: " + e.name
    if e.op == "pair":
        return "(" + show(a[0]) + ", " + show(a[1]) + ")"
    if e.op in ("load", "view"):
        return e.name + "[" + ", ".join(show(x) for x in a) + "]"
    if e.op in ("neg", "not"):
        return ("-" if e.op == "neg" else "!") + show(a[0], 8)
    if e.op == "bin":
        here = LEVEL[e.name]
        left = here + 1 if here == 3 else here
        return show(a[0], left) + " " + e.name + " " + show(a[1], here + 1)
    if e.op == "call":
        return e.name + "(" + ", ".join(show(x) for x in a) + ")"
    if e.op == "reduce":
        return e.name + "(" + ", ".join([show(a[0]), *e.axes]) + ")"
    if e.op == "dot":
        return "dot(" + ", ".join([show(a[0]), show(a[1]), *([e.name] if e.name else [])]) + ")"
    if e.op in ("where", "else"):
        return show(a[0], 0 if a[0].op in ("where", "else") else 1) + " " + e.op + " " + show(a[1], 1)
    if e.op == "cast":
        return show(a[0], 7) + " as " + e.name
    if e.op == "zeros":
        return "zeros " + e.name + "[" + ", ".join(e.axes) + "]"
    if e.op == "method":
        return a[0].name + "." + e.name + "(" + ", ".join(show(x) for x in a[1:]) + ")"
    if e.op == "choose":
        return "if " + show(a[0]) + " { " + show(a[1]) + " } else { " + show(a[2]) + " }"
    if e.op == "any":
        return "any(" + show(a[0]) + ")"
    if e.op == "present":
        return "if present(" + e.name + ") { " + show(a[0]) + " } else { " + show(a[1]) + " }"
    if e.op == "softmax":
        return "online_softmax(" + ", ".join(e.axes) + ")"
    raise ValueError(e.op)


def show_range(r):
    if r.fused:
        return r.name + " = (" + r.fused + ", " + r.pair[0] + ") in (" + show(r.hi) + ", " + show(r.pair[1]) + ") by " + r.block
    if r.pair:
        return "(" + r.name + ", " + r.pair[0] + ") in (" + show(r.hi) + ", " + show(r.pair[1]) + ")"
    low = show(r.lo, 4) + ".." if r.lo is not None else ""
    bounds = low + show(r.hi, 4)
    if r.part:
        bounds = "split(" + ", ".join([bounds] + [show(e) for e in r.part]) + ")"
    return r.name + " in " + bounds + (" by " + r.block if r.block else "")


def show_stmt(stmt, indent):
    pad = "  " * indent
    if stmt.kind == "for":
        inner = "".join(show_stmt(s, indent + 1) for s in stmt.body)
        when = " when " + show(stmt.value, 1) if stmt.value is not None else ""
        return pad + "for " + show_range(stmt.range) + when + " {\n" + inner + pad + "}\n"
    if stmt.kind == "if":
        text = pad + "if " + show(stmt.value) + " {\n" + "".join(show_stmt(s, indent + 1) for s in stmt.body) + pad + "}"
        if stmt.orelse:
            text += " else {\n" + "".join(show_stmt(s, indent + 1) for s in stmt.orelse) + pad + "}"
        return text + "\n"
    if stmt.kind in ("let", "var"):
        return pad + stmt.kind + " " + stmt.name + " = " + show(stmt.value) + ";\n"
    if stmt.kind == "do":
        return pad + show(stmt.value) + ";\n"
    target = show(stmt.target) if stmt.kind in ("store", "gather") else stmt.name
    return pad + target + (" += " if stmt.kind in ("add", "gather") else " = ") + show(stmt.value) + ";\n"


def show_tensor(t):
    dims = []
    for i, dim in enumerate(t.dims):
        binder = t.binders[i] if t.binders else None
        dims.append(("~" if i in t.ones else "") + (binder + " in " if binder else "") + show(dim, 4))
    text = ("inout " if t.inout else "") + t.name + ": " + t.type + "[" + ", ".join(dims) + "]"
    if t.optional:
        text += "?"
    if t.valid is not None:
        text += " valid " + show(t.valid, 1)
    if t.default is not None:
        text += " = " + show(t.default)
    if t.init is not None and not t.inout:
        text += " out_init(" + (t.init if isinstance(t.init, str) else number(t.init)) + ")"
    if t.overflow:
        text += " overflow(" + t.overflow + ")"
    if t.deterministic:
        text += " deterministic"
    return text


def show_param(name, value, default):
    if type(value) is bool:
        return name + ": bool = " + ("true" if default else "false")
    if type(value) is str:
        return name + ": {bf16, f16} = " + default
    return name + ": int = " + str(default)


def show_value(value):
    return ("true" if value else "false") if type(value) is bool else str(value)


def another(value):
    """A default that is not meant: an op that extends this one binds the parameter."""
    if type(value) is bool:
        return not value
    return {"bf16": "f16", "f16": "bf16"}[value] if type(value) is str else value + 8


def show_inputs(p, names):
    shown = [(t.name, show_tensor(t)) for t in p.tensors if not t.is_output or t.inout]
    shown += [(s.name, s.name + ": " + s.type + " = " + show(s.default)) for s in p.scalars]
    return "(" + ",\n    ".join(text for n, text in shown if names(n)) + ")"


def is_function(hook, p):
    """Whether a hook can stand outside of the op: it sees its parameters alone."""
    _, parameters, body = hook
    return (not p.extends and p.hooks.index(hook) % 2 == 0
            and all(e.name in parameters for e in body.walk() if e.op in ("name", "load")) and not any(e.op == "choose" for e in body.walk()))


def show_hook(hook, word=""):
    n, parameters, body = hook
    return word + n + "(" + ", ".join(parameters) + ") = " + show(body) + ";\n"


def show_program(p):
    text, op, bound, own = "", p.name, (), ()
    if p.extends:
        bound, own, op = p.extends.bound, p.extends.own, p.name + "Base"
        values = dict(p.params)
        text += "op " + p.name + (show_inputs(p, lambda n: n in own) if own else "") + " extends " + op
        text += ("<" + ", ".join(n + " = " + show_value(values[n]) for n in bound) + ">" if bound else "") + "\n{\n"
        text += "".join("  " + show_hook(h) for h in p.extends.hooks) + "}\n\n"
    functions = [h for h in p.hooks if is_function(h, p)]
    text += "".join(show_hook(h, "fn ") for h in functions)
    params = ", ".join(show_param(n, v, another(v) if n in bound else v) for n, v in p.params)
    outputs = [show_tensor(t) for t in p.tensors if t.is_output and not t.temp and not t.inout]
    promises = [t.name + " in " + show(t.promise[0]) + ".." + show(t.promise[1]) for t in p.tensors if t.promise]
    promises += ["unique(" + t.name + ")" for t in p.tensors if t.fill == "unique"]
    promises += ["segments(" + t.name + ", " + show(t.segments) + ")" for t in p.tensors if t.segments is not None]
    text += "op " + op + ("<" + params + ">" if params else "") + show_inputs(p, lambda n: n not in own)
    if promises:
        text += " requires " + ", ".join(promises)
    text += "\n-> (" + ",\n    ".join(outputs) + ")\n"
    text += "".join("launch " + n + " in " + show(lo) + ".." + show(hi) + "\n" for n, lo, hi in p.launches) + "{\n"
    text += "".join("  temp " + show_tensor(t) + ";\n" for t in p.tensors if t.temp)
    text += "".join("  " + show_hook(h) for h in p.hooks if h not in functions)
    for n, parameters, load, valid in p.views:
        text += "  view " + n + "[" + ", ".join(parameters) + "] = " + show(load) + (" valid " + show(valid, 1) if valid is not None else "") + ";\n"
    for k in p.kernels:
        text += "  kernel " + k.name + "(" + ", ".join(show_range(r) for r in k.ranges) + ") {\n"
        text += "".join(show_stmt(s, 2) for s in k.body) + "  }\n"
    return text + "}\n"
