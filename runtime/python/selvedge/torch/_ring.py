# Context parallelism: keys and values go around a ring of ranks while each attends to those that it has.
# SPDX-License-Identifier: MIT
from collections.abc import Sequence
from typing import Optional

import torch
import torch.distributed as dist
from torch import Tensor

from ._attention import check_heads, hands_out_bulk_copies
from ._blocks import Blocks, add, merge
from ._groups import Pending, group_of, name_of, place_in
from ._ops import gradients_of, no_gradients, outputs_of
from ._shards import Shards, check_count, halves_of, lengths_of_segments, shards_of


class Ring:
    """Ranks in their order, the first behind the last: each sends to the next one, and receives from the one before."""

    def __init__(self, name):
        self.group, (self.rank, self.world) = group_of(name), place_in(name)
        self.next, self.previous = (dist.get_global_rank(self.group, (self.rank + way) % self.world) for way in (1, -1))

    def source(self, step):
        """The rank whose keys are here after `step` steps."""
        return (self.rank - step) % self.world

    def start(self, sent, received):
        """Sends contiguous tensors, and receives into others; empty ones stay at home."""
        ops = [dist.P2POp(dist.isend, t, self.next, self.group, tag) for tag, t in enumerate(sent) if t.numel()]
        ops += [dist.P2POp(dist.irecv, t, self.previous, self.group, tag) for tag, t in enumerate(received) if t.numel()]
        return Pending(dist.batch_isend_irecv(ops) if ops else [], sent, received)


def like(tensors, count, dtype=None):
    """New tensors of `count` positions."""
    return [t.new_empty([t.shape[0], count, *t.shape[2:]], dtype=dtype) for t in tensors]


def forward_around(ring, blocks, q, k, v):
    shards, kv, whole = blocks.shards, [k.contiguous(), v.contiguous()], None
    for step in range(ring.world):
        if step + 1 < ring.world:
            pending = ring.start(kv, like(kv, shards.count(ring.source(step + 1))))
        block = blocks.attend(ring.source(step), q, *kv)
        if block and whole is None:
            # The first block is the rank's own, or one of a mask that lets all see all: it has every row.
            whole = list(block[1:])
        elif block:
            whole[0] = whole[0].float()
            merge(whole, *block)
        if step + 1 < ring.world:
            kv = pending.wait()
    if whole is None:
        o, lse = outputs_of(q, v)
        return o.zero_(), lse.fill_(-torch.inf)
    return whole[0].to(q.dtype), whole[1]


def backward_around(ring, blocks, do, dlse, q, k, v, o, lse):
    """Gradients of q, k and v. Those of keys follow their keys around the ring, one step behind, and end at home.

    The rank's own block comes in two halves of its heads: the first hides the first transfer, the second the last.
    """
    shards, heads = blocks.shards, k.shape[2]
    dq, home = torch.zeros_like(q, dtype=torch.float32), [torch.zeros_like(t, dtype=torch.float32) for t in (k, v)]

    def own(first, count):
        """The rank's own block, of some heads of keys and the queries' heads that share them."""
        shared = q.shape[2] // heads if heads else 0
        of_q, of_k = (first * shared, count * shared), (first, count)
        block = blocks.gradients(ring.rank, do.narrow(2, *of_q), None if dlse is None else dlse.narrow(1, *of_q), q.narrow(2, *of_q), k.narrow(2, *of_k),
                                 v.narrow(2, *of_k), o.narrow(2, *of_q), lse.narrow(1, *of_q))
        if block:
            for whole, part, at in zip((dq, *home), (block[1], *block[3:]), (of_q, of_k, of_k)):
                whole.narrow(2, *at).add_(part)

    halves = halves_of(heads) if ring.world > 1 else [(0, heads)]
    kv, sums = [k.contiguous(), v.contiguous()], []
    if ring.world > 1:
        pending = ring.start(kv, like(kv, shards.count(ring.source(1))))
    own(*halves[0])
    if ring.world > 1:
        kv = pending.wait()
    for step in range(1, ring.world):
        source, following = ring.source(step), step + 1 < ring.world
        arriving = like(kv, shards.count(ring.source(step + 1))) if following else []
        earlier = like(kv, shards.count(source), torch.float32) if sums else []
        pending = ring.start([*(kv if following else []), *sums], [*arriving, *earlier])
        block = blocks.gradients(source, do, dlse, q, *kv, o, lse)
        pending.wait()
        sums = earlier or [torch.zeros_like(t, dtype=torch.float32) for t in kv]
        if block:
            rows, dq_part, keys, *parts = block
            add(dq, rows, dq_part)
            for whole, part in zip(sums, parts):
                add(whole, keys, part)
        kv = arriving
    if sums:
        arriving = like(home, shards.count(ring.rank))
        pending = ring.start(sums, arriving)
    for half in halves[1:]:
        own(*half)
    if sums:
        for whole, part in zip(home, pending.wait()):
            whole.add_(part)
    return tuple(whole.to(q.dtype) for whole in (dq, *home))


