"""Random programs that the language accepts, and cases to run them on."""
# SPDX-License-Identifier: MIT
import random

import phases
from expressions import Writer
from scope import Axis, Builder, Iteration
from tree import Case, E, Kernel, Program, Range, Stmt, Tensor, binary, call, integer, name, number

SIZES = (1, 2, 3, 5, 8, 9, 15, 16, 17, 31, 32, 33, 40, 63, 64, 65, 66, 96, 127, 128, 129, 130, 200, 257)
SMALL = (1, 1, 2, 2, 3)
FEATURES = ((4, "elementwise"), (4, "reduce"), (5, "product"), (5, "softmax"), (1.5, "weights"), (1, "nested"), (1, "steps"))
WRITERS = {"reduce": phases.reduction, "product": phases.product, "softmax": phases.attention, "nested": phases.nested,
           "weights": lambda w: phases.attention(w, plain=True), "steps": phases.steps}


def kernel_ranges(b, need_two):
    """Ranges of a kernel: blocks, scalars, pairs."""
    ranges, axes, iterations = [], [], []
    for _ in range(b.pick((3 if need_two else 5, 1), (6 if need_two else 3, 2), (0.4, 3))):
        i, of = b.fresh("r"), b.dim()
        low = integer(b.rng.choice((1, 3))) if b.chance(0.1) else None
        ranges.append(Range(i, name(of), low, "B" + i))
        axes.append(Axis(i, of))
    for _ in range(b.pick((6, 0), (4, 1), (1, 2))):
        h, of = b.fresh("b"), b.dim("scalar")
        ranges.append(Range(h, name(of)))
        iterations.append(Iteration(name(h), name(of), (h,)))
    if b.chance(0.15):
        g, u, G, R = b.fresh("g"), b.fresh("u"), b.dim("scalar"), b.dim("scalar")
        ranges.append(Range(g, name(G), pair=(u, name(R))))
        iterations.append(Iteration(E("pair", args=(name(g), name(u))), binary("*", name(G), name(R)), (g, u)))
    b.rng.shuffle(ranges)
    return ranges, axes, iterations


def output(b, w, extra=(), types=None):
    """A new output over all ranges of the kernel, with its target."""
    axes = [a for a in w.axes if not a.full] + list(extra)
    parts = [(name(a.of), a.index) for a in axes] + [(it.extent, it.index) for it in w.iterations]
    if b.chance(0.4):
        b.rng.shuffle(parts)
    if b.chance(0.06):
        i = b.rng.randrange(len(parts))
        if parts[i][1].op == "name":
            parts[i] = (parts[i][0], binary(b.rng.choice("+-"), parts[i][1], integer(b.rng.choice((1, 2)))))
    type_ = b.rng.choice(types or ("f32", "f32", b.half, b.half, "i32"))
    init = b.pick((6, 0.0), (1, 7.0), (1, -1.5 if type_ != "i32" else 3.0), (1, "keep"))
    if type_ != "i32" and b.chance(0.1):
        init = float("-inf")
    overflow = b.rng.choice(("sat", "inf")) if type_ in ("bf16", "f16") and b.chance(0.15) else None
    tensor = Tensor(b.fresh("y"), type_, tuple(d for d, _ in parts), init=init, overflow=overflow)
    b.tensors.append(tensor)
    return tensor, E("load", tensor.name, tuple(i for _, i in parts))


def stored(tensor, value, mask=None):
    value = E("cast", tensor.type, (value,)) if tensor.type in ("bf16", "f16") else value
    return E("where", args=(value, mask)) if mask is not None else value


