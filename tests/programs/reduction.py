"""Sinks of the evaluator: reductions, products, the online softmax (R3)."""
# SPDX-License-Identifier: MIT
import numpy as np

import memory
from values import UNIT, Ambiguous, Invalid, Val, as_float, checked, narrow, spread, union, wrap32


def split(preds, over, scope):
    """Predicates that a sink over these axes consumes, and those that stay."""
    consumed = [p for p in preds if set(p.axes) & set(over)] + [scope.ends[a] for a in over]
    kept = tuple(p for p in preds if not set(p.axes) & set(over))
    return consumed, kept


def gather(consumed, axes, scope):
    """Which lanes over `axes` exist, and for which that is not certain."""
    axes = union(axes, *(p.axes for p in consumed))
    shape = tuple(scope.sizes[a] for a in axes)
    mask, unsure = np.ones(shape, bool), np.zeros(shape, bool)
    for p in consumed:
        mask &= spread(p.mask, p.axes, axes)
        if p.unsure is not None:
            unsure |= spread(p.unsure, p.axes, axes)
    return axes, mask, unsure


def reduce(kind, v, names, scope):
    over = [memory.axis_named(n, scope) for n in names]
    if not set(over) <= set(v.axes):
        raise Invalid("a reduction over an axis that the tile lacks")
    if kind != "count" and v.type not in ("f32", "i32"):
        raise Invalid(kind + " of " + v.type)
    consumed, kept = split(v.preds, over, scope)
    axes, mask, unsure = gather(consumed, v.axes, scope)
    at = tuple(axes.index(a) for a in over)
    rest = tuple(a for a in axes if a not in over)
    doubt = unsure.any(axis=at)
    if kind == "count":
        return Val("i32", rest, mask.sum(axis=at), np.where(doubt, np.inf, 0.0), kept)
    x = np.broadcast_to(spread(v.data, v.axes, axes), mask.shape)
    e = np.where(mask, np.broadcast_to(spread(v.err, v.axes, axes), mask.shape), 0.0)
    if v.type == "i32":
        low, high = -2 ** 31, 2 ** 31 - 1
        data = (wrap32(np.where(mask, x, 0).sum(axis=at)) if kind == "sum"
                else np.where(mask, x, low).max(axis=at, initial=low) if kind == "max"
                else np.where(mask, x, high).min(axis=at, initial=high))
        return Val("i32", rest, data, e.sum(axis=at) + np.where(doubt, np.inf, 0.0), kept)
    with np.errstate(all="ignore"):
        if kind == "sum":
            kept_lanes = np.where(mask, x, 0.0)
            data = kept_lanes.sum(axis=at)
            size = np.abs(np.where(np.isfinite(kept_lanes), kept_lanes, 0)).sum(axis=at)
            count = max(1, int(np.prod([mask.shape[i] for i in at])))
            err = e.sum(axis=at) + size * UNIT * count
        else:
            sign = 1.0 if kind == "max" else -1.0
            data = sign * np.where(mask, sign * x, -np.inf).max(axis=at, initial=-np.inf)
            err = e.max(axis=at, initial=0.0)
    err = np.where(doubt, np.inf, err)
    return checked("f32", rest, data, err, kept)


def contract(a, axes_a, b, axes_b, rest):
    letters = {x: chr(ord("a") + i) for i, x in enumerate(union(axes_a, axes_b))}
    text = lambda axes: "".join(letters[x] for x in axes)
    return np.einsum(text(axes_a) + "," + text(axes_b) + "->" + text(rest), a, b, optimize=True)


# What three products of bf16 lose of a product of f32: twice half of the last of 16 bits, and the product of what is left.
SPLIT_UNIT = 3 * 2.0 ** -17
SPLIT_MAX = 1e38


