"""Runs the kernels of a program on arrays: statements, loops, outputs."""
# SPDX-License-Identifier: MIT
import numpy as np

import memory
from evaluate import Scope, Softmax, constant, evaluate, evaluate_extent
from values import Ambiguous, Invalid, Pred, Val, arithmetic, as_float, spread, union


class Output:
    """What an output holds: values, how far another float64 evaluation may be off, and what was stored."""

    def __init__(self, shape, init):
        start = np.nan if init in ("keep", None) else float(init)
        self.data = np.full(shape, start, np.float64)
        self.err = np.zeros(shape)
        self.stored = np.zeros(shape, bool)


def scalar_values(program, scope, given):
    result = {}
    for s in program.scalars:
        value = given.get(s.name)
        if value is None:
            e = s.default
            value = e.name if e.op in ("int", "float") else evaluate_extent(e, scope)
        result[s.name] = constant(s.type, np.float32(value) if s.type == "f32" else value)
        result[s.name].known = False
    return result


def run(program, dims, arrays, kept=None, scalars=None, block=None):
    """Outputs by name. `arrays` has the inputs that are given, `kept` what outputs with init keep hold before. With
    `block`, loops take that many steps at a time; results do not depend on it but for rounding."""
    outputs = {}
    for kernel in program.kernels:
        scope = Scope(program, dims, {}, arrays, outputs, block)
        scope.scalars = scalar_values(program, scope, scalars or {})
        if not outputs:
            for t in program.tensors:
                if t.is_output:
                    shape = tuple(evaluate_extent(d, scope) for d in t.dims)
                    outputs[t.name] = Output(shape, t.init)
                    if t.init == "keep" and kept and t.name in kept:
                        outputs[t.name].data[...] = kept[t.name]
        for output in outputs.values():
            output.stored[...] = False
        for r in kernel.ranges:
            bind_kernel_range(r, scope)
        if all(scope.sizes[a] for a in scope.iterations):
            execute(kernel.body, scope)
    return {t.name: outputs[t.name] for t in program.tensors if t.is_output and not t.temp}


def present_bounds(low, high):
    """The bounds of a range, which is empty where one of them is absent."""
    preds = low.preds + high.preds
    axes = union(low.axes, high.axes, *(p.axes for p in preds))
    present = np.asarray(True)
    for p in preds:
        if p.unsure is not None and np.any(p.unsure):
            raise Ambiguous("bounds that may be absent or not")
        present = present & spread(p.mask, p.axes, axes)
    return tuple(Val("i32", axes, np.where(present, spread(v.data, v.axes, axes), 0), known=v.known) for v in (low, high))


def hull(low, high):
    """The least range that has all those of low..high."""
    lo, hi = np.maximum(np.asarray(low.data), 0), np.asarray(high.data)
    first = int(lo.min()) if lo.size else 0
    return first, max(int(hi.max()), first) if hi.size else first


def bind_axis(name, low, high, scope, iteration=False):
    """An index tile for low..high, which may differ between iterations."""
    first, last = hull(low, high)
    set_axis(name, first, last, low, high, scope)
    if iteration:
        scope.iterations.add(name)


def set_axis(name, first, last, low, high, scope):
    index = np.arange(first, last)
    scope.sizes[name] = len(index)
    axes = union((name,), low.axes, high.axes)
    j = spread(index, (name,), axes)
    mask = (j >= np.maximum(spread(low.data, low.axes, axes), 0)) & (j < spread(high.data, high.axes, axes))
    scope.ends[name] = Pred(axes, np.broadcast_to(mask, tuple(scope.sizes[a] for a in axes)), name)
    scope.starts[name] = Val("i32", low.axes, np.maximum(low.data, 0))
    scope.frames[-1][name] = Val("i32", (name,), index, preds=(scope.ends[name],))


def bind_kernel_range(r, scope):
    if r.part:
        bind_part(r, scope)
        return
    if r.fused:
        bind_fused(r, scope)
        return
    if r.hi.op == "load":
        bind_axis(r.name, *present_bounds(evaluate(r.lo, scope), evaluate(r.hi, scope)), scope)
        return
    parts = [(r.name, r.hi)] + ([r.pair] if r.pair else [])
    for name, hi in parts:
        low = constant("i32", evaluate_extent(r.lo, scope) if r.lo is not None else 0)
        bind_axis(name, low, constant("i32", evaluate_extent(hi, scope)), scope, iteration=not r.block)


def bind_part(r, scope):
    """Elements, equally many per part but for the last ones; `rel` counts from the start of the whole range."""
    low = evaluate_extent(r.lo, scope) if r.lo is not None else 0
    bind_axis(r.name, *part_bounds(r, constant("i32", low), constant("i32", evaluate_extent(r.hi, scope)), scope), scope)
    scope.starts[r.name] = constant("i32", max(low, 0))