def epilogue(b, w, values):
    """Stores of what the phases left, or of elements."""
    body = []
    names = {a.name for a in w.axes}
    wide = {}
    for value, axes, type_ in values:
        wide.setdefault(tuple(sorted(axes - names)), []).append((value, axes, type_))
    for extra, group in wide.items():
        full = [Axis(d, d, True) for d in extra]
        if any(a.name not in dict(b.params) for a in full):
            continue
        inner = w.within(*full, values=group)
        for value, axes, type_ in group:
            if b.chance(0.15) and len(values) > 1:
                continue
            tensor, target = output(b, w, full, ("i32",) if type_ == "i32" and b.chance(0.6) else ("f32", b.half))
            if type_ == "i32" and tensor.type != "i32":
                value = binary("*", value, number(0.5))
            if tensor.type != "i32" and b.chance(0.4):
                value = b.pick((3, binary("+", value, inner.f32(1))), (2, binary("*", value, inner.f32(0))), (1, call("tanh", value)),
                               (1, call("max", value, number(0))))
            mask = inner.condition(1) if b.chance(0.12) else None
            body.append(Stmt("store", value=stored(tensor, value, mask), target=target))
    return body


def projected(b, w, values):
    """What a phase left, times a matrix, where it has a whole dimension."""
    params = dict(b.params)
    for value, axes, type_ in values:
        wide = [a for a in axes if a in params]
        if type_ != "f32" or len(wide) != 1 or not b.chance(0.1):
            continue
        other = b.parameter()
        if other in axes:
            continue
        inner, outer = Axis(wide[0], wide[0], True), Axis(other, other, True)
        tensor, target = output(b, w, [outer], ("f32", b.half))
        matrix = b.load([inner, outer], w.iterations, b.half, plain=True)
        product = E("dot", args=(E("cast", b.half, (value,)), matrix))
        return [Stmt("store", value=stored(tensor, product), target=target)]
    return []


def elementwise(b, w):
    body = []
    extra = []
    if b.chance(0.3):
        d = b.parameter()
        extra = [Axis(d, d, True)]
    inner = w.within(*extra)
    for _ in range(b.pick((4, 0), (1, 1))):
        t = b.fresh("t")
        value = inner.f32(2)
        body.append(Stmt("let", t, value))
        inner.values.append((name(t), phases.axes_of(value, inner), "f32"))
    for _ in range(b.pick((4, 1), (1, 2))):
        tensor, target = output(b, w, extra)
        value = inner.integer(2) if tensor.type == "i32" else inner.f32(3)
        mask = inner.condition(1) if b.chance(0.2) else None
        body.append(Stmt("store", value=stored(tensor, value, mask), target=target))
    return body


def second_loop(b, w, phase):
    """The weights of a finished softmax, column by column."""
    sm, s, row, axis, loop = phase.softmax
    tensor, target = output(b, w, [axis], ("f32", b.half))
    weight = E("method", "weight", (name(sm), s))
    return Stmt("for", range=loop.range, body=(Stmt("store", value=stored(tensor, weight), target=target),))


def column_loop(b, w, values):
    """A loop that stores blocks made of what the phases left."""
    axis = Axis(b.fresh("j"), b.dim())
    inner = w.within(axis, values=[v for v in values if v[1] <= {a.name for a in w.axes}])
    tensor, target = output(b, w, [axis], ("f32", b.half))
    value = binary("+", inner.full([axis]), inner.f32(2))
    return Stmt("for", range=Range(axis.name, name(axis.of), None, "B" + axis.name),
                body=(Stmt("store", value=stored(tensor, value), target=target),))


def kernel(b, index):
    wanted = b.pick(*FEATURES)
    ranges, axes, iterations = kernel_ranges(b, wanted == "product")
    w = Writer(b, axes, iterations)
    body, values = [], []
    if wanted == "elementwise":
        b.raw = True
        body = elementwise(b, w)
    else:
        for kind in [wanted] + ([b.pick(*FEATURES[1:])] if b.chance(0.25) else []):
            phase, stmts = WRITERS[kind](w)
            body += stmts
            values += phase.values
            if hasattr(phase, "softmax") and b.chance(0.25):
                body.append(second_loop(b, w, phase))
        body += projected(b, w, values)
        b.raw = True
        body += epilogue(b, w, values)
        if b.chance(0.12) or not any(s.kind == "store" for s in body):
            body.append(column_loop(b, w, values))
    b.raw = False
    return Kernel("k" + str(index), tuple(ranges), tuple(body))


