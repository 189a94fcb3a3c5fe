# Attention with the arguments of jax.nn.dot_product_attention, and its gradient.
# SPDX-License-Identifier: MIT
import functools
from collections import namedtuple

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero

from .._op import jit
from ._call import call

TYPES = {"bfloat16": "bf16", "float16": "f16", "float32": "f32"}
# What a program is made of, beside the types: equal ones are compiled once.
Form = namedtuple("Form", "causal top_left bias mask query_lengths left right deterministic")


@functools.lru_cache(maxsize=None)
def op_of(form, kind, d, dv, gradient=False, bias_has_gradient=False):
    """The kernel of a form, or its gradient."""
    inputs, keep, params = [], [], f"causal = {str(form.causal).lower()}"
    if form.bias:
        inputs.append(f"{'diff ' if bias_has_gradient else ''}bias: {form.bias}[~B, ~G*R, ~M, ~N]")
    if form.mask:
        inputs.append("mask: bool[~B, ~G*R, ~M, ~N]")
        keep.append("mask[b, h, i, j]")
    if form.query_lengths:
        inputs.append("q_len: i32[B]")
        keep.append("i < q_len[b]")
    # JAX counts from the first key, the template from the last.
    if form.top_left:
        keep.append("j <= i")
    if form.left:
        inputs.append("left: i32")
        keep.append("j >= i - left")
    if form.right:
        inputs.append("right: i32")
        keep.append("j <= i + right")
    hooks = ["score(s, b, h, i, j) = s + (bias[b, h, i, j] as f32);"] if form.bias else []
    if keep:
        hooks.append(f"keep(b, h, i, j) = {' && '.join(['super(b, h, i, j)', *keep])};")
    source = f'import "flash_fwd.tile";\nop attention({", ".join(inputs)}) extends flash_fwd<{params}> {{ {" ".join(hooks)} }}\n'
    sets = {"deterministic": False} if gradient and not form.deterministic else {}
    return jit(source, "grad(attention)" if gradient else "attention", T=kind, D=d, DV=dv, **sets)


def kernel_of(form, tensors, **options):
    q, v = tensors["q"], tensors["v"]
    return op_of(form, TYPES[q.dtype.name], q.shape[-1], v.shape[-1], **options)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def attend(form, scalars, tensors):
    """o and lse; `scalars` are pairs of names and numbers."""
    return tuple(call(kernel_of(form, tensors), **tensors, **dict(scalars)))


def attend_forward(form, scalars, tensors):
    # JAX says which tensors a gradient is wanted of.
    values = {name: each.value for name, each in tensors.items()}
    o, lse = attend(form, scalars, values)
    wanted = {name: () for name in ("bias",) if name in tensors and tensors[name].perturbed}
    return (o, lse), (values, wanted, o, lse)


def attend_backward(form, scalars, kept, gradients):
    tensors, wanted, o, lse = kept
    do, dlse = gradients
    do = jnp.zeros_like(o) if isinstance(do, SymbolicZero) else do
    dlse = None if isinstance(dlse, SymbolicZero) else dlse
    kernel = kernel_of(form, tensors, gradient=True, bias_has_gradient="bias" in wanted)
    result, given = dict.fromkeys(tensors), dict(tensors)
    if "bias" in wanted and form.deterministic:
        # The kernel adds up what one number stands for in any order, JAX in one.
        given["bias"] = jnp.broadcast_to(tensors["bias"], (*lse.shape, tensors["k"].shape[1]))
    found = call(kernel, **given, **dict(scalars), o=o, lse=lse, dO=do, dLSE=dlse)
    result |= {"q": found.dq, "k": found.dk, "v": found.dv}
    if "bias" in wanted:
        bias = tensors["bias"]
        axes = [axis for axis in range(4) if bias.shape[axis] != found.d_bias.shape[axis]]
        result["bias"] = found.d_bias.sum(axes, keepdims=True).astype(bias.dtype)
    return (result,)


attend.defvjp(attend_forward, attend_backward, symbolic_zeros=True)