def dot(a, b, scope, precision=None):
    if a.type != b.type or a.type not in ("bf16", "f16", "f32"):
        raise Invalid("dot of " + a.type + " and " + b.type)
    if precision and a.type != "f32":
        raise Invalid("precision beside " + a.type)
    unit = SPLIT_UNIT if precision else 0.0
    over = [x for x in a.axes if x in b.axes and x not in scope.iterations]
    if not over:
        raise Invalid("a dot without a common axis")
    parts, kept = [], ()
    depth = int(np.prod([scope.sizes[x] for x in over]))
    for v in (a, b):
        consumed, stays = split(v.preds, over, scope)
        kept += stays
        axes, mask, unsure = gather(consumed, v.axes, scope)
        x = np.where(mask, np.broadcast_to(spread(v.data, v.axes, axes), mask.shape), 0.0)
        e = np.where(mask, np.broadcast_to(spread(v.err, v.axes, axes), mask.shape), 0.0)
        if unsure.any():
            e = np.where(unsure, np.inf, e)
        parts.append((axes, x, e, mask))
    (axes_a, x, ex, present_a), (axes_b, y, ey, present_b) = parts
    rest = tuple(z for z in union(axes_a, axes_b) if z not in over)
    if not (np.isfinite(x).all() and np.isfinite(y).all() and np.isfinite(ex).all() and np.isfinite(ey).all()):
        return lanes_dot(parts, over, rest, kept, depth, unit)
    data = contract(x, axes_a, y, axes_b, rest)
    size = contract(np.abs(x), axes_a, np.abs(y), axes_b, rest)
    err = size * (UNIT * (depth + 2) + unit)
    if unit:
        # Of products that overflow the parts may have either sign.
        err = np.where(size > SPLIT_MAX, np.inf, err)
    for s, t in ((np.abs(x) + ex, ey), (ex, np.abs(y))):
        if np.any(t) and np.any(s):
            err = err + contract(s, axes_a, t, axes_b, rest)
    return checked("f32", rest, data, err, kept)


def lanes_dot(parts, over, rest, kept, depth, unit):
    """The same where NaN or Inf take part: lane by lane, so that absent ones are removed whatever meets them."""
    (axes_a, x, ex, present_a), (axes_b, y, ey, present_b) = parts
    axes = rest + tuple(over)
    wide = lambda v, of: spread(v, of, axes)
    with np.errstate(all="ignore"):
        mask = wide(present_a, axes_a) & wide(present_b, axes_b)
        lanes = np.where(mask, wide(x, axes_a) * wide(y, axes_b), 0.0)
        at = tuple(range(len(rest), len(axes)))
        data = lanes.sum(axis=at)
        sizes = np.abs(np.where(np.isfinite(lanes), lanes, 0.0)).sum(axis=at)
        err = sizes * (UNIT * (depth + 2) + unit)
        if unit:
            # Beside Inf the parts of a factor may have either sign.
            err = err + np.where(np.isinf(lanes).any(axis=at) | (sizes > SPLIT_MAX), np.inf, 0.0)
        doubt = ((wide(ex, axes_a) > 0) * (wide(y, axes_b) != 0) * wide(ex, axes_a) * np.abs(wide(y, axes_b))
                 + (wide(ey, axes_b) > 0) * (np.abs(wide(x, axes_a)) + wide(ex, axes_a)) * wide(ey, axes_b))
        doubt = np.where(np.isnan(doubt), np.inf, doubt).sum(axis=at)
    return checked("f32", rest, data, err + doubt, kept)


def reference_of(maximum):
    return np.where(maximum == -np.inf, 0.0, maximum)


