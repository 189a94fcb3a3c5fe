"""Constructs that are put into a program once it is made: steps that are left out, fused ranges, broadcast dimensions, tensors in place, parts that a softmax joins,
`present`, segments, views, `softmax_weight`, inputs of 8 bits. A generator of their own decides about them, so that seeds keep the programs that they had."""
# SPDX-License-Identifier: MIT
import execute
import inputs
from specialise import plain
from tree import Case, E, Range, Stmt, Tensor, binary, integer, name, number, replace, statements

SHARE = 0.45
NARROW = ("bf16", "f16")


def mapped(e, of):
    """`of` applied to every node, the leaves first."""
    return of(replace(e, args=tuple(mapped(a, of) for a in e.args)))


def each(body, of):
    """The statements mapped, those in loops first."""
    return tuple(of(replace(s, body=each(s.body, of), orelse=each(s.orelse, of))) for s in body)


class Extras:
    def __init__(self, program, rng):
        self.p, self.rng = program, rng
        self.count = 0

    def run(self):
        if self.rng.random() >= SHARE:
            return self.p
        # Few programs have a place for the first ones.
        seldom = [self.merge, self.present, self.when_any, self.weight]
        often = [self.view, self.bytes, self.when, self.fused, self.fused, self.ones, self.inout, self.segments, self.segments]
        wanted, made = self.rng.choice((1, 1, 2)), 0
        self.rng.shuffle(seldom)
        self.rng.shuffle(often)
        for make in seldom * (self.rng.random() < 0.6) + often:
            q = make()
            if q is not None and sound(q):
                self.p, made = q, made + 1
            if made == wanted:
                break
        return self.p

    # Tools ------------------------------------------------------------------------

    def fresh(self, prefix):
        self.count += 1
        return "%s%d" % (prefix, 900 + self.count)

    def with_kernel(self, kernel, other, *tensors):
        """The program with another kernel, and more inputs."""
        outputs = tuple(t for t in self.p.tensors if t.is_output)
        return replace(self.p, tensors=tuple(t for t in self.p.tensors if not t.is_output) + tensors + outputs,
                       kernels=tuple(other if k is kernel else k for k in self.p.kernels))

    def tensor(self, label):
        return next(t for t in self.p.tensors if t.name == label)

    def viewed(self, t):
        return any(e.op == "load" and e.name == t.name for v in self.p.views for e in v[2].walk())

    def numbers(self, kernel):
        """Scalar ranges of a kernel, each with its extent."""
        return [(r.name, r.hi) for r in kernel.ranges if not r.block and not r.pair and r.lo is None and r.hi.op == "name"]

    def kernels(self):
        found = list(self.p.kernels)
        self.rng.shuffle(found)
        return found

    def loops(self, kernel):
        """Loops over blocks whose steps are not left out, outer ones first."""
        return [s for s in statements(kernel.body) if s.kind == "for" and s.range.block and s.value is None]

    # Features ---------------------------------------------------------------------

    def when(self):
        """A loop of which some iterations take no step."""
        for kernel in self.kernels():
            if not self.loops(kernel):
                continue
            loop = self.rng.choice(self.loops(kernel))
            numbers, more = self.numbers(kernel), ()
            kind = self.rng.choice(("flag", "flag", "count", "index")) if numbers else "one"
            if kind == "one":
                flag = Tensor(self.fresh("flag"), "bool", (integer(2),))
                condition, more = E("load", flag.name, (integer(self.rng.randrange(2)),)), (flag,)
            elif kind == "index":
                b, extent = self.rng.choice(numbers)
                condition = self.rng.choice((binary("==", binary("%", name(b), integer(2)), integer(0)), binary("<", name(b), binary("-", extent, integer(1)))))
            else:
                chosen = self.rng.sample(numbers, min(len(numbers), self.rng.choice((1, 1, 2))))
                flag = Tensor(self.fresh("flag"), "bool" if kind == "flag" else "i32", tuple(extent for _, extent in chosen))
                condition, more = E("load", flag.name, tuple(name(b) for b, _ in chosen)), (flag,)
                if kind == "count":
                    condition = binary(">", condition, integer(0))
            return self.with_kernel(kernel, replace(kernel, body=each(kernel.body, lambda s: replace(s, value=condition) if is_loop(s, loop) else s)), *more)
        return None

    def when_any(self):
        """A loop without the steps in which no lane is wanted."""
        for kernel in self.kernels():
            for loop in self.loops(kernel):
                j = loop.range.name
                dims = [self.tensor(e.name).dims[i] for s in statements(loop.body) for x in s.expressions() for e in x.walk() if e.op == "load"
                        for i, a in enumerate(e.args) if a == name(j) and self.tensor(e.name).dims[i].op == "name"]
                if not dims:
                    continue
                numbers = self.rng.sample(self.numbers(kernel), min(len(self.numbers(kernel)), self.rng.choice((0, 0, 1))))
                flag = Tensor(self.fresh("flag"), "bool", tuple(extent for _, extent in numbers) + (dims[0],))
                p = E("load", flag.name, tuple(name(b) for b, _ in numbers) + (name(j),))
                body = tuple(only_where(s, p, j) for s in loop.body)
                if None in body:
                    continue
                changed = replace(loop, value=E("any", None, (p,)), body=body)
                return self.with_kernel(kernel, replace(kernel, body=each(kernel.body, lambda s: changed if is_loop(s, loop) else s)), flag)
        return None

    def fused(self):
        """A range of blocks and a scalar range as one axis of pairs."""
        for kernel in self.kernels():
            blocks = [r for r in kernel.ranges if r.block and r.lo is None and r.part is None and r.hi.op == "name" and not r.pair]
            numbers = self.numbers(kernel)
            # A kernel has one axis of pairs.
            if not blocks or not numbers or any(r.fused for r in kernel.ranges):
                continue
            rows, (u, extent) = self.rng.choice(blocks), self.rng.choice(numbers)
            if not fuses(kernel, rows.name, u):
                continue
            new, order = self.fresh("p"), [rows.name, u]
            pair = Range(new, rows.hi, None, rows.block, (u, extent), None, rows.name)
            if self.rng.random() < 0.3:
                order.reverse()
                pair = Range(new, extent, None, rows.block, (rows.name, rows.hi), None, u)
            of = lambda e: replace(e, axes=tuple(new if a == rows.name else a for a in e.axes))
            body = each(kernel.body, lambda s: replace(s, value=s.value and mapped(s.value, of), target=s.target and mapped(s.target, of)))
            ranges = tuple(pair if r is rows else r for r in kernel.ranges if r.name != u)
            return self.with_kernel(kernel, replace(kernel, ranges=ranges, body=body))
        return None

    def ones(self):
        """Dimensions in which the caller may give one element for all; another tensor has their extent."""
        params = dict(self.p.params)
        whole = lambda t: [d.name for i, d in enumerate(t.dims) if d.op == "name" and d.name not in params and i not in t.ones]
        for t in self.rng.sample(self.p.tensors, len(self.p.tensors)):
            if t.is_output or t.valid is not None or t.promise or t.fill in ("bound", "unique") or t.type not in ("f32", "i32", "bool", *NARROW):
                continue
            others = {d for o in self.p.tensors if o is not t and not o.is_output and not o.optional for d in whole(o)}
            found = [i for i, d in enumerate(t.dims) if d.op == "name" and d.name in others]
            if found:
                ones = tuple(sorted(self.rng.sample(found, self.rng.randint(1, len(found)))))
                return replace(self.p, tensors=tuple(replace(t, ones=ones) if o is t else o for o in self.p.tensors))
        return None

    def inout(self):
        """An output that a kernel reads before it stores it."""
        stores = [(k, s) for k in self.p.kernels for s in statements(k.body) if s.kind in ("store", "gather")]
        self.rng.shuffle(stores)
        for kernel, store in stores:
            t = self.tensor(store.target.name)
            if store.kind != "store" or t.temp or t.overflow or sum(s.target.name == t.name for _, s in stores) != 1 or t.type not in ("f32", "i32", *NARROW):
                continue
            loaded = E("load", t.name, store.target.args)
            changed = replace(store, value=added(store.value, loaded, t.type)) if self.rng.random() < 0.8 else store
            q = self.with_kernel(kernel, replace(kernel, body=each(kernel.body, lambda s: changed if s == store else s)))
            return replace(q, tensors=tuple(replace(o, inout=True, init="keep") if o.name == t.name else o for o in q.tensors))
        return None

    def merge(self):
        """A part of a softmax that was computed elsewhere."""
        params = dict(self.p.params)
        for kernel in self.kernels():
            softmax = [s for s in kernel.body if s.kind == "var" and s.value.op == "softmax"]
            for state in softmax:
                updates = [e for s in statements(kernel.body) for x in s.expressions() for e in x.walk() if e.op == "method" and e.name == "update" and e.args[0].name == state.name]
                accs = {a.name for e in updates for a in e.args[2:]}
                var = next((s for s in kernel.body if s.kind == "var" and s.name in accs), None)
                at = [i for i, s in enumerate(kernel.body) if any(e in updates for t in statements((s,)) for x in t.expressions() for e in x.walk())]
                if len(accs) != 1 or var is None or var.value.op != "zeros" or not at:
                    continue
                ranges = {r.name: r for r in kernel.ranges if r.block and not r.pair}
                if not all(a in params or a in ranges and ranges[a].hi.op == "name" for a in var.value.axes):
                    continue
                numbers = [x for x in self.numbers(kernel) if self.rng.random() < 0.5]
                part = lambda axes: [(name(a), E("full")) if a in params else (ranges[a].hi, name(a)) for a in axes] + [(extent, name(b)) for b, extent in numbers]
                lse = Tensor(self.fresh("l"), "f32", tuple(d for d, _ in part(state.value.axes)), fill="lse")
                rows = Tensor(self.fresh("o"), "f32", tuple(d for d, _ in part(var.value.axes)))
                load = lambda t, axes: E("load", t.name, tuple(i for _, i in part(axes)))
                joined = Stmt("do", value=E("method", "merge", (name(state.name), load(lse, state.value.axes), load(rows, var.value.axes), name(var.name))))
                # Ahead of the loop that updates, or behind it.
                place = at[0] if self.rng.random() < 0.3 and at[0] > max(kernel.body.index(state), kernel.body.index(var)) else at[-1] + 1
                return self.with_kernel(kernel, replace(kernel, body=kernel.body[:place] + (joined,) + kernel.body[place:]), lse, rows)
        return None

    def present(self):
        """Another value where the caller leaves a tensor out; if every load says so the tensor needs no default."""
        for t in self.rng.sample(self.p.tensors, len(self.p.tensors)):
            if not t.optional or t.is_output or t.promise or t.type not in ("f32", *NARROW) or self.viewed(t):
                continue
            mentions = lambda e: e.op == "load" and e.name == t.name
            is_value = lambda e: mentions(e) if t.type == "f32" else e.op == "cast" and e.name == "f32" and mentions(e.args[0])
            otherwise = number(self.rng.choice((0, 1, -2)))

            def put(e):
                if is_value(e):
                    return E("present", t.name, (e, otherwise))
                return e if e.op in ("dot", "where") else replace(e, args=tuple(map(put, e.args)))

            kernels = tuple(replace(k, body=each(k.body, lambda s: replace(s, value=put(s.value)) if s.value is not None and s.kind != "for" else s)) for k in self.p.kernels)
            if kernels == self.p.kernels:
                continue
            count = lambda ks, of: sum(of(e) for k in ks for s in statements(k.body) for x in s.expressions() for e in x.walk())
            hidden = any(mentions(e) for _, _, body in self.p.hooks for e in body.walk()) or any(mentions(e) for o in self.p.tensors if o.valid is not None for e in o.valid.walk())
            every = count(kernels, lambda e: e.op == "present" and e.name == t.name) == count(kernels, mentions) and not hidden
            default = None if every and self.rng.random() < 0.5 else t.default
            return replace(self.p, kernels=kernels, tensors=tuple(replace(t, default=default) if o is t else o for o in self.p.tensors))
        return None


    def segments(self):
        """Rows of several segments, which lie one behind the other, in place of a range of blocks."""
        undefined = {t.name for t in self.p.tensors if t.temp and t.init is None}
        for kernel in self.kernels():
            if any(s.target is not None and s.target.name in undefined for s in statements(kernel.body)):
                continue
            places = [(i, r) for i, r in enumerate(kernel.ranges) if r.block and r.lo is None and r.part is None and r.hi.op == "name" and not r.pair]
            numbers = self.numbers(kernel)
            # A kernel goes over the segments of one tensor, and what skips steps by a segment's number is not supported.
            skips = {e.name for s in statements(kernel.body) if s.kind == "for" and s.value is not None for e in s.value.walk()}
            numbers = [(b, extent) for b, extent in numbers if b not in skips]
            if not places or not numbers or any(r.lo is not None and r.lo.op == "load" for r in kernel.ranges):
                continue
            (_, rows), (b, extent) = self.rng.choice(places), self.rng.choice(numbers)
            cu = Tensor(self.fresh("cu"), "i32", (binary("+", extent, integer(1)),), segments=rows.hi, fill="bound")
            bounds = [E("load", cu.name, (index,)) for index in (name(b), binary("+", name(b), integer(1)))]
            # All segments' rows behind the range of the segments.
            ranges = [r for r in kernel.ranges if r is not rows]
            at = next(i for i, r in enumerate(ranges) if r.name == b)
            ranges.insert(self.rng.randint(at + 1, len(ranges)), replace(rows, lo=bounds[0], hi=bounds[1]))
            return self.with_kernel(kernel, replace(kernel, ranges=tuple(ranges)), cu)
        return None

    def bytes(self):
        """An input of 8 bits, which is converted wherever it is read."""
        for t in self.rng.sample(self.p.tensors, len(self.p.tensors)):
            if t.is_output or t.optional or t.type not in NARROW or t.fill == "large" or self.viewed(t):
                continue
            type_ = self.rng.choice(("e4m3", "e4m3", "e5m2", "i8", "u8"))

            def read(e):
                if e.op == "load" and e.name == t.name:
                    return E("cast", t.type, (e,))
                # `x as f32` where it was that, not `x as bf16 as f32`.
                inner = e.args[0] if e.op == "cast" and e.name == "f32" else None
                return replace(e, args=inner.args) if inner and inner.op == "cast" and inner.args[0].op == "load" and inner.args[0].name == t.name else e

            of = lambda e: mapped(e, read)
            kernels = tuple(replace(k, body=each(k.body, lambda s: replace(s, value=s.value and of(s.value)))) for k in self.p.kernels)
            hooks = tuple((n, parameters, of(e)) for n, parameters, e in self.p.hooks)
            return replace(self.p, kernels=kernels, hooks=hooks, tensors=tuple(replace(t, type=type_) if o is t else o for o in self.p.tensors))
        return None

    def view(self):
        """A load by another name, with indices of its own, and perhaps with fewer elements."""
        known = {n for n, _ in self.p.params} | {s.name for s in self.p.scalars}
        for kernel in self.kernels():
            loads = [e for s in statements(kernel.body) if s.kind != "for" and s.value is not None for e in s.value.walk() if e.op == "load" and not self.tensor(e.name).is_output
                     and all(x.op in ("name", "int", "bin", "load", "full", "pair") for a in e.args for x in a.walk())]
            # What says which steps are left out is spelled the same in the mask.
            skipped = [e for s in statements(kernel.body) if s.kind == "for" and s.value is not None for e in s.value.walk()]
            # A kernel reads what it writes at the very indices that it writes: with fewer elements they are others.
            places = [x for s in statements(kernel.body) for e in s.expressions() for o in e.walk() if o.op == "load" and self.tensor(o.name).is_output for a in o.args for x in a.walk()]
            loads = [e for e in loads if e not in skipped and e not in places]
            if not loads:
                continue
            wanted = self.rng.choice(loads)
            names = dict.fromkeys(x.name for a in wanted.args for x in a.walk() if x.op == "name" and x.name not in known and not x.name.isupper())
            if not names:
                continue
            own = {n: self.fresh("ix") for n in names}
            loaded = mapped(wanted, lambda e: name(own[e.name]) if e.op == "name" and e.name in own else e)
            some = name(self.rng.choice(list(own.values())))
            condition = self.rng.choice((None, None, binary("<", some, integer(self.rng.choice((1, 17, 64)))), binary("!=", binary("%", some, integer(3)), integer(1))))
            view = (self.fresh("w"), tuple(own.values()), loaded, condition)
            put = lambda e: E("view", view[0], tuple(map(name, names))) if e == wanted else e
            body = each(kernel.body, lambda s: replace(s, value=mapped(s.value, put)) if s.kind != "for" and s.value is not None else s)
            return replace(self.with_kernel(kernel, replace(kernel, body=body)), views=self.p.views + (view,))
        return None

    def weight(self):
        """The weight of a score against a log-sum-exp, in place of an exponential."""
        for kernel in self.kernels():
            found = [e for s in statements(kernel.body) for x in s.expressions() for e in x.walk() if e.op == "call" and e.name == "exp" and e.args[0].op == "neg"]
            if not found:
                continue
            wanted, numbers, more = self.rng.choice(found), self.numbers(kernel), ()
            lse = number(self.rng.choice((0, 0.5, -1.5)))
            if numbers and self.rng.random() < 0.6:
                b, extent = self.rng.choice(numbers)
                more = (Tensor(self.fresh("l"), "f32", (extent,)),)
                lse = E("load", more[0].name, (name(b),))
            put = lambda e: E("call", "softmax_weight", (e.args[0], lse)) if e == wanted else e
            body = each(kernel.body, lambda s: replace(s, value=mapped(s.value, put)) if s.value is not None and s.kind != "for" else s)
            return self.with_kernel(kernel, replace(kernel, body=body), *more)
        return None


