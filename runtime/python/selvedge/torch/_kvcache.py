# Attention to caches of keys and values, with the arguments of flash_attn_with_kvcache of the package flash_attn.
# SPDX-License-Identifier: MIT
import torch

from ._attention import check_heads
from ._cached import attend

# Rows of the pages that a dense cache is cut into where it is read by numbers of sequences.
PAGE_ROWS = 128


def rotated(x, cos, sin, positions, interleaved):
    """Rotary embedding of the first 2 * cos.shape[1] elements of x, [B, positions, heads, D], in f32; positions i64[B, positions], those behind the table take its last row."""
    positions = positions.clamp(0, cos.shape[0] - 1)
    c, s = (table[positions].float()[:, :, None] for table in (cos, sin))
    head, rest = x.split([2 * cos.shape[1], x.shape[-1] - 2 * cos.shape[1]], -1)
    a, b = head.float().unflatten(-1, (-1, 2)).unbind(-1) if interleaved else head.float().chunk(2, -1)
    turned = a * c - b * s, a * s + b * c
    head = torch.stack(turned, -1).flatten(-2) if interleaved else torch.cat(turned, -1)
    return torch.cat([head.to(x.dtype), rest], -1)


def slots_of(positions, table, rows, capacity):
    """Where positions i64[B, A] of sequences lie in pages of `rows` rows, of which a sequence has those that table i32[B, pages] names: i32[B, A], -1 where nowhere."""
    page = table.gather(1, (positions // rows).clamp(0, table.shape[1] - 1)).long()
    inside = (positions >= 0) & (positions < capacity) & (page >= 0)
    return torch.where(inside, page * rows + positions % rows, -1).int()


def pages_of(caches, numbers):
    """Pages and table of dense caches [C, capacity, heads, D], of which sequences have the numbers i32[B]: views, no copies."""
    capacity = caches[0].shape[1]
    if capacity % PAGE_ROWS or any(cache.stride(0) != capacity * cache.stride(1) for cache in caches):
        return caches, numbers[:, None]
    count = capacity // PAGE_ROWS
    table = numbers[:, None] * count + torch.arange(count, dtype=torch.int32, device=numbers.device)
    return [cache.view(-1, PAGE_ROWS, *cache.shape[2:]) for cache in caches], table


def append_new(q, k, v, k_cache, v_cache, rotary, lengths, cache_batch_idx, block_table, causal, local):
    """Writes k and v behind those that sequences have, turned by the rotary embedding, if there is one; returns the queries, turned as well."""
    behind = lengths.long()[:, None]
    positions = behind + torch.arange(k.shape[1], device=k.device)
    if rotary:
        # Without a mask all queries are at the first new position.
        rows = torch.arange(q.shape[1], device=q.device) if causal or local else torch.zeros(q.shape[1], dtype=torch.long, device=q.device)
        q, k = rotated(q, rotary[0], rotary[1], behind + rows, rotary[2]), rotated(k, rotary[0], rotary[1], positions, rotary[2])
    if block_table is not None:
        rows = k_cache.shape[1]
        torch.ops.selvedge.append_slots(k_cache, v_cache, k, v, slots_of(positions, block_table, rows, block_table.shape[1] * rows))
    elif cache_batch_idx is not None:
        capacity = k_cache.shape[1]
        torch.ops.selvedge.append_slots(k_cache, v_cache, k, v, slots_of(positions, cache_batch_idx[:, None], capacity, capacity))
    else:
        torch.ops.selvedge.append(k_cache, v_cache, k, v, lengths)
    return q


def flash_attn_with_kvcache(q, k_cache, v_cache, k=None, v=None, rotary_cos=None, rotary_sin=None, cache_seqlens=None, cache_batch_idx=None,
                            cache_leftpad=None, block_table=None, softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0,
                            rotary_interleaved=True, alibi_slopes=None, num_splits=0, return_softmax_lse=False):
    """Attention to a cache: [C, capacity, heads, D], or pages [pages, size, heads, D] with block_table i32[B, pages of a sequence].

    k and v, if given, are written behind the cache_seqlens positions of each sequence first, in place. rotary_cos and rotary_sin, [positions, rotary / 2], turn the new keys and the
    queries before. cache_batch_idx, i32[B], tells which rows of the cache the sequences have; new keys need different ones. Positions before cache_leftpad, i32[B], hold no
    keys. num_splits is chosen here. There are no gradients. ValueError: arguments that do not go together.
    """
    check_heads(q, k_cache, 2)
    batch, lengths, local = q.shape[0], cache_seqlens, any(width >= 0 for width in window_size)
    if isinstance(lengths, int):
        lengths = torch.full((batch,), lengths, dtype=torch.int32, device=q.device)
    if block_table is not None and cache_batch_idx is not None:
        raise ValueError("block_table and cache_batch_idx exclude each other")
    if block_table is not None and lengths is None:
        raise ValueError("block_table needs cache_seqlens")
    if rotary_cos is not None and k is None:
        raise ValueError("rotary_cos needs k: new keys")
    if k is not None:
        if lengths is None:
            raise ValueError("k needs cache_seqlens: where it goes")
        rotary = None if rotary_cos is None else (rotary_cos, rotary_sin, rotary_interleaved)
        q = append_new(q, k, v, k_cache, v_cache, rotary, lengths, cache_batch_idx, block_table, causal, local)
        lengths = lengths + k.shape[1]
    if cache_batch_idx is not None:
        lengths = torch.full((batch,), k_cache.shape[1], dtype=torch.int32, device=q.device) if lengths is None else lengths
        (k_cache, v_cache), block_table = pages_of((k_cache, v_cache), cache_batch_idx)
    o, lse = attend(q, k_cache, v_cache, lengths, block_table, softmax_scale, causal, window_size, softcap, alibi_slopes, cache_leftpad)
    return (o, lse) if return_softmax_lse else o
