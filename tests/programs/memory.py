"""Loads and stores of the evaluator, and the axes that they index with."""
# SPDX-License-Identifier: MIT
import numpy as np

from values import Invalid, Pred, Val, spread, terms_of, union

# What an absent lane holds must not matter.
GARBAGE = {"i32": 0x5A5A5A5A, "bool": True}


def axis_named(name, scope):
    """The axis of a range, or the whole dimension of that name."""
    value = scope.find(name)
    if value is not None:
        if name not in scope.sizes:
            raise Invalid("no axis " + name)
        return name
    return full_axis(name, scope.params[name], scope)


def full_axis(name, extent, scope):
    axis = ":" + name
    if axis not in scope.sizes:
        scope.sizes[axis] = extent
        scope.ends[axis] = Pred((axis,), np.ones(extent, bool), axis)
    return axis


def index_values(e, scope, tensor, evaluate):
    """One Val per dimension, and the predicates of being inside; pairs give two parts and their fused index."""
    import evaluate as rules
    result = []
    for position, index in enumerate(e.args):
        dim = tensor.dims[position]
        extent = rules.evaluate_extent(dim, scope)
        if index.op == "full":
            if dim.op != "name" or dim.name not in scope.params:
                raise Invalid("':' for a dimension that is not bound")
            axis = full_axis(dim.name, extent, scope)
            v = Val("i32", (axis,), np.arange(extent), preds=(scope.ends[axis],))
            result.append((v, [(v, extent)]))
        elif index.op == "slice":
            if index.name not in scope.params:
                raise Invalid("a slice whose length is not bound")
            length = scope.params[index.name]
            axis = full_axis(index.name, length, scope)
            first = evaluate(index.args[0], scope)
            axes = union(first.axes, (axis,))
            data = spread(first.data, first.axes, axes) + spread(np.arange(length), (axis,), axes)
            v = Val("i32", axes, data, preds=first.preds + (scope.ends[axis],))
            result.append((v, [(v, extent)]))
        elif index.op == "pair":
            if dim.op != "bin" or dim.name != "*":
                raise Invalid("a pair for a dimension that is no product")
            inner = rules.evaluate_extent(dim.args[1], scope)
            outer = rules.evaluate_extent(dim.args[0], scope)
            g, u = (evaluate(x, scope) for x in index.args)
            axes = union(g.axes, u.axes)
            data = spread(g.data, g.axes, axes) * inner + spread(u.data, u.axes, axes)
            result.append((Val("i32", axes, data, preds=g.preds + u.preds), [(g, outer), (u, inner)]))
        else:
            v = evaluate(index, scope)
            if v.type != "i32":
                raise Invalid("an index of type " + v.type)
            result.append((v, [(v, extent)]))
    return result


def inside(indices):
    preds = []
    for v, parts in indices:
        preds += v.preds
        preds += [Pred(p.axes, np.asarray((p.data >= 0) & (p.data < extent))) for p, extent in parts]
    return tuple(preds)


def validity(tensor, indices, scope, evaluate):
    if tensor.valid is None:
        return ()
    frames, scope.frames = scope.frames, [{b: v for b, (v, _) in zip(tensor.binders, indices) if b}]
    try:
        c = evaluate(tensor.valid, scope)
    finally:
        scope.frames = frames
    return c.preds + tuple(Pred(t.axes, np.asarray(t.data, bool)) for t in terms_of(c))


def conjunction(preds, axes, scope):
    mask = np.ones(tuple(scope.sizes[a] for a in axes), bool)
    for p in preds:
        mask &= spread(p.mask, p.axes, axes)
    return mask


def load(e, scope, evaluate):
    tensor = scope.tensors[e.name]
    kept = tensor.temp or tensor.inout
    if (tensor.is_output and not kept) or len(e.args) != len(tensor.dims):
        raise Invalid("a load of " + e.name)
    indices = index_values(e, scope, tensor, evaluate)
    axes = union(*(v.axes for v, _ in indices))
    preds = inside(indices) + validity(tensor, indices, scope, evaluate)
    for p in preds:
        if not set(p.axes) <= set(axes) | scope.iterations:
            raise Invalid("'valid' mentions an axis that the index lacks")
    stored = scope.outputs[e.name] if kept else None
    array = stored.data if stored else scope.arrays.get(e.name)
    if array is None:
        if tensor.default is None:
            raise Invalid("a tensor that the caller does not pass")
        default = evaluate(tensor.default, scope)
        data = np.asarray(default.data, np.int64 if tensor.type == "i32" else bool if tensor.type == "bool" else np.float64)
        return Val(tensor.type, axes, np.broadcast_to(data, tuple(scope.sizes[a] for a in axes)), 0.0, preds)
    wide = union(axes, *(p.axes for p in preds))
    present = conjunction(preds, wide, scope)
    if wide != axes:
        present = present.any(axis=tuple(range(len(axes), len(wide))))
    once = {i for i in tensor.ones if array.shape[i] == 1}
    at = tuple(np.where(present & (i not in once), spread(v.data, v.axes, axes), 0) for i, (v, _) in enumerate(indices))
    garbage = GARBAGE.get(tensor.type, np.nan)
    if array.size == 0:
        data = np.full(present.shape, garbage, array.dtype)
    else:
        data = np.where(present, array[at], garbage)
    err = np.where(present, stored.err[at], 0.0) if stored and array.size else 0.0
    if stored and tensor.type == "i32":
        data = np.asarray(data, np.int64)
    return Val(tensor.type, axes, data, err, preds)


