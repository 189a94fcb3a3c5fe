#!/usr/bin/env python3
"""Attention that several GPUs share, beside one GPU: results, speed, and how much of the communication kernels hide.

torchrun --nproc-per-node 2 context_parallel.py [--only correct|speed] [--out table.json]
torchrun --nproc-per-node 2 context_parallel.py --backend gloo --device cpu      # results alone, on the reference device

Results: each rank compares its shard, and its gradients, with float64; a case fails where the error is more than twice that of one device with the whole. Speed, in milliseconds, medians of
rounds in which all kinds take turns, the slowest rank's: `one` is one GPU with the whole problem, `all` the ranks together, `kernels` the same kernels without transfers, `transfers` the
same transfers without kernels. `share` is one / (ranks * all); `not_hidden` is all - kernels.
"""
# SPDX-License-Identifier: MIT
import argparse
import json
import math
import os
import statistics
import sys

import torch
import torch.distributed as dist

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("../../share/selvedge/python", "../../runtime/python"):
    if os.path.isdir(os.path.join(HERE, folder, "selvedge")):
        sys.path.insert(0, os.path.join(HERE, folder))
import selvedge  # noqa: E402
import selvedge.torch as st  # noqa: E402
from selvedge.torch._blocks import Blocks  # noqa: E402
from selvedge.torch._groups import Pending, name_of  # noqa: E402
from selvedge.torch._ring import Ring, backward_around, forward_around  # noqa: E402
from selvedge.torch._shards import shards_of  # noqa: E402

ROWS = []


def say(row, words):
    if dist.get_rank() == 0:
        ROWS.append(row)
        print(words, flush=True)


def slowest(value, device):
    """The greatest of all ranks; NaN counts as the greatest there is."""
    value = torch.tensor([math.inf if value != value else value], dtype=torch.float64, device=device)
    dist.all_reduce(value, dist.ReduceOp.MAX)
    return value.item()


def error(x, wanted):
    return ((x.double() - wanted.double()).norm() / wanted.double().norm().clamp_min(1e-300)).item() if wanted.numel() else 0.0


# Results.


def exact(q, k, v, mask):
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    k, v = (t.repeat_interleave(q.shape[1] // k.shape[1], 1) for t in (k, v))
    s = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).masked_fill(~mask, -math.inf)
    return (torch.softmax(s, -1) @ v).transpose(1, 2)


def with_gradients(function, inputs, weight):
    leaves = [t.detach().clone().requires_grad_() for t in inputs]
    o = function(*leaves)
    o.backward(weight.to(o.dtype))
    return [o.detach(), *(leaf.grad for leaf in leaves)]


def compare(case, inputs, mask, whole, shared, balanced, ends=None):
    """whole(q, k, v) of one device, and shared(q, k, v) of shards, beside float64."""
    device = inputs[0].device
    torch.manual_seed(7)
    weight = torch.randn(*inputs[0].shape[:-1], inputs[2].shape[-1], device=device).to(inputs[0].dtype)
    wanted = with_gradients(lambda *t: exact(*t, mask), [t.double() for t in inputs], weight.double())
    alone = with_gradients(whole, inputs, weight)
    cut = lambda t: st.shard(t, 1, None, balanced, ends)  # noqa: E731
    parts = with_gradients(shared, [cut(t) for t in inputs], cut(weight))
    for name, part, one, exactly in zip(("o", "dq", "dk", "dv"), parts, alone, wanted):
        mine, limit = slowest(error(part, cut(exactly)), device), slowest(error(cut(one), cut(exactly)), device)
        passed = mine <= 2 * limit + 1e-6
        say({"case": f"{case} {name}", "pass": passed, "error": mine, "one": limit}, f"{'ok  ' if passed else 'FAIL'} {case + ' ' + name:56s} error {mine:.2e}  one device {limit:.2e}")


def check_results(device):
    world, big = dist.get_world_size(), device.type == "cuda"
    d, scale = (128, 64) if big else (16, 1)
    make = lambda *shape, seed=0: torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(torch.bfloat16).to(device)  # noqa: E731
    for heads, keys in ((4 * world, world), (4 * world, 1), (world, world)):
        for n in (12 * world * scale, 12 * world * scale + 5):
            q, k, v = make(2, n, heads, d), make(2, n, keys, d, seed=1), make(2, n, keys, d, seed=2)
            full = torch.ones(n, n, dtype=torch.bool, device=device)
            for causal, balanced in ((True, True), (True, False), (False, True)):
                mask, name = full.tril() if causal else full, f"{heads}/{keys}x{n}{' causal' if causal else ''}{'' if balanced else ' consecutive'}"
                alone = lambda *t, causal=causal: st.flash_attn_func(*t, causal=causal, deterministic=True)  # noqa: E731
                for way in (st.ring_attention, st.heads_attention):
                    compare(f"{way.__name__} {name}", (q, k, v), mask, alone, lambda *t, c=causal, b=balanced, way=way: way(*t, c, None, None, b, total=n), balanced)
    lengths = [0, 9, 1, 40 * scale, 13 * scale, 2]
    ends = [0, *torch.tensor(lengths).cumsum(0).tolist()]
    q, k, v = make(1, ends[-1], 2 * world, d), make(1, ends[-1], world, d, seed=1), make(1, ends[-1], world, d, seed=2)
    number = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths)).to(device)
    cu = torch.tensor(ends, dtype=torch.int32, device=device)
    for causal in (True, False):
        same = number[:, None] == number[None]
        alone = lambda *t, causal=causal: st.flash_attn_varlen_func(*(x[0] for x in t), cu, cu, causal=causal, deterministic=True)[None]  # noqa: E731
        for way, function in (("ring_attention_varlen", lambda *t, c=causal: st.ring_attention_varlen(*(x[0] for x in t), cu, c)[None]),
                              ("heads_attention packed", lambda *t, c=causal: st.heads_attention(*(x[0] for x in t), c, balanced=True, cu_seqlens=ends)[None])):
            compare(f"{way}{' causal' if causal else ''}", (q, k, v), same.tril() if causal else same, alone, function, True, ends)


