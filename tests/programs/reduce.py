"""Shrinks a program that fails to a few lines that fail the same way."""
# SPDX-License-Identifier: MIT
import time

import compiler
import execute
import generate
import judge
import printer
from specialise import plain
from tree import Case, E, integer, name, number, replace, statements


def steps_of(failure, case_count):
    """What has to be asked to see the failure again."""
    steps = []
    if failure.stage not in ("compile", "again", "renamed") or failure.arch == "":
        steps += [{"do": "ref", "case": c} for c in range(case_count)]
    if failure.stage == "ref":
        return steps
    steps.append({"do": "compile", "arch": failure.arch})
    if failure.stage in ("again", "renamed"):
        steps.append({"do": failure.stage, "arch": failure.arch})
    elif failure.stage == "plans":
        steps += [{**{k: v for k, v in failure.step.items() if k != "after"}, "choice": i} for i in range(8)]
    elif failure.stage != "compile":
        wanted = failure.step
        for c in range(case_count):
            for poison in dict.fromkeys(("nan", wanted["poison"])):
                steps.append({**{k: v for k, v in wanted.items() if k != "after"}, "case": c, "poison": poison})
    return steps


class Reducer:
    def __init__(self, tool, failure, seconds=60):
        self.tool, self.failure, self.deadline = tool, failure, time.time() + seconds
        self.needs_cases = failure.stage not in ("compile", "again", "renamed")
        self.trials, self.tried = 0, set()

    def fails(self, program, cases):
        known = (printer.show_program(program), tuple(cases))
        if known in self.tried:
            return False
        self.tried.add(known)
        self.trials += 1
        try:
            prepared = judge.prepare(program, cases) if self.needs_cases else []
            found, _ = judge.examine(program, None, self.tool, steps_of(self.failure, len(prepared)), prepared)
        except Exception:  # no program any more
            return False
        return any(f.kind == self.failure.kind and f.arch == self.failure.arch for f in found)

    def run(self, program, cases):
        """The smallest program found, with the cases it fails on."""
        if not self.fails(program, cases):
            return program, cases
        progress = True
        while progress and time.time() < self.deadline:
            progress = False
            for smaller in candidates(program, cases, self.needs_cases):
                if time.time() > self.deadline:
                    break
                if smaller != (program, cases) and self.fails(*smaller):
                    program, cases = smaller
                    progress = True
                    break
        return program, cases


