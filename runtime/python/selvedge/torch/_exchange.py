# Context parallelism: from some positions of all heads to all positions of some heads, and back.
# SPDX-License-Identifier: MIT
from functools import lru_cache

import torch
import torch.distributed as dist

from ._groups import Pending, group_of, place_in
from ._shards import shards_of


@lru_cache(maxsize=64)
def orders_of(shards, device):
    """Where rows that come rank by rank lie in the whole, and the other way round: two tensors i64, or None twice where they lie as they come."""
    order = torch.cat([torch.arange(first, first + length) for rank in range(shards.world) for first, length in shards.pieces(rank)])
    if torch.equal(order, torch.arange(len(order))):
        return None, None
    return order.to(device), torch.argsort(order).to(device)


def in_order(x, order):
    return x if order is None else x.index_select(0, order)


class Exchange:
    """All-to-all of tensors [B, positions, heads, D]."""

    def __init__(self, group, lengths, balanced, device):
        self.group, (rank, self.world) = group_of(group), place_in(group)
        shards = shards_of(tuple(lengths), self.world, balanced)
        self.counts = [shards.count(other) for other in range(self.world)]
        self.own, self.total = self.counts[rank], sum(self.counts)
        self.by_rank, self.by_position = orders_of(shards, device)

    def start(self, received, sent, received_counts, sent_counts):
        work = dist.all_to_all_single(received, sent, received_counts, sent_counts, self.group, async_op=True)
        return Pending([work], sent, received)

    def start_to_heads(self, x, first, count):
        """Sends to each rank numbers first .. first + count - 1 of its heads. end_to_heads() gives [B, all positions, count, D]."""
        batch, own, heads, d = x.shape
        sent = x.unflatten(2, (self.world, heads // self.world)).narrow(3, first, count).permute(2, 1, 0, 3, 4).flatten(0, 1).contiguous()
        return self.start(x.new_empty(self.total, batch, count, d), sent, self.counts, [own] * self.world)

    def end_to_heads(self, pending):
        return in_order(pending.wait(), self.by_position).transpose(0, 1)

    def start_to_positions(self, y):
        """Back, of such a result."""
        batch, _, count, d = y.shape
        sent = in_order(y.transpose(0, 1), self.by_rank).contiguous()
        return self.start(y.new_empty(self.world * self.own, batch, count, d), sent, [self.own] * self.world, self.counts)

    def end_to_positions(self, pending, into, first):
        """Into those heads of [B, positions of this rank, heads, D]."""
        received = pending.wait().unflatten(0, (self.world, self.own))
        heads = into.unflatten(2, (self.world, into.shape[2] // self.world))
        heads.narrow(3, first, received.shape[3]).copy_(received.permute(2, 1, 0, 3, 4))
