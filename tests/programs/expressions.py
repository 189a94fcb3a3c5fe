"""Random well-typed expressions over given axes."""
# SPDX-License-Identifier: MIT
from tree import E, binary, call, integer, name, number


def as_f32(e, type_):
    return e if type_ in ("f32", "i32") else E("cast", "f32", (e,))


class Writer:
    """Expressions for one place in a kernel: the axes and iterations there, and the names bound to values."""

    def __init__(self, builder, axes, iterations, values=()):
        self.b, self.axes, self.iterations = builder, list(axes), list(iterations)
        self.values = list(values)  # (expression, names of axes, type)

    def within(self, *more, values=()):
        return Writer(self.b, self.axes + list(more), self.iterations, self.values + list(values))

    def limited(self, axes):
        return Writer(self.b, axes, self.iterations, self.values)

    def some_axes(self, at_least=1):
        axes = [a for a in self.axes if self.b.chance(0.65)]
        while len(axes) < min(at_least, len(self.axes)):
            axes.append(self.b.rng.choice([a for a in self.axes if a not in axes]))
        return axes

    def bound(self, types=("f32",)):
        names = {a.name for a in self.axes}
        return [v for v in self.values if v[1] <= names and v[2] in types]

    def leaf(self):
        b = self.b
        kind = b.pick((10, "load"), (5, "bound"), (1, "number"), (1, "scalar"), (1, "index"), (1, "integer"))
        if kind == "bound" and self.bound():
            return b.rng.choice(self.bound())[0]
        if kind == "number":
            return number(b.rng.choice((0.5, 2, -1.5, 0.125, 3)))
        if kind == "scalar":
            return b.scalar("f32")
        ranges = [a for a in self.axes if not a.full]
        if kind == "index" and ranges:
            return binary("*", name(b.rng.choice(ranges).name), number(0.125))
        if kind == "integer":
            return binary("*", self.integer(1), number(0.5))
        type_ = b.pick((4, "f32"), (4, b.half), (1, "i32"))
        e = b.load(self.some_axes(), self.iterations, type_)
        return binary("*", e, number(1)) if type_ == "i32" else as_f32(e, type_)

    def full(self, axes=None):
        """A load that has all the axes."""
        type_ = self.b.pick((1, "f32"), (1, self.b.half))
        return as_f32(self.b.load(self.axes if axes is None else axes, self.iterations, type_), type_)

    def f32(self, depth):
        b = self.b
        if depth <= 0 or b.chance(0.2):
            return self.leaf()
        kind = b.pick((8, "binary"), (5, "unary"), (2, "select"), (2, "where"), (1.5, "else"), (1, "divide"))
        if kind == "binary":
            op = b.pick((4, "+"), (3, "-"), (4, "*"), (1, "max"), (1, "min"))
            x, y = self.f32(depth - 1), self.f32(depth - 1)
            return call(op, x, y) if op in ("max", "min") else binary(op, x, y)
        if kind == "unary":
            return self.unary(self.f32(depth - 1))
        if kind == "divide":
            if self.b.raw and self.b.chance(0.3):
                return binary("/", self.f32(depth - 1), self.f32(depth - 2))
            return binary("/", self.f32(depth - 1), binary("+", call("abs", self.f32(depth - 2)), number(1)))
        if kind == "select":
            return call("select", self.condition(1), self.f32(depth - 1), self.f32(depth - 2))
        if kind == "where":
            return E("where", args=(self.f32(depth - 1), self.condition(1)))
        masked = E("where", args=(self.f32(depth - 1), self.condition(1)))
        return E("else", args=(masked, number(b.rng.choice((0, 1, -2)))))

    def unary(self, x):
        if self.b.chance(0.2):
            return self.hooked(x)
        return self.function(x)

    def hooked(self, x):
        """A function of the op, of `x` alone or of an index, too."""
        b = self.b
        ranges = [a for a in self.axes if not a.full]
        if not ranges or b.chance(0.5):
            return call(b.hook(("z",), self.function(name("z"))), x)
        axis = b.rng.choice(ranges)
        type_ = b.pick((1, "f32"), (1, b.half))
        tensor = b.new_tensor([(name(axis.of), name("i"))], type_, [axis])
        body = binary(b.rng.choice("+*"), name("z"), as_f32(E("load", tensor.name, (name("i"),)), type_))
        return call(b.hook(("z", "i"), body), x, name(axis.name))

    def function(self, x):
        absolute = call("abs", x)
        if self.b.raw and self.b.chance(0.12):  # overflows, and has no value for some arguments
            return call(self.b.rng.choice(("exp", "exp2", "log", "log2", "sqrt", "rsqrt")), x)
        return self.b.pick((2, call("exp", E("neg", args=(absolute,)))), (2, call("tanh", x)),
                           (1, call("log", binary("+", absolute, number(1)))), (1, call("sqrt", absolute)),
                           (1, call("rsqrt", binary("+", absolute, number(0.5)))), (1, absolute), (1, E("neg", args=(x,))),
                           (1, call("exp2", call("min", x, number(3)))))

    def integer(self, depth):
        b = self.b
        ranges = [a for a in self.axes if not a.full]
        kind = b.pick((4, "load"), (3, "index"), (1, "number"), (1, "scalar"), (2 if depth > 0 else 0, "binary"), (2, "bound"))
        if kind == "bound" and self.bound(("i32",)):
            return b.rng.choice(self.bound(("i32",)))[0]
        if kind == "index" and ranges:
            i = name(b.rng.choice(ranges).name)
            return call("rel", i) if b.chance(0.1) else i
        if kind == "number":
            return integer(b.rng.choice((0, 1, 2, 7)))
        if kind == "scalar":
            return b.scalar("i32")
        if kind == "binary":
            op = b.pick((3, "+"), (3, "-"), (1, "*"), (1, "/"), (1, "%"), (1, "max"), (1, "min"))
            x, y = self.integer(depth - 1), self.integer(depth - 1)
            if op in ("/", "%"):
                y = integer(b.rng.choice((2, 3, 16)))
            return call(op, x, y) if op in ("max", "min") else binary(op, x, y)
        return b.load(self.some_axes(), self.iterations, "i32")

    # Conditions ---------------------------------------------------------------

    def condition(self, depth):
        b = self.b
        if depth > 0 and b.chance(0.3):
            kind = b.pick((3, "&&"), (2, "||"), (1, "!"))
            if kind == "!":
                return E("not", args=(self.condition(depth - 1),))
            return binary(kind, self.condition(depth - 1), self.condition(depth - 1))
        ranges = [a for a in self.axes if not a.full]
        kind = b.pick((5, "index"), (2, "data"), (1.5, "integers"), (1, "bool"), (1, "limit"))
        if kind == "index" and ranges:
            return self.index_condition(ranges)
        if kind == "bool":
            return b.load(self.some_axes(), self.iterations, "bool")
        if kind == "integers":
            return binary(b.rng.choice(("==", "!=", "<", ">=")), b.load(self.some_axes(), self.iterations, "i32"), self.integer(0))
        if kind == "limit" and ranges:
            return binary(b.rng.choice(("<", ">=")), name(b.rng.choice(ranges).name), b.load(self.some_axes(0), self.iterations, "i32"))
        return binary(b.rng.choice((">", "<=", "!=")), b.load(self.some_axes(), self.iterations, "f32"), number(b.rng.choice((0, 0.5))))

    def index_condition(self, ranges):
        b = self.b
        x = b.rng.choice(ranges)
        i = name(x.name)
        others = [name(a.name) for a in ranges if a != x]
        kind = b.pick((4 if others else 0, "causal"), (2 if others else 0, "window"), (2, "modulo"), (1, "quotient"), (2, "constant"), (2, "dim"))
        if kind == "causal":
            j = b.rng.choice(others)
            op = b.rng.choice(("<", "<=", ">", ">=", "!=", "=="))
            shift = b.rng.choice((0, 0, 1, 5, 70))
            return binary(op, i, binary("+", j, integer(shift)) if shift else j)
        if kind == "window":
            j = b.rng.choice(others)
            width = b.rng.choice((2, 16, 70))
            return binary("&&", binary("<=", j, i), binary(">", j, binary("-", i, integer(width))))
        if kind == "modulo":
            m = b.rng.choice((2, 3, 4))
            return binary(b.rng.choice(("==", "!=")), binary("%", i, integer(m)), integer(b.rng.randrange(m)))
        if kind == "quotient":
            return binary(b.rng.choice(("==", ">=")), binary("/", i, integer(b.rng.choice((18, 65)))), integer(0))
        if kind == "constant":
            return binary(b.rng.choice(("<", ">=", ">")), i, integer(b.rng.choice((0, 1, 7, 17, 63, 64))))
        extent = name(x.of)
        return binary(b.rng.choice(("<", ">=")), i, binary("-", extent, integer(b.rng.choice((1, 2, 16)))))