# Speed.


class Still(Ring):
    """No transfers: what arrives lies there already."""

    memory = {}

    def start(self, sent, received):
        for t in received:
            key = tuple(t.shape), t.dtype
            if key not in self.memory:
                self.memory[key] = [torch.randn(t.shape, device=t.device).to(t.dtype) for _ in range(4)]
        return Pending([], sent, [self.memory[tuple(t.shape), t.dtype][i] for i, t in enumerate(received)])


class Idle(Blocks):
    """No kernels."""

    def attend(self, *_):
        return None

    def gradients(self, *_):
        return None


def measure(kinds, rounds):
    """Median milliseconds by kind, the slowest rank's."""
    device, times = torch.device("cuda", torch.cuda.current_device()), {name: [] for name in kinds}
    for function in kinds.values():
        function()
        function()
    for _ in range(rounds):
        for name, function in kinds.items():
            torch.cuda.synchronize()
            dist.barrier(device_ids=[device.index])
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            # The barrier's own kernel ends before.
            torch.cuda.synchronize()
            begin.record()
            function()
            end.record()
            torch.cuda.synchronize()
            times[name].append(begin.elapsed_time(end))
    return {name: slowest(statistics.median(values), device) for name, values in times.items()}


def report(way, what, shape, found):
    """One row: times and what follows from them."""
    world = dist.get_world_size()
    row = {"way": way, "pass_of": what, **shape, **found, "share": found["one"] / (world * found["all"])}
    if "kernels" in found:
        row["not_hidden"] = found["all"] - found["kernels"]
        row["hidden_share"] = 1 - max(row["not_hidden"], 0) / max(found["transfers"], 1e-9)
    words = "  ".join(f"{name} {value:.3f}" if isinstance(value, float) else f"{name} {value}" for name, value in row.items())
    say(row, words)


def speed_of(n, heads, keys, d, causal, rounds, device):
    torch.manual_seed(dist.get_rank())
    make = lambda count, h: torch.randn(1, count, h, d, device=device, dtype=torch.bfloat16)  # noqa: E731
    world = dist.get_world_size()
    own = n // world
    q, k, v, do = (make(own, h) for h in (heads, keys, keys, heads))
    ring, still = Ring(name_of(None)), Still(name_of(None))
    settings = shards_of((n,), world, True), ring.rank, False, causal, None, True, device
    blocks, idle = Blocks(*settings), Idle(*settings)
    whole = [make(n, h) for h in (heads, keys, keys)]
    leaves = [t.requires_grad_() for t in whole]
    shape = {"positions": n, "heads": heads, "key_heads": keys, "d": d, "causal": causal}
    forward = {"one": lambda: st.flash_attn_func(*(t.detach() for t in leaves), causal=causal), "all": lambda: forward_around(ring, blocks, q, k, v),
               "kernels": lambda: forward_around(still, blocks, q, k, v), "transfers": lambda: forward_around(ring, idle, q, k, v)}
    report("ring", "forward", shape, measure(forward, rounds))
    out, weight = st.flash_attn_func(*leaves, causal=causal, deterministic=True), make(n, heads)
    o, lse = forward_around(ring, blocks, q, k, v)
    given = do, None, q, k, v, o, lse
    backward = {"one": lambda: torch.autograd.grad(out, leaves, weight, retain_graph=True), "all": lambda: backward_around(ring, blocks, *given),
                "kernels": lambda: backward_around(still, blocks, *given), "transfers": lambda: backward_around(ring, idle, *given)}
    report("ring", "backward", shape, measure(backward, rounds))
    if heads % world == 0:
        parts = [t.detach().requires_grad_() for t in (q, k, v)]
        report("heads", "forward", shape, measure({"one": forward["one"], "all": lambda: st.heads_attention(*(t.detach() for t in parts), causal, balanced=False)}, rounds))
        result = st.heads_attention(*parts, causal, balanced=False)
        both = {"one": backward["one"], "all": lambda: torch.autograd.grad(result, parts, do, retain_graph=True)}
        report("heads", "backward", shape, measure(both, rounds))


def check_speed(device, rounds):
    for n in (8192, 16384, 32768, 65536):
        for keys in (8, 32):
            for causal in (True, False):
                speed_of(n, 32, keys, 128, causal, rounds, device)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="nccl")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--only", choices=("correct", "speed"))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", help="the table as JSON")
    options = parser.parse_args()
    device = torch.device("cpu")
    if options.device == "cuda":
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(device)
    dist.init_process_group(options.backend, **({"device_id": device} if options.backend == "nccl" else {}))
    if dist.get_rank() == 0:
        name = torch.cuda.get_device_name() if device.type == "cuda" else "CPU"
        print("selvedge", selvedge.version(), "torch", torch.__version__, name, "ranks", dist.get_world_size(), flush=True)
    try:
        if options.only != "speed":
            check_results(device)
        if options.only != "correct" and device.type == "cuda":
            check_speed(device, options.rounds)
    finally:
        # What was found is kept, whatever comes after.
        if dist.get_rank() == 0 and options.out:
            with open(options.out, "w", encoding="utf-8") as file:
                json.dump(ROWS, file, indent=1)
    dist.barrier()
    failed = sum(not row.get("pass", True) for row in ROWS)
    if dist.get_rank() == 0:
        print(f"{len(ROWS) - failed} rows, {failed} failed")
    dist.destroy_process_group()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
