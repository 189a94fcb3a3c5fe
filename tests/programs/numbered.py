"""Tensors that the number of a pair indexes, `x[r]` of `r = (i, u) in (M, R)`, in place of both of its parts."""
# SPDX-License-Identifier: MIT
from tree import binary, expressions, name, replace, statements


def with_numbers(program, rng):
    for k, kernel in enumerate(program.kernels):
        for pair in (r for r in kernel.ranges if r.fused):
            for t in program.tensors:
                places = places_of(program, k, pair, t)
                if places is not None and rng.random() < 0.5:
                    program = numbered(program, k, pair, t, *places)
    return program


def places_of(program, k, pair, t):
    """The dimensions that the parts of the pair index wherever the tensor is accessed, all of it in kernel k; none if something else is."""
    parts, extents = (pair.fused, pair.pair[0]), (pair.hi, pair.pair[1])
    if t.valid is not None or t.promise or t.ones or t.segments is not None or t.inout or t.temp or t.fill in ("bound", "unique") or any(t.binders):
        return None
    inside = [e for s in statements(program.kernels[k].body) for top in s.expressions() for e in top.walk() if e.op == "load" and e.name == t.name]
    outside = [e for _, _, body in program.hooks for e in body.walk() if e.name == t.name]
    if not inside or outside or len(inside) != sum(e.op == "load" and e.name == t.name for e in expressions(program)):
        return None
    places = set()
    for e in inside:
        at = [[i for i, a in enumerate(e.args) if a == name(part)] for part in parts]
        others = [a for i, a in enumerate(e.args) if [i] not in at]
        if any(len(found) != 1 for found in at) or any(x.op == "name" and x.name in parts for a in others for x in a.walk()):
            return None
        places.add((at[0][0], at[1][0]))
    first, second = next(iter(places))
    return (first, second) if len(places) == 1 and (t.dims[first], t.dims[second]) == extents else None


def numbered(program, k, pair, t, first, second):
    """The program with one dimension for both."""
    def merged(items, one):
        return tuple(one if i == first else x for i, x in enumerate(items) if i != second)

    def access(e):
        e = replace(e, args=tuple(map(access, e.args)))
        return replace(e, args=merged(e.args, name(pair.name))) if e.op == "load" and e.name == t.name else e

    def statement(s):
        return replace(s, value=s.value and access(s.value), target=s.target and access(s.target), body=tuple(map(statement, s.body)), orelse=tuple(map(statement, s.orelse)))

    tensor = replace(t, dims=merged(t.dims, binary("*", pair.hi, pair.pair[1])), binders=())
    kernel = replace(program.kernels[k], body=tuple(map(statement, program.kernels[k].body)))
    return replace(program, tensors=tuple(tensor if o is t else o for o in program.tensors),
                   kernels=program.kernels[:k] + (kernel,) + program.kernels[k + 1:])