def method(e, scope, evaluate):
    state = scope.find(e.args[0].name)
    rows = tuple(memory.axis_named(r, scope) for r in state.rows)
    rows = tuple(sorted(scope.iterations)) + rows
    shape = tuple(scope.sizes[a] for a in rows)
    if state.max is None:
        state.max, state.sum, state.err = np.full(shape, -np.inf), np.zeros(shape), np.zeros(shape)
    if e.name == "lse":
        with np.errstate(divide="ignore"):
            data = np.where(state.sum == 0, -np.inf, reference_of(state.max) + np.log(state.sum))
            err = np.where(state.sum > 0, 1.5 * state.err / np.where(state.sum > 0, state.sum, 1), state.err)
        err = err + UNIT * (4 + 4 * np.abs(np.where(np.isfinite(state.max), state.max, 0)))
        return checked("f32", rows, data, np.where(np.isfinite(data), err, np.where(state.err > 1e-300, np.inf, 0.0)), state.preds)
    v = as_float(evaluate(e.args[1], scope))
    if v.type != "f32":
        raise Invalid("a score of type " + v.type)
    if e.name in ("normalize", "weight"):
        axes = union(rows, v.axes)
        over = lambda x: spread(x, rows, axes)
        x, ex = spread(v.data, v.axes, axes), spread(v.err, v.axes, axes)
        with np.errstate(all="ignore"):
            if e.name == "weight":
                x, ex = weigh(x, ex, over(state.max))
            elif scope.has_parts and np.any((over(state.sum) == 0) & np.isnan(x)):
                raise Ambiguous("a weight of 0 of what is not finite, in a part without others")
            data = np.where(over(state.sum) == 0, 0.0, x / over(state.sum))
            err = np.where(over(state.sum) == 0, 0.0, (ex + np.abs(data) * over(state.err)) / over(state.sum))
            err = err + UNIT * np.abs(np.where(np.isfinite(data), data, 0))
        return checked("f32", axes, data, np.where(np.isfinite(data), err, np.where(np.isinf(ex), np.inf, 0)), v.preds + state.preds)
    if e.name == "merge":
        parts = [v, as_float(evaluate(e.args[2], scope))]
        for axis in [a for a in v.axes if a not in rows]:
            for i in range(scope.sizes[axis]):
                merge(state, rows, *(one_part(x, axis, i, empty) for x, empty in zip(parts, (-np.inf, 0.0))), e.args[3].name, scope)
            return None
        return merge(state, rows, *parts, e.args[3].name, scope)
    accs = [a.name for a in e.args[2:]]
    if e.name == "include":
        return step(state, rows, rows, whole_score(v, rows, scope), None, v.preds, accs, scope)
    over = [a for a in v.axes if a not in rows]
    if len(over) != 1:
        raise Invalid("scores with axes " + str(v.axes))
    consumed, kept = split(v.preds, over, scope)
    axes, mask, unsure = gather(consumed, union(rows, v.axes), scope)
    order = rows + tuple(over)
    mask, unsure = (np.transpose(m, [axes.index(a) for a in order]) for m in (mask, unsure))
    p = step(state, rows, order, whole_score(v, order, scope), (mask, unsure), kept, accs, scope)
    return p.with_preds(v.preds + state.preds)


def whole_score(v, axes, scope):
    if not set(v.axes) <= set(axes):
        raise Invalid("scores with axes " + str(v.axes))
    shape = tuple(scope.sizes[a] for a in axes)
    return tuple(np.broadcast_to(spread(x, v.axes, axes), shape) for x in (v.data, np.asarray(v.err, np.float64)))


def weigh(s, es, maximum):
    """exp(s - reference) and its error."""
    distance = s - reference_of(maximum)
    w = np.where(s == -np.inf, 0.0, np.exp(distance))
    e = es + UNIT * (np.abs(np.where(np.isfinite(distance), distance, 0)) + 4)
    err = np.where(s == -np.inf, 0.0, np.where(e < 0.01, w * e * 1.01, np.inf))
    return w, np.where(np.isnan(w), 0.0, err)


def weight_against(s, lse):
    """The weight of a score against a log-sum-exp from elsewhere."""
    axes = union(s.axes, lse.axes)
    x, y, ex, ey = (np.asarray(spread(v, of.axes, axes), np.float64) for v, of in ((s.data, s), (lse.data, lse), (s.err, s), (lse.err, lse)))
    with np.errstate(all="ignore"):
        distance = x - y
        data = np.where(x == -np.inf, 0.0, np.exp(distance))
        e = ex + ey + UNIT * (np.abs(np.where(np.isfinite(distance), distance, 0)) + 4)
        err = np.where(x == -np.inf, 0.0, np.where(e < 0.01, data * e * 1.01, np.inf))
    return checked("f32", axes, data, np.where(np.isnan(data), 0.0, err), s.preds + lse.preds)


