# The custom operators: what torch.compile sees of a kernel, and its gradient.
# SPDX-License-Identifier: MIT
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import List, Optional

import torch
from torch import Tensor

from .. import jit
from .._errors import BadInput

# f32 is for the reference device: GPUs have no tensor cores for its products.
TYPES = {torch.bfloat16: "bf16", torch.float16: "f16", torch.float32: "f32"}


def on_one_line(source):
    """A program as an operator takes it: Inductor writes the arguments of operators into comments of the code that it makes, where a second line would be code."""
    return source.encode("unicode_escape").decode("ascii")


def program_of(source):
    """The program of on_one_line()."""
    return source.encode("ascii", "backslashreplace").decode("unicode_escape")


def type_of(t):
    """The language's name of the type that q, k and v have."""
    if t.dtype not in TYPES or t.is_cuda and t.dtype == torch.float32:
        raise BadInput(f"q, k and v have type {t.dtype}, expected torch.bfloat16 or torch.float16, or torch.float32 in host memory")
    return TYPES[t.dtype]


@lru_cache(maxsize=None)
def op_of(source, op, kind, d, dv, **params):
    return jit(program_of(source), op, T=kind, D=d, DV=dv, **params)


@lru_cache(maxsize=1024)
def marked(source, names):
    """Places among `names` of the inputs that the program calls `diff`: their gradients are outputs of its gradient."""
    found = re.findall(r"\bdiff\s+(\w+)\s*:", program_of(source))
    return [place for place, name in enumerate(names.split(",")) if name in found]


def named(names, values):
    return dict(zip(filter(None, names.split(",")), values))


def outputs_of(q, v):
    """o and lse for queries [B, positions, heads, D] or packed [positions, heads, D]."""
    rows = [q.shape[0], q.shape[2], q.shape[1]] if q.dim() == 4 else [q.shape[1], q.shape[0]]
    return q.new_empty([*q.shape[:-1], v.shape[-1]]), q.new_empty(rows, dtype=torch.float32)


def gradients_of(*inputs):
    return tuple(torch.empty(t.shape, dtype=t.dtype, device=t.device) for t in inputs)


def own_gradients(tensors, source, names):
    """In f32, of those of `tensors` that are marked. They begin behind q, k and v."""
    return [torch.empty(tensors[place - 3].shape, dtype=torch.float32, device=tensors[place - 3].device) for place in marked(source, names)]


# Rows per sequence from which on causal blocks of keys per query head gain, where heads share keys: of packed sequences on average, and of others.
PACKED_BY_HEAD_ROWS, BY_HEAD_ROWS = 896, 1024


def any_order_rows(packed, head, causal, shares):
    """Rows per sequence, of packed ones on average, from which on sums over keys in any order gain on compute capability 9.0 (docs/dev/experiments.md): of heads of
    `head` elements, which share keys or not."""
    wide = head >= 128
    if not causal:
        return 600 if packed else 704 if wide else 448
    if packed:
        return PACKED_BY_HEAD_ROWS if wide and shares else 384
    if wide:
        return BY_HEAD_ROWS if shares else 1280
    return 704 if shares else 320


def gains_by_head(q, k, v, source, sequences=1):
    """Whether blocks of keys per query head are faster (docs/dev/experiments.md): for heads that share keys, if causal blocks drift apart and are long enough to be
    worth the sums: from 1024 rows on, packed sequences where they are long."""
    packed = q.dim() == 3
    template, least = ("flash_varlen", PACKED_BY_HEAD_ROWS * sequences) if packed else ("flash_fwd", BY_HEAD_ROWS)
    return (f"{template}<causal = true" in program_of(source) and q.shape[-2] > k.shape[-2] and q.shape[-1] >= 128 and q.shape[-1] + v.shape[-1] <= 256
            and q.shape[-3] >= least)


# q, k and v are the first three of `names`; `tensors` the rest.
@torch.library.custom_op("selvedge::attention", mutates_args=())
def attention(q: Tensor, k: Tensor, v: Tensor, tensors: Sequence[Tensor], names: str, scalars: Sequence[float], scalar_names: str, source: str,
              op: str, deterministic: bool) -> tuple[Tensor, Tensor]:
    kernel = op_of(source, op, type_of(q), q.shape[-1], v.shape[-1])
    o, lse = outputs_of(q, v)
    kernel(**named(names, [q, k, v, *tensors]), **named(scalar_names, scalars), o=o, lse=lse)
    return o, lse


