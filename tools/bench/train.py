#!/usr/bin/env python3
# Trains a small transformer with our attention, forward and backward, beside PyTorch's.
# SPDX-License-Identifier: MIT
"""usage: train.py --selvedge build/bin/selvedge --out training.csv --svg training.svg [--arch sm_90a] [--steps 200]

A byte-level language model of the files below docs/ and templates/ is trained several times from the same weights on the same batches: with the templates flash_fwd and flash_bwd
(`selvedge`), with PyTorch's scaled_dot_product_attention in bf16 (`sdpa`), and in fp32 throughout (`fp32`). Written are the loss of each step and a plot. Before the first step the gradients of all
attentions are compared with fp32. Kernels are compiled into --artefacts; without --selvedge those found there are used. Exit status 1 if a loss is not finite, or ours ends further from fp32's
than PyTorch's does, twice that and 0.02 allowed.
"""
import argparse
import csv
import glob
import math
import os
import sys
import tempfile

import plot
from selvedge_op import ROOT, Build, Library, compile_all

WIDTH, LAYERS, HEADS, GROUPS, D, CONTEXT, BATCH = 384, 4, 6, 2, 64, 511, 12
CANDIDATES = ["selvedge", "sdpa", "fp32"]


def builds(arch):
    params = {"T": "bf16", "D": D, "DV": D, "causal": True}
    return Build("flash_fwd.tile", "flash_fwd", arch, **params), Build("flash_bwd.tile", "flash_bwd", arch, **params)


def make_attention(library, forward_build, backward_build):
    """Attention of our kernels as a function of PyTorch's autograd, tensors as [B, M, heads, D]."""
    import torch

    class Attention(torch.autograd.Function):
        @staticmethod
        def forward(context, q, k, v):
            b, m, h, _ = q.shape
            # What a kernel leaves out would show as NaN.
            o = torch.full_like(q, math.nan)
            lse = torch.full((b, h, m), math.nan, device=q.device)
            library.bind(forward_build, {"q": q, "k": k, "v": v, "o": o, "lse": lse})()
            context.save_for_backward(q, k, v, o, lse)
            return o

        @staticmethod
        def backward(context, do):
            q, k, v, o, lse = context.saved_tensors
            found = {"d" + name: torch.full_like(t, math.nan) for name, t in (("q", q), ("k", k), ("v", v))}
            library.bind(backward_build, {"q": q, "k": k, "v": v, "o": o, "dO": do.contiguous(), "lse": lse, **found})()
            return found["dq"], found["dk"], found["dv"]

    return Attention.apply


def sdpa(q, k, v):
    import torch

    k, v = (t.repeat_interleave(HEADS // GROUPS, dim=2) for t in (k, v))
    return torch.nn.functional.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)), is_causal=True).transpose(1, 2)


def make_model(attend, dtype):
    """A transformer with grouped heads; `dtype` is that of attention and of the products around it."""
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.qkv = nn.Linear(WIDTH, (HEADS + 2 * GROUPS) * D, bias=False)
            self.out = nn.Linear(HEADS * D, WIDTH, bias=False)
            self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

        def forward(self, x):
            b, m, _ = x.shape
            # Rows of q, k and v lie apart by all three: kernels take any strides.
            q, k, v = self.qkv(self.norm1(x)).to(dtype).view(b, m, HEADS + 2 * GROUPS, D).split([HEADS, GROUPS, GROUPS], dim=2)
            x = x + self.out(attend(q, k, v).reshape(b, m, HEADS * D))
            return x + self.mlp(self.norm2(x))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.bytes, self.places = nn.Embedding(256, WIDTH), nn.Embedding(CONTEXT, WIDTH)
            self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
            self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 256, bias=False)

        def forward(self, text):
            x = self.bytes(text[:, :-1]) + self.places.weight
            logits = self.head(self.norm(self.blocks(x)))
            return nn.functional.cross_entropy(logits.float().flatten(0, 1), text[:, 1:].flatten())

    torch.manual_seed(0)
    return Model().cuda()


