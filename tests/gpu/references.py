# Attention in PyTorch, for compare_torch.py and its cases.
# SPDX-License-Identifier: MIT
import math

import torch


def attention(q, k, v, causal, dtype):
    """Softmax attention on [B, M, H, D] / [B, N, G, D] in `dtype`; rows without keys give O = 0, LSE = -inf."""
    b, m, h, d = q.shape
    n, g = k.shape[1], k.shape[2]
    q, k, v = (t.to(dtype).transpose(1, 2) for t in (q, k, v))
    k, v = (t.repeat_interleave(h // g, dim=1) for t in (k, v))
    out, lse = torch.empty_like(q), torch.empty(b, h, m, dtype=dtype, device=q.device)
    for bi in range(b):
        for hi in range(h):  # one head at a time: the fp64 score matrix of all of them does not fit
            s = q[bi, hi] @ k[bi, hi].T / math.sqrt(d)
            if causal:
                i = torch.arange(m, device=q.device)[:, None]
                j = torch.arange(n, device=q.device)[None, :]
                s = s.masked_fill(j > i + n - m, float("-inf"))
            lse[bi, hi] = torch.logsumexp(s, -1)
            p = torch.exp(s - lse[bi, hi][:, None])
            out[bi, hi] = torch.where(torch.isinf(lse[bi, hi])[:, None], 0, p) @ v[bi, hi]
    return out.transpose(1, 2), lse


def torch_attention(q, k, v, causal):
    """PyTorch's own kernel for the comparison, in the inputs' type."""
    m, n = q.shape[1], k.shape[1]
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], dim=1) for t in (k, v))
    mask = None
    if causal:
        i = torch.arange(m, device=q.device)[:, None]
        mask = torch.arange(n, device=q.device)[None, :] <= i + n - m
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return out.transpose(1, 2)


def rows_with_keys(lse):
    """Whether rows of [B, M, H, D] have keys: PyTorch gives NaN in those that have none."""
    return torch.isfinite(lse).transpose(1, 2)[..., None]


def rel(x, ref):
    """Relative error in the Frobenius norm; infinite where finiteness differs."""
    x, ref = x.double(), ref.double()
    finite = torch.isfinite(ref)
    if not torch.equal(torch.isfinite(x), finite):
        return math.inf
    return ((x - ref)[finite].norm() / ref[finite].norm().clamp_min(1e-300)).item()
