"""Random programs that the language accepts, and cases to run them on."""
# SPDX-License-Identifier: MIT
import math
import random

import phases
from again import with_again
from evaluate import Scope, evaluate_extent
from expressions import Writer, as_f32
from extras import with_extras
from launched import with_launch
from numbered import with_numbers
from scope import Axis, Builder, Iteration
from sugar import sugared
from tree import Case, E, Extension, Kernel, Program, Range, Stmt, Tensor, binary, call, integer, name, number, replace, statements

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
        g, u, G, R = b.fresh("g"), b.fresh("h"), b.dim("scalar"), b.dim("scalar")
        ranges.append(Range(g, name(G), pair=(u, name(R))))
        iterations.append(Iteration(E("pair", args=(name(g), name(u))), binary("*", name(G), name(R)), (g, u)))
    b.rng.shuffle(ranges)
    if b.aside.random() < 0.06:
        ranges = with_parts(b, ranges, iterations)
    return ranges, axes, iterations


def with_parts(b, ranges, iterations):
    """The ranges, of which one is split."""
    at = b.aside.choice([i for i, r in enumerate(ranges) if r.block])
    s, count = b.fresh("s"), integer(b.aside.choice((1, 2, 3, 5, 8)))
    iterations.append(Iteration(name(s), count, (s,), told=True))
    return ranges[:at] + [Range(s, count), replace(ranges[at], part=(name(s), count))] + ranges[at + 1:]


def output(b, w, extra=(), types=None):
    """A new output over all ranges of the kernel, with its target."""
    axes = [a for a in w.axes if not a.full] + list(extra)
    parts = [(name(a.of), a.index) for a in axes] + [(it.extent, it.index) for it in w.iterations if not it.told or b.aside.random() < 0.5]
    if extra and b.chance(0.12):
        parts = sliced(b, parts)
    if b.chance(0.05):
        parts = scattered(b, parts)
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


def scattered(b, parts):
    """The indices of a store, of which one is where unique integers say."""
    ranges = [i for i, (d, x) in enumerate(parts) if x.op == "name" and d.op == "name" and b.dims.get(d.name) == "tile"]
    if not ranges:
        return parts
    at = b.rng.choice(ranges)
    dim, index = parts[at]
    places = Tensor(b.fresh("at"), "i32", (dim,), fill="unique")
    b.tensors.append(places)
    return [(name(b.dim()), E("load", places.name, (index,))) if i == at else p for i, p in enumerate(parts)]


def sliced(b, parts):
    """The indices of a store, of which one is a slice: of the first of two parts, or that of an iteration, which needs no dimension then."""
    whole = [i for i, (_, x) in enumerate(parts) if x.op == "full"]
    if not whole:
        return parts
    at = b.rng.choice(whole)
    length = parts[at][0]
    plain = [i for i, (d, x) in enumerate(parts) if x.op == "name" and d.op == "name" and b.dims.get(d.name) == "scalar"]
    if plain and b.chance(0.6):
        of = b.rng.choice(plain)
        extent, index = parts[of]
        new = binary("*", extent, length), E("slice", length.name, (binary("*", index, length),))
        return [new if i == at else p for i, p in enumerate(parts) if i != of]
    new = binary("*", integer(2), length), E("slice", length.name, (b.rng.choice((integer(0), length)),))
    return [new if i == at else p for i, p in enumerate(parts)]