def with_batch(name, array, rank=4):
    array = jnp.asarray(array)
    if array.ndim not in (rank - 1, rank):
        raise ValueError(f"{name} has shape {array.shape}, expected {rank} dimensions, or {rank - 1} without a batch")
    return array if array.ndim == rank else array[None]


def broadcast(name, array, whole):
    """Bias and mask: each extent is 1 or the whole one."""
    array = jnp.asarray(array)
    array = array.reshape((1,) * (4 - array.ndim) + array.shape)
    if array.ndim != 4 or any(extent not in (1, wanted) for extent, wanted in zip(array.shape, whole)):
        raise ValueError(f"{name} has shape {array.shape}, which does not broadcast to {whole}")
    return array


def attention(query, key, value, bias=None, mask=None, *, scale=None, is_causal=False, query_seq_lengths=None, key_value_seq_lengths=None,
              local_window_size=None, return_residual=False, deterministic=True):
    """jax.nn.dot_product_attention, with its arguments: query [B, T, N, H], key and value [B, S, K, H], all also without B; N is a multiple of K.

    Types are bfloat16 and float16, on the platform cpu float32 as well. `scale` is a number, 1 / sqrt(H) by default.
    `bias`, which is added to scaled scores, and the boolean `mask` broadcast to [B, N, T, S]. Causal masks and windows begin with the first key.
    `query_seq_lengths` and `key_value_seq_lengths` are int32 [B]. A row without keys is 0.
    With `return_residual` also the natural logs of the sums, float32 [B, T, N], which have a gradient here.
    Query, key, value and bias have gradients. Without `deterministic` the gradient of query is a sum in any order, as is the one of a bias that broadcasts.
    Wrong shapes and types raise ValueError.
    """
    batched = jnp.ndim(query) == 4
    q, k, v = (with_batch(name, each) for name, each in (("query", query), ("key", key), ("value", value)))
    if q.dtype.name not in TYPES or not q.dtype == k.dtype == v.dtype:
        raise ValueError(f"query, key and value have types {q.dtype.name}, {k.dtype.name} and {v.dtype.name}, expected one of {', '.join(TYPES)} for all")
    if k.shape[2] == 0 or q.shape[2] % k.shape[2]:
        raise ValueError(f"{q.shape[2]} heads of queries are no multiple of {k.shape[2]} heads of keys")
    rows, keys = q.shape[1], k.shape[1]
    whole = q.shape[0], q.shape[2], rows, keys
    tensors, scalars = {"q": q, "k": k, "v": v}, {} if scale is None else {"scale": float(scale)}
    if bias is not None:
        bias = broadcast("bias", bias, whole)
        bias = bias if bias.dtype in (jnp.float32, q.dtype) else bias.astype(jnp.float32)
        tensors["bias"] = bias
    if mask is not None:
        tensors["mask"] = broadcast("mask", mask, whole)
        if tensors["mask"].dtype != bool:
            raise ValueError(f"mask has type {tensors['mask'].dtype.name}, expected bool; numbers are a bias")
    if query_seq_lengths is not None:
        tensors["q_len"] = jnp.asarray(query_seq_lengths)
    if key_value_seq_lengths is not None:
        tensors["kv_len"] = jnp.asarray(key_value_seq_lengths)
    if local_window_size is not None:
        left, right = (local_window_size,) * 2 if isinstance(local_window_size, int) else local_window_size
        scalars |= {"left": left, "right": right}
    ends_with_last = is_causal and rows == keys and key_value_seq_lengths is None
    bias_type = None if bias is None else TYPES[bias.dtype.name]
    form = Form(bool(ends_with_last), bool(is_causal and not ends_with_last), bias_type, mask is not None, query_seq_lengths is not None,
                "left" in scalars, "right" in scalars, bool(deterministic))
    o, lse = attend(form, tuple(scalars.items()), tensors)
    lse = lse.transpose(0, 2, 1)
    o, lse = (o, lse) if batched else (o[0], lse[0])
    return (o, lse) if return_residual else o
