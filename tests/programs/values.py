"""Masked arrays over named axes, in float64 with a running error bound.

The bound covers float64's own roundings here and in device `ref`, nothing
else: neither rounds to the types of the language.
"""
# SPDX-License-Identifier: MIT
import numpy as np

UNIT = 2.0 ** -50
F32_MAX = float(np.finfo(np.float32).max)
NARROW_MAX = {"bf16": 3.3895313892515355e38, "f16": 65504.0}
# From here on a magnitude rounds to infinity.
NARROW_OVERFLOW = {"bf16": float.fromhex("0x1.ffp127"), "f16": 65520.0}
FLOATS = ("f32", "bf16", "f16")


class Ambiguous(Exception):
    """The contract does not say which of two results is meant."""


class Invalid(Exception):
    """No program of the language."""


class Pred:
    """A predicate of a presence: a mask over axes, which are its support. `end` names the axis whose range it bounds."""

    def __init__(self, axes, mask, end=None, unsure=None):
        self.axes, self.mask, self.end, self.unsure = tuple(axes), mask, end, unsure


class Val:
    """data, err: arrays over `axes` in this order; err is 0 or an array; +inf in err says that any value is right."""

    def __init__(self, type_, axes, data, err=0.0, preds=(), terms=None, negated=None, known=False):
        self.type, self.axes, self.data, self.err = type_, tuple(axes), data, err
        self.known = known  # to the compiler
        self.preds = unique(preds)
        # Of a condition and of its negation: the terms that remove lanes, each by itself.
        self.terms, self.negated = terms, negated

    def with_preds(self, preds):
        return Val(self.type, self.axes, self.data, self.err, preds)


def inverse(v):
    return Val("bool", v.axes, ~np.asarray(v.data, bool), v.err, v.preds)


def terms_of(v):
    return v.terms or (Val("bool", v.axes, v.data, v.err),)


def negated_terms_of(v):
    return v.negated or (Val("bool", v.axes, ~np.asarray(v.data, bool), v.err),)


def unique(preds):
    seen, result = set(), []
    for p in preds:
        if id(p) not in seen:
            seen.add(id(p))
            result.append(p)
    return tuple(result)


def spread(array, axes, over):
    """An array over `axes` as a view that broadcasts over the axes `over`."""
    if np.isscalar(array) or np.ndim(array) == 0:
        return array
    order = [axes.index(a) for a in over if a in axes]
    array = np.transpose(array, order)
    shape, at = [], 0
    for a in over:
        if a in axes:
            shape.append(array.shape[at])
            at += 1
        else:
            shape.append(1)
    return array.reshape(shape)


def union(*lists):
    result = []
    for axes in lists:
        result += [a for a in axes if a not in result]
    return tuple(result)


def whole(array, axes, over, sizes):
    """The same with all elements."""
    return np.broadcast_to(spread(array, axes, over), tuple(sizes[a] for a in over))


def checked(type_, axes, data, err, preds):
    """A float result: beyond the range of f32 it is infinite, and may be anything in a kernel."""
    size = np.abs(data)
    over = np.isfinite(data) & (size > F32_MAX)
    if np.any(over):
        data = np.where(over, np.copysign(np.inf, data), data)
        err = np.where(over, np.inf, err)
    unsure = np.isnan(err) | (np.isinf(data) & (np.asarray(err) > 0))
    if np.any(unsure):
        err = np.where(unsure, np.inf, err)
    return Val(type_, axes, data, err, preds)


def wrap32(x):
    return (np.asarray(x, np.int64) + 2 ** 31) % 2 ** 32 - 2 ** 31


def as_float(v):
    if v.type in FLOATS:
        return v
    return Val("f32", v.axes, np.asarray(v.data, np.float64), v.err, v.preds)


def pair(a, b):
    axes = union(a.axes, b.axes)
    return (axes, spread(a.data, a.axes, axes), spread(b.data, b.axes, axes), spread(a.err, a.axes, axes),
            spread(b.err, b.axes, axes), a.preds + b.preds)


def folded(result, *operands):
    """Arithmetic on constants is done by the compiler, in doubles that become f32 where they meet other values."""
    if all(v.known for v in operands):
        result.known = True
        if result.type == "f32":
            result.err = np.abs(result.data) * 2.0 ** -23
    return result


def arithmetic(op, a, b):
    return folded(arithmetic_of(op, a, b), a, b)


