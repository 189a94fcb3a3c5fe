# Causal attention with capped scores in a sliding window, the template `gemma`, against the libraries that have both.
# SPDX-License-Identifier: MIT
import functools
import math

import attention
import attention_peers
from selvedge_op import Build
from workload import Candidate, Cell

NAME = "softcap"
LIMIT = attention.LIMIT
# The template's own.
CAP, WINDOW = 50.0, 4096


def cells(quick=False):
    made = []
    for s in (1024, 4096) if quick else attention.SIZES:
        full = min(s, WINDOW)
        pairs = full * (full + 1) / 2 + (s - full) * WINDOW
        shape = dict(B=attention.TOKENS // s, M=s, N=s, H=16, G=16, D=128, DV=128, causal=True, T="bf16")
        made.append(Cell("softcap, window 4096, D 128", str(s), 4.0 * shape["B"] * 16 * pairs * 128, "TFLOP/s", shape))
    return made


def build(cell, arch):
    return Build("flash_fwd.tile", "gemma", arch, T=cell.T, D=cell.D, DV=cell.DV)


layouts = attention.layouts
data = attention.data


def reference(cell, tensors):
    """fp32, [B, M, H, DV]; one head at a time, whose scores fit."""
    import torch

    q, k, v = tensors["q"], tensors["k"], tensors["v"]
    out = torch.empty(cell.B, cell.M, cell.H, cell.DV, device="cuda")
    ones = torch.ones(cell.M, cell.N, dtype=torch.bool, device="cuda")
    hidden = ones.triu(1) | ones.tril(-WINDOW)
    for b in range(cell.B):
        for h in range(cell.H):
            scores = CAP * torch.tanh((q[b, :, h].float() @ k[b, :, h].float().T) * (1 / math.sqrt(cell.D)) / CAP)
            out[b, :, h] = torch.softmax(scores.masked_fill_(hidden, -math.inf), -1) @ v[b, :, h].float()
    return out


def fa3(cell, tensors, context):
    interface = attention_peers.package("flash_attn_interface")
    q, k, v = (tensors[name] for name in "qkv")
    return lambda: interface.flash_attn_func(q, k, v, causal=True, window_size=(WINDOW - 1, 0), softcap=CAP), attention_peers.first


def fa4(cell, tensors, context):
    interface = attention_peers.package("flash_attn.cute.interface")
    q, k, v = (tensors[name] for name in "qkv")
    # Its local kernels are slower than its causal ones.
    where = dict(causal=True) if cell.N <= WINDOW else dict(window_size_left=WINDOW - 1, window_size_right=0)
    return lambda: interface._flash_attn_fwd(q, k, v, softcap=CAP, num_splits=1, **where), attention_peers.first


@functools.cache
def capped():
    import torch

    return lambda score, b, h, i, j: CAP * torch.tanh(score / CAP)


def flex(cell, tensors, context):
    from torch.nn.attention.flex_attention import create_block_mask

    mask = create_block_mask(lambda b, h, i, j: (i >= j) & (i - j < WINDOW), None, None, cell.M, cell.N, device="cuda")
    q, k, v = (tensors[name].transpose(1, 2).contiguous() for name in "qkv")
    return lambda: attention_peers.compiled_flex()(q, k, v, score_mod=capped(), block_mask=mask), attention_peers.heads_last


CANDIDATES = [Candidate("selvedge", attention.selvedge(False, build)), Candidate("fa3", fa3), Candidate("fa4", fa4), Candidate("flex", flex, sampled=lambda cell: cell.M == 4096)]
