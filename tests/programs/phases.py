"""Loops of a kernel, each of which leaves values behind: folds over blocks, as the language wants them."""
# SPDX-License-Identifier: MIT
from scope import Axis
from tree import E, Range, Stmt, binary, call, integer, name, number


def accumulate(variable, value):
    return Stmt("add", variable, value)


class Phase:
    """One loop: what stands before it, and in it; values that later statements can use."""

    def __init__(self, writer):
        self.w, self.b = writer, writer.b
        self.before, self.inside, self.values = [], [], []

    def axis(self, of=None):
        b = self.b
        of = of or b.dim()
        return Axis(b.fresh("j"), of)

    def range_of(self, axis):
        """`N`, `1..N`, or up to a length."""
        b = self.b
        extent, block = name(axis.of), "B" + axis.name
        kind = b.pick((8, "all"), (1, "from"), (1.5, "length"), (0.5, "between"), (0.7, "dims"), (0.8, "part"), (0.5, "window"), (0.3, "before"))
        if kind == "from":
            return Range(axis.name, extent, integer(b.rng.choice((1, 2, 65))), block)
        plain = [it for it in self.w.iterations if it.index.op == "name" and it.extent.op == "name"]
        if kind == "length" and plain:
            it = b.rng.choice(plain)
            length = E("load", b.lengths(it.extent.name, extent), (it.index,))
            return Range(axis.name, length, integer(0) if b.chance(0.5) else None, block)
        if kind == "dims":
            low, high = b.pick((1, (None, binary("-", extent, integer(1)))), (1, (binary("/", extent, integer(2)), extent)),
                               (1, (integer(1), binary("-", extent, integer(2)))))
            return Range(axis.name, high, low, block)
        if kind == "part" and plain:
            it = b.rng.choice(plain)
            part = lambda i: binary("/", binary("*", i, extent), it.extent)
            return Range(axis.name, part(binary("+", it.index, integer(1))), part(it.index), block)
        if kind == "window" and plain:
            i = b.rng.choice(plain).index
            low, high = call("max", binary("-", i, integer(5)), integer(0)), binary("+", i, integer(b.rng.choice((1, 40))))
            return Range(axis.name, call("min", high, binary("+", extent, integer(0))), low, block)
        if kind == "before" and plain:
            it = b.rng.choice(plain)
            length = b.lengths(it.extent.name, extent)
            return Range(axis.name, E("load", length, (it.index,)), E("load", length, (binary("-", it.index, integer(1)),)), block)
        if kind == "between" and plain:
            it = b.rng.choice(plain)
            bounds = [E("load", b.lengths(it.extent.name, extent), (it.index,)) for _ in range(2)]
            return Range(axis.name, bounds[0], bounds[1], block)
        return Range(axis.name, extent, None, block)

    def variable(self, axes, type_="f32", start=0):
        v = self.b.fresh("v")
        if axes:
            value = E("zeros", type_, axes=tuple(a.name for a in axes))
            if start:
                value = binary("+", value, start)
        else:
            value = start if start else number(0) if type_ == "f32" else integer(0)
        self.before.append(Stmt("var", v, value))
        self.values.append((name(v), {a.name for a in axes}, type_))
        return v

    def loop(self, axis, body=None):
        return Stmt("for", range=self.range_of(axis), body=tuple(self.inside if body is None else body))


def rows_of(writer, at_least=1):
    rows = [a for a in writer.axes if not a.full]
    chosen = [a for a in rows if writer.b.chance(0.7)]
    while len(chosen) < min(at_least, len(rows)):
        chosen.append(writer.b.rng.choice([a for a in rows if a not in chosen]))
    return [a for a in rows if a in chosen]


def fold(phase, over, rows, writer):
    """A statement that folds lanes over some axes into a variable over `rows`."""
    b = phase.b
    axes = tuple(a.name for a in over)
    kind = b.pick((5, "sum"), (2, "max"), (1, "min"), (2, "count"), (1.5, "isum"), (1, "imax"))
    if kind == "count":
        v = phase.variable(rows, "i32")
        value = writer.f32(2)
        value = E("where", args=(value, writer.condition(1))) if b.chance(0.6) else value
        return accumulate(v, E("reduce", "count", (cover(value, writer, "f32"),), axes))
    if kind == "isum":
        v = phase.variable(rows, "i32")
        return accumulate(v, E("reduce", "sum", (cover(writer.integer(1), writer, "i32"),), axes))
    if kind == "imax":
        v = phase.variable(rows, "i32", integer(b.rng.choice((-100, 0))))
        return Stmt("set", v, call("max", name(v), E("reduce", "max", (cover(writer.integer(1), writer, "i32"),), axes)))
    value = cover(writer.f32(2), writer, "f32")
    if kind == "sum":
        v = phase.variable(rows)
        return accumulate(v, E("reduce", "sum", (value,), axes))
    v = phase.variable(rows, start=b.pick((1, number(float("-inf") if kind == "max" else float("inf"))), (1, number(0))))
    return Stmt("set", v, call(kind, name(v), E("reduce", kind, (value,), axes)))


