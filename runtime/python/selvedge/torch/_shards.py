# Context parallelism: which positions of a sequence each rank of a group holds.
# SPDX-License-Identifier: MIT
from functools import lru_cache

import torch
import torch.distributed as dist

from .._errors import BadInput
from ._groups import group_of, name_of, place_in


class Shards:
    """Sequences of `lengths` positions, shared by `world` ranks.

    Balanced, a sequence has 2 * world chunks, of which rank r holds numbers r and 2 * world - 1 - r: with a causal mask all ranks have as much to do. Else it has one per
    rank. Chunk c of C goes from length * c // C to length * (c + 1) // C, so any length has its shards, empty ones among them.
    """

    def __init__(self, lengths, world, balanced):
        self.lengths, self.world, self.balanced = lengths, world, balanced

    def chunks(self, rank):
        """Numbers of the chunks that a rank holds, in order."""
        return (rank, 2 * self.world - 1 - rank) if self.balanced else (rank,)

    def bounds(self, length, chunk):
        count = (2 if self.balanced else 1) * self.world
        return length * chunk // count, length * (chunk + 1) // count

    def sizes(self, rank):
        """Of each sequence the positions in each chunk of the rank."""
        return [[end - begin for begin, end in (self.bounds(length, chunk) for chunk in self.chunks(rank))] for length in self.lengths]

    def count(self, rank):
        """Positions of the rank, of all sequences together."""
        return sum(map(sum, self.sizes(rank)))

    def pieces(self, rank):
        """(first, length) of the chunks of the rank in the whole, sequence by sequence."""
        base = 0
        for length in self.lengths:
            for begin, end in (self.bounds(length, chunk) for chunk in self.chunks(rank)):
                yield base + begin, end - begin
            base += length


def halves_of(heads):
    """(first, count) of two parts of heads, of one where there is one head: the transfers of a part hide behind the kernels of the other."""
    return [(0, heads // 2), (heads // 2, heads - heads // 2)] if heads > 1 else [(0, heads)]


@lru_cache(maxsize=64)
def shards_of(lengths, world, balanced):
    return Shards(lengths, world, balanced)


def lengths_of_segments(cu_seqlens):
    """Lengths of packed sequences, as Python's integers: of a list, or of a tensor, which is copied to the host if it lies elsewhere."""
    ends = cu_seqlens.tolist() if isinstance(cu_seqlens, torch.Tensor) else [int(end) for end in cu_seqlens]
    if not ends or ends[0] != 0 or any(a > b for a, b in zip(ends, ends[1:])):
        raise BadInput(f"cu_seqlens is {ends}, expected 0 and the ends of the sequences, none less than the one before it")
    return tuple(b - a for a, b in zip(ends, ends[1:]))


def check_count(name, found, shards, rank):
    wanted = shards.count(rank)
    if found != wanted:
        kind = "balanced" if shards.balanced else "consecutive"
        raise BadInput(f"{name} has {found} positions, but of {sum(shards.lengths)} rank {rank} of {shards.world} holds {wanted} ({kind} shards)")


def shards_for(total, cu_seqlens, world, balanced):
    return shards_of((total,) if cu_seqlens is None else lengths_of_segments(cu_seqlens), world, balanced)


def shard(x, dim=1, group=None, balanced=True, cu_seqlens=None):
    """This rank's positions of a whole tensor, whose dimension `dim` is that of positions: a new tensor, differentiable.

    With cu_seqlens, i32[sequences + 1], the dimension is one of packed sequences, each of which is shared by the ranks. `shard(torch.arange(n), 0)` tells which positions a
    rank holds. BadInput: the sequences are not as long as the dimension.
    """
    rank, world = place_in(name_of(group))
    shards = shards_for(x.shape[dim], cu_seqlens, world, balanced)
    if sum(shards.lengths) != x.shape[dim]:
        raise BadInput(f"cu_seqlens ends at {sum(shards.lengths)}, but dimension {dim} has {x.shape[dim]} positions")
    return torch.cat([x.narrow(dim, first, length) for first, length in shards.pieces(rank)], dim)


def unshard(x, dim=1, group=None, balanced=True, cu_seqlens=None, total=None):
    """The whole tensor, on every rank, of the parts that shard() gives. It has no gradient.

    total: how many positions there are, if the ranks do not all hold the same number.
    """
    if torch.is_grad_enabled() and x.requires_grad:
        raise NotImplementedError("unshard has no gradient; detach the tensor")
    name = name_of(group)
    rank, world = place_in(name)
    dim %= x.dim()
    shards = shards_for(x.shape[dim] * world if total is None else total, cu_seqlens, world, balanced)
    check_count("the tensor", x.shape[dim], shards, rank)
    counts = [shards.count(other) for other in range(world)]
    # Ranks exchange as many rows as the longest shard has.
    rows = x.movedim(dim, 0)
    padded = rows.new_zeros(max(counts), *rows.shape[1:])
    padded[:rows.shape[0]] = rows
    parts = [torch.empty_like(padded) for _ in range(world)]
    dist.all_gather(parts, padded, group=group_of(name))
    whole = rows.new_empty(sum(counts), *rows.shape[1:])
    for other, part in enumerate(parts):
        at = 0
        for first, length in shards.pieces(other):
            whole[first:first + length] = part[at:at + length]
            at += length
    return whole.movedim(0, dim)
