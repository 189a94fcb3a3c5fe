"""Results in parts: a kernel sums, or attends to, the parts of a loop's range, as many as each launch chooses, and a second one joins what they are."""
# SPDX-License-Identifier: MIT
from tree import E, Kernel, Range, Stmt, Tensor, binary, integer, name, number, replace, statements

SHARE = 0.3
PARTS, PART = "Z", "s990"


def with_launch(program, rng):
    if len(program.kernels) != 1 or program.extends or rng.random() >= SHARE:
        return program
    kernel = program.kernels[0]
    for at, s in enumerate(kernel.body):
        if s.kind == "for" and can_split(kernel, at):
            made = sums(kernel, at) or attention(kernel, at)
            temps = made and [indices_of(program, kernel, axes) for _, axes, _ in made[0]]
            if made and None not in temps:
                return in_parts(program, kernel, at, made, temps, rng)
    return program


def can_split(kernel, at):
    """Whether it is a loop over a whole dimension, ahead of which nothing is stored, in a kernel whose ranges are whole ones."""
    r, before = kernel.body[at].range, kernel.body[:at]
    inside = list(statements(kernel.body[at].body))
    return (r.block and not r.part and r.lo is None and r.hi.op == "name" and kernel.body[at].value is None
            and all(s.kind in ("let", "var") for s in before) and all(s.kind in ("let", "add") for s in inside)
            and all(k.lo is None and not k.part and not k.fused and k.hi.op == "name" for k in kernel.ranges)
            and not any(e.op == "call" and e.name == "rel" for s in inside for top in s.expressions() for e in top.walk()))


def variables(kernel, at):
    """The variables to which the loop adds, and their axes; none where one begins with something else than zero."""
    inside = list(statements(kernel.body[at].body))
    found = {}
    for added in {s.name for s in inside if s.kind == "add"} - {s.name for s in inside if s.kind == "let"}:
        var = next((s for s in kernel.body[:at] if s.kind == "var" and s.name == added), None)
        if var is None or not (var.value == number(0) or var.value.op == "zeros" and var.value.name == "f32"):
            return None
        found[added] = var.value.axes
    return found


def methods(kernel, at):
    return [e for s in statements(kernel.body[at].body) for top in s.expressions() for e in top.walk() if e.op == "method"]


def sums(kernel, at):
    """What a part stores, along which axes and in place of what, and how a second kernel joins it: sums are added."""
    found = variables(kernel, at)
    if not found or methods(kernel, at):
        return None
    parts = sorted(found.items())
    return [(name(v), axes, number(0)) for v, axes in parts], lambda places: [Stmt("add", v, place) for (v, _), place in zip(parts, places)]


def attention(kernel, at):
    """The same of a softmax with one accumulator, to which the loop adds alone."""
    updates, found = methods(kernel, at), variables(kernel, at)
    if len(updates) != 1 or updates[0].name != "update" or not found or [a.name for a in updates[0].args[2:]] != list(found):
        return None
    sm, (acc, axes) = updates[0].args[0], next(iter(found.items()))
    state = next((s for s in kernel.body[:at] if s.kind == "var" and s.name == sm.name), None)
    if state is None or not axes:
        return None
    stored = [(E("method", "normalize", (sm, name(acc))), axes, number(0)), (E("method", "lse", (sm,)), state.value.axes, number(float("-inf")))]
    return stored, lambda places: [Stmt("do", value=E("method", "merge", (sm, places[1], places[0], name(acc))))]


def indices_of(program, kernel, axes):
    """Extents and indices along axes and along what has no lanes; none where blocks of a range would store the same elements."""
    if any(r.block and r.name not in axes for r in kernel.ranges):
        return None
    blocks = {r.name: r.hi for r in kernel.ranges if r.block}
    params = dict(program.params)
    if not all(a in blocks or a in params for a in axes):
        return None
    return [(blocks[a], name(a)) if a in blocks else (name(a), E("full")) for a in axes] + [number_of(r) for r in kernel.ranges if not r.block]


def number_of(r):
    if r.pair:
        return binary("*", r.hi, r.pair[1]), E("pair", args=(name(r.name), name(r.pair[0])))
    return r.hi, name(r.name)


def in_parts(program, kernel, at, made, temps, rng):
    stored, join = made
    before, loop, after = kernel.body[:at], kernel.body[at], kernel.body[at + 1:]
    tensors, stores, places = [], [], []
    for i, ((value, _, otherwise), parts) in enumerate(zip(stored, temps)):
        parts = [(name(PARTS), name(PART))] + parts
        if rng.random() < 0.4:
            rng.shuffle(parts)
        tensors.append(Tensor("t%d" % (991 + i), "f32", tuple(d for d, _ in parts), temp=True))
        places.append(E("load", tensors[-1].name, tuple(x for _, x in parts)))
        # Every element is stored, so that nothing else defines it.
        stores.append(Stmt("store", value=E("else", args=(value, otherwise)), target=places[-1]))
    split = replace(loop, range=replace(loop.range, part=(name(PART), name(PARTS))))
    joined = join(places)
    blocked = rng.random() < 0.4
    if blocked:
        joined = [replace(s, value=E("reduce", "sum", (s.value,), (PART,))) if s.kind == "add" else s for s in joined]
    total = Stmt("for", range=Range(PART, name(PARTS), None, "B" + PART if blocked else None), body=tuple(joined))
    ranges = list(kernel.ranges)
    ranges.insert(rng.randint(0, len(ranges)), Range(PART, name(PARTS)))
    kernels = (Kernel("parts", tuple(ranges), before + (split,) + tuple(stores)), replace(kernel, body=before + (total,) + after))
    return replace(program, tensors=program.tensors + tuple(tensors), kernels=kernels, launches=((PARTS, integer(1), integer(8)),))