def arithmetic_of(op, a, b):
    if a.type in ("bf16", "f16", "bool") or b.type in ("bf16", "f16", "bool"):
        raise Invalid("arithmetic on " + a.type + ", " + b.type)
    if a.type == b.type == "i32":
        axes, x, y, ex, ey, preds = pair(a, b)
        if op in "/%":
            y = np.maximum(y, 1)
        data = {"+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y, "/": lambda: x // y, "%": lambda: x % y}[op]()
        return Val("i32", axes, wrap32(data), ex + ey, preds)
    if op == "%":
        raise Invalid("% on floats")
    axes, x, y, ex, ey, preds = pair(as_float(a), as_float(b))
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    with np.errstate(all="ignore"):
        if op in "+-":
            data, err = (x + y if op == "+" else x - y), ex + ey
        elif op == "*":
            data = x * y
            err = product_error(x, y, ex, ey)
        else:
            data = x / y
            room = np.abs(y) - ey
            err = np.where(ex + ey > 0, (ex + np.abs(data) * ey) / np.where(room > 0, room, np.nan), 0.0)
            err = np.where(np.isinf(y) & np.isfinite(x) & np.isfinite(err), 0.0, err)
        err = err + np.where(np.isfinite(data), np.abs(data), 0) * UNIT
    return checked("f32", axes, data, err, preds)


def product_error(x, y, ex, ey):
    def term(size, e):
        return np.where(np.asarray(e) == 0, 0.0, np.where(np.isfinite(size), np.abs(size), 1.0) * e)
    return term(x, ey) + term(y, ex) + np.where((np.asarray(ex) > 0) & (np.asarray(ey) > 0), ex * np.asarray(ey), 0.0)


def compare(op, a, b):
    if (a.type == "i32") != (b.type == "i32"):
        a, b = as_float(a), as_float(b)
    axes, x, y, ex, ey, preds = pair(a, b)
    with np.errstate(invalid="ignore"):
        data = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal,
                "!=": np.not_equal}[op](x, y)
        e = np.asarray(ex + ey)
        unsure = (e > 0) & ~(np.abs(np.asarray(x, np.float64) - y) > e)
    return Val("bool", axes, data, np.where(unsure, np.inf, 0.0) if np.any(unsure) else 0.0, preds)


def logic(op, a, b):
    axes, x, y, ex, ey, preds = pair(a, b)
    x, y = np.asarray(x, bool), np.asarray(y, bool)
    if op == "&&":
        data, err = x & y, np.where(ex > 0, np.where(y | (np.asarray(ey) > 0), ex, 0), 0) + np.where(x | (np.asarray(ex) > 0), ey, 0)
    else:
        data, err = x | y, np.where(ex > 0, np.where(y & (np.asarray(ey) == 0), 0, ex), 0) + np.where(x & (np.asarray(ex) == 0), 0, ey)
    return Val("bool", axes, data, np.nan_to_num(err, nan=0.0, posinf=np.inf), preds)


def extremum(which, a, b):
    return folded(extremum_of(which, a, b), a, b)


def extremum_of(which, a, b):
    both = a.type == b.type == "i32"
    if not both:
        a, b = as_float(a), as_float(b)
    axes, x, y, ex, ey, preds = pair(a, b)
    data = (np.maximum if which == "max" else np.minimum)(x, y)
    return Val("i32" if both else "f32", axes, data, np.maximum(ex, ey), preds)


def math_call(name, v):
    return folded(math_of(name, v), v)


def math_of(name, v):
    if v.type in ("bf16", "f16", "bool"):
        raise Invalid(name + " of " + v.type)
    if name == "abs":
        return Val(v.type, v.axes, np.abs(v.data), v.err, v.preds)
    v = as_float(v)
    x, e = np.asarray(v.data, np.float64), np.asarray(v.err, np.float64)
    with np.errstate(all="ignore"):
        if name in ("exp", "exp2"):
            data = np.exp(x) if name == "exp" else np.exp2(x)
            slope = data * (1.0 if name == "exp" else np.log(2))
            # The libraries' argument reductions are good to an ulp or two.
            err = np.where(e > 0, np.where(e < 0.01, slope * e * 1.01, np.inf), 0.0)
        elif name in ("log", "log2"):
            data = np.log(x) if name == "log" else np.log2(x)
            room = x - e
            err = np.where(e > 0, np.where(room > 0, 1.5 * e / np.where(room > 0, room, 1), np.inf), 0.0) + UNIT
        elif name == "tanh":
            data, err = np.tanh(x), np.where(np.isinf(e), np.inf, np.minimum(e, 2.0))
        elif name == "sqrt":
            data = np.sqrt(x)
            err = np.where(e > 0, np.where(x > e, e / np.where(x > 0, np.sqrt(np.abs(x)), 1), np.inf), 0.0)
        else:
            data = 1 / np.sqrt(x)
            err = np.where(e > 0, np.where(x > 2 * e, data * e / np.where(x > 0, x, 1), np.inf), 0.0)
        err = err + np.where(np.isfinite(data), np.abs(data), 0) * UNIT
    return checked("f32", v.axes, data, err, v.preds)


def narrow(v, to, overflow):
    """`as T`, without the rounding."""
    if to == v.type:
        return v
    if to == "i32":
        if v.type != "bool":
            raise Invalid("conversion to i32")
        return Val("i32", v.axes, np.asarray(v.data, np.int64), v.err, v.preds)
    v = as_float(v)
    if to == "f32":
        return Val("f32", v.axes, v.data, v.err, v.preds)
    size, top = np.abs(v.data), NARROW_MAX[to]
    data, err = v.data, v.err
    finite = np.isfinite(data)
    if overflow == "sat":
        over = finite & (size > top)
        data = np.where(over, np.copysign(top, data), data)
        err = np.where(over & np.isfinite(err), 0.0, err)
    else:
        over = finite & (size >= NARROW_OVERFLOW[to])
        data = np.where(over, np.copysign(np.inf, data), data)
        close = finite & (np.abs(size - NARROW_OVERFLOW[to]) <= err)
        err = np.where(close, np.inf, np.where(over & np.isfinite(err), 0.0, err))
    return Val(to, v.axes, data, err, v.preds)
