"""Ways to write a program that mean the same: parameters for types and choices, compile-time `if`, an op that extends another."""
# SPDX-License-Identifier: MIT
from tree import E, Extension, Stmt, binary, call, expressions, integer, name, number, replace

HALVES = ("bf16", "f16")


class Sugar:
    def __init__(self, program, rng):
        self.p, self.rng = program, rng

    def chance(self, share):
        return self.rng.random() < share

    def run(self):
        if self.chance(0.2):
            self.type_parameter()
        if self.chance(0.25):
            self.choices()
        if self.p.hooks and self.chance(0.5):
            self.extension()
        return self.p

    def type_parameter(self):
        used = [t for t in HALVES if any(x.type == t for x in self.p.tensors)]
        if len(used) != 1:
            return
        of = lambda t: "Element" if t == used[0] else t

        def expression(e):
            if e is None:
                return None
            renamed = of(e.name) if e.op in ("cast", "zeros") else e.name
            return replace(e, name=renamed, args=tuple(map(expression, e.args)))
        self.p = self.mapped(expression)
        self.p = replace(self.p, params=self.p.params + (("Element", used[0]),), tensors=tuple(replace(t, type=of(t.type)) for t in self.p.tensors))

    def mapped(self, expression, statements=lambda body: body):
        """The program with its kernels' and hooks' expressions mapped, then each body."""
        def body(stmts):
            return statements(tuple(replace(s, value=expression(s.value), target=expression(s.target), body=body(s.body), orelse=body(s.orelse))
                                    for s in stmts))
        return replace(self.p, kernels=tuple(replace(k, body=body(k.body)) for k in self.p.kernels),
                       hooks=tuple((n, parameters, expression(e)) for n, parameters, e in self.p.hooks))

    def condition(self):
        """(condition on parameters, its value)."""
        flags = [(name(n), v) for n, v in self.p.params if v is True or v is False]
        options = list(flags)
        for n, v in self.p.params:
            if type(v) is int:
                limit = self.rng.choice((2, 16, 40, v))
                options.append((binary(">", name(n), integer(limit)), v > limit))
            elif type(v) is str:
                options.append((binary("==", name(n), name("bf16")), v == "bf16"))
        if not flags or (len(flags) < 2 and self.chance(0.3)):
            flag, value = "flag" + str(len(flags)), self.chance(0.5)
            self.p = replace(self.p, params=self.p.params + ((flag, value),))
            options.append((name(flag), value))
        c, value = self.rng.choice(options)
        if self.chance(0.2):
            c, value = E("not", args=(c,)), not value
        elif self.chance(0.2):
            other, also = self.rng.choice(options)
            c, value = (binary("&&", c, other), value and also) if self.chance(0.5) else (binary("||", c, other), value or also)
        return c, value

    def choices(self):
        """Puts up to three expressions or statements into a branch."""
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            (self.choose_statement if self.chance(0.4) else self.choose_expression)()

    def choose_expression(self):
        found = []

        def collect(e):
            if e is not None:
                found.extend(x for x in e.walk() if is_number(x))
            return e
        self.mapped(collect)
        if not found:
            return
        wanted = self.rng.choice(found)
        c, taken = self.condition()
        other = self.rng.choice((number(1.5), call("abs", wanted), binary("*", wanted, number(2)), E("neg", args=(wanted,))))
        chosen = E("choose", None, (c, wanted, other) if taken else (c, other, wanted))
        done = []

        def put(e):
            if e is None or done:
                return e
            if e is wanted:
                done.append(e)
                return chosen
            return replace(e, args=tuple(map(put, e.args)))
        self.p = self.mapped(put)

    def choose_statement(self):
        found = []

        def collect(body):
            found.extend(s for s in body if s.kind in ("store", "add", "set"))
            return body
        self.mapped(lambda e: e, collect)
        if not found:
            return
        wanted = self.rng.choice(found)
        c, taken = self.condition()

        def put(body):
            result = []
            for s in body:
                if s != wanted:
                    result.append(s)
                    continue
                other = (s,) if s.kind == "store" and self.chance(0.5) else ()
                result.append(Stmt("if", value=c, body=(s,) if taken else other, orelse=other if taken else (s,)))
            return tuple(result)
        self.p = self.mapped(lambda e: e, put)

    def extension(self):
        """Moves parts of hooks to an op that extends this one, which then has the rest."""
        over, hooks = [], []
        for n, parameters, e in self.p.hooks:
            parts = [x for x in e.walk() if is_number(x) or (x.op == "name" and x.name == parameters[0])]
            if not parts or self.chance(0.3):
                hooks.append((n, parameters, e))
                continue
            part = self.rng.choice(parts)
            above = call("super", *map(name, parameters))
            done = []

            def put(x):
                if x is part and not done:
                    done.append(x)
                    return above
                return replace(x, args=tuple(map(put, x.args)))
            over.append((n, parameters, put(e)))
            hooks.append((n, parameters, part))
        if not over:
            return
        self.p = replace(self.p, hooks=tuple(hooks))
        bound = tuple(n for n, _ in self.p.params if self.chance(0.4))
        below = {e.name for e in all_expressions(self.p)}
        above = {x.name for _, _, e in over for x in e.walk()} - below
        own = tuple(x.name for x in self.p.scalars + tuple(filter(stands_alone, self.p.tensors)) if x.name in above)
        self.p = replace(self.p, extends=Extension(bound, tuple(over), own))


def stands_alone(t):
    """Whether nothing of a tensor's signature is known by name to the op below only."""
    return not t.is_output and not t.promise and t.valid is None and t.type in ("f32", "i32", *HALVES)


def all_expressions(p):
    """All of kernels, signature and hooks."""
    yield from expressions(p)
    for _, _, e in p.hooks:
        yield from e.walk()


def is_number(e):
    """An f32 expression that may stand anywhere an f32 may."""
    return (e.op == "bin" and e.name in "+-*" and any(a.op in ("float", "cast") or is_number(a) for a in e.args)) or (
        e.op == "call" and e.name in ("exp", "exp2", "tanh", "sqrt", "rsqrt", "log", "log2")) or (e.op == "cast" and e.name == "f32")


def sugared(program, rng):
    return Sugar(program, rng).run()
