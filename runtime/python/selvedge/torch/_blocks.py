# Context parallelism: attention of one rank's queries to another's keys, and how such results are joined.
# SPDX-License-Identifier: MIT
from functools import lru_cache
from itertools import accumulate

import torch

from .. import jit
from ._ops import on_one_line, type_of
from ._text import Text

# Of the positions that a rank holds: all, those of the first chunk of each sequence, or those of the second.
ALL, FIRST, SECOND = range(3)


def part_of(sizes, part):
    """Lengths of the sequences where only a part of each is meant."""
    return [sum(chunks) if part == ALL else chunks[part - 1] for chunks in sizes]


@lru_cache(maxsize=64)
def segments_of(shards, rank, part, device):
    """Where packed sequences begin and end, i32[sequences + 1]."""
    return torch.tensor([0, *accumulate(part_of(shards.sizes(rank), part))], dtype=torch.int32).to(device, non_blocking=True)


@lru_cache(maxsize=64)
def rows_of(shards, rank, part, device):
    """Rows of a part among the packed rows of a rank, i64."""
    rows, at = [], 0
    for first, second in shards.sizes(rank):
        rows.append(torch.arange(at, at + first) if part == FIRST else torch.arange(at + first, at + first + second))
        at += first + second
    return torch.cat(rows).to(device, non_blocking=True)


@lru_cache(maxsize=None)
def merge_of(kind, dv):
    return jit("merge.tile", T=kind, DV=dv)


def pick(x, dim, rows):
    """Rows of a tensor: all for None, a view for (first, length), a new tensor for indices."""
    if rows is None:
        return x
    return x.narrow(dim, *rows) if isinstance(rows, tuple) else x.index_select(dim, rows)


class Blocks:
    """Blocks of an attention that ranks share: tensors [B, positions of a rank, heads, D], where B is 1 if sequences are packed."""

    def __init__(self, shards, rank, packed, causal, scale, deterministic, device):
        self.shards, self.rank, self.packed, self.causal = shards, rank, packed, causal
        self.scale, self.deterministic, self.device = scale, deterministic, device

    def parts(self, source):
        """Which of the queries see which keys of rank `source`, and whether that block is causal itself; None where none do."""
        if not self.causal:
            return ALL, ALL, False
        if source == self.rank:
            # Chunks lie in their order, so those before are seen as a whole.
            return ALL, ALL, True
        if self.shards.balanced:
            return (ALL, FIRST, False) if source < self.rank else (SECOND, ALL, False)
        return (ALL, ALL, False) if source < self.rank else None

    def rows(self, rank, part):
        if part == ALL:
            return None
        if self.packed:
            return rows_of(self.shards, rank, part, self.device)
        ((first, second),) = self.shards.sizes(rank)
        return (0, first) if part == FIRST else (first, second)

    def operands(self, source, parts, causal):
        """Of an operator of _ops.py: tensors, names, scalars, source text."""
        template = "flash_varlen" if self.packed else "flash_fwd"
        tensors = [segments_of(self.shards, rank, part, self.device) for rank, part in zip((self.rank, source), parts)] if self.packed else []
        names = "q,k,v,cu_q,cu_k" if self.packed else "q,k,v"
        scalars = [] if self.scale is None else [self.scale]
        text, op = Text(template, causal=True if causal else None).source()
        return tensors, names, scalars, "scale" if scalars else "", on_one_line(text), op

    def attend(self, source, q, k, v):
        """(rows, o, lse) of the queries that see keys of rank `source`, or None where there are none."""
        parts = self.parts(source)
        if parts is None:
            return None
        rows, keys = self.rows(self.rank, parts[0]), self.rows(source, parts[1])
        q, k, v = pick(q, 1, rows), pick(k, 1, keys), pick(v, 1, keys)
        if not q.shape[1] or not k.shape[1]:
            return None
        inputs = [t[0] for t in (q, k, v)] if self.packed else [q, k, v]
        o, lse = torch.ops.selvedge.attention(*inputs, *self.operands(source, parts[:2], parts[2]), self.deterministic)
        return (rows, o[None], lse[None]) if self.packed else (rows, o, lse)

    def gradients(self, source, do, dlse, q, k, v, o, lse):
        """(rows, dq, keys, dk, dv) of that block, or None. o and lse are the results for all keys: so blocks' gradients add up."""
        parts = self.parts(source)
        if parts is None:
            return None
        rows, keys = self.rows(self.rank, parts[0]), self.rows(source, parts[1])
        do, q, o, k, v = *(pick(t, 1, rows) for t in (do, q, o)), *(pick(t, 1, keys) for t in (k, v))
        lse, dlse = pick(lse, 2, rows), None if dlse is None else pick(dlse, 2, rows)
        if not q.shape[1] or not k.shape[1]:
            return None
        inputs = [t[0] if self.packed and t is not None else t for t in (do, dlse, q, k, v, o, lse)]
        *grads, _ = torch.ops.selvedge.attention_backward(*inputs, *self.operands(source, parts[:2], parts[2]), self.deterministic)
        dq, dk, dv = (t[None] for t in grads) if self.packed else grads
        return rows, dq, keys, dk, dv


def merge(whole, rows, o, lse):
    """Joins the result of a block into (o, lse) of all queries, in f32, in place."""
    into = [pick(t, dim, rows) for t, dim in zip(whole, (1, 2))]
    merge_of(type_of(o), o.shape[-1])(o, lse, *into)
    if isinstance(rows, torch.Tensor):
        for t, dim, part in zip(whole, (1, 2), into):
            t.index_copy_(dim, rows, part)


def add(whole, rows, part):
    """Adds gradients of a block to those of all rows, in f32, in place. No two rows are one, so the order of additions is fixed."""
    if isinstance(rows, torch.Tensor):
        whole.index_add_(1, rows, part.to(whole.dtype))
    else:
        pick(whole, 1, rows).add_(part)
