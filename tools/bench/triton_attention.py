# Forward attention in Triton, as short as its tutorial's: one schedule, nothing is tuned.
# SPDX-License-Identifier: MIT
import math

import triton
import triton.language as tl


@triton.jit
def kernel(q, k, v, o, scale, length, heads, stride_batch, stride_row, stride_head, CAUSAL: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr, DIM: tl.constexpr):
    tile, item, head = tl.program_id(0), tl.program_id(1) // heads, tl.program_id(1) % heads
    base = item.to(tl.int64) * stride_batch + head * stride_head
    rows = tile * ROWS + tl.arange(0, ROWS)
    dims = tl.arange(0, DIM)
    q_tile = tl.load(q + base + rows[:, None] * stride_row + dims[None, :], mask=rows[:, None] < length, other=0.0)
    top = tl.full([ROWS], -float("inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    acc = tl.zeros([ROWS, DIM], tl.float32)
    end = tl.minimum((tile + 1) * ROWS, length) if CAUSAL else length
    for start in range(0, end, KEYS):
        keys = start + tl.arange(0, KEYS)
        k_tile = tl.load(k + base + keys[None, :] * stride_row + dims[:, None], mask=keys[None, :] < length, other=0.0)
        score = tl.dot(q_tile, k_tile) * (scale * 1.4426950408889634)
        seen = keys[None, :] < length
        if CAUSAL:
            seen = seen & (rows[:, None] >= keys[None, :])
        score = tl.where(seen, score, -float("inf"))
        new_top = tl.maximum(top, tl.max(score, 1))
        weight = tl.math.exp2(score - new_top[:, None])
        rescale = tl.math.exp2(top - new_top)
        total = total * rescale + tl.sum(weight, 1)
        v_tile = tl.load(v + base + keys[:, None] * stride_row + dims[None, :], mask=keys[:, None] < length, other=0.0)
        acc = tl.dot(weight.to(v_tile.dtype), v_tile, acc * rescale[:, None])
        top = new_top
    acc = acc / total[:, None]
    tl.store(o + base + rows[:, None] * stride_row + dims[None, :], acc.to(o.dtype.element_ty), mask=rows[:, None] < length)


def forward(q, k, v, causal):
    """[batch, length, heads, dim], equal heads, contiguous."""
    import torch

    batch, length, heads, dim = q.shape
    o = torch.empty_like(q)
    rows, keys = 128, 64
    kernel[(triton.cdiv(length, rows), batch * heads)](
        q, k, v, o, 1 / math.sqrt(dim), length, heads, q.stride(0), q.stride(1), q.stride(2), CAUSAL=causal, ROWS=rows, KEYS=keys, DIM=dim, num_warps=8, num_stages=3)
    return o
