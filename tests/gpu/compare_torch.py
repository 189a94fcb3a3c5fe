#!/usr/bin/env python3
# Runs the templates on the GPU and compares them with PyTorch, both measured against fp64.
# SPDX-License-Identifier: MIT
"""usage: compare_torch.py --selvedge build/bin/selvedge --templates templates [--arch sm_80 ...] [--only gradients] [--filter REGEX] [--jobs N] [--budget S] [--out table.json]

Writes inputs as safetensors, runs `selvedge run`, reads the outputs. A case passes when the error against fp64 is no larger than twice PyTorch's
own, for gradients in bf16 1.1 times. Inputs are packed inside `selvedge run` into allocations with poisoned surroundings; outputs are poisoned before
the launch. `gradients` (gradients.py) has more gradients, on adversarial data, too. --out is written as cases end.
"""
import argparse
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import torch

import compare_inference
import gradients
from references import attention, rel, rows_with_keys, torch_attention

FLASH_SHAPES = [  # B, H, G, M, N, causal
    (2, 8, 8, 1024, 1024, False),
    (1, 8, 2, 4095, 4095, False),
    (3, 4, 4, 1, 777, False),
    (2, 4, 1, 333, 65, False),
    (1, 2, 2, 256, 64, True),
]


class Runner:
    def __init__(self, options):
        self.options = options
        self.deadline = time.monotonic() + (options.budget or 1e9)
        self.rows, self.left, self.saved = [], 0, 0
        # PyTorch's choice of kernels is one of the process: cases take turns, but where they wait for `selvedge run`.
        self.cases, self.turn = [], threading.Lock()

    def run(self, template, arch, sets, inputs, op=None, shape=None):
        from safetensors.torch import load_file, save_file

        with tempfile.TemporaryDirectory() as folder:
            source, target = os.path.join(folder, "in.safetensors"), os.path.join(folder, "out.safetensors")
            save_file({name: t.contiguous().cpu() for name, t in inputs.items()}, source)
            command = [self.options.selvedge, "run", os.path.join(self.options.templates, template), "--arch", arch, "-i", source, "-o", target,
                       "--device", "gpu", "--poison", "nan"]
            for name, value in sets.items():
                command += ["--set", f"{name}={value}"]
            command += (["--op", op] if op else []) + (["--shape", shape] if shape else [])
            self.turn.release()
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=min(300, max(30, self.deadline + 30 - time.monotonic())))
            finally:
                self.turn.acquire()
            if done.returncode:
                raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
            return {name: t.cuda() for name, t in load_file(target).items()}

    def record(self, case, error, own, bound=2):
        self.add({"case": case, "error": error, "torch": own, "bound": bound, "pass": error <= bound * own + 1e-7})

    def add(self, row):
        self.rows.append(row)
        known = lambda name: "none" if row.get(name) is None else f"{row[name]:.3e}"
        told = row["message"][:1500] if "message" in row else f"error {known('error')}  torch {known('torch')}"
        print(f"{'ok  ' if row['pass'] else 'FAIL'} {row['case']:64s} {told}", flush=True)
        if time.monotonic() > self.saved + 5:
            self.save()

    def save(self):
        self.saved = time.monotonic()
        if self.options.out:
            with open(self.options.out, "w") as file:
                json.dump({"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "rows": self.rows}, file, indent=1)

    def note(self, case, check, *arguments):
        """A case to run later, `check(runner, *arguments)`."""
        if (not self.options.only or case.split()[0] in self.options.only) and re.search(self.options.filter, case):
            self.cases.append((case, check, arguments))

    def run_all(self):
        """What has been noted, side by side; whatever a budget leaves over is a fair sample of both targets."""
        random.Random(0).shuffle(self.cases)
        with ThreadPoolExecutor(self.options.jobs) as pool:
            list(pool.map(self.run_one, self.cases))

    def run_one(self, entry):
        case, check, arguments = entry
        with self.turn:
            if time.monotonic() > self.deadline:
                self.left += 1
                return
            try:
                check(self, *arguments)
            except Exception as error:  # a failed case must not hide the others
                self.add({"case": case, "error": None, "pass": False, "message": str(error)[:4000]})


def flash(runner, arch, dtype, name, d, shape):
    b, h, g, m, n, causal = shape
    generator = torch.Generator("cuda").manual_seed(hash((b, h, m, n, d)) & 0xFFFF)
    make = lambda *s: torch.randn(*s, device="cuda", generator=generator).to(dtype)
    q, k, v = make(b, m, h, d), make(b, n, g, d), make(b, n, g, d)
    out = runner.run("flash_fwd.tile", arch, {"T": name, "D": d, "causal": str(causal).lower()}, {"q": q, "k": k, "v": v})
    ref, lse = attention(q, k, v, causal, torch.float64)
    own = torch_attention(q, k, v, causal)
    case = f"flash_fwd {arch} {name} D={d} B={b} H={h}/{g} M={m} N={n} causal={causal}"
    runner.record(case + " o", rel(out["o"], ref), rel(torch.where(rows_with_keys(lse), own, 0), ref))
    runner.record(case + " lse", rel(out["lse"], lse), 5e-7)


def flash_bwd(runner, arch, dtype, name, d, shape):
    b, h, g, m, n, causal = shape
    generator = torch.Generator("cuda").manual_seed(hash((b, h, m, n, d)) & 0xFFFF)
    make = lambda *s: torch.randn(*s, device="cuda", generator=generator).to(dtype)
    q, k, v, do = make(b, m, h, d), make(b, n, g, d), make(b, n, g, d), make(b, m, h, d)

    def gradients(forward, kind):
        inputs = [t.to(kind).requires_grad_() for t in (q, k, v)]
        forward(*inputs).backward(do.to(kind))
        return dict(zip(("dq", "dk", "dv"), (t.grad for t in inputs)))

    with torch.no_grad():
        o, lse = attention(q, k, v, causal, torch.float64)
    if not torch.isfinite(lse).all():
        return  # PyTorch gives NaN in rows without keys
    out = runner.run("flash_bwd.tile", arch, {"T": name, "D": d, "causal": str(causal).lower()},
                     {"q": q, "k": k, "v": v, "o": o.to(dtype), "dO": do, "lse": lse.float()})
    ref = gradients(lambda *x: attention(*x, causal, torch.float64)[0], torch.float64)
    own = gradients(lambda *x: torch_attention(*x, causal), dtype)
    for grad in ref:
        case = f"flash_bwd {arch} {name} D={d} B={b} H={h}/{g} M={m} N={n} causal={causal} {grad}"
        runner.record(case, rel(out[grad], ref[grad]), rel(own[grad], ref[grad]), 1.1 if name == "bf16" else 2)


def decode(runner, arch, dtype, name, d):
    """Lengths of their own, keys in parts as the launch chooses; PyTorch gets each sequence cut to its length."""
    for b, h, g, m, n in ((3, 32, 8, 1, 3000), (2, 16, 1, 3, 777), (40, 8, 8, 1, 200)):
        generator = torch.Generator("cuda").manual_seed(n)
        make = lambda *s: torch.randn(*s, device="cuda", generator=generator).to(dtype)
        q, k, v = make(b, m, h, d), make(b, n, g, d), make(b, n, g, d)
        lengths = torch.tensor([(n - 37 * i) % (n + 1) for i in range(b)], dtype=torch.int32)
        out = runner.run("flash_decode.tile", arch, {"T": name, "D": d}, {"q": q, "k": k, "v": v, "kv_len": lengths})
        parts = [(q[i:i + 1], k[i:i + 1, :length], v[i:i + 1, :length]) for i, length in enumerate(lengths.tolist())]
        refs = [attention(*part, True, torch.float64) for part in parts]
        ref, lse = (torch.cat(tensors) for tensors in zip(*refs))
        own = torch.cat([torch_attention(*part, True) if part[1].shape[1] else torch.zeros_like(part[0]) for part in parts])
        case = f"flash_decode {arch} {name} D={d} B={b} H={h}/{g} M={m} N={n}"
        runner.record(case + " o", rel(out["o"], ref), rel(torch.where(rows_with_keys(lse), own, 0), ref))
        runner.record(case + " lse", rel(out["lse"], lse), 5e-7)


def mla_decode(runner, arch, dtype, name):
    """Values are the first 512 of 576 columns of the keys, which all heads share."""
    for b, m, h, n in ((2, 1, 128, 2000), (3, 2, 16, 333)):
        make = lambda *s: torch.randn(*s, device="cuda").to(dtype)
        q, k = make(b, m, h, 576), make(b, n, 1, 576)
        v = k[..., :512]
        out = runner.run("mla_decode.tile", arch, {"T": name}, {"q": q, "k": k[:, :, 0], "v": v.reshape(b, n, 4, 128)})
        ref = torch.empty(b, m, h, 512, device="cuda", dtype=torch.float64)
        lse = torch.empty(b, h, m, device="cuda", dtype=torch.float64)
        own = torch.empty_like(ref)
        hidden = torch.arange(n, device="cuda")[None, :] > torch.arange(m, device="cuda")[:, None] + n - m
        for i in range(b):
            for kind, weights in ((torch.float64, torch.float64), (torch.float32, dtype)):
                s = (q[i].transpose(0, 1).to(kind) @ k[i, :, 0].T.to(kind) / 24).masked_fill(hidden, -math.inf)
                o = (torch.softmax(s, -1).to(weights) @ v[i, :, 0].to(weights)).transpose(0, 1)
                if kind == torch.float64:
                    ref[i], lse[i] = o, torch.logsumexp(s, -1)
                else:
                    own[i] = o
        case = f"mla_decode {arch} {name} B={b} M={m} H={h} N={n}"
        runner.record(case + " o", rel(out["o"].reshape(b, m, h, 512), ref), rel(own, ref))
        runner.record(case + " lse", rel(out["lse"], lse), 5e-7)


def append_kv(runner, arch, dtype, name):
    b, g, a, n, d = 5, 4, 33, 300, 128
    make = lambda *s: torch.randn(*s, device="cuda").to(dtype)
    inputs = {"kn": make(b, a, g, d), "vn": make(b, a, g, d), "kc": make(b, n, g, d), "vc": make(b, n, g, d)}
    lengths = torch.tensor([0, n - a, 64, 17, 100], dtype=torch.int32)
    out = runner.run("append_kv.tile", arch, {"T": name}, {**inputs, "len": lengths})
    for cache, new in (("kc", "kn"), ("vc", "vn")):
        ref = inputs[cache].clone()
        for i, length in enumerate(lengths.tolist()):
            ref[i, length:length + a] = inputs[new][i]
        runner.record(f"append_kv {arch} {name} {cache}", rel(out[cache], ref), 0)


def merge(runner, arch):
    """Halves of the keys, some of them empty, against all keys at once; an empty part leaves the other's bits alone."""
    b, m, h, dv = 3, 130, 4, 128
    o, o2 = (torch.randn(b, m, h, dv, device="cuda") for _ in range(2))
    l, l2 = (torch.randn(b, h, m, device="cuda") * 3 for _ in range(2))
    l[:, :, ::5], l2[:, :, ::3] = -math.inf, -math.inf
    out = runner.run("merge.tile", arch, {}, {"o": o, "l": l, "o2": o2, "l2": l2})

    def combine(kind):
        parts = torch.stack([l, l2]).to(kind)
        total = torch.logsumexp(parts, 0)
        weights = torch.where(torch.isinf(total), 0, torch.exp(parts - total))
        weights = weights.transpose(2, 3)[..., None]
        return weights[0] * o.to(kind) + weights[1] * o2.to(kind), total

    (ref, total), (own, _) = combine(torch.float64), combine(torch.float32)
    runner.record(f"merge {arch} o", rel(out["o"], ref), rel(own, ref))
    runner.record(f"merge {arch} l", rel(out["l"], total), 5e-7)
    alone = (torch.isinf(l2) & ~torch.isinf(l))
    rows = alone.transpose(1, 2)[..., None].expand_as(o)
    same = torch.equal(out["o"][rows], o[rows]) and torch.equal(out["l"][alone], l[alone])
    runner.record(f"merge {arch} empty parts change no bit", 0 if same else math.inf, 0)


def variants(runner, arch, dtype, name):
    """Each variant as a bias that PyTorch adds in fp64, and in its own type."""
    b, h, g, n, d = 2, 8, 2, 500, 128
    make = lambda *s: torch.randn(*s, device="cuda").to(dtype)
    q, k, v = make(b, n, h, d), make(b, n, g, d), make(b, n, g, d)
    i, j = torch.arange(n, device="cuda")[:, None], torch.arange(n, device="cuda")[None, :]
    none = torch.zeros(b, h, n, n, device="cuda")
    hidden = lambda keep: none.masked_fill(~keep, -math.inf)
    slopes = 2.0 ** -torch.arange(1, h + 1, device="cuda").float()
    doc = (torch.arange(n, device="cuda") // 130).int().expand(b, n)
    prefix = torch.tensor([70, 0], device="cuda", dtype=torch.int32)
    mask = torch.rand(b, h, n, n, device="cuda") > 0.3
    bias = torch.randn(b, h, n, n, device="cuda")
    cases = {
        "window": ({"W": 100}, {}, hidden((j <= i) & (j > i - 100))),
        "alibi": ({}, {"slopes": slopes}, hidden(j <= i) - slopes[:, None, None] * (i - j)),
        "documents": ({}, {"doc_q": doc, "doc_k": doc}, hidden((j <= i) & (doc[:, None, :, None] == doc[:, None, None, :]))),
        "prefix_lm": ({}, {"prefix": prefix}, hidden((j <= i) | (j < prefix[:, None, None, None]))),
        "masked": ({}, {"mask": mask}, hidden(mask)),
        "biased": ({}, {"bias": bias}, bias),
        "chunked": ({"C": 100}, {}, hidden((j <= i) & (j // 100 == i // 100))),
    }

    def forward(kind, weights, added):
        """Scores in `kind`, weights and the second product in type `weights`."""
        qs, ks, vs = (t.transpose(1, 2) for t in (q, k, v))
        ks, vs = (t.repeat_interleave(h // g, dim=1) for t in (ks, vs))
        s = qs.to(kind) @ ks.to(kind).transpose(-1, -2) / math.sqrt(d) + added.to(kind)
        return (torch.softmax(s, -1).to(weights) @ vs.to(weights)).transpose(1, 2)

    for op, (sets, inputs, added) in cases.items():
        out = runner.run("flash_variants.tile", arch, {"T": name, "D": d, **sets}, {"q": q, "k": k, "v": v, **inputs}, op)
        ref, own = forward(torch.float64, torch.float64, added), forward(torch.float32, dtype, added)
        runner.record(f"{op} {arch} {name}", rel(out["o"], ref), rel(own, ref))


def flash_bwd_varlen(runner, arch, dtype, name, d, causal):
    """Packed sequences of several lengths, LSE packed and padded, NaN wherever no sequence is; each sequence by itself is the reference."""
    h, g, lengths = 8, 2, [(333, 333), (0, 17), (1, 500), (1024, 1500), (64, 64)]
    ends = lambda which: [sum(pair[which] for pair in lengths[:b]) + 5 for b in range(len(lengths) + 1)]
    cu_q, cu_k = ends(0), ends(1)
    rows, keys = cu_q[-1] + 40, cu_k[-1] + 3
    generator = torch.Generator("cuda").manual_seed(d)

    def packed(total, heads, cu):
        tensor = torch.full((total, heads, d), math.nan, device="cuda")
        tensor[cu[0]:cu[-1]] = torch.randn(cu[-1] - cu[0], heads, d, device="cuda", generator=generator)
        return tensor.to(dtype)

    q, k, v, do = packed(rows, h, cu_q), packed(keys, g, cu_k), packed(keys, g, cu_k), packed(rows, h, cu_q)
    o = torch.full((rows, h, d), math.nan, device="cuda", dtype=dtype)
    lse = torch.full((h, rows), math.nan, device="cuda")
    padded = torch.full((len(lengths), h, max(m for m, _ in lengths) + 7), math.nan, device="cuda")
    ref = {n: torch.zeros_like(t, dtype=torch.float64) for n, t in (("dq", q), ("dk", k), ("dv", v))}
    own = {n: torch.zeros_like(t) for n, t in (("dq", q), ("dk", k), ("dv", v))}
    for b, (m, n) in enumerate(lengths):
        i, j = slice(cu_q[b], cu_q[b + 1]), slice(cu_k[b], cu_k[b + 1])
        if not m or not n:
            continue
        with torch.no_grad():
            part, sums = attention(q[None, i], k[None, j], v[None, j], causal, torch.float64)
        o[i], lse[:, i], padded[b, :, :m] = part[0].to(dtype), sums[0].float(), sums[0].float()
        for found, forward, kind in ((ref, lambda *x: attention(*x, causal, torch.float64)[0], torch.float64), (own, lambda *x: torch_attention(*x, causal), dtype)):
            inputs = [t[None].to(kind).requires_grad_() for t in (q[i], k[j], v[j])]
            forward(*inputs).backward(do[None, i].to(kind))
            for key, place, t in zip(("dq", "dk", "dv"), (i, j, j), inputs):
                found[key][place] = t.grad[0]
    tensors = {"q": q, "k": k, "v": v, "o": o, "dO": do, "cu_q": torch.tensor(cu_q, dtype=torch.int32), "cu_k": torch.tensor(cu_k, dtype=torch.int32)}
    for op, sums in (("flash_bwd_varlen", lse), ("flash_bwd_varlen_padded", padded)):
        out = runner.run("flash_bwd_varlen.tile", arch, {"T": name, "D": d, "causal": str(causal).lower()}, {**tensors, "lse": sums}, op, "G=2,R=4")
        for key in ref:
            runner.record(f"{op} {arch} {name} D={d} causal={causal} {key}", rel(out[key], ref[key]), rel(own[key], ref[key]), 1.1 if name == "bf16" else 2)


def matmul(runner, arch):
    size = 4095
    a, b = (torch.randn(size, size, device="cuda").bfloat16() for _ in range(2))
    out = runner.run("matmul.tile", arch, {}, {"a": a, "b": b})
    ref = a.double() @ b.double()
    runner.record(f"matmul {arch} {size}^3", rel(out["c"], ref), rel(a @ b, ref))


def softmax(runner, arch):
    # One length of rows for each variant.
    for m, n in ((1000, 4097), (1000, 1024), (1000, 4088), (500, 8184), (100, 32776)):
        x = torch.randn(m, n, device="cuda").bfloat16()
        out = runner.run("softmax.tile", arch, {}, {"x": x})
        ref = torch.softmax(x.double(), -1)
        runner.record(f"softmax {arch} {m} x {n}", rel(out["y"], ref), rel(torch.softmax(x, -1), ref))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--selvedge", required=True)
    parser.add_argument("--templates", required=True)
    parser.add_argument("--arch", nargs="+", default=["sm_80", "sm_90a"])
    parser.add_argument("--only", nargs="+", metavar="NAME", help="cases whose first word is one of these: gradients, flash_fwd, variants ...")
    parser.add_argument("--filter", default="", help="a regular expression that the name of a case matches, without the tensor")
    parser.add_argument("--jobs", type=int, default=min(8, os.cpu_count() or 1), help="cases that run side by side: most of their time is compilation")
    parser.add_argument("--budget", type=float, default=0, help="seconds after which no case begins")
    parser.add_argument("--out", help="JSON, written again and again")
    options = parser.parse_args()
    runner = Runner(options)
    if not options.only or "gradients" in options.only:
        runner.left += gradients.measure(options, runner.add, runner.deadline)
    for arch in options.arch:
        runner.note(f"matmul {arch}", matmul, arch)
        runner.note(f"softmax {arch}", softmax, arch)
        runner.note(f"merge {arch}", merge, arch)
        for dtype, name in ((torch.bfloat16, "bf16"), (torch.float16, "f16")):
            runner.note(f"append_kv {arch} {name}", append_kv, arch, dtype, name)
            runner.note(f"mla_decode {arch} {name}", mla_decode, arch, dtype, name)
            runner.note(f"variants {arch} {name}", variants, arch, dtype, name)
            compare_inference.measure(runner, arch, dtype, name)
            for d in (64, 128):
                runner.note(f"flash_decode {arch} {name} {d}", decode, arch, dtype, name, d)
                for causal in (False, True):
                    runner.note(f"flash_bwd_varlen {arch} {name} {d} {causal}", flash_bwd_varlen, arch, dtype, name, d, causal)
                for shape in FLASH_SHAPES:
                    runner.note(f"flash_fwd {arch} {name} {d} {shape}", flash, arch, dtype, name, d, shape)
                    runner.note(f"flash_bwd {arch} {name} {d} {shape}", flash_bwd, arch, dtype, name, d, shape)
    runner.run_all()
    runner.save()
    failed = sum(not row["pass"] for row in runner.rows)
    print(f"{len(runner.rows) - failed} passed, {failed} failed" + (f", {runner.left} left out for want of time" if runner.left else ""))
    return 1 if failed or not runner.rows else 0


if __name__ == "__main__":
    sys.exit(main())
