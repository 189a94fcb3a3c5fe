"""Inputs of a case: exactly representable values of every kind that programs react to."""
# SPDX-License-Identifier: MIT
import zlib

import numpy as np

from byte_values import E4M3, E5M2, narrowed
from evaluate import Scope, evaluate_extent


def to_bf16(x):
    """The nearest bf16, as float64."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(np.float64)


TABLES = {"e4m3": E4M3, "e5m2": E5M2}


def quantise(x, type_):
    if type_ in TABLES:
        return TABLES[type_][narrowed(np.asarray(x), TABLES[type_])]
    if type_ in ("i8", "u8"):
        return np.clip(np.round(x * 8), *((-128, 127) if type_ == "i8" else (0, 255))) + 0.0
    if type_ == "bf16":
        return to_bf16(x)
    return np.asarray(x, np.float16 if type_ == "f16" else np.float32).astype(np.float64)


def layouts(program, case):
    """How each tensor of the caller lies in memory, the same whenever the case runs; half of the cases are as usual."""
    if np.random.default_rng([case.seed, 2]).random() < 0.5:
        return {}
    found = {}
    for t in program.tensors:
        if t.temp or t.name in case.absent:
            continue
        kinds = ["contiguous", "unaligned"] + ["padded", "transposed"] * (len(t.dims) > 1) + ["permuted"] * (len(t.dims) > 2)
        if not t.is_output and not t.ones and t.fill != "unique" and t.dims:
            kinds.append("broadcast")
        found[t.name] = str(np.random.default_rng([case.seed, zlib.crc32(t.name.encode()), 2]).choice(kinds))
    return found


def repeated(array):
    """The array with one element for all along the first dimension that has several, as `--layout broadcast` lays it out."""
    wide = next((i for i, extent in enumerate(array.shape) if extent > 1), None)
    return array if wide is None else np.repeat(array.take([0], axis=wide), array.shape[wide], axis=wide)


def draw(program, case):
    """(arrays by name, contents of outputs that are kept)."""
    scope = Scope(program, dict(case.dims), {}, {}, {})
    arrays, kept, kinds = {}, {}, layouts(program, case)
    for t in program.tensors:
        if t.name in case.absent or (t.is_output and t.init != "keep"):
            continue
        shape = tuple(evaluate_extent(d, scope) for d in t.dims)
        rng = np.random.default_rng([case.seed, zlib.crc32(t.name.encode())])
        if t.ones:
            one = np.random.default_rng([case.seed, zlib.crc32(t.name.encode()), 1])
            shape = tuple(1 if i in t.ones and one.random() < 0.6 else extent for i, extent in enumerate(shape))
        array = draw_tensor(t, shape, scope, rng)
        if case.special and t.type in ("f32", "bf16", "f16") and not t.is_output:
            array = np.where(rng.random(shape) < 0.02, rng.choice((np.nan, np.inf, -np.inf), shape), array)
        (kept if t.is_output else arrays)[t.name] = repeated(array) if kinds.get(t.name) == "broadcast" else array
    return arrays, kept


def whole(program, name, array, case):
    """The array with every element, where the caller may give one for all."""
    t = next(t for t in program.tensors if t.name == name)
    if not t.ones:
        return array
    scope = Scope(program, dict(case.dims), {}, {}, {})
    return np.broadcast_to(array, tuple(evaluate_extent(d, scope) for d in t.dims))


def draw_tensor(t, shape, scope, rng):
    if t.type == "bool":
        return rng.random(shape) < rng.choice([0.1, 0.5, 0.9])
    if t.type == "i32":
        if t.segments is not None:  # some of them empty, rows of no segment at either end
            rows = evaluate_extent(t.segments, scope)
            bounds = np.sort(rng.integers(0, rows + 1, shape))
            if len(bounds) > 2 and rng.random() < 0.5:
                bounds[1] = bounds[0]
            return bounds.astype(np.int64)
        if t.promise:
            low, high = (evaluate_extent(e, scope) for e in t.promise)
            values = rng.integers(low, max(low, high) + 1, shape)
            return np.where(rng.random(shape) < 0.2, high, np.where(rng.random(shape) < 0.2, low, values)).astype(np.int64)
        if t.fill == "bound":  # of a loop or a dimension that nobody promised
            extent = max(list(dict(scope.dims).values()) + [3])
            return rng.integers(-2, extent + 4, shape)
        if t.fill == "unique":  # some select nothing
            values = rng.permutation(int(np.prod(shape)) + 5)[:int(np.prod(shape))].reshape(shape)
            return np.where(rng.random(shape) < 0.1, -1, values).astype(np.int64)
        return rng.integers(-3, 4, shape)
    values = rng.standard_normal(shape)
    if t.fill == "large":  # overflows f16
        values = np.clip(values * 3e4, -6e4, 6e4)
    elif t.fill == "sparse":
        values = np.where(rng.random(shape) < 0.5, 0.0, values)
    elif t.fill == "lse":  # of parts, some of which are empty
        values = np.where(rng.random(shape) < 0.25, -np.inf, values * 3)
    elif t.fill == "steps":  # ties
        values = np.round(values)
    return quantise(values, t.type)
