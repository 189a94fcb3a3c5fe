# Forward attention, bf16 and a little f16, against every attention library at hand.
# SPDX-License-Identifier: MIT
import math

import attention_peers
from selvedge_op import Build, Layout
from workload import Candidate, Cell

NAME = "attention"
# Relative error in the Frobenius norm; rounding P and O to bf16 costs 2e-3 to 3e-3.
LIMIT = 6e-3

SIZES = (512, 1024, 2048, 4096, 8192, 16384)
TOKENS, WIDTH = 16384, 2048


def flops(b, m, n, h, d, dv, causal):
    return 2.0 * b * m * n * h * (d + dv) * (0.5 if causal else 1)


def square(family, s, h, g, d, dv, causal, b=None, x=None, T="bf16"):
    b = b or max(1, TOKENS // s)
    shape = dict(B=b, M=s, N=s, H=h, G=g, D=d, DV=dv, causal=causal, T=T)
    return Cell(f"{family} {'causal' if causal else 'full'}", x or str(s), flops(b, s, s, h, d, dv, causal), "TFLOP/s", shape)


def cells(quick=False):
    made = []
    for d in (128,) if quick else (128, 64, 256):
        for causal in (False, True):
            made += [square(f"D {d}", s, WIDTH // d, WIDTH // d, d, d, causal) for s in ((1024, 4096) if quick else SIZES)]
    if quick:
        return made + [square("GQA 32/8 D 128", 4096, 32, 8, 128, 128, True)]
    for causal in (False, True):
        made += [square("GQA 32/8 D 128", s, 32, 8, 128, 128, causal) for s in (2048, 4096, 8192)]
        made += [square("D 96", s, 16, 16, 96, 96, causal) for s in (1024, 4096, 16384)]
        made += [square("D 192/128", s, 16, 16, 192, 128, causal) for s in (1024, 4096, 16384)]
        made += [square("f16 D 128", s, 16, 16, 128, 128, causal, T="f16") for s in (2048, 8192)]
        # Sizes and a number of heads that fill neither tiles nor the chip evenly.
        made += [square("H 7 D 128", s, 7, 7, 128, 128, causal, b=round(TOKENS * 16 / (7 * s))) for s in (3000, 5000, 7777)]
    return made


def build(cell, arch):
    return Build("flash_fwd.tile", "flash_fwd", arch, T=cell.T, D=cell.D, DV=cell.DV, causal=cell.causal)


def layouts(cell):
    """The tensors of a launch, for dry runs."""
    half = lambda *shape: Layout(cell.T, shape)
    return {"q": half(cell.B, cell.M, cell.H, cell.D), "k": half(cell.B, cell.N, cell.G, cell.D), "v": half(cell.B, cell.N, cell.G, cell.DV),
            "o": half(cell.B, cell.M, cell.H, cell.DV), "lse": Layout("f32", (cell.B, cell.H, cell.M))}


def data(cell):
    import torch

    half = {"bf16": torch.bfloat16, "f16": torch.float16}[cell.T]
    make = lambda *shape: torch.randn(*shape, device="cuda", dtype=torch.float32).to(half)
    return {"q": make(cell.B, cell.M, cell.H, cell.D), "k": make(cell.B, cell.N, cell.G, cell.D), "v": make(cell.B, cell.N, cell.G, cell.DV)}


def reference(cell, tensors):
    """fp32, [B, M, H, DV]; one key/value head at a time, whose scores fit."""
    import torch

    q, k, v = tensors["q"], tensors["k"], tensors["v"]
    shared = cell.H // cell.G
    out = torch.empty(cell.B, cell.M, cell.H, cell.DV, device="cuda")
    hidden = torch.ones(cell.M, cell.N, dtype=torch.bool, device="cuda").triu(1 + cell.N - cell.M) if cell.causal else None
    for b in range(cell.B):
        for g in range(cell.G):
            heads = slice(g * shared, (g + 1) * shared)
            scores = q[b, :, heads].float().transpose(0, 1) @ k[b, :, g].float().T
            scores *= 1 / math.sqrt(cell.D)
            if cell.causal:
                scores.masked_fill_(hidden, -math.inf)
            out[b, :, heads] = (torch.softmax(scores, -1) @ v[b, :, g].float()).transpose(0, 1)
    return out


def selvedge(heads_first, build=build):
    def make(cell, tensors, context):
        import torch

        # Strides are free: with the heads first a head's rows are neighbours in memory.
        place = (lambda t: t.transpose(1, 2).contiguous().transpose(1, 2)) if heads_first else (lambda t: t)
        views = {name: place(t) for name, t in tensors.items()}
        views["o"] = place(torch.full((cell.B, cell.M, cell.H, cell.DV), math.nan, device="cuda", dtype=tensors["q"].dtype))
        views["lse"] = torch.full((cell.B, cell.H, cell.M), math.nan, device="cuda")
        launch = context.bind(build(cell, context.arch), views)

        def run():
            launch()
            return views["o"]

        return run, lambda o: o

    return make


CANDIDATES = [Candidate("selvedge", selvedge(False)), Candidate("selvedge_bhsd", selvedge(True), sampled=lambda cell: False)] + attention_peers.CANDIDATES