def is_loop(s, loop):
    # Two loops of a kernel may have one range.
    return s.kind == "for" and s.range == loop.range and s.body == loop.body and s.value is None


def only_where(s, p, j):
    """The statement of a loop with `where p` in what it folds; None where it is of another kind."""
    where = lambda e: E("where", None, (e, p))
    if s.kind in ("let", "do") and s.value.op == "method" and s.value.name == "update":
        return replace(s, value=replace(s.value, args=(s.value.args[0], where(s.value.args[1])) + s.value.args[2:]))
    if s.kind == "add" or s.kind == "set":
        return folded(s, where, j)
    return None


def folded(s, where, j):
    found = []

    def fold(e):
        if e.op == "reduce" and j in e.axes:
            found.append(e)
            return replace(e, args=(where(e.args[0]),))
        if e.op == "dot":
            found.append(e)
            # Weights have it already.
            at = [i for i, a in enumerate(e.args) if any(x == name(j) for x in a.walk())]
            return replace(e, args=tuple(where(a) if i == at[0] else a for i, a in enumerate(e.args))) if at else e
        return e
    value = fold(s.value)
    if not found and s.value.op == "call":
        value = replace(s.value, args=tuple(map(fold, s.value.args)))
    return replace(s, value=value) if len(found) == 1 else None