def addition(b, w):
    """A sum over some ranges of the kernel, added to an output that lacks them; in order or in any."""
    axes = [a for a in w.axes if not a.full]
    chosen = [x for x in axes + [it for it in w.iterations if not it.told] if b.aside.random() < 0.5]
    parts = [(name(x.of) if isinstance(x, Axis) else x.extent, x.index) for x in chosen] or [(integer(1), integer(0))]
    value = binary("+", w.limited(axes).full(), w.f32(1))
    over = tuple(a.name for a in w.axes if a not in chosen)
    tensor = Tensor(b.fresh("y"), "f32", tuple(d for d, _ in parts), init=b.aside.choice((0.0, 0.0, 7.0, "keep")), deterministic=b.aside.random() < 0.6)
    b.tensors.append(tensor)
    return Stmt("gather", value=E("reduce", "sum", (value,), over) if over else value, target=E("load", tensor.name, tuple(i for _, i in parts)))


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
        if b.aside.random() < 0.25:
            body.append(addition(b, w))
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
    if b.chance(0.16):
        if b.chance(0.6):
            kernels[0] = with_temps(b, kernels[0])
        temps = [t for t in b.tensors if t.temp]
        kernels.append(consumer(b, b.rng.choice(temps)) if temps and b.chance(0.7) else kernel(b, 1))
    loaded = {e.name for s in statements(kernels[-1].body) for x in s.expressions() if s.target != x for e in x.walk() if e.op == "load"}
    b.tensors = [replace(t, temp=False, init=0.0 if t.init is None else t.init) if t.temp and t.name not in loaded else t for t in b.tensors]
    inputs = [t for t in b.tensors if not t.is_output]
    outputs = [t for t in b.tensors if t.is_output]
    p = complete(tidy(Program("f", tuple(b.params), tuple(inputs + outputs), tuple(b.scalars), tuple(kernels), tuple(b.hooks))))
    # The programs of the fixed tests stay what they are.
    if seed >= 1000:
        p = with_extras(p, random.Random("extras %d" % seed))
        p = with_numbers(p, random.Random("numbers %d" % seed))
        p = with_again(p, random.Random("again %d" % seed), seed)
        p = complete(tidy(with_launch(p, random.Random("launch %d" % seed))))
    return complete(tidy(sugared(p, rng)))


def with_temps(b, k):
    """The kernel with some of its outputs for the next one to load; at least one stays an output of the op, or the next one has one."""
    body, names = [], {t.name for t in b.tensors if t.is_output and b.chance(0.7)}
    whole = all(r.lo is None and r.part is None for r in k.ranges)
    for s in k.body:
        if s.kind == "store" and s.target.name in names and whole and b.chance(0.5) and all(i.op in ("name", "pair", "full") for i in s.target.args):
            # Every element is stored, so that nothing else defines it.
            zero = integer(0) if type_of(b, s.target.name) == "i32" else number(0)
            value = s.value.args[0] if s.value.op == "cast" else s.value
            value = E("else", args=(value, zero))
            body.append(replace(s, value=E("cast", s.value.name, (value,)) if s.value.op == "cast" else value))
            b.tensors = [replace(t, temp=True, init=None, overflow=None) if t.name == s.target.name else t for t in b.tensors]
            names.remove(s.target.name)
        else:
            body.append(s)
    b.tensors = [replace(t, temp=True, init=0.0 if t.init == "keep" else t.init, overflow=None) if t.name in names else t for t in b.tensors]
    for t in b.tensors:
        if t.temp:
            b.wanted += [e.name for d in t.dims for e in d.walk() if e.op == "name" and e.name in b.dims]
    return replace(k, body=tuple(body))


def consumer(b, temp):
    """A kernel that walks along the dimensions of a temp; one of them may be summed."""
    ranges, axes, iterations, indices, loop = [], [], [], [], None
    for dim in temp.dims:
        if dim.op == "name" and b.dims.get(dim.name) == "tile":
            axis = Axis(b.fresh("r"), dim.name)
            if loop is None and b.chance(0.3):
                loop = axis
            else:
                axes.append(axis)
                ranges.append(Range(axis.name, dim, None, "B" + axis.name))
            indices.append(axis.index)
        elif dim.op == "name" and dim.name in b.dims:
            i = b.fresh("b")
            ranges.append(Range(i, dim))
            iterations.append(Iteration(name(i), dim, (i,)))
            indices.append(name(i))
        elif dim.op == "name":
            axes.append(Axis(dim.name, dim.name, True))
            indices.append(E("full"))
        else:
            indices.append(integer(0))
    if not ranges:
        return kernel(b, 1)
    w = Writer(b, [a for a in axes if not a.full], iterations)
    value = as_f32(E("load", temp.name, tuple(indices)), temp.type)
    value = binary("*", value, number(1)) if temp.type == "i32" else value
    body, t = [], b.fresh("t")
    if loop:
        inner = Writer(b, axes, iterations).within(loop)
        v = b.fresh("v")
        zero = E("zeros", "f32", axes=tuple(a.name for a in axes)) if axes else number(0)
        body = [Stmt("var", v, zero), Stmt("for", range=Range(loop.name, name(loop.of), None, "B" + loop.name),
                                           body=(Stmt("add", v, E("reduce", "sum", (binary("*", value, inner.full([loop])),), (loop.name,))),))]
        value = name(v)
    body.append(Stmt("let", t, value))
    return Kernel("k1", tuple(ranges), tuple(body + epilogue(b, w, [(name(t), {a.name for a in axes}, "f32")])))