def gather(stmt, scope, evaluate):
    """Adds every present lane of every iteration to its element."""
    tensor = scope.tensors[stmt.target.name]
    value = evaluate(stmt.value, scope)
    indices = index_values(stmt.target, scope, tensor, evaluate)
    preds = value.preds + inside(indices)
    axes = union(tuple(sorted(scope.iterations)), value.axes, *(v.axes for v, _ in indices), *(p.axes for p in preds))
    present = conjunction(preds, axes, scope)
    unsure = np.zeros(present.shape, bool)
    for p in preds:
        if p.unsure is not None:
            unsure |= spread(p.unsure, p.axes, axes)
    data, err = (np.broadcast_to(spread(x, value.axes, axes), present.shape) for x in (value.data, value.err))
    at = tuple(np.broadcast_to(spread(v.data, v.axes, axes), present.shape)[present | unsure] for v, _ in indices)
    output = scope.outputs[tensor.name]
    if any(np.any((i < 0) | (i >= extent)) for i, extent in zip(at, output.data.shape)):
        raise Invalid("an addition outside of " + tensor.name)
    size = np.zeros(output.data.shape)
    with np.errstate(all="ignore"):
        for into, x in ((output.data, np.where(present, data, 0)), (output.err, np.where(unsure, np.inf, err)), (size, np.where(present, np.abs(data), 0))):
            np.add.at(into, at, x[present | unsure])
        # Sums of f32 depend on the order where they overflow on the way.
        output.err[~(size < 1e38) & ~np.isnan(size)] = np.inf
        output.err += 1e-12 * np.where(np.isfinite(size), size, 0)


def store(stmt, scope, evaluate):
    tensor = scope.tensors[stmt.target.name]
    overflow = tensor.overflow or ("inf" if tensor.type == "f16" else "sat")
    value = evaluate(stmt.value, scope, overflow)
    if value.type != tensor.type:
        if tensor.type == "i32" or value.type not in ("f32", "i32") or stmt.value.op not in ("int", "float", "neg"):
            raise Invalid("a store of " + value.type + " to " + tensor.type)
    indices = index_values(stmt.target, scope, tensor, evaluate)
    axes = union(*(v.axes for v, _ in indices))
    if not set(value.axes) <= set(axes) | scope.iterations:
        raise Invalid("a value with axes that the store has not")
    output = scope.outputs[tensor.name]
    preds = value.preds + inside(indices)
    axes = union(axes, value.axes, *(p.axes for p in preds))
    present = conjunction(preds, axes, scope)
    unsure = np.zeros(present.shape, bool)
    for p in preds:
        if p.unsure is not None:
            unsure |= spread(p.unsure, p.axes, axes)
    data = np.broadcast_to(spread(value.data, value.axes, axes), present.shape)
    err = np.broadcast_to(spread(value.err, value.axes, axes), present.shape)
    err = np.where(unsure, np.inf, err)
    # What may be stored or not can lie outside, too.
    lanes = present | unsure
    at = tuple(np.broadcast_to(spread(v.data, v.axes, axes), present.shape)[lanes] for v, _ in indices)
    keep = np.ones(len(at[0]) if at else 0, bool)
    for i, extent in zip(at, output.data.shape):
        keep &= (i >= 0) & (i < extent)
    at = tuple(i[keep] for i in at)
    before = np.count_nonzero(output.stored)
    output.stored[at] = True
    # As many more as there are lanes, unless two store one element.
    if np.count_nonzero(output.stored) != before + (np.count_nonzero(keep) if at else 1):
        raise Invalid("an element of " + tensor.name + " is stored twice")
    output.data[at] = np.where(present, data, output.data.flat[0] if output.data.size else 0)[lanes][keep]
    output.err[at] = err[lanes][keep]
