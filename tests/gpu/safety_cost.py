#!/usr/bin/env python3
# Measures on a GPU what safety costs in time.
# SPDX-License-Identifier: MIT
"""usage: safety_cost.py --selvedge bin/selvedge [--arch sm_80 sm_90a] [--rounds 20] [--out cost.csv]

Each row compares two launches of one artefact, in interleaved rounds: S = 4095 with S = 4096, kv_len = S with no kv_len, and both; of a product M = 4095 with
M = 4096. Times are medians over rounds of the mean over some launches. That full steps have the same instructions as without safety is compared without a GPU
(tests/Safety/zero-cost.test). The library is found beside the compiler: lib/libselvedge.so.
"""
import argparse
import csv
import os
import statistics
import sys
import tempfile

import torch

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "tools/bench"))
from selvedge_op import Build, Library, compile_all  # noqa: E402

TOKENS, WIDTH = 16384, 2048


def measure(launches, rounds, count):
    """Milliseconds per launch, by name and round."""
    for run in launches.values():
        run()
    times = {name: [] for name in launches}
    order = list(launches.items())
    for index in range(rounds):
        # Whoever comes first in a round finds the chip cooler.
        for name, run in order if index % 2 else reversed(order):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            run()
            start.record()
            for _ in range(count):
                run()
            end.record()
            torch.cuda.synchronize()
            times[name].append(start.elapsed_time(end) / count)
    return times


def attention(d, seq, lengths):
    batch, heads = TOKENS // 4096, WIDTH // d
    tensors = {name: torch.randn(batch, seq, heads, d, device="cuda", dtype=torch.bfloat16) for name in "qkvo"}
    tensors["lse"] = torch.empty(batch, heads, seq, device="cuda")
    if lengths:
        tensors["kv_len"] = torch.full((batch,), seq, device="cuda", dtype=torch.int32)
    return tensors


def product(rows):
    a, b = (torch.randn(n, 4096, device="cuda", dtype=torch.bfloat16) for n in (rows, 4096))
    return {"a": a, "b": b, "c": torch.empty(rows, 4096, device="cuda", dtype=torch.bfloat16)}


def cases(arch):
    """(name, build, {case: tensors}); others are compared with the first."""
    for d in (64, 128, 256):
        for causal in (False, True):
            yield f"flash_fwd D {d}{' causal' if causal else ''}", Build("flash_fwd.tile", "flash_fwd", arch, T="bf16", D=d, DV=d, causal=causal), {
                "S 4096": lambda d=d: attention(d, 4096, False), "S 4095": lambda d=d: attention(d, 4095, False),
                "kv_len 4096": lambda d=d: attention(d, 4096, True), "S and kv_len 4095": lambda d=d: attention(d, 4095, True)}
    yield "matmul", Build("matmul.tile", "matmul", arch, T="bf16"), {"M 4096": lambda: product(4096), "M 4095": lambda: product(4095)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--selvedge", required=True)
    parser.add_argument("--arch", nargs="+", default=["sm_80", "sm_90a"])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--launches", type=int, default=10, help="per round")
    parser.add_argument("--out", help="CSV: kernel, arch, case, median, min and max in ms, percent over the first case")
    options = parser.parse_args()
    all_cases = [(arch, *case) for arch in options.arch for case in cases(arch)]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        failures = compile_all([build for _, _, build, _ in all_cases], options.selvedge, os.path.join(ROOT, "templates"), folder)
        if failures:
            sys.exit(f"not compiled: {failures}")
        library = Library(folder)
        for arch, kernel, build, makers in all_cases:
            times = measure({name: library.bind(build, make()) for name, make in makers.items()}, options.rounds, options.launches)
            base = next(iter(times.values()))
            for name, own in times.items():
                # Rounds are compared with each other: clocks drift.
                ratio = statistics.median(t / b for t, b in zip(own, base))
                rows.append([kernel, arch, name, *(f"{t:.4f}" for t in (statistics.median(own), min(own), max(own))), f"{100 * (ratio - 1):.2f}"])
                print(f"{kernel:24s} {arch:7s} {name:18s} {rows[-1][3]} ms  {rows[-1][6]} %", flush=True)
    if options.out:
        with open(options.out, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["kernel", "arch", "case", "median_ms", "min_ms", "max_ms", "percent"])
            writer.writerows(rows)


if __name__ == "__main__":
    main()
