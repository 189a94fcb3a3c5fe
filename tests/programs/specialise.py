"""What the compiler decides before a kernel exists: parameters, `if`, `extends`. The rest of the evaluator knows none of them."""
# SPDX-License-Identifier: MIT
from tree import E, replace

DECIDED = {"==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, ">": lambda a, b: a > b,
           "&&": lambda a, b: a and b, "||": lambda a, b: a or b}


def plain(p):
    """The same program without type parameters, `bool` parameters, compile-time `if` and `extends`."""
    if p.extends:
        p = flat(p)
    params = dict(p.params)
    type_of = lambda t: params.get(t, t)

    def expression(e):
        if e is None:
            return None
        if e.op == "choose":
            return expression(e.args[1 if decide(e.args[0], params) else 2])
        renamed = type_of(e.name) if e.op in ("cast", "zeros") else e.name
        return replace(e, name=renamed, args=tuple(map(expression, e.args)))

    def body(statements):
        result = []
        for s in statements:
            if s.kind == "if":
                result += body(s.body if decide(s.value, params) else s.orelse)
                continue
            r = s.range and replace(s.range, hi=expression(s.range.hi), lo=expression(s.range.lo))
            result.append(replace(s, value=expression(s.value), target=expression(s.target), range=r, body=body(s.body)))
        return tuple(result)
    return replace(p, params=tuple((n, v) for n, v in p.params if type(v) is int),
                   tensors=tuple(replace(t, type=type_of(t.type)) for t in p.tensors),
                   kernels=tuple(replace(k, body=body(k.body)) for k in p.kernels),
                   hooks=tuple((n, parameters, expression(e)) for n, parameters, e in p.hooks))


def decide(e, params):
    """The value of a condition on parameters."""
    if e.op == "name":
        return params.get(e.name, e.name)
    if e.op == "not":
        return not decide(e.args[0], params)
    if e.op == "bin":
        return DECIDED[e.name](*(decide(a, params) for a in e.args))
    return e.name


def flat(p):
    """With the hooks that the extension overrides under names of their own."""
    hooks = []
    over = {n: (parameters, e) for n, parameters, e in p.extends.hooks}
    for n, parameters, e in p.hooks:
        if n in over:
            hooks.append((n + "Super", parameters, e))
            parameters, e = over[n][0], supers(over[n][1], n + "Super")
        hooks.append((n, parameters, e))
    return replace(p, hooks=tuple(hooks), extends=None)


def supers(e, meant):
    name = meant if e.op == "call" and e.name == "super" else e.name
    return E(e.op, name, tuple(supers(a, meant) for a in e.args), e.axes)