def candidates(p, cases, needs_cases=True):
    """Smaller programs, those that lose most first."""
    yield finish(plain(p)), cases
    if p.views:
        yield finish(replace(p, views=tuple((*v[:3], None) for v in p.views))), cases
        yield finish(inlined(p)), cases
    for q in whole_parts(p):
        yield finish(q), cases
    if not needs_cases:
        cases = cases[:1]
    if len(cases) > 1:
        for c in cases:
            yield p, [c]
    for q in lost_ranges(p):
        yield finish(q), cases
    for q in lost_dims(p):
        yield finish(q), cases
    for q in simpler_tensors(p):
        yield finish(q), cases
    for q in simpler_expressions(p):
        yield finish(q), cases
    for i, (n, v) in enumerate(p.params):
        for w in (1, 16, 64) if type(v) is int else ():
            if w < v:
                yield replace(p, params=p.params[:i] + ((n, w),) + p.params[i + 1:]), cases
    for i, c in enumerate(cases if needs_cases else ()):
        for j, (d, v) in enumerate(c.dims):
            for w in (1, 2, v // 2, v - 1):
                if 0 <= w < v:
                    yield p, cases[:i] + [replace(c, dims=c.dims[:j] + ((d, w),) + c.dims[j + 1:])] + cases[i + 1:]


def finish(p):
    """Without what is not used any more, and with a shape for each extent."""
    p = replace(p, tensors=tuple(t for t in p.tensors if not t.name.startswith("only")))
    return generate.complete(generate.tidy(p))


def with_kernel(p, i, k):
    return replace(p, kernels=p.kernels[:i] + (k,) + p.kernels[i + 1:])


def without_statement(body):
    """Bodies with a statement less, or with a loop's body in place of the loop."""
    for i, s in enumerate(body):
        yield body[:i] + body[i + 1:]
        for arm in (s.body, s.orelse) if s.kind == "if" else ():
            yield body[:i] + arm + body[i + 1:]
    for i, s in enumerate(body):
        for inner in without_statement(s.body):
            if inner:
                yield body[:i] + (replace(s, body=inner),) + body[i + 1:]


def whole_parts(p):
    for i in range(len(p.kernels)):
        if len(p.kernels) > 1:
            yield replace(p, kernels=p.kernels[:i] + p.kernels[i + 1:])
    for i, k in enumerate(p.kernels):
        for body in without_statement(k.body):
            yield with_kernel(p, i, replace(k, body=body))


def change(p, stmt_of=lambda s: s, e_of=lambda e: e):
    """The program with every statement and expression of its kernels mapped."""
    def stmt(s):
        s = stmt_of(s)
        r = s.range and replace(s.range, hi=e_of(s.range.hi), lo=s.range.lo and e_of(s.range.lo))  # the value of a loop is its `when`
        return replace(s, value=s.value and e_of(s.value), target=s.target and e_of(s.target), range=r, body=tuple(map(stmt, s.body)),
                       orelse=tuple(map(stmt, s.orelse)))
    return replace(p, kernels=tuple(replace(k, body=tuple(map(stmt, k.body))) for k in p.kernels))


def rebuild(e, of):
    """`of` applied to every node, the leaves first."""
    return of(replace(e, args=tuple(rebuild(a, of) for a in e.args)))


def inlined(p):
    """The loads of views in their place, without their conditions."""
    views = {v[0]: v for v in p.views}

    def load(e):
        if e.op != "view":
            return e
        _, parameters, loaded, _ = views[e.name]
        bound = dict(zip(parameters, e.args))
        return rebuild(loaded, lambda x: bound.get(x.name, x) if x.op == "name" else x)
    return replace(change(p, e_of=lambda e: rebuild(e, load)), views=())


def drop_dims(p, dropped):
    """Without some dimensions, given as (tensor, position), in the signature and in all accesses."""
    def shape(t):
        keep = [i for i in range(len(t.dims)) if (t.name, i) not in dropped]
        return replace(t, dims=tuple(t.dims[i] for i in keep), ones=tuple(n for n, i in enumerate(keep) if i in t.ones), binders=tuple(t.binders[i] for i in keep) if t.binders else ())

    def access(e):
        if e.op != "load":
            return e
        return replace(e, args=tuple(a for i, a in enumerate(e.args) if (e.name, i) not in dropped))
    q = change(p, e_of=lambda e: rebuild(e, access))
    q = replace(q, tensors=tuple(shape(t) for t in q.tensors))
    return q if all(t.dims for t in q.tensors) else None


def positions(p, names):
    """Where an index is one of these names."""
    found = set()
    for k in p.kernels:
        for s in statements(k.body):
            for top in s.expressions():
                for e in top.walk():
                    if e.op == "load":
                        found |= {(e.name, i) for i, a in enumerate(e.args) if any(x.op == "name" and x.name in names for x in a.walk())}
    return found


def lost_ranges(p):
    for n, k in enumerate(p.kernels):
        for i, r in enumerate(k.ranges):
            if len(k.ranges) == 1:
                continue
            names = {r.name} | ({r.pair[0]} if r.pair else set()) | ({r.fused} if r.fused else set())
            others = k.ranges[:i] + k.ranges[i + 1:]
            q = with_kernel(p, n, replace(k, ranges=tuple(replace(o, part=None) if o.part and o.part[0] == name(r.name) else o for o in others)))
            q = drop_dims(q, positions(p, names))
            if q:
                yield change(q, e_of=lambda e: rebuild(e, lambda x: integer(0) if x.op == "name" and x.name in names else
                                                       replace(x, axes=tuple(a for a in x.axes if a not in names))))
        for i, r in enumerate(k.ranges):
            for less in [{"lo": None}] * (r.lo is not None) + [{"part": None}] * (r.part is not None):
                yield with_kernel(p, n, replace(k, ranges=k.ranges[:i] + (replace(r, **less),) + k.ranges[i + 1:]))
    loops = [s.range for k in p.kernels for s in statements(k.body) if s.range]
    wanted = [s for k in p.kernels for s in statements(k.body) if s.kind == "for" and s.value is not None]
    for w in wanted:
        yield change(p, lambda s: replace(s, value=None) if s == w else s)
    for r in loops:
        if r.lo is not None:
            yield change(p, lambda s: replace(s, range=replace(r, lo=None)) if s.range == r else s)
        if r.hi.op == "load":
            tensor = next(t for t in p.tensors if t.name == r.hi.name)
            if tensor.promise:
                yield change(p, lambda s: replace(s, range=replace(r, hi=tensor.promise[1])) if s.range == r else s)


def lost_dims(p):
    for t in p.tensors:
        for i in range(len(t.dims)):
            q = drop_dims(p, {(t.name, i)}) if len(t.dims) > 1 else None
            if q:
                yield q
    # A whole dimension everywhere, with its axis.
    for d, _ in p.params:
        q = drop_dims(p, {(t.name, i) for t in p.tensors for i, x in enumerate(t.dims) if x == name(d)})
        if q:
            yield change(q, e_of=lambda e: rebuild(e, lambda x: replace(x, axes=tuple(a for a in x.axes if a != d))))


def simpler_tensors(p):
    for i, t in enumerate(p.tensors):
        options = []
        if t.valid is not None:
            options.append(replace(t, valid=None, binders=()))
        if t.optional:
            options.append(replace(t, optional=False, default=None))
        if t.promise:
            options.append(replace(t, promise=None))
        if t.is_output and t.init != 0 and not t.temp and not t.inout:
            options.append(replace(t, init=0.0))
        if t.ones:
            options.append(replace(t, ones=()))
        if t.overflow:
            options.append(replace(t, overflow=None))
        if t.fill not in ("normal", "bound", "unique"):
            options.append(replace(t, fill="normal"))
        for other in options:
            yield replace(p, tensors=p.tensors[:i] + (other,) + p.tensors[i + 1:])


def simpler(e):
    """Expressions that could stand for this one."""
    if e.op in ("where", "else", "neg", "not", "cast", "bin", "select") or (e.op == "call" and e.name != "rel"):
        yield from e.args
    if e.op == "choose":
        yield from e.args[1:]
    if e.op == "present":
        yield from e.args
    if e.op not in ("int", "float", "bool", "name", "full", "slice", "pair", "softmax", "zeros", "method"):
        yield number(1)
        yield integer(0)
    if e.op == "reduce" and len(e.axes) > 1:
        for i in range(len(e.axes)):
            yield replace(e, axes=e.axes[:i] + e.axes[i + 1:])
    if e.op == "zeros":
        for i in range(len(e.axes)):
            yield replace(e, axes=e.axes[:i] + e.axes[i + 1:])
    if e.op == "method" and len(e.args) > 2:
        yield replace(e, args=e.args[:-1])
    for i, a in enumerate(e.args):
        for b in simpler(a):
            yield replace(e, args=e.args[:i] + (b,) + e.args[i + 1:])


def simpler_expressions(p):
    def bodies(body):
        for i, s in enumerate(body):
            for field in ("value", "target"):
                if getattr(s, field) is not None:
                    for e in simpler(getattr(s, field)):
                        if field == "value" or e.op == "load":
                            yield body[:i] + (replace(s, **{field: e}),) + body[i + 1:]
            for inner in bodies(s.body):
                yield body[:i] + (replace(s, body=inner),) + body[i + 1:]
    for n, k in enumerate(p.kernels):
        for body in bodies(k.body):
            yield with_kernel(p, n, replace(k, body=body))


__all__ = ["Reducer", "Case", "E", "execute", "compiler"]