def step(state, rows, axes, score, present, kept, accs, scope):
    s, es = score
    wide = len(axes) > len(rows)
    mask, unsure = present if present else (np.ones(s.shape, bool), np.zeros(s.shape, bool))
    with np.errstate(all="ignore"):
        lanes = np.where(mask, s, -np.inf)
        top = lanes.max(axis=-1, initial=-np.inf) if wide else lanes
        new = np.maximum(state.max, top)
        along = new[..., None] if wide else new
        w, ew = weigh(s, es, along)
        w, ew = np.where(mask, w, 0.0), np.where(mask, ew, 0.0)
        ew = np.where(unsure, np.inf, ew)
        factor = np.exp(state.max - reference_of(new))
        factor = np.where(state.max == -np.inf, np.where(np.isnan(new), np.nan, 0.0), factor)
        rounding = UNIT * (4 + np.abs(np.where(np.isfinite(state.max), state.max - reference_of(new), 0)))
        added, ea = (w.sum(axis=-1), ew.sum(axis=-1)) if wide else (w, ew)
        count = s.shape[-1] + 2 if wide else 3
        state.sum = state.sum * factor + added
        carried = state.err * factor
        state.err = np.where(np.isnan(carried), 0.0, carried) + ea + np.abs(np.where(np.isfinite(state.sum), state.sum, 0)) * (UNIT * count + rounding)
        state.max = new
    state.preds = tuple(dict.fromkeys(state.preds + tuple(kept)))
    for name in accs:
        frame = next(f for f in reversed(scope.frames) if name in f)
        acc = frame[name]
        over = union(acc.axes, rows)
        with np.errstate(all="ignore"):
            scale = spread(factor, rows, over)
            data = spread(acc.data, acc.axes, over) * scale
            data = np.where((np.asarray(spread(acc.data, acc.axes, over)) == 0) & ~np.isnan(scale), 0.0, data)
            err = spread(acc.err, acc.axes, over) * np.where(np.isnan(scale), 0, scale) + np.abs(np.where(np.isfinite(data), data, 0)) * spread(rounding, rows, over)
        frame[name] = Val("f32", over, data, err, acc.preds + state.preds)
    return Val("f32", axes, w, ew, ())


def one_part(v, axis, i, empty):
    """An element along an axis of parts; where that part is absent it is an empty one."""
    if axis not in v.axes:
        return v
    take = lambda x, axes: np.take(x, i, axis=axes.index(axis))
    axes = tuple(a for a in v.axes if a != axis)
    data, err = (take(np.broadcast_to(x, np.shape(v.data)), v.axes) for x in (v.data, v.err))
    kept = []
    for p in v.preds:
        if axis not in p.axes:
            kept.append(p)
            continue
        if p.unsure is not None and np.any(p.unsure):
            raise Ambiguous("a part that may be absent or not")
        there = spread(take(p.mask, p.axes), tuple(a for a in p.axes if a != axis), axes)
        data, err = np.where(there, data, empty), np.where(there, err, 0.0)
    return Val(v.type, axes, data, err, kept)


def merge(state, rows, lse, values, acc, scope):
    """A part with normalised values: one more score per row, whose value is a row. An empty part changes nothing, whatever its values are."""
    old = next(f for f in reversed(scope.frames) if acc in f)[acc]
    whole = union(old.axes, rows, values.axes)
    w = step(state, rows, rows, whole_score(lse, rows, scope), None, lse.preds, [acc], scope)
    frame = next(f for f in reversed(scope.frames) if acc in f)
    scaled = frame[acc]
    over = lambda v, axes: spread(v, axes, whole)
    empty = over(whole_score(lse, rows, scope)[0] == -np.inf, rows)
    with np.errstate(all="ignore"):
        weight, ew = over(w.data, w.axes), over(w.err, w.axes)
        x, ex = over(values.data, values.axes), np.asarray(over(values.err, values.axes))
        added = np.where(empty, 0.0, weight * x)
        size = np.where(np.isfinite(x), np.abs(x), 1.0)
        ea = np.where(empty, 0.0, weight * ex + np.where(ew > 0, ew * size, 0.0) + np.where(np.isfinite(added), np.abs(added), 0.0) * UNIT)
        data = over(scaled.data, scaled.axes) + added
        err = over(scaled.err, scaled.axes) + np.nan_to_num(ea, nan=np.inf, posinf=np.inf) + np.where(np.isfinite(data), np.abs(data), 0) * UNIT
    frame[acc] = checked("f32", whole, data, err, scaled.preds + values.preds)
    return frame[acc]


__all__ = ["reduce", "dot", "method", "narrow"]