def type_of(b, tensor):
    return next(t.type for t in b.tensors if t.name == tensor)


def complete(p):
    """With a tensor for each extent that no shape has: the signature is where extents come from."""
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
    from tree import expressions
    while True:
        used = set()
        for k in p.kernels:
            alone = Program("f", (), (), (), (k,))
            for e in expressions(alone):
                used |= {e.name, *e.axes}
        hooks = tuple(h for h in p.hooks if h[0] in used)
        views = tuple(v for v in p.views if v[0] in used)
        used |= {e.name for _, _, *parts in views for part in parts if part is not None for e in part.walk()}
        over = tuple(h for h in p.extends.hooks if h[0] in used) if p.extends else ()
        for h in hooks + over:
            used |= {e.name for e in h[2].walk()}
        for t in p.tensors:
            used.add(t.type)
            for e in ([*t.dims, *(t.promise or ())] + [x for x in (t.valid, t.default, t.segments) if x is not None]):
                used |= {x.name for x in e.walk()}
        smaller = replace(p, hooks=hooks, views=views, tensors=tuple(t for t in p.tensors if t.name in used), params=tuple(x for x in p.params if x[0] in used),
                          scalars=tuple(s for s in p.scalars if s.name in used))
        if p.extends:
            known = {x.name for x in smaller.tensors + smaller.scalars} | {n for n, _ in smaller.params}
            smaller = replace(smaller, extends=over and Extension(tuple(n for n in p.extends.bound if n in known), over,
                                                                  tuple(n for n in p.extends.own if n in known)) or None)
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


def work(p, dims):
    """Elements that the evaluator makes of the largest loop: lanes, steps and slices."""
    params = dict(p.params)
    widest = max([v for v in params.values()] + [1])
    value = lambda e: dims.get(e.name, params.get(e.name, e.name)) if e.op in ("name", "int") else max([*dims.values(), 1])
    most = [0]

    def visit(body, lanes):
        most[0] = max(most[0], lanes)
        for s in body:
            if s.kind == "for":
                visit(s.body, lanes * max(value(s.range.hi), 1))
    for k in p.kernels:
        visit(k.body, math.prod(max(value(r.hi), 1) * (max(value(r.pair[1]), 1) if r.pair else 1) for r in k.ranges))
    return most[0] * widest


def largest(p, dims):
    """Elements of the largest tensor: `ref` and the evaluator hold several numbers for each."""
    scope = Scope(p, dims, {}, {}, {})
    return max((math.prod(evaluate_extent(d, scope) for d in t.dims) for t in p.tensors), default=0)


def cases(p, seed, count=2, limit=1 << 19):
    rng = random.Random(seed * 7919 + 13)
    result = []
    for n in range(count):
        dims = {}
        for d in dims_of(p):
            small = d in "BHGRUWZ"
            dims[d] = rng.choice(SMALL if small else SIZES)
            if n and d not in {label for label, _, _ in p.launches} and rng.random() < (0.1 if small else 0.15):
                dims[d] = 0
        while padded(p, dims) > limit >> (2 * n):
            widest = max(dims, key=dims.get)
            if dims[widest] <= 33 or dims[widest] <= 3:
                break
            dims[widest] = dims[widest] // 2
        while dims and max(dims.values()) > 1 and (largest(p, dims) > limit or work(p, dims) > limit << 3):
            dims[max(dims, key=dims.get)] //= 2
        absent = tuple(t.name for t in p.tensors if t.optional and rng.random() < 0.5)
        result.append(Case(tuple(dims.items()), absent, (), rng.randrange(1 << 30)))
    small = tuple((d, min(v, rng.choice((3, 9, 17)))) for d, v in result[0].dims)
    return result + [Case(small, (), (), rng.randrange(1 << 30), True)]