@attention.register_fake
def _(q, k, v, tensors, names, scalars, scalar_names, source, op, deterministic):
    return outputs_of(q, v)


@torch.library.custom_op("selvedge::attention_backward", mutates_args=())
def attention_backward(do: Tensor, dlse: Optional[Tensor], q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, tensors: Sequence[Tensor], names: str,
                       scalars: Sequence[float], scalar_names: str, source: str, op: str, deterministic: bool) -> tuple[Tensor, Tensor, Tensor, List[Tensor]]:
    # Parameters of flash_bwd and flash_bwd_varlen, which alone has `copied`; the defaults are for all gradients, on compute capability 9.0.
    params = {} if deterministic else {"deterministic": False}
    arguments = named(names, [q, k, v, *tensors])
    if q.is_cuda and torch.cuda.get_device_capability(q.device)[0] != 9:
        params["apart"] = False
        if "cu_q" in arguments:
            params["copied"] = False
    elif not deterministic and gains_by_head(q, k, v, source, arguments["cu_q"].shape[0] - 1 if "cu_q" in arguments else 1):
        params["by_head"] = True
    kernel = op_of(source, f"grad({op})", type_of(q), q.shape[-1], v.shape[-1], **params)
    (dq, dk, dv), others = gradients_of(q, k, v), own_gradients(tensors, source, names)
    own = {f"d_{names.split(',')[place]}": t for place, t in zip(marked(source, names), others)}
    kernel(**arguments, **named(scalar_names, scalars), o=o, lse=lse, dO=do, dLSE=dlse, dq=dq, dk=dk, dv=dv, **own)
    return dq, dk, dv, others


@attention_backward.register_fake
def _(do, dlse, q, k, v, o, lse, tensors, names, scalars, scalar_names, source, op, deterministic):
    return *gradients_of(q, k, v), own_gradients(tensors, source, names)


def keep_for_backward(ctx, inputs, output):
    q, k, v, tensors, *ctx.words = inputs
    ctx.save_for_backward(q, k, v, *output, *tensors)


def no_gradients(words):
    """What a backward returns for arguments that have none: PyTorch takes a list of numbers for one thing, but for an empty one."""
    return [None if word or not isinstance(word, (list, tuple)) else [] for word in words]


def backward(ctx, do, dlse):
    q, k, v, o, lse, *tensors = ctx.saved_tensors
    # A sum's gradient has strides of 0, which are a class of their own.
    do = do.contiguous() if do is not None else torch.zeros_like(o)
    *gradients, others = torch.ops.selvedge.attention_backward(do, dlse, q, k, v, o, lse, tensors, *ctx.words)
    own = [None] * len(tensors)
    for place, t in zip(marked(ctx.words[3], ctx.words[0]), others):
        own[place - 3] = t.to(tensors[place - 3].dtype)
    return *gradients, own, *no_gradients(ctx.words)


torch.library.register_autograd("selvedge::attention", backward, setup_context=keep_for_backward)


# New keys and values into a cache, behind those of each sequence.
@torch.library.custom_op("selvedge::append", mutates_args=("k_cache", "v_cache"))
def append(k_cache: Tensor, v_cache: Tensor, k: Tensor, v: Tensor, lengths: Tensor) -> None:
    op_of("append_kv.tile", "append_kv", type_of(k), k.shape[-1], v.shape[-1])(kn=k, vn=v, len=lengths, kc=k_cache, vc=v_cache)


@append.register_fake
def _(k_cache, v_cache, k, v, lengths):
    return None


# The same to slots, which are numbers of rows in pages.
@torch.library.custom_op("selvedge::append_slots", mutates_args=("k_cache", "v_cache"))
def append_slots(k_cache: Tensor, v_cache: Tensor, k: Tensor, v: Tensor, slots: Tensor) -> None:
    op_of("append_slots.tile", "append_slots", type_of(k), k.shape[-1], v.shape[-1])(kn=k, vn=v, slot=slots, kp=k_cache, vp=v_cache)


@append_slots.register_fake
def _(k_cache, v_cache, k, v, slots):
    return None