def program(seed):
    rng = random.Random(seed)
    b = Builder(rng)
    kernels = [kernel(b, 0)]
    if b.chance(0.08):
        kernels.append(kernel(b, 1))
    inputs = [t for t in b.tensors if not t.is_output]
    outputs = [t for t in b.tensors if t.is_output]
    return complete(tidy(Program("f", tuple(b.params), tuple(inputs + outputs), tuple(b.scalars), tuple(kernels), tuple(b.hooks))))


def complete(p):
    """With a tensor for each extent that no shape has: the signature is where extents come from."""
    from tree import replace
    known, params = dims_of(p), dict(p.params)
    missing = [d for d in mentioned(p) if d not in known and d not in params]
    only = tuple(Tensor("only" + d, "f32", (name(d),)) for d in missing)
    return replace(p, tensors=only + p.tensors)


def mentioned(p):
    """Names in the bounds of loops, and extents in expressions."""
    from tree import expressions
    found = []
    for e in expressions(p):
        if e.op == "name" and len(e.name) == 1 and e.name.isupper() and e.name not in found:
            found.append(e.name)
    return found


def tidy(p):
    """Without tensors, parameters and scalars that nothing names."""
    from tree import expressions, replace
    while True:
        used = set()
        for k in p.kernels:
            alone = Program("f", (), (), (), (k,))
            for e in expressions(alone):
                used |= {e.name, *e.axes}
        hooks = tuple(h for h in p.hooks if h[0] in used)
        for h in hooks:
            used |= {e.name for e in h[2].walk()}
        for t in p.tensors:
            for e in ([*t.dims, *(t.promise or ())] + [x for x in (t.valid, t.default) if x is not None]):
                used |= {x.name for x in e.walk()}
        smaller = replace(p, hooks=hooks, tensors=tuple(t for t in p.tensors if t.name in used), params=tuple(x for x in p.params if x[0] in used),
                          scalars=tuple(s for s in p.scalars if s.name in used))
        if smaller == p:
            return p
        p = smaller


def dims_of(p):
    """The run-time extents, in order."""
    found = []
    params = dict(p.params)
    for t in p.tensors:
        for dim in t.dims:
            for e in dim.walk():
                if e.op == "name" and e.name not in params and e.name not in found:
                    found.append(e.name)
    return found


def padded(p, dims):
    """About how many lanes the largest block of loops of each kernel has."""
    params = dict(p.params)
    value = lambda e: dims.get(e.name, params.get(e.name, e.name)) if e.op in ("name", "int") else 64
    total = 0
    for k in p.kernels:
        lanes, loops = 1, 0
        for r in k.ranges:
            size = value(r.hi) * (value(r.pair[1]) if r.pair else 1)
            lanes *= max(size, 32) if r.block else max(size, 1)
        inner = [0]

        def visit(body, n):
            for s in body:
                if s.kind == "for":
                    size = value(s.range.hi) if s.range.hi.op == "name" else 64
                    inner.append(n * max(size, 32))
                    visit(s.body, inner[-1])
        visit(k.body, lanes)
        widest = max([v for _, v in p.params] + [1])
        total += max(inner + [lanes]) * min(widest, 128)
    return total


def cases(p, seed, count=2, limit=1 << 21):
    rng = random.Random(seed * 7919 + 13)
    result = []
    for n in range(count):
        dims = {}
        for d in dims_of(p):
            small = d in "BHGRUW"
            dims[d] = rng.choice(SMALL if small else SIZES)
            if n and rng.random() < (0.1 if small else 0.15):
                dims[d] = 0
        while padded(p, dims) > limit >> (2 * n):
            widest = max(dims, key=dims.get)
            if dims[widest] <= 33 or dims[widest] <= 3:
                break
            dims[widest] = dims[widest] // 2
        absent = tuple(t.name for t in p.tensors if t.optional and rng.random() < 0.5)
        result.append(Case(tuple(dims.items()), absent, (), rng.randrange(1 << 30)))
    small = tuple((d, min(v, rng.choice((3, 9, 17)))) for d, v in result[0].dims)
    return result + [Case(small, (), (), rng.randrange(1 << 30), True)]
