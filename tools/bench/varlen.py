# Forward attention over packed sequences of different lengths, the template `flash_varlen`.
# SPDX-License-Identifier: MIT
import itertools
import math
import random

import attention
import attention_peers
from selvedge_op import Build, Layout
from workload import Candidate, Cell

NAME = "varlen"
LIMIT = attention.LIMIT

# Lengths of one batch; `mixed` has many short sequences and few long ones, as a server that batches prompts sees them.
MIXED_TOKENS = 32768


def lengths(name):
    if name != "mixed":
        count, length = map(int, name.split("x"))
        return [length] * count
    generator, made = random.Random(7), []
    while sum(made) < MIXED_TOKENS:
        made.append(min(round(math.exp(generator.uniform(0, math.log(16384)))), MIXED_TOKENS - sum(made)))
    return made


def cells(quick=False):
    made = []
    for (h, g, d), causal in itertools.product([(16, 16, 128)] if quick else [(16, 16, 128), (32, 8, 128), (32, 32, 64)], (False, True)):
        for name in ("mixed",) if quick else ("32x512", "8x2048", "2x8192", "mixed"):
            work = sum(attention.flops(1, n, n, h, d, d, causal) for n in lengths(name))
            heads = f"H {h}" if h == g else f"GQA {h}/{g}"
            made.append(Cell(f"varlen {heads} D {d} {'causal' if causal else 'full'}", name, work, "TFLOP/s", dict(H=h, G=g, D=d, DV=d, causal=causal, T="bf16", lengths=name)))
    return made


def build(cell, arch):
    return Build("flash_varlen.tile", "flash_varlen", arch, T=cell.T, D=cell.D, DV=cell.DV, causal=cell.causal)


def layouts(cell):
    total, count = sum(lengths(cell.lengths)), len(lengths(cell.lengths))
    half = lambda *shape: Layout(cell.T, shape)
    cu = Layout("i32", (count + 1,))
    return {"q": half(total, cell.H, cell.D), "k": half(total, cell.G, cell.D), "v": half(total, cell.G, cell.DV), "cu_q": cu, "cu_k": cu, "o": half(total, cell.H, cell.DV),
            "lse": Layout("f32", (cell.H, total))}


def data(cell):
    import torch

    total = sum(lengths(cell.lengths))
    make = lambda *shape: torch.randn(*shape, device="cuda").to(torch.bfloat16)
    cu = torch.tensor([0, *itertools.accumulate(lengths(cell.lengths))], dtype=torch.int32, device="cuda")
    return {"q": make(total, cell.H, cell.D), "k": make(total, cell.G, cell.D), "v": make(total, cell.G, cell.DV), "cu_q": cu, "cu_k": cu.clone()}


def reference(cell, tensors):
    """fp32, [tokens, H, DV]: each sequence as a batch of its own."""
    import torch

    out, first = [], 0
    for length in lengths(cell.lengths):
        part = {name: tensors[name][None, first:first + length] for name in "qkv"}
        shape = dict(cell.shape, B=1, M=length, N=length)
        out.append(attention.reference(Cell(cell.family, cell.x, 0, "", shape), part)[0])
        first += length
    return torch.cat(out)


def selvedge(cell, tensors, context):
    import torch

    total = tensors["q"].shape[0]
    views = dict(tensors, o=torch.full((total, cell.H, cell.DV), math.nan, device="cuda", dtype=torch.bfloat16), lse=torch.full((cell.H, total), math.nan, device="cuda"))
    launch = context.bind(build(cell, context.arch), views)

    def run():
        launch()
        return views["o"]

    return run, attention_peers.unchanged


def fa2(cell, tensors, context):
    import torch

    longest = max(lengths(cell.lengths))
    q, k, v, cu = (tensors[name] for name in ("q", "k", "v", "cu_q"))
    return lambda: torch.ops.aten._flash_attention_forward(q, k, v, cu, cu, longest, longest, 0.0, cell.causal, False), attention_peers.first


def packaged(module):
    def make(cell, tensors, context):
        function = attention_peers.package(module).flash_attn_varlen_func
        longest = max(lengths(cell.lengths))
        q, k, v, cu = (tensors[name] for name in ("q", "k", "v", "cu_q"))
        return lambda: function(q, k, v, cu_seqlens_q=cu, cu_seqlens_k=cu, max_seqlen_q=longest, max_seqlen_k=longest, causal=cell.causal), attention_peers.first

    return make


CANDIDATES = [Candidate("selvedge", selvedge), Candidate("fa2", fa2), Candidate("fa3", packaged("flash_attn_interface")), Candidate("fa4", packaged("flash_attn.cute.interface"))]