def cover(value, writer, type_):
    """The value with all axes of the writer, since a reduction needs those it names."""
    names = {a.name for a in writer.axes}
    have = axes_of(value, writer)
    missing = [a for a in writer.axes if a.name not in have]
    if not missing or not names:
        return value
    return binary("+", value, writer.limited(missing).full() if type_ == "f32" else writer.b.load(missing, writer.iterations, "i32"))


def axes_of(e, writer):
    """Names of the axes that an expression surely has."""
    if e.op == "name":
        for value, axes, _ in writer.values:
            if value == e:
                return set(axes)
        return {a.name for a in writer.axes if a.name == e.name}
    if e.op == "load":
        tensor = next(t for t in writer.b.tensors if t.name == e.name)
        found = set()
        for index, dim in zip(e.args, tensor.dims):
            found |= {dim.name} if index.op == "full" else {index.name} if index.op == "slice" else axes_of(index, writer)
        return found
    found = set()
    for arg in e.args:
        found |= axes_of(arg, writer)
    return found - set(e.axes) if e.op in ("reduce",) else found


def reduction(writer):
    """Sums, maxima, counts over a loop, perhaps over a whole dimension too."""
    p, b = Phase(writer), writer.b
    rows = rows_of(writer, 0 if b.chance(0.15) else 1)
    axis = p.axis()
    over = [axis]
    if b.chance(0.2):
        d = b.parameter()
        over.append(Axis(d, d, True))
    inner = writer.limited(rows).within(*over)
    for _ in range(b.pick((6, 1), (2, 2), (1, 3))):
        p.inside.append(fold(p, over, rows, inner))
    return p, p.before + [p.loop(axis)]


def nested(writer):
    """The same over two loops."""
    p, b = Phase(writer), writer.b
    rows = rows_of(writer, 0 if b.chance(0.3) else 1)[:1]
    outer, inner_axis = p.axis(), p.axis()
    inner = writer.limited(rows).within(outer, inner_axis)
    body = [fold(p, [outer, inner_axis], rows, inner)]
    return p, p.before + [p.loop(outer, [p.loop(inner_axis, body)])]


def steps(writer):
    """A loop over a scalar, which may carry anything."""
    p, b = Phase(writer), writer.b
    rows = rows_of(writer)
    h, of = b.fresh("h"), b.dim("scalar")
    v = p.variable(rows)
    parts = b.indices(rows, [it for it in writer.iterations if b.chance(0.5)]) + [(name(of), name(h))]
    if b.chance(0.4):
        b.rng.shuffle(parts)
    value = E("load", b.new_tensor(parts, "f32", rows).name, tuple(i for _, i in parts))
    value = E("else", args=(value, number(0)))
    update = binary("+", binary("*", name(v), number(0.5)), value) if b.chance(0.5) else binary("+", name(v), value)
    return p, p.before + [Stmt("for", range=Range(h, name(of)), body=(Stmt("set", v, update),))]


def operand(writer, axes, type_):
    """One side of a product."""
    b = writer.b
    e = b.load(axes, writer.iterations, type_, plain=b.chance(0.8))
    kind = b.pick((10, "load"), (1.5, "where"), (1.5, "made") if type_ != "f32" else (0, "made"))
    if kind == "where":
        return E("where", args=(e, writer.limited(axes).condition(0)))
    if kind == "made":
        return E("cast", type_, (binary("*", E("cast", "f32", (e,)), writer.limited(axes).f32(0)),))
    return e


def operand_type(b):
    return b.pick((10, b.half), (0.7, "f32"))


def product(writer):
    """Sums of products over a loop or a whole dimension."""
    p, b = Phase(writer), writer.b
    rows = [a for a in writer.axes if not a.full]
    axis = p.axis() if b.chance(0.8) else None
    if axis is None:
        d = b.parameter()
        axis = Axis(d, d, True)
    for _ in range(b.pick((6, 1), (2, 2))):
        type_ = operand_type(b)
        left = [b.rng.choice(rows)]
        right = [a for a in rows if a not in left][:1]
        if not right and b.chance(0.6):
            d = b.parameter()
            if d != axis.name:
                right = [Axis(d, d, True)]
        if b.chance(0.08):
            right = []
        precision = "bf16x3" if type_ == "f32" and b.chance(0.5) else None
        value = E("dot", precision, (operand(writer, left + [axis], type_), operand(writer, right + [axis], type_)))
        if b.chance(0.3):
            value = E("dot", precision, tuple(reversed(value.args)))
        kept = left + right
        if axis.full:
            v = b.fresh("t")
            p.before.append(Stmt("let", v, value))
            p.values.append((name(v), {a.name for a in kept}, "f32"))
        else:
            p.inside.append(accumulate(p.variable(kept), value))
        if not axis.full and b.chance(0.12):
            one = [b.rng.choice(left + right)] if kept else []
            p.inside.append(fold(p, [axis], one, writer.limited(one).within(axis)))
    return p, p.before + ([] if axis.full else [p.loop(axis)])


