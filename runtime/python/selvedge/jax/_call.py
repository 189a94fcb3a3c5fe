# An op as a part of a program of JAX: shapes when it is traced, a custom call when it runs.
# SPDX-License-Identifier: MIT
import functools
import json
from collections import namedtuple
from ctypes import c_int64

import jax
import jax.numpy as jnp

from .._errors import BadInput, Failed
from .._library import INOUT, OUT, array_type
from .._signature import Call
from .._tensors import NAMES, TORCH, Described
from . import _ffi

TARGET = "selvedge"
# Codes and bits by the names that NumPy, JAX and PyTorch have in common.
CODES = {TORCH[kind]: code for code, kind in NAMES.items()}
Work = namedtuple("Work", "op tensors scalars dims")

# Ops by key. XLA keeps executables on disk, so that a program names an op by what it is.
ops = {}


@functools.lru_cache(maxsize=None)
def work_of(text):
    """What the attribute of a custom call says."""
    said = json.loads(text)
    if said["key"] not in ops:
        raise Failed(f"op '{said['op']}' was traced by another process: call it once in this one")
    return Work(ops[said["key"]], said["tensors"], said["scalars"], said["dims"])


# XLA calls these as long as the process lives.
HANDLERS = {"cpu": _ffi.handler(work_of, _ffi.run_on_host), "CUDA": _ffi.handler(work_of, _ffi.run_on_gpu)}
for platform, function in HANDLERS.items():
    jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(function), platform=platform, api_version=1)


@functools.lru_cache(maxsize=None)
def tuple_of(names):
    """One class for the same names: JAX compares the types of results."""
    return namedtuple("Outputs", names, rename=True)


def described(tensor, array):
    """The array's type and shape, which are compared with the signature's."""
    code, bits = CODES.get(array.dtype.name, (None, None))
    if (code, bits) != (tensor.code, tensor.bits):
        raise BadInput(f"tensor '{tensor.name}' has dtype {array.dtype.name}, expected {tensor.type}")
    return Described(array_type(c_int64, array.ndim)(*array.shape), array.ndim, code, bits)


def varying(arrays):
    """Keywords of ShapeDtypeStruct: inside jax.shard_map results vary over the axes over which an argument does."""
    kind = getattr(jax.sharding, "ManualAxisType", None)
    found = {each: each.mat.varying if kind else getattr(each, "vma", frozenset()) for each in map(jax.typeof, arrays)}
    axes = frozenset().union(*found.values())
    if not axes or not kind:
        return {"vma": axes} if axes else {}
    mesh = next(each.sharding.mesh for each in found if found[each])
    return {"manual_axis_type": kind(varying=axes), "sharding": jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())}


def number(name, value):
    """A scalar, which has to be known when the program is traced."""
    if isinstance(value, jax.core.Tracer):
        raise BadInput(f"scalar '{name}' is traced; kernels take it from the host, so it has to be a number (static_argnames of jax.jit)")
    return float(value)


def call(op, *args, dims=None, **named):
    """Calls an op of selvedge.jit() or selvedge.load() with arrays of JAX, inside jax.jit or outside.

        o, lse = call(selvedge.jit("flash_fwd.tile", D=64), q, k, v, scale=0.1)

    Inputs come in order, and any tensor and scalar by name, in the shapes and types of the signature. Scalars and `dims` are numbers.
    Returns the outputs, then the new values of tensors that the op changes in place: one array, or a named tuple.
    Arrays on a GPU run on the stream of XLA, those of the platform cpu on the reference device. The op has no gradient of its own; jax.vmap calls it once per element.
    Wrong names, types and shapes raise BadInput when the call is traced. Errors of the run are errors of JAX, with the message of the library.
    """
    signature = op.signature
    tensors, scalars = op._sort(args, named)
    for name in tensors:
        if signature.tensors[name].role == OUT:
            raise BadInput(f"tensor '{name}' is an output: arrays of JAX are not written, and it is returned")
    arrays = {name: jnp.asarray(value) for name, value in tensors.items()}
    scalars = {name: number(name, value) for name, value in scalars.items()}
    dims = {name: int(value) for name, value in (dims or {}).items()}
    shapes = Call({name: described(signature.tensors[name], array) for name, array in arrays.items()}, scalars, dims)
    axes = varying(arrays.values())
    new = {tensor.name: (op._shape(tensor, shapes), jnp.dtype(TORCH[NAMES[tensor.code, tensor.bits]])) for tensor in signature.outputs}
    changed = [name for name in arrays if signature.tensors[name].role == INOUT]
    aliases = {list(arrays).index(name): len(new) + place for place, name in enumerate(changed)}
    new.update({name: (arrays[name].shape, arrays[name].dtype) for name in changed})
    results = {name: jax.ShapeDtypeStruct(*each, **axes) for name, each in new.items()}
    ops.setdefault(op._key, op)
    said = json.dumps({"key": op._key, "op": signature.name, "tensors": [*arrays, *results], "scalars": scalars, "dims": dims}, sort_keys=True)
    run = jax.ffi.ffi_call(TARGET, tuple(results.values()), vmap_method="sequential", input_output_aliases=aliases)
    values = run(*arrays.values(), call=said)
    return values[0] if len(values) == 1 else tuple_of(tuple(results))(*values)