def part_bounds(r, low, high, scope):
    """Those of one part of a range. Parts of a loop may be cut elsewhere, which only changes what each of them sums."""
    scope.has_parts = True
    number, count = evaluate(r.part[0], scope), evaluate_extent(r.part[1], scope)
    axes = union(low.axes, high.axes, number.axes)
    lo, hi, n = (spread(x.data, x.axes, axes) for x in (low, high, number))
    each = -(-np.maximum(hi - lo, 0) // count)
    first = np.minimum(lo + n * each, np.maximum(lo, hi))
    return Val("i32", axes, first), Val("i32", axes, np.minimum(first + each, np.maximum(lo, hi)))


def bind_fused(r, scope):
    """One axis of pairs, and what each part of a pair is along it."""
    outer, inner = evaluate_extent(r.hi, scope), evaluate_extent(r.pair[1], scope)
    bind_axis(r.name, constant("i32", 0), constant("i32", outer * inner), scope)
    index, ends = np.arange(outer * inner), (scope.ends[r.name],)
    scope.frames[-1][r.fused] = Val("i32", (r.name,), index // max(inner, 1), preds=ends)
    scope.frames[-1][r.pair[0]] = Val("i32", (r.name,), index % max(inner, 1), preds=ends)


def execute(body, scope):
    for stmt in body:
        STATEMENTS[stmt.kind](stmt, scope)


def bind(stmt, scope):
    value = evaluate(stmt.value, scope)
    if isinstance(value, Val) and stmt.kind == "var":
        value = Val(value.type, value.axes, value.data, value.err, value.preds)
    scope.frames[-1][stmt.name] = value


def assign(stmt, scope):
    frame = next((f for f in reversed(scope.frames) if stmt.name in f), None)
    if frame is None:
        raise Invalid("no variable " + stmt.name)
    value = evaluate(stmt.value, scope)
    old = frame[stmt.name]
    if stmt.kind == "add":
        value = arithmetic("+", old, value)
    if old.type == "f32" and value.type == "i32" and stmt.value.op == "int":
        value = as_float(value)
    tiles = [a for a in value.axes if a not in scope.iterations]
    if value.type != old.type or not set(tiles) <= set(old.axes):
        raise Invalid("an assignment to " + stmt.name + " of another type")
    axes = union(value.axes, old.axes)
    shape = tuple(scope.sizes[a] for a in axes)
    data = np.broadcast_to(spread(value.data, value.axes, axes), shape)
    err = np.broadcast_to(np.asarray(spread(value.err, value.axes, axes)), shape)
    frame[stmt.name] = Val(value.type, axes, data, err, value.preds)


def loop(stmt, scope):
    r = stmt.range
    low = evaluate(r.lo, scope) if r.lo is not None else constant("i32", 0)
    high = evaluate(r.hi, scope)
    if not r.block:
        if low.axes or high.axes:
            raise Invalid("bounds that differ between iterations")
        count = range(max(int(low.data), 0), int(high.data))
        for i in count or (0,):
            body(stmt, scope, {r.name: Val("i32", (), np.asarray(i))}, skip=not count)
        return
    low, high = present_bounds(low, high)
    if r.part:
        low, high = part_bounds(r, low, high, scope)
    if stmt.value is not None and stmt.value.op != "any":
        high = where_wanted(high, evaluate(stmt.value, scope), scope)
    first, last = hull(low, high)
    step = scope.block or max(1, last - first)
    outer = {k: (scope.sizes.get(r.name), scope.ends.get(r.name), scope.starts.get(r.name)) for k in (r.name,)}
    for start in range(first, last, step) or (first,):
        scope.frames.append({})
        set_axis(r.name, start, min(start + step, last), low, high, scope)
        scope.frames.append({})
        execute(stmt.body, scope)
        del scope.frames[-2:]
    scope.sizes[r.name], scope.ends[r.name], scope.starts[r.name] = outer[r.name]
    if scope.sizes[r.name] is None:
        del scope.sizes[r.name]


def where_wanted(high, wanted, scope):
    """The end of a range whose steps are left out in iterations that do not want them. With `any` no step matters that is left out."""
    if wanted.type != "bool" or not set(wanted.axes) <= scope.iterations or np.any(wanted.err) or any(not p.mask.all() for p in wanted.preds if not p.end):
        raise Invalid("a condition of steps")
    axes = union(high.axes, wanted.axes)
    return Val("i32", axes, np.where(spread(np.asarray(wanted.data, bool), wanted.axes, axes), spread(high.data, high.axes, axes), 0), known=False)


def body(stmt, scope, names, skip):
    """A step of a loop over a scalar; skipped, it only tells which predicates the loop would add."""
    before = [dict(f) for f in scope.frames]
    states = {id(v): (v, v.max, v.sum, getattr(v, "err", None)) for f in scope.frames for v in f.values() if isinstance(v, Softmax)}
    scope.frames.append(dict(names))
    execute([s for s in stmt.body if not (skip and s.kind in ("store", "gather"))], scope)
    scope.frames.pop()
    if not skip:
        return
    for frame, old in zip(scope.frames, before):
        for key, value in old.items():
            if isinstance(value, Val):
                frame[key] = value.with_preds(value.preds + frame[key].preds)
    for v, maximum, total, err in states.values():
        v.max, v.sum, v.err = maximum, total, err


def do(stmt, scope):
    evaluate(stmt.value, scope)


STATEMENTS = {"let": bind, "var": bind, "set": assign, "add": assign, "for": loop,
              "store": lambda stmt, scope: memory.store(stmt, scope, evaluate), "gather": lambda stmt, scope: memory.gather(stmt, scope, evaluate), "do": do}

__all__ = ["run", "Ambiguous", "Invalid"]
