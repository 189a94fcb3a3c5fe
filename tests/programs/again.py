"""A kernel behind another one that stores elements of the same tensor again: kernels run one after the other."""
# SPDX-License-Identifier: MIT
from extras import NARROW, added, sound
from tree import E, Kernel, Range, Stmt, binary, integer, name, number, replace, statements

SHARE = 0.06
# Programs of earlier seeds stay what they are.
FIRST_SEED = 1173000000


def with_again(p, rng, seed):
    if seed < FIRST_SEED or rng.random() >= SHARE:
        return p
    places = [(n, t) for n, k in enumerate(p.kernels) for t in p.tensors if t.is_output and stores(k, t)]
    rng.shuffle(places)
    for n, t in places:
        kernel = overwriting(p, t, rng)
        if kernel is None:
            continue
        at = rng.randint(n + 1, len(p.kernels))
        q = replace(p, kernels=p.kernels[:at] + (kernel,) + p.kernels[at:])
        if sound(q):
            return q
    return p


def stores(kernel, tensor):
    return any(s.kind in ("store", "gather") and s.target.name == tensor.name for s in statements(kernel.body))


def overwriting(p, t, rng):
    """A kernel over the dimensions of a tensor, which stores numbers made of the indices, to some of its elements; None for extents that no range has."""
    ranges, indices, numbers = [], [], []
    for n, dim in enumerate(t.dims):
        i = "again%d" % n
        if dim == integer(1):
            indices.append(integer(0))
        elif dim.op != "name":
            return None
        elif dim.name in dict(p.params):
            indices.append(E("full"))
        else:
            is_block = len([r for r in ranges if r.block]) < 2 and rng.random() < 0.8
            ranges.append(Range(i, dim, None, "B" + i if is_block else None))
            indices.append(name(i))
            numbers.append(name(i))
    if not ranges:
        return None
    value = integer(3) if t.type == "i32" else number(1.5)
    for i in numbers:
        factor = rng.choice((1, 2, 5))
        value = binary(rng.choice("+-"), value, binary("*", i, integer(factor) if t.type == "i32" else number(factor / 8)))
    if t.type in NARROW:
        value = E("cast", t.type, (value,))
    if t.inout and rng.random() < 0.5:
        value = added(value, E("load", t.name, tuple(indices)), t.type)
    if rng.random() < 0.7:
        i = rng.choice(numbers)
        mask = binary("==", binary("%", i, integer(3)), integer(1)) if rng.random() < 0.5 else binary("<", i, integer(rng.choice((1, 5, 40))))
        value = E("where", args=(value, mask))
    return Kernel("again", tuple(ranges), (Stmt("store", value=value, target=E("load", t.name, tuple(indices))),))