def fuses(kernel, row, u):
    """Whether every use of both indices is one that an axis of pairs has, too."""
    direct, along = 0, {row, u}
    for s in statements(kernel.body):
        if s.kind in ("let", "var") and (along & set(s.value.axes) or any(e.op == "name" and e.name in along for e in s.value.walk())):
            along.add(s.name)
    for s in statements(kernel.body):
        if s.kind == "for":
            bounds = [e for e in (s.range.lo, s.range.hi, s.value) if e is not None]
            if any(x.op == "name" and x.name in (row, u) for e in bounds for x in e.walk()):
                return False
        if s.kind == "gather":
            return False
        if s.kind == "store" and not {row, u} <= {a.name for a in s.target.args if a.op == "name"}:
            return False
        for top in s.expressions():
            for e in top.walk():
                if e.op == "reduce" and row in e.axes or e.op == "call" and e.name == "rel" or e.op == "slice" and any(x.op == "name" and x.name == u for x in e.walk()):
                    return False
                # A product would be one over the pairs.
                if e.op == "dot" and all(any(x.op == "name" and x.name in along for x in a.walk()) for a in e.args):
                    return False
                if e.op == "pair" and any(x.op == "name" and x.name in (row, u) for x in e.walk()):
                    return False
                direct += e == name(u)
    # Neither parts nor segments are numbered by pairs.
    return direct > 0 and not any(e == name(u) for r in kernel.ranges for bound in (*(r.part or ())[:1], r.lo) if bound is not None for e in bound.walk())


