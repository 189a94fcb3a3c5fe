"""CUDA graphs on a GPU: replays with changing lengths, and recapture without end.

graph_capture.py [--replays N] [--captures N] [--arch sm_90a] [--selvedge PROGRAM] [--templates FOLDER]

A causal forward whose tiles are handed out at run time (its kernel has a counter) is captured into a CUDA graph with PyTorch and replayed; before each replay
the lengths of the cache and the queries change. Every output is compared bit for bit with a launch outside graphs. Then graphs are captured, replayed once and
destroyed more often than an op has counters, two graphs of one op run side by side on two streams, and an executable outlives its graph.
"""
import argparse
import os
import sys
import tempfile

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../tools/bench"))
from selvedge_op import ROOT, Build, Library, compile_all  # noqa: E402

B, M, G, R, N, D = 4, 512, 2, 4, 2048, 128


def tensors_of(seed):
    torch.manual_seed(seed)
    make = lambda *shape: torch.randn(*shape, device="cuda").to(torch.bfloat16)  # noqa: E731
    return {"q": make(B, M, G * R, D), "k": make(B, N, G, D), "v": make(B, N, G, D), "kv_len": torch.full((B,), N, dtype=torch.int32, device="cuda"),
            "o": torch.empty(B, M, G * R, D, dtype=torch.bfloat16, device="cuda"), "lse": torch.empty(B, G * R, M, device="cuda")}


def capture(launch):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launch()
    return graph


def change(tensors, step):
    """Other lengths, 0 and N among them, and other queries, in place."""
    generator = torch.Generator().manual_seed(step)
    lengths = torch.randint(0, N + 1, (B,), generator=generator, dtype=torch.int32)
    lengths[step % B] = N if step % 2 else 0
    tensors["kv_len"].copy_(lengths)
    tensors["q"].mul_(-1)


def equal(a, b):
    return all(torch.equal(a[name].view(torch.uint8), b[name].view(torch.uint8)) for name in ("o", "lse"))


def replay(library, build, count):
    """`count` replays of one graph against launches outside of it."""
    inside = tensors_of(1)
    outside = dict(inside, o=torch.empty_like(inside["o"]), lse=torch.empty_like(inside["lse"]))
    launch, direct = library.bind(build, inside), library.bind(build, outside)
    launch()
    graph = capture(launch)
    for step in range(count):
        change(inside, step)
        for name in ("o", "lse"):
            inside[name].fill_(float("nan"))
        graph.replay()
        direct()
        assert equal(inside, outside), f"replay {step} differs"
    print(f"{count} replays with changing lengths: equal to launches")


def recapture(library, build, count):
    """More captures than an op has counters (8192); each graph is replayed and dropped."""
    inside = tensors_of(2)
    wanted = dict(inside, o=torch.empty_like(inside["o"]), lse=torch.empty_like(inside["lse"]))
    launch = library.bind(build, inside)
    library.bind(build, wanted)()
    for step in range(count):
        graph = capture(launch)
        if step % 64 == 0:
            inside["o"].fill_(float("nan"))
            graph.replay()
            assert equal(inside, wanted), f"capture {step} differs"
        del graph
    torch.cuda.synchronize()
    print(f"{count} captures, each destroyed: none was refused")


def beside(library, build, count):
    """Two graphs of one op on two streams at the same time: their counters differ."""
    pairs, streams = [], [torch.cuda.Stream(), torch.cuda.Stream()]
    for seed in (3, 4):
        inside = tensors_of(seed)
        wanted = dict(inside, o=torch.empty_like(inside["o"]), lse=torch.empty_like(inside["lse"]))
        library.bind(build, wanted)()
        launch = library.bind(build, inside)
        launch()
        pairs.append((capture(launch), inside, wanted))
    torch.cuda.synchronize()
    for step in range(count):
        for (graph, _, _), stream in zip(pairs, streams):
            with torch.cuda.stream(stream):
                graph.replay()
        if step % 50 == 0:
            torch.cuda.synchronize()
            assert all(equal(inside, wanted) for _, inside, wanted in pairs), f"step {step} differs"
    torch.cuda.synchronize()
    assert all(equal(inside, wanted) for _, inside, wanted in pairs)
    print(f"{count} pairs of replays side by side: equal to launches")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replays", type=int, default=1000)
    parser.add_argument("--captures", type=int, default=10000)
    parser.add_argument("--arch", default="sm_90a" if torch.cuda.get_device_capability() == (9, 0) else "sm_80")
    parser.add_argument("--selvedge", default="selvedge")
    parser.add_argument("--templates", default=os.path.join(ROOT, "templates"))
    options = parser.parse_args()
    build = Build("flash_fwd.tile", "flash_fwd", options.arch, D=D, causal=True)
    with tempfile.TemporaryDirectory() as folder:
        if failed := compile_all([build], options.selvedge, options.templates, folder):
            sys.exit(str(failed))
        library = Library(folder)
        replay(library, build, options.replays)
        recapture(library, build, options.captures)
        beside(library, build, 500)
    print("graph capture: ok")


if __name__ == "__main__":
    main()
