"""What a program means: rules R1 to R9 of the contract, applied to its tree.

Shares nothing with the compiler. Kernel ranges without a block are evaluated
for all iterations at once, as axes that nothing reduces over.
"""
# SPDX-License-Identifier: MIT
import numpy as np

import memory
import reduction
from values import (Ambiguous, Invalid, Pred, Val, arithmetic, as_float, compare, extremum, inverse, logic, math_call, narrow,
                    negated_terms_of, spread, terms_of, union)

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class Softmax:
    def __init__(self, rows):
        self.rows, self.preds = rows, ()
        self.max = self.sum = None


class Scope:
    """Names of an op while one of its kernels runs."""

    def __init__(self, program, dims, scalars, arrays, outputs, block=None):
        self.program, self.block = program, block
        self.params = dict(program.params)
        self.dims = dict(dims)
        self.tensors = {t.name: t for t in program.tensors}
        self.arrays, self.outputs = arrays, outputs
        self.scalars = scalars
        self.hooks = {h[0]: h for h in program.hooks}
        self.sizes = {}      # axis -> extent now
        self.starts = {}     # axis -> lower bound (Val)
        self.ends = {}       # axis -> Pred: the lanes inside of its range
        self.iterations = set()  # axes that stand for scalars
        self.has_parts = False   # whether a range is cut into parts, which may be cut elsewhere
        self.frames = [{}]

    def find(self, name):
        for frame in reversed(self.frames):
            if name in frame:
                return frame[name]
        return None


