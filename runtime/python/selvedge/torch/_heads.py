# Context parallelism: each rank attends with some heads to all positions.
# SPDX-License-Identifier: MIT
import math
from collections.abc import Sequence
from typing import List

import torch
from torch import Tensor

from .._errors import BadInput
from ._attention import check_heads, gains_in_order
from ._exchange import Exchange
from ._groups import name_of, place_in
from ._ops import gradients_of, no_gradients, on_one_line
from ._shards import Shards, check_count, halves_of, lengths_of_segments
from ._text import make_text


def pieces_of(q, k, world):
    """Parts of the heads that each rank gets, (first, count) of queries' and keys'."""
    shared = q.shape[2] // k.shape[2]
    return [((first * shared, count * shared), (first, count)) for first, count in halves_of(k.shape[2] // world)]


def squeezed(packed, tensors):
    return [t[0] if packed else t for t in tensors]


def unsqueezed(packed, tensors):
    return [t[None] if packed else t for t in tensors]


# The words of _ops.attention, then the group and how positions are shared; k and v have a multiple of the group's ranks of heads. Behind the result is what the backward needs.
@torch.library.custom_op("selvedge::heads_attention", mutates_args=())
def heads_operator(q: Tensor, k: Tensor, v: Tensor, tensors: Sequence[Tensor], names: str, scalars: Sequence[float], scalar_names: str, source: str, op: str,
                   deterministic: bool, group: str, lengths: Sequence[int], balanced: bool) -> tuple[Tensor, List[Tensor]]:
    packed = q.dim() == 3
    exchange, (q, k, v) = Exchange(group, lengths, balanced, q.device), unsqueezed(packed, (q, k, v))
    pieces, kept = pieces_of(q, k, exchange.world), []
    arriving = [[exchange.start_to_heads(t, *at) for t, at in zip((q, k, v), (of_q, of_k, of_k))] for of_q, of_k in pieces]
    leaving = []
    for pending in arriving:
        inputs = squeezed(packed, [exchange.end_to_heads(each) for each in pending])
        o, lse = torch.ops.selvedge.attention(*inputs, tensors, names, scalars, scalar_names, source, op, deterministic)
        leaving.append(exchange.start_to_positions(*unsqueezed(packed, [o])))
        kept += [*inputs, o, lse]
    result = q.new_empty([*q.shape[:-1], v.shape[-1]])
    for pending, (of_q, _) in zip(leaving, pieces):
        exchange.end_to_positions(pending, result, of_q[0])
    return *squeezed(packed, [result]), kept


@heads_operator.register_fake
def _(q, k, v, tensors, names, scalars, scalar_names, source, op, deterministic, group, lengths, balanced):
    packed, (_, world), total, kept = q.dim() == 3, place_in(group), sum(lengths), []
    result = q.new_empty([*q.shape[:-1], v.shape[-1]])
    q, k, v = unsqueezed(packed, (q, k, v))
    for (_, of_q), (_, of_k) in pieces_of(q, k, world):
        shapes = [(t.shape[0], total, heads, t.shape[3]) for t, heads in ((q, of_q), (k, of_k), (v, of_k))]
        rows = [t.new_empty(n, b, h, d).transpose(0, 1) for t, (b, n, h, d) in zip((q, k, v), shapes)]
        o, lse = q.new_empty(*shapes[0][:3], v.shape[3]), q.new_empty(q.shape[0], of_q, total, dtype=torch.float32)
        kept += squeezed(packed, [*rows, o, lse])
    return result, kept


@torch.library.custom_op("selvedge::heads_attention_backward", mutates_args=())
def heads_backward_operator(do: Tensor, q: Tensor, k: Tensor, v: Tensor, kept: Sequence[Tensor], tensors: Sequence[Tensor], names: str, scalars: Sequence[float],
                            scalar_names: str, source: str, op: str, deterministic: bool, group: str, lengths: Sequence[int],
                            balanced: bool) -> tuple[Tensor, Tensor, Tensor]:
    packed, gradients = q.dim() == 3, gradients_of(q, k, v)
    exchange, (do, q, k, v, *into) = Exchange(group, lengths, balanced, q.device), unsqueezed(packed, (do, q, k, v, *gradients))
    pieces = pieces_of(q, k, exchange.world)
    arriving, leaving = [exchange.start_to_heads(do, *of_q) for of_q, _ in pieces], []
    for number, pending in enumerate(arriving):
        inputs = kept[5 * number:5 * number + 5]
        (rows,) = squeezed(packed, [exchange.end_to_heads(pending)])
        *parts, _ = torch.ops.selvedge.attention_backward(rows, None, *inputs, tensors, names, scalars, scalar_names, source, op, deterministic)
        leaving.append([exchange.start_to_positions(t) for t in unsqueezed(packed, parts)])
    for parts, (of_q, of_k) in zip(leaving, pieces):
        for pending, whole, at in zip(parts, into, (of_q, of_k, of_k)):
            exchange.end_to_positions(pending, whole, at[0])
    return gradients


@heads_backward_operator.register_fake
def _(do, q, k, v, kept, *words):
    return gradients_of(q, k, v)


def keep_for_backward(ctx, inputs, output):
    q, k, v, tensors, *ctx.words = inputs
    ctx.counts = len(tensors), len(output[1])
    ctx.save_for_backward(q, k, v, *tensors, *output[1])


def backward(ctx, do, _):
    q, k, v, *rest = ctx.saved_tensors
    tensors, kept = rest[:ctx.counts[0]], rest[ctx.counts[0]:]
    gradients = torch.ops.selvedge.heads_attention_backward(do, q, k, v, kept, tensors, *ctx.words)
    return *gradients, [None] * len(tensors), *no_gradients(ctx.words)


torch.library.register_autograd("selvedge::heads_attention", backward, setup_context=keep_for_backward)


def heads_attention(q, k, v, causal=False, scale=None, group=None, balanced=True, *, total=None, cu_seqlens=None, window_size=(-1, -1), softcap=0.0,
                    deterministic=True):
    """Attention to the keys of all ranks of a group, for which each rank gets all positions of some heads: [B, positions of this rank, heads, D] in bf16 or f16.

    The ranks have to divide the heads of queries. Heads of keys that several ranks need are sent to each. Shards are those of shard() with the same `balanced`; they are equally long, or
    those of `total` positions; balanced ones cost a copy. With cu_seqlens, 0 and the ends of the whole sequences, tensors are packed, [positions of this rank, heads, D]. Masks are aligned to the last key.
    BadInput: there is no group, ranks do not divide the heads, or a shard has the wrong length.
    """
    name, packed = name_of(group), cu_seqlens is not None
    rank, world = place_in(name)
    dim = 0 if packed else 1
    check_heads(q, k, dim + 1)
    heads, shared = q.shape[dim + 1], q.shape[dim + 1] // k.shape[dim + 1]
    if heads % world:
        raise BadInput(f"{heads} heads of queries cannot be shared by {world} ranks; ring_attention() can")
    lengths = lengths_of_segments(cu_seqlens) if packed else (k.shape[1] * world if total is None else total,)
    shards = Shards(lengths, world, balanced)
    for what, tensor in (("q", q), ("k", k), ("v", v)):
        check_count(what, tensor.shape[dim], shards, rank)
    # As many queries' heads as share a head of keys on every rank.
    again = shared // math.gcd(shared, heads // world)
    if again > 1:
        k, v = (t.unsqueeze(dim + 2).expand(*t.shape[:-1], again, t.shape[-1]).flatten(dim + 1, dim + 2) for t in (k, v))
    text = make_text("flash_varlen" if packed else "flash_fwd", 0, heads, causal, window_size, softcap, None)
    tensors, names = [], "q,k,v"
    if packed:
        ends = torch.tensor(cu_seqlens, dtype=torch.int32) if not isinstance(cu_seqlens, torch.Tensor) else cu_seqlens
        tensors, names = [ends.to(q.device)] * 2, "q,k,v,cu_q,cu_k"
    scalars = {name: float(value) for name, value in {"scale": scale, **text.scalars}.items() if value is not None}
    source, op = text.source()
    deterministic = deterministic or packed and gains_in_order(q, k, sum(lengths), causal, len(lengths))
    return torch.ops.selvedge.heads_attention(q, k, v, tensors, names, list(scalars.values()), ",".join(scalars), on_one_line(source), op, deterministic, name, list(lengths),
                                              balanced)[0]