def scores(p, writer, row, axis, queries=None):
    """A score per row and column: of a product, or of elements."""
    b = p.b
    both = writer.limited(row).within(axis)
    if queries:
        s = E("dot", args=queries)
        s = binary("*", s, number(0.125)) if b.chance(0.8) else s
        if b.chance(0.25):
            s = binary("+", s, both.f32(0))
    else:
        s = cover(both.f32(1), both, "f32")
    if b.chance(0.55):
        s = E("where", args=(s, both.condition(1)))
    return s


def attention(writer, plain=False):
    """An online softmax, or with `plain` weights that are any function of scores."""
    p, b = Phase(writer), writer.b
    rows = [a for a in writer.axes if not a.full]
    row = [b.rng.choice(rows)]
    if not plain and b.chance(0.1) and len(rows) > 1:
        row = rows[:2]
    axis = p.axis(row[0].of if b.chance(0.12) else None)
    queries, prologue = None, []
    if len(row) == 1 and b.chance(0.65):
        queries, prologue = query_operands(p, writer, row[0], axis)
    s = scores(p, writer, row, axis, queries)
    inner = writer.limited(row).within(axis)
    sm = b.fresh("sm")
    weights = b.fresh("p")
    accs, uses = [], []
    for _ in range(b.pick((5, 1), (2, 0), (1, 2))):
        type_ = b.half
        if b.chance(0.75):
            d = b.parameter()
            wide = Axis(d, d, True)
            accs.append(p.variable(row + [wide]))
            value = E("dot", args=(E("cast", type_, (name(weights),)), operand(writer, [axis, wide], type_)))
        else:
            accs.append(p.variable(row))
            value = E("reduce", "sum", (binary("*", name(weights), writer.limited([axis]).full()),), (axis.name,))
        uses.append(accumulate(accs[-1], value))
    if plain:
        return plain_weights(p, axis, s, weights, uses, prologue, inner)
    p.before.append(Stmt("var", sm, E("softmax", axes=tuple(a.name for a in row))))
    update = E("method", "update", (name(sm), s, *map(name, accs)))
    p.inside.append(Stmt("let", weights, update) if uses else Stmt("do", value=update))
    p.inside += uses
    if b.chance(0.12):
        p.inside.append(fold(p, [axis], row, inner))
    body = prologue + p.before + [p.loop(axis)]
    if b.chance(0.2):
        body.append(Stmt("do", value=E("method", "include", (name(sm), writer.limited(row).f32(1), *map(name, accs)))))
    names = {a.name for a in row}
    p.values = [v for v in p.values if v[0].name not in accs]
    for acc, use in zip(accs, uses):
        axes = {a for s in p.before if s.name == acc for a in s.value.axes}
        p.values.append((E("method", "normalize", (name(sm), name(acc))), axes, "f32"))
    p.values.append((E("method", "lse", (name(sm),)), names, "f32"))
    p.softmax = (sm, s, row, axis, body[-1] if body[-1].kind == "for" else body[-2])
    return p, body


def query_operands(p, writer, row, axis):
    """Both sides of the first product; the rows are read ahead of the loop."""
    b = p.b
    d = b.parameter()
    wide = Axis(d, d, True)
    type_ = b.half
    q = b.fresh("q")
    same = b.chance(0.12) and row.of == axis.of
    left = b.load([row, wide], writer.iterations, type_, plain=True)
    right = operand(writer, [axis, wide], type_)
    if same:
        right = E("load", left.name, tuple(name(axis.name) if i == name(row.name) else i for i in left.args))
    value = left
    if b.chance(0.1):
        inner = Axis(*[b.parameter()] * 2, True)
        if inner != wide:
            first = b.load([row, inner], writer.iterations, type_, plain=True)
            value = E("cast", type_, (E("dot", args=(first, b.load([inner, wide], writer.iterations, type_, plain=True))),))
    elif b.chance(0.15):
        value = E("cast", type_, (binary("*", E("cast", "f32", (left,)), writer.limited([row]).f32(0)),))
    return (name(q), right), [Stmt("let", q, value)]


def plain_weights(p, axis, s, weights, uses, prologue, inner):
    b = p.b
    masked = s.op == "where"
    value = s.args[0] if masked else s
    value = b.pick((1, call("tanh", value)), (1, call("max", value, number(0))), (1, call("exp", E("neg", args=(call("abs", value),)))))
    if masked:
        value = E("where", args=(value, s.args[1]))
        if b.chance(0.5):
            value = E("else", args=(value, number(0)))
    if not uses:
        uses = [accumulate(p.variable([inner.axes[0]]), E("reduce", "sum", (name(weights),), (axis.name,)))]
    p.inside = [Stmt("let", weights, value)] + uses
    return p, prologue + p.before + [p.loop(axis)]