def evaluate_extent(e, scope):
    """An integer function of dims."""
    if e.op == "int":
        return e.name
    if e.op == "name":
        if e.name in scope.params:
            return scope.params[e.name]
        if e.name in scope.dims:
            return scope.dims[e.name]
        raise Invalid("no dim " + e.name)
    if e.op == "bin":
        a, b = (evaluate_extent(x, scope) for x in e.args)
        return {"+": a + b, "-": a - b, "*": a * b, "/": a // max(b, 1), "%": a % max(b, 1)}[e.name]
    raise Invalid("no function of dims: " + e.op)


def constant(type_, value):
    return Val(type_, (), np.asarray(value, np.float64 if type_ == "f32" else np.int64 if type_ == "i32" else bool), known=True)


def evaluate(e, scope, overflow="sat"):
    """The value of an expression; `overflow` decides about a narrowing that is its outermost operation."""
    return RULES[e.op](e, scope, overflow)


def leaf_name(e, scope, _):
    value = scope.find(e.name)
    if value is not None:
        return value
    if e.name in scope.params or e.name in scope.dims:
        return constant("i32", evaluate_extent(e, scope))
    if e.name in scope.scalars:
        return scope.scalars[e.name]
    raise Invalid("no name " + e.name)


def negative(e, scope, _):
    v = evaluate(e.args[0], scope)
    if e.op == "not":
        if v.type != "bool":
            raise Invalid("! of " + v.type)
        result = inverse(v)
        result.terms, result.negated = negated_terms_of(v), terms_of(v)
        return result
    return arithmetic("-", constant("i32", 0), v) if v.type == "i32" else Val("f32", v.axes, -v.data, v.err, v.preds, known=v.known)


def binary(e, scope, _):
    a, b = (evaluate(x, scope) for x in e.args)
    if e.name in ("&&", "||"):
        result = logic(e.name, a, b)
        # Negation goes inwards; what is joined by && on the outside are terms.
        if e.name == "&&":
            result.terms, result.negated = terms_of(a) + terms_of(b), (inverse(result.with_preds(())),)
        else:
            result.terms, result.negated = (result.with_preds(()),), negated_terms_of(a) + negated_terms_of(b)
        return result
    return compare(e.name, a, b) if e.name in COMPARISONS else arithmetic(e.name, a, b)


def function(e, scope, _):
    if e.name in scope.hooks:
        _, parameters, body = scope.hooks[e.name]
        arguments = [evaluate(x, scope) for x in e.args]
        frames, scope.frames = scope.frames, [dict(zip(parameters, arguments))]
        try:
            return evaluate(body, scope)
        finally:
            scope.frames = frames
    if e.name in ("max", "min"):
        return extremum(e.name, *(evaluate(x, scope) for x in e.args))
    if e.name == "select":
        return select(e, scope)
    if e.name == "softmax_weight":
        return reduction.weight_against(*(as_float(evaluate(x, scope)) for x in e.args))
    if e.name == "rel":
        v = evaluate(e.args[0], scope)
        return arithmetic("-", v, scope.starts[e.args[0].name])
    return math_call(e.name, evaluate(e.args[0], scope))


def either(condition, taken, preds, others, scope):
    """Predicates of one side of a choice: they count where `condition` is `taken`."""
    result = []
    for p in preds:
        if p.end:
            result.append(p)
            continue
        same = [q for q in others if q is p]
        twin = [q for q in others if q.axes == p.axes and q.mask.shape == p.mask.shape and np.array_equal(q.mask, p.mask)]
        extra = [a for a in condition.axes if a not in p.axes and a not in scope.iterations]
        if (same or twin) and extra and not p.mask.all():
            raise Ambiguous("a predicate of both sides of a choice")
        axes = union(condition.axes, p.axes)
        chosen = spread(np.asarray(condition.data, bool), condition.axes, axes)
        mask = spread(p.mask, p.axes, axes) | (~chosen if taken else chosen)
        result.append(Pred(axes, np.asarray(mask), None, unsure_of(axes, condition, p)))
    return result


def unsure_of(axes, condition, p):
    parts = [spread(np.asarray(condition.err) > 0, condition.axes, axes)] if np.any(condition.err) else []
    if p.unsure is not None:
        parts.append(spread(p.unsure, p.axes, axes))
    if not parts:
        return None
    shape = np.broadcast_shapes(*(np.shape(x) for x in parts), np.shape(spread(p.mask, p.axes, axes)))
    return np.broadcast_to(np.logical_or.reduce([np.broadcast_to(x, shape) for x in parts]), shape)


def select(e, scope):
    c, a, b = (evaluate(x, scope) for x in e.args)
    if a.type != b.type:
        if not {a.type, b.type} <= {"f32", "i32"}:
            raise Invalid("select of " + a.type + " and " + b.type)
        a, b = as_float(a), as_float(b)
    axes = union(a.axes, b.axes, c.axes)
    taken, x, y = (spread(v.data, v.axes, axes) for v in (c, a, b))
    ex, ey = (spread(v.err, v.axes, axes) for v in (a, b))
    data = np.where(taken, x, y)
    err = np.where(taken, ex, ey)
    if np.any(c.err):
        with np.errstate(invalid="ignore"):
            other = np.abs(np.asarray(x, np.float64) - y) + ex + ey
        err = np.where(spread(c.err, c.axes, axes) > 0, np.where(np.isnan(other), np.inf, other), err)
    preds = list(c.preds) + either(c, True, a.preds, b.preds, scope) + either(c, False, b.preds, a.preds, scope)
    return Val(a.type, axes, data, err, preds)


def cast(e, scope, overflow):
    v = evaluate(e.args[0], scope)
    return narrow(v, e.name, overflow if v.type not in ("bf16", "f16") or e.name != "f32" else "sat")


def where(e, scope, overflow):
    v = evaluate(e.args[0], scope, overflow)
    c = evaluate(e.args[1], scope)
    if c.type != "bool":
        raise Invalid("where " + c.type)
    terms = terms_of(c)
    axes = union(v.axes, *(t.axes for t in terms))
    shape = tuple(scope.sizes[a] for a in axes)
    data = np.broadcast_to(spread(v.data, v.axes, axes), shape)
    err = v.err if np.ndim(v.err) == 0 else np.broadcast_to(spread(v.err, v.axes, axes), shape)
    preds = [Pred(t.axes, np.asarray(t.data, bool), None, np.asarray(t.err) > 0 if np.any(t.err) else None) for t in terms]
    return Val(v.type, axes, data, err, v.preds + c.preds + tuple(preds))


def otherwise(e, scope, _):
    a, b = (evaluate(x, scope) for x in e.args)
    if a.type == "f32" and b.type == "i32":
        b = as_float(b)
    if a.type in ("bf16", "f16") and e.args[1].op in ("int", "float"):  # a number takes the type that is meant
        b = narrow(as_float(b), a.type, "sat")
    if a.type != b.type:
        raise Invalid("else between " + a.type + " and " + b.type)
    ends = [p for p in a.preds if p.end]
    inner = [p for p in a.preds if not p.end]
    if not inner:
        if not set(b.axes) <= set(a.axes):
            raise Ambiguous("an `else` that adds axes")
        return a.with_preds(ends)
    axes = union(a.axes, b.axes, *(p.axes for p in inner))
    shape = tuple(scope.sizes[x] for x in axes)
    present = np.ones(shape, bool)
    unsure = np.zeros(shape, bool)
    for p in inner:
        present &= spread(p.mask, p.axes, axes)
        if p.unsure is not None:
            unsure |= spread(p.unsure, p.axes, axes)
    x, y = (spread(v.data, v.axes, axes) for v in (a, b))
    err = np.where(present, spread(a.err, a.axes, axes), spread(b.err, b.axes, axes))
    if unsure.any():
        err = np.where(unsure, np.inf, err)
    here = Val("bool", axes, present, np.where(unsure, np.inf, 0.0) if unsure.any() else 0.0)
    preds = ends + [p for p in b.preds if p.end] + either(here, False, [p for p in b.preds if not p.end], inner, scope)
    return Val(a.type, axes, np.where(present, x, y), err, preds)


def view(e, scope, _):
    """The load of a view, at indices of its own; it has elements where its condition holds."""
    _, parameters, load, valid = next(v for v in scope.program.views if v[0] == e.name)
    arguments = [evaluate(x, scope) for x in e.args]
    frames, scope.frames = scope.frames, [dict(zip(parameters, arguments))]
    try:
        value = evaluate(load, scope)
        if valid is None:
            return value
        c = evaluate(valid, scope)
    finally:
        scope.frames = frames
    return value.with_preds(value.preds + c.preds + tuple(Pred(t.axes, np.asarray(t.data, bool)) for t in terms_of(c)))


def present(e, scope, overflow):
    """The values of one branch: the compiler makes a program of each."""
    return evaluate(e.args[0 if e.name in scope.arrays else 1], scope, overflow)


def zeros(e, scope, _):
    axes = tuple(memory.axis_named(x, scope) for x in e.axes)
    shape = tuple(scope.sizes[a] for a in axes)
    return Val(e.name, axes, np.zeros(shape, np.float64 if e.name != "i32" else np.int64))


RULES = {
    "int": lambda e, s, o: constant("i32", e.name),
    "float": lambda e, s, o: constant("f32", float(np.float32(e.name))),
    "bool": lambda e, s, o: constant("bool", e.name),
    "name": leaf_name,
    "load": lambda e, s, o: memory.load(e, s, evaluate),
    "view": view,
    "neg": negative,
    "not": negative,
    "bin": binary,
    "call": function,
    "reduce": lambda e, s, o: reduction.reduce(e.name, evaluate(e.args[0], s), e.axes, s),
    "dot": lambda e, s, o: reduction.dot(evaluate(e.args[0], s), evaluate(e.args[1], s), s, e.name),
    "where": where,
    "else": otherwise,
    "cast": cast,
    "present": present,
    "zeros": zeros,
    "method": lambda e, s, o: reduction.method(e, s, evaluate),
    "softmax": lambda e, s, o: Softmax(e.axes),
}
