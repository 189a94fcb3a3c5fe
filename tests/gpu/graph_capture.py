#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CUDA graphs on a GPU: replays with changing lengths, and recapture without end.

graph_capture.py [--replays N] [--captures N] [--arch sm_90a] [--only WORD ...] [--budget S] [--json FILE] [--selvedge PROGRAM] [--templates FOLDER]

A causal forward whose tiles are handed out at run time (its kernel has a counter) is captured into a CUDA graph with PyTorch and replayed; before each replay
the lengths of the cache and the queries change. Every output is compared bit for bit with a launch outside graphs. Then graphs are captured, replayed once and
destroyed more often than an op has counters, two graphs of one op run side by side on two streams, and an executable outlives its graph. The same is done with
`flash_decode` and `paged_decode`, whose second kernel combines what the first leaves in the workspace; of pages the table changes, too.
"""
import argparse
import faulthandler
import json
import os
import sys
import tempfile
import time

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../tools/bench"))
from selvedge_op import ROOT, Build, Library, compile_all  # noqa: E402

G, R, D = 2, 4, 128
PAGE = 64


class Op:
    """An op with a cache: what it is called with, and what changes between launches."""

    def __init__(self, name, arch, b, m, n, **params):
        self.name, self.build, self.b, self.m, self.n = name, Build(f"{name}.tile", name, arch, T="bf16", D=D, DV=D, **params), b, m, n

    def tensors(self, seed):
        torch.manual_seed(seed)
        make = lambda *shape: torch.randn(*shape, device="cuda").to(torch.bfloat16)  # noqa: E731
        made = {"q": make(self.b, self.m, G * R, D), "kv_len": torch.full((self.b,), self.n, dtype=torch.int32, device="cuda")}
        if self.name == "paged_decode":
            pages = self.b * self.n // PAGE
            made.update(kp=make(pages, PAGE, G, D), vp=make(pages, PAGE, G, D), table=torch.randperm(pages, device="cuda").int().view(self.b, -1))
        else:
            made.update(k=make(self.b, self.n, G, D), v=make(self.b, self.n, G, D))
        return self.beside(made)

    def beside(self, tensors):
        """The same inputs, outputs of its own."""
        return dict(tensors, o=torch.full_like(tensors["q"], float("nan")), lse=torch.full((self.b, G * R, self.m), float("nan"), device="cuda"))

    def change(self, tensors, step):
        """Other lengths, 0 and all keys among them, other queries and other pages, in place."""
        generator = torch.Generator().manual_seed(step)
        lengths = torch.randint(0, self.n + 1, (self.b,), generator=generator, dtype=torch.int32)
        lengths[step % self.b] = self.n if step % 2 else 0
        tensors["kv_len"].copy_(lengths)
        tensors["q"].mul_(-1)
        if "table" in tensors:
            tensors["table"].copy_(tensors["table"].flip(1).roll(1, 0))


def capture(launch):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launch()
    return graph


def equal(a, b):
    return all(torch.equal(a[name].view(torch.uint8), b[name].view(torch.uint8)) for name in ("o", "lse"))


def replay(library, op, count):
    """`count` replays of one graph against launches outside of it."""
    inside = op.tensors(1)
    outside = op.beside(inside)
    launch, direct = library.bind(op.build, inside), library.bind(op.build, outside)
    launch()
    graph = capture(launch)
    for step in range(count):
        op.change(inside, step)
        for name in ("o", "lse"):
            inside[name].fill_(float("nan"))
        graph.replay()
        direct()
        assert equal(inside, outside), f"replay {step} differs"
    assert torch.isfinite(inside["o"]).all()
    return f"{count} replays with changing lengths: equal to launches"


def recapture(library, op, count):
    """More captures than an op has counters (8192); each graph is replayed and dropped."""
    inside = op.tensors(2)
    wanted = op.beside(inside)
    launch = library.bind(op.build, inside)
    library.bind(op.build, wanted)()
    for step in range(count):
        graph = capture(launch)
        if step % 64 == 0:
            inside["o"].fill_(float("nan"))
            inside["lse"].fill_(float("nan"))
            graph.replay()
            assert equal(inside, wanted), f"capture {step} differs"
        del graph
    torch.cuda.synchronize()
    return f"{count} captures, each destroyed: none was refused"


def beside(library, op, count):
    """Two graphs of one op on two streams at the same time: their counters and workspaces differ."""
    pairs, streams = [], [torch.cuda.Stream(), torch.cuda.Stream()]
    for seed in (3, 4):
        inside = op.tensors(seed)
        wanted = op.beside(inside)
        library.bind(op.build, wanted)()
        launch = library.bind(op.build, inside)
        launch()
        pairs.append((capture(launch), inside, wanted, launch))
    torch.cuda.synchronize()
    for step in range(count):
        for (graph, *_), stream in zip(pairs, streams):
            with torch.cuda.stream(stream):
                graph.replay()
        if step % 50 == 0:
            torch.cuda.synchronize()
            assert all(equal(inside, wanted) for _, inside, wanted, _ in pairs), f"step {step} differs"
    torch.cuda.synchronize()
    assert all(equal(inside, wanted) for _, inside, wanted, _ in pairs)
    return f"{count} pairs of replays side by side: equal to launches"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replays", type=int, default=1000)
    parser.add_argument("--captures", type=int, default=10000)
    parser.add_argument("--arch", default="sm_90a" if torch.cuda.get_device_capability() == (9, 0) else "sm_80")
    parser.add_argument("--only", nargs="+", help="ops: flash_fwd, flash_decode, paged_decode")
    parser.add_argument("--budget", type=float, default=300, help="seconds after which no part begins; after twice as many the program ends itself")
    parser.add_argument("--json", help="file for the results")
    parser.add_argument("--selvedge", default="selvedge")
    parser.add_argument("--templates", default=os.path.join(ROOT, "templates"))
    options = parser.parse_args()
    # A replay that does not end would wait for ever.
    faulthandler.dump_traceback_later(2 * options.budget, exit=True)
    deadline = time.monotonic() + options.budget
    ops = [Op("flash_fwd", options.arch, 4, 512, 2048, causal=True), Op("flash_decode", options.arch, 4, 1, 4096), Op("flash_decode", options.arch, 3, 5, 2048),
           Op("paged_decode", options.arch, 4, 1, 4096, P=PAGE)]
    ops = [op for op in ops if not options.only or op.name in options.only]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        if failed := compile_all([op.build for op in ops], options.selvedge, options.templates, folder):
            sys.exit(str(failed))
        library = Library(folder)
        for op in ops:
            # The counters are those of one op: decoding has none.
            captures = options.captures if op.name == "flash_fwd" else min(options.captures, 500)
            for part, count in ((replay, options.replays), (recapture, captures), (beside, 500)):
                row = {"op": op.name, "arch": options.arch, "queries": op.m, "part": part.__name__, "count": count}
                if time.monotonic() > deadline:
                    row.update(result="left out for want of time")
                else:
                    start = time.monotonic()
                    try:
                        row.update(result="pass", message=part(library, op, count))
                    except (AssertionError, RuntimeError) as error:
                        row.update(result="FAIL", message=f"{type(error).__name__}: {error}"[:500])
                    row["seconds"] = round(time.monotonic() - start, 1)
                rows.append(row)
                print(f"{row['result']:4s} {op.name}, {op.m} queries: {row.get('message', part.__name__)}", flush=True)
                if options.json:
                    with open(options.json, "w", encoding="utf-8") as file:
                        json.dump({"gpu": torch.cuda.get_device_name(), "rows": rows}, file, indent=1)
    failed = sum(row["result"] == "FAIL" for row in rows)
    print(f"graph capture: {failed} failed" if failed or not rows else "graph capture: ok")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
