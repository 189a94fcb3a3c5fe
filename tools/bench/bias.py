# Forward attention with a bias or a mask from memory, the templates `biased` and `masked`, beside FlexAttention and PyTorch's own.
# SPDX-License-Identifier: MIT
import itertools
import math

import attention
import attention_peers
from selvedge_op import Build, Layout
from workload import Candidate, Cell

NAME = "bias"
LIMIT = attention.LIMIT
# What lies in memory, and its type, [B or 1, H or 1, M, N]; extents of 1 are repeated with a stride of 0. PyTorch takes no f32 bias: its own is bf16 then.
KINDS = {"bias 1 x H": ("biased", "bf16", False, True), "bias B x H": ("biased", "bf16", True, True), "f32 bias B x H": ("biased", "f32", True, True),
         "mask B x 1": ("masked", "bool", True, False), "mask B x H": ("masked", "bool", True, True)}


def cells(quick=False):
    made = []
    for (kind, (op, memory, batches, heads)), d in itertools.product(list(KINDS.items())[:1] if quick else KINDS.items(), (128,) if quick else (128, 64)):
        for s in (1024,) if quick else (1024, 4096):
            h = attention.WIDTH // d
            shape = dict(B=attention.TOKENS // s, M=s, N=s, H=h, G=h, D=d, DV=d, causal=False, T="bf16", op=op, memory=memory, batches=batches, heads=heads)
            made.append(Cell(f"{kind} D {d}", str(s), attention.flops(shape["B"], s, s, h, d, d, False), "TFLOP/s", shape))
    return made


def build(cell, arch):
    bias = dict(BT=cell.memory) if cell.op == "biased" else {}
    return Build("flash_variants.tile", cell.op, arch, T=cell.T, D=cell.D, DV=cell.DV, **bias)


def input_of(cell):
    """Name and type of the input, and its extents in memory."""
    return "bias" if cell.op == "biased" else "mask", cell.memory, (cell.B if cell.batches else 1, cell.H if cell.heads else 1, cell.M, cell.N)


def layouts(cell):
    name, dtype, (b, h, m, n) = input_of(cell)
    strides = (h * m * n if cell.batches else 0, m * n if cell.heads else 0, n, 1)
    return dict(attention.layouts(cell), **{name: Layout(dtype, (cell.B, cell.H, m, n), strides)})


def data(cell):
    import torch

    _, dtype, extents = input_of(cell)
    if dtype == "bool":
        made = torch.rand(extents, device="cuda") < 0.7
        made[..., 0] = True  # rows without keys are NaN in PyTorch
    else:
        # The same numbers in bf16.
        made = torch.randn(extents, device="cuda", dtype=torch.bfloat16)
    return dict(attention.data(cell), memory=made)


def reference(cell, tensors):
    """fp32, [B, M, H, DV]; one head at a time, whose scores fit."""
    import torch

    out = torch.empty(cell.B, cell.M, cell.H, cell.DV, device="cuda")
    every = tensors["memory"].expand(cell.B, cell.H, cell.M, cell.N)
    for b in range(cell.B):
        for h in range(cell.H):
            q, k, v = (tensors[name][b, :, h].float() for name in "qkv")
            scores = q @ k.T * (1 / math.sqrt(cell.D))
            scores = scores.masked_fill(~every[b, h], -math.inf) if cell.op == "masked" else scores + every[b, h].float()
            out[b, :, h] = torch.softmax(scores, -1) @ v
    return out


def selvedge(cell, tensors, context):
    import torch

    name, dtype, _ = input_of(cell)
    memory = tensors["memory"].float() if dtype == "f32" else tensors["memory"]
    views = {name: tensors[name] for name in "qkv"}
    views.update({name: memory.expand(cell.B, cell.H, cell.M, cell.N)}, o=torch.full((cell.B, cell.M, cell.H, cell.DV), math.nan, device="cuda", dtype=torch.bfloat16),
                 lse=torch.full((cell.B, cell.H, cell.M), math.nan, device="cuda"))
    launch = context.bind(build(cell, context.arch), views)

    def run():
        launch()
        return views["o"]

    return run, attention_peers.unchanged


def sdpa(backend):
    def make(cell, tensors, context):
        import torch
        from torch.nn.attention import SDPBackend, sdpa_kernel

        chosen, memory = getattr(SDPBackend, backend), tensors["memory"]
        q, k, v = (tensors[name].transpose(1, 2) for name in "qkv")

        def run():
            with sdpa_kernel(chosen):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=memory)

        return run, attention_peers.heads_last

    return make


def flex(cell, tensors, context):
    import torch

    _, dtype, _ = input_of(cell)
    memory = tensors["memory"].float() if dtype == "f32" else tensors["memory"]
    every = memory.expand(cell.B, cell.H, cell.M, cell.N)
    if dtype == "bool":
        change = lambda score, b, h, i, j: torch.where(every[b, h, i, j], score, -math.inf)
    else:
        change = lambda score, b, h, i, j: score + every[b, h, i, j]
    q, k, v = (tensors[name].transpose(1, 2).contiguous() for name in "qkv")
    return lambda: attention_peers.compiled_flex()(q, k, v, score_mod=change), attention_peers.heads_last


CANDIDATES = [Candidate("selvedge", selvedge), Candidate("efficient", sdpa("EFFICIENT_ATTENTION")), Candidate("cudnn", sdpa("CUDNN_ATTENTION")), Candidate("flex", flex)]