def read_text():
    import torch

    paths = sorted(glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True) + glob.glob(os.path.join(ROOT, "templates", "*.tile")))
    data = b"".join(open(path, "rb").read() for path in paths)
    if len(data) < 4 * CONTEXT:
        sys.exit(f"train.py: error: expects text below '{ROOT}/docs', found {len(data)} bytes")
    return torch.frombuffer(bytearray(data), dtype=torch.uint8).long()


def batch(text, step):
    import torch

    generator = torch.Generator().manual_seed(1000 + step)
    starts = torch.randint(0, len(text) - CONTEXT - 1, (BATCH,), generator=generator)
    return torch.stack([text[s:s + CONTEXT + 1] for s in starts]).cuda()


def losses(attend, dtype, text, steps):
    """The loss of each step, and the gradients of all attentions' weights in the first one."""
    import torch

    model = make_model(attend, dtype)
    optimiser = torch.optim.AdamW(model.parameters(), lr=6e-4, betas=(0.9, 0.95))
    found, first = [], None
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = 6e-4 * min(1, (step + 1) / 20)
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=dtype != torch.float32):
            loss = model(batch(text, step))
        optimiser.zero_grad()
        loss.backward()
        first = torch.cat([block.qkv.weight.grad.flatten() for block in model.blocks]) if first is None else first
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        found.append(loss.item())
    return found, first


def write(options, curves):
    with open(options.out, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["step", *curves])
        for step, row in enumerate(zip(*curves.values())):
            writer.writerow([step, *(f"{loss:.6f}" for loss in row)])
    if options.svg:
        marks = range(0, options.steps, max(1, options.steps // 20))
        title = f"loss of a transformer of {LAYERS} layers, attention forward and backward by each"
        with open(options.svg, "w") as file:
            file.write(plot.draw(title, [str(s) if i % 4 == 0 else "" for i, s in enumerate(marks)], {name: [curve[s] for s in marks] for name, curve in curves.items()}, "selvedge"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--selvedge", help="the compiler; libselvedge.so is expected in ../lib beside it")
    parser.add_argument("--templates", default=os.path.join(ROOT, "templates"))
    parser.add_argument("--artefacts", help="folder of compiled kernels (default: a temporary one)")
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--out", default="training.csv")
    parser.add_argument("--svg")
    parser.add_argument("--compile-only", action="store_true", help="needs neither GPU nor PyTorch")
    options = parser.parse_args()
    if not options.selvedge and not options.artefacts:
        parser.error("one of --selvedge and --artefacts is needed")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.artefacts or temporary
        if options.selvedge:
            for name, message in compile_all(builds(options.arch), options.selvedge, options.templates, folder).items():
                sys.exit(f"{name}: {message}")
        if options.compile_only:
            return 0
        import torch

        text = read_text()
        ours = make_attention(Library(folder), *builds(options.arch))
        runs = {"selvedge": (ours, torch.bfloat16), "sdpa": (sdpa, torch.bfloat16), "fp32": (sdpa, torch.float32)}
        results = {name: losses(*runs[name], text, options.steps) for name in CANDIDATES}
    curves = {name: curve for name, (curve, _) in results.items()}
    write(options, curves)
    exact = results["fp32"][1]
    errors = {name: ((results[name][1] - exact).norm() / exact.norm()).item() for name in CANDIDATES[:2]}
    last = {name: sum(curve[-20:]) / len(curve[-20:]) for name, curve in curves.items()}
    print("first step, gradients of projections, error against fp32: " + ", ".join(f"{name} {error:.3e}" for name, error in errors.items()))
    print(f"mean loss of the last 20 of {options.steps} steps: " + ", ".join(f"{name} {loss:.4f}" for name, loss in last.items()))
    isFinite = all(math.isfinite(loss) for curve in curves.values() for loss in curve)
    isClose = abs(last["selvedge"] - last["fp32"]) <= 2 * abs(last["sdpa"] - last["fp32"]) + 0.02 and errors["selvedge"] <= 1.1 * errors["sdpa"]
    print("ok" if isFinite and isClose else "FAILED")
    return 0 if isFinite and isClose else 1


if __name__ == "__main__":
    sys.exit(main())
