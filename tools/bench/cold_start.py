#!/usr/bin/env python3
# Seconds from nothing compiled to the first result of attention: ours and the libraries that compile when they are called.
# SPDX-License-Identifier: MIT
"""Each candidate has a process of its own per run, with empty caches; imports and the CUDA context are not counted, loading the code is.

    cold_start.py [--program build/bin/selvedge] [--peers FOLDER] [--runs 3] [--budget S] [--json FILE] [NAME...]

`selvedge` is the compiler as a library: the host program, then the variant that the launch takes. `selvedge-again` is a second process, with the first one's cache.
`selvedge-all` is the whole way ahead of time: the compiler as a program, all variants, its artefact on disk, loaded and launched through libselvedge. Its phases are those
of `compile --verbose`; proofs are made beside the others. `fa4` is FlashAttention-4, which compiles itself by the CuTe DSL; `triton` is a kernel as in Triton's tutorial, with
one schedule and nothing tuned; `flex` is Triton by way of PyTorch. Peers whose packages are not there are left out, with the reason.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from processes import finished

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
OURS = ("selvedge", "selvedge-again", "selvedge-all")
PEERS = ("fa4", "triton", "flex", "tilelang")
CACHES = {"XDG_CACHE_HOME": "xdg", "TRITON_CACHE_DIR": "triton", "TORCHINDUCTOR_CACHE_DIR": "inductor", "CUTE_DSL_CACHE_DIR": "cute", "TILELANG_CACHE_DIR": "tilelang",
          "CUDA_CACHE_PATH": "cuda", "FLASH_ATTENTION_CUTE_DSL_CACHE_DIR": "fa4"}


def cell_of(arguments):
    import attention

    return attention.square("cold", arguments.length, 16, 16, arguments.head, arguments.head, arguments.causal, b=2)


def cold_jit(arguments, cell, tensors):
    """Seconds of the host program, of what the launch takes, and of the launch itself."""
    import attention
    import selvedge_op
    import torch
    from workload import Context

    start = time.perf_counter()
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(arguments.program))), "lib")
    library = selvedge_op.Jit(folder, os.path.join(ROOT, "templates"))
    imported = time.perf_counter()
    context = Context(library=library, arch=arguments.arch)
    library.load(attention.build(cell, arguments.arch))
    begun = time.perf_counter()
    run, _ = attention.selvedge(False)(cell, tensors, context)
    run()
    torch.cuda.synchronize()
    end = time.perf_counter()
    return {"seconds": end - imported, "host program": begun - imported, "first launch": end - begun, "import": imported - start}


def cold_all(arguments, cell, tensors, folder):
    """Seconds of the compiler, and of loading and the first launch."""
    import attention
    import selvedge_op
    import torch
    from workload import Context

    build = attention.build(cell, arguments.arch)
    command = [arguments.program, "compile", os.path.join(ROOT, "templates", build.template), "--op", build.op, "--arch", build.arch, "--verbose",
               "-o", os.path.join(folder, build.file())]
    for key, value in build.params.items():
        command += ["--set", f"{key}={value}"]
    library = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(arguments.program))), "lib", "libselvedge.so")
    os.symlink(library, os.path.join(folder, "libselvedge.so"))
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    compiled = time.perf_counter()
    if done.returncode:
        raise RuntimeError(done.stderr)
    run, _ = attention.selvedge(False)(cell, tensors, Context(library=selvedge_op.Library(folder), arch=arguments.arch))
    run()
    torch.cuda.synchronize()
    phases = {name: float(ms) / 1e3 for name, ms in re.findall(r"time: (\w+) ([0-9.]+) ms", done.stderr)}
    return {"seconds": time.perf_counter() - start, "compiler": compiled - start, **phases}


def cold_peer(name, cell, tensors):
    """Seconds of the first call; the import is reported beside it."""
    import attention_peers
    import torch

    candidate = next(c for c in attention_peers.CANDIDATES if c.name == name)
    start = time.perf_counter()
    for module in {"fa4": ["flash_attn.cute.interface"], "triton": ["triton"], "tilelang": ["tilelang"], "flex": ["torch._inductor.compile_fx"]}[name]:
        attention_peers.package(module)
    imported = time.perf_counter()
    run, _ = candidate.make(cell, tensors, None)
    run()
    torch.cuda.synchronize()
    return {"seconds": time.perf_counter() - imported, "import": imported - start}


def child(arguments):
    import attention
    import attention_peers
    import torch
    from workload import Missing

    if arguments.peers:
        attention_peers.find_packages(arguments.peers)
    cell = cell_of(arguments)
    tensors = attention.data(cell)
    (tensors["q"] + 1).sum().item()
    name = arguments.child
    if name == "selvedge-all":
        result = cold_all(arguments, cell, tensors, os.environ["COLD_FOLDER"])
    elif name in OURS:
        result = cold_jit(arguments, cell, tensors)
    else:
        try:
            result = cold_peer(name, cell, tensors)
        except Missing as why:
            result = {"left out": str(why)}
    print("COLD " + json.dumps(result))


def measure(name, arguments):
    """One run in a process of its own; what it said where it failed."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, COLD_FOLDER=folder, PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=HERE + os.pathsep + os.environ.get("PYTHONPATH", ""))
        for variable, place in CACHES.items():
            environment[variable] = os.path.join(folder, place)
            os.makedirs(environment[variable])
        # Relative to the caller, not to this file.
        command = [sys.executable, os.path.abspath(__file__), "--child", name, "--program", os.path.abspath(arguments.program), "--arch", arguments.arch,
                   "--head", str(arguments.head), "--length", str(arguments.length)]
        command += ["--causal"] * arguments.causal + (["--peers", os.path.abspath(arguments.peers)] if arguments.peers else [])
        for _ in range(2 if name == "selvedge-again" else 1):
            status, text = finished(command, arguments.timeout, os.path.join(folder, "said.txt"), environment)
    if status is None:
        return {"error": f"{arguments.timeout:g} s are over"}
    for line in text.splitlines():
        if line.startswith("COLD "):
            return json.loads(line[5:])
    last = (text.strip().splitlines() or [f"status {status}"])[-1]
    return {"error": last[:300]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=" ".join(OURS + PEERS))
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "bin", "selvedge"))
    parser.add_argument("--peers", default=os.environ.get("PEERS", "/tmp/peers"), help="what unpack_peers.sh unpacked (default: $PEERS or /tmp/peers)")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one run")
    parser.add_argument("--budget", type=float, default=0, help="seconds after which no run begins")
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--head", type=int, default=128)
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", help="file for all runs")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return child(arguments)
    results, deadline = {}, time.monotonic() + (arguments.budget or 1e9)
    for name in arguments.names or OURS + PEERS:
        runs = results[name] = []
        while len(runs) < arguments.runs and time.monotonic() < deadline:
            runs.append(measure(name, arguments))
            if "left out" in runs[-1]:
                break
        if arguments.json:
            with open(arguments.json, "w") as file:
                json.dump(dict(cores=os.cpu_count(), head=arguments.head, causal=arguments.causal, results=results), file, indent=1)
        good = [run for run in runs if "seconds" in run]
        if not good:
            last = runs[-1] if runs else {"left out": "no time is left"}
            print(f"{name:14} " + (f"left out: {last['left out']}" if "left out" in last else last["error"]), flush=True)
            continue
        middle = {key: statistics.median(run[key] for run in good) for key in good[0]}
        rest = ", ".join(f"{key} {value:.2f}" for key, value in middle.items() if key != "seconds")
        print(f"{name:14} {middle['seconds']:6.2f} s  ({rest}; median of {len(good)})", flush=True)


if __name__ == "__main__":
    main()