def around(group, lengths, packed, causal, balanced, scale, deterministic, q):
    ring = Ring(group)
    return ring, Blocks(shards_of(tuple(lengths), ring.world, balanced), ring.rank, packed, causal, scale, deterministic, q.device)


# `lengths` are those of whole sequences; tensors [B, positions, heads, D], or packed without B.
@torch.library.custom_op("selvedge::ring_attention", mutates_args=())
def ring_operator(q: Tensor, k: Tensor, v: Tensor, group: str, lengths: Sequence[int], packed: bool, causal: bool, balanced: bool, scale: Optional[float],
                  deterministic: bool) -> tuple[Tensor, Tensor]:
    ring, blocks = around(group, lengths, packed, causal, balanced, scale, deterministic, q)
    if not packed:
        return forward_around(ring, blocks, q, k, v)
    o, lse = forward_around(ring, blocks, *(t[None] for t in (q, k, v)))
    return o[0], lse[0]


@ring_operator.register_fake
def _(q, k, v, group, lengths, packed, causal, balanced, scale, deterministic):
    return outputs_of(q, v)


@torch.library.custom_op("selvedge::ring_attention_backward", mutates_args=())
def ring_backward_operator(do: Tensor, dlse: Optional[Tensor], q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, group: str, lengths: Sequence[int],
                           packed: bool, causal: bool, balanced: bool, scale: Optional[float], deterministic: bool) -> tuple[Tensor, Tensor, Tensor]:
    ring, blocks = around(group, lengths, packed, causal, balanced, scale, deterministic, q)
    inputs = (do, dlse, q, k, v, o, lse)
    if not packed:
        return backward_around(ring, blocks, *inputs)
    return tuple(t[0] for t in backward_around(ring, blocks, *(None if t is None else t[None] for t in inputs)))


@ring_backward_operator.register_fake
def _(do, dlse, q, k, v, o, lse, group, lengths, packed, causal, balanced, scale, deterministic):
    return gradients_of(q, k, v)


def keep_for_backward(ctx, inputs, output):
    q, k, v, *ctx.words = inputs
    ctx.save_for_backward(q, k, v, *output)


def backward(ctx, do, dlse):
    q, k, v, o, lse = ctx.saved_tensors
    do = do.contiguous() if do is not None else torch.zeros_like(o)
    gradients = torch.ops.selvedge.ring_attention_backward(do, dlse, q, k, v, o, lse, *ctx.words)
    return *gradients, *no_gradients(ctx.words)


torch.library.register_autograd("selvedge::ring_attention", backward, setup_context=keep_for_backward)


def call_ring(q, k, v, group, lengths, packed, causal, balanced, scale, deterministic, return_lse):
    rank, world = place_in(group)
    shards, dim = Shards(lengths, world, balanced), 0 if packed else 1
    check_count("k", k.shape[dim], shards, rank)
    if causal or packed:
        check_count("q", q.shape[dim], shards, rank)
    if k.shape[dim] != v.shape[dim]:
        raise ValueError(f"k has {k.shape[dim]} positions and v {v.shape[dim]}")
    check_heads(q, k, dim + 1)
    scale, deterministic = None if scale is None else float(scale), deterministic or packed and hands_out_bulk_copies(q)
    o, lse = torch.ops.selvedge.ring_attention(q, k, v, group, list(lengths), packed, causal, balanced, scale, deterministic)
    return (o, lse) if return_lse else o


def ring_attention(q, k, v, causal=False, scale=None, group=None, balanced=True, *, total=None, deterministic=True, return_lse=False):
    """Attention to the keys of all ranks of a group: [B, positions of this rank, heads, D] in bf16 or f16, as shard() shares them.

    Ranks hold equally many keys, or the shards of `total` ones. Without a mask queries may be any; with `causal` they are at the keys' positions. Every rank of the group
    has to call it, and its backward. deterministic=False adds gradients of q up in any order within a block, which is faster. lse is f32[B, heads, positions].
    BadInput: there is no group, or a shard has the wrong length. ValueError: heads do not fit.
    """
    name = name_of(group)
    total = k.shape[1] * place_in(name)[1] if total is None else total
    return call_ring(q, k, v, name, (total,), False, causal, balanced, scale, deterministic, return_lse)


def ring_attention_varlen(q, k, v, cu_seqlens, causal=False, scale=None, group=None, balanced=True, *, deterministic=True, return_lse=False):
    """ring_attention() of packed sequences, each of which is shared by the ranks: [positions of this rank, heads, D].

    cu_seqlens: 0 and the ends of the whole sequences; a list, or i32[sequences + 1]. One on a GPU is copied to the host, which waits. Sequences have any length, 0 too.
    lse is f32[heads, positions].
    """
    return call_ring(q, k, v, name_of(group), lengths_of_segments(cu_seqlens), True, causal, balanced, scale, deterministic, return_lse)