def added(value, loaded, type_):
    """A stored value with what the element held before."""
    if value.op in ("where", "else"):
        return replace(value, args=(added(value.args[0], loaded, type_), *value.args[1:]))
    if type_ in NARROW:
        inner = value.args[0] if value.op == "cast" and value.name == type_ else E("cast", "f32", (value,))
        return E("cast", type_, (binary("+", inner, E("cast", "f32", (loaded,))),))
    return binary("+", value, loaded)


def sound(p):
    """Whether the evaluator takes the program: small extents, with what is optional and without."""
    p = plain(p)
    dims = {}
    for t in p.tensors:
        for d in t.dims:
            dims.update({e.name: 2 for e in d.walk() if e.op == "name" and e.name not in dict(p.params)})
    for k in p.kernels:
        for r in list(k.ranges) + [s.range for s in statements(k.body) if s.range]:
            for e in [r.hi] + [x for x in (r.lo, r.pair and r.pair[1]) if x is not None]:
                dims.update({x.name: 2 for x in e.walk() if x.op == "name" and len(x.name) == 1 and x.name.isupper() and x.name not in dict(p.params)})
    for absent in {(), tuple(t.name for t in p.tensors if t.optional)}:
        try:
            arrays, kept = inputs.draw(p, Case(tuple(dims.items()), absent))
            execute.run(p, dims, arrays, kept)
        except execute.Ambiguous:
            pass
        except execute.Invalid:
            return False
    return True


def with_extras(program, rng):
    return Extras(program, rng).run()
