#!/usr/bin/env python3
"""FlashAttention's own tests with selvedge.torch in the place of the package flash_attn: a table of what passes.

flash_attn_clients.py CHECKOUT [--each 40] [--seed 0] [--only WORD,...] [--without WORD,...] [--longest N] [--widest N] [--out table.json]
flash_attn_clients.py CHECKOUT --processes 14 --each 2 --without 0.17 --commit 0251105a --out table.json     # 14 seeds beside each other: compiling takes longest
flash_attn_clients.py CHECKOUT --device cpu --longest 260 --widest 40 --each 4 --without 0.17,race,overflow     # on the reference device, which is slow

CHECKOUT is one of the repository flash-attention: tests/test_flash_attn.py is run as it is, and what it imports beside the functions of attention comes from there, too. Its functions have thousands of
cases each, of which --each are chosen by the seed. A case that asks for what selvedge.torch refuses by a NotImplementedError counts as refused. Needs pytest and einops.
"""
# SPDX-License-Identifier: MIT
import argparse
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import types

import pytest
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("../../share/selvedge/python", "../../runtime/python"):
    if os.path.isdir(os.path.join(HERE, folder, "selvedge")):
        sys.path.insert(0, os.path.join(HERE, folder))
import selvedge  # noqa: E402
import selvedge.torch as st  # noqa: E402
from selvedge.torch._kvcache import rotated  # noqa: E402


def install(checkout, device):
    """The package flash_attn: functions of selvedge.torch, helpers of the checkout."""
    package = types.ModuleType("flash_attn")
    package.__path__ = [os.path.join(checkout, "flash_attn")]
    for name in st.__all__:
        if name.startswith("flash_attn_"):
            setattr(package, name, getattr(st, name))
    interface = types.ModuleType("flash_attn.flash_attn_interface")
    # Both are for cases with dropout, and for another vendor's GPUs.
    interface._get_block_size_n, interface.USE_TRITON_ROCM = lambda *_: 128, False
    sys.modules.update({"flash_attn": package, "flash_attn.flash_attn_interface": interface})
    if device == "cpu":
        rotary = types.ModuleType("flash_attn.layers.rotary")
        rotary.apply_rotary_emb = apply_rotary
        sys.modules["flash_attn.layers.rotary"] = rotary


def apply_rotary(x, cos, sin, interleaved=False, seqlen_offsets=0, **_):
    """Where the checkout's own, a Triton kernel, has no device."""
    first = torch.as_tensor(seqlen_offsets).reshape(-1, 1).long()
    return rotated(x, cos, sin, (first + torch.arange(x.shape[1])).expand(x.shape[0], -1), interleaved)


def source_for(checkout, device):
    """The test file; for host memory a copy that names it, and believes in a GPU."""
    path = os.path.join(checkout, "tests/test_flash_attn.py")
    if device == "cuda":
        return path
    torch.cuda.get_device_capability = lambda *_: (9, 0)
    torch.cuda.get_device_properties = lambda *_: types.SimpleNamespace(total_memory=2**40, multi_processor_count=100)
    torch.cuda.synchronize = lambda *_: None
    with open(path, encoding="utf-8") as file:
        text = file.read()
    copy = os.path.join(tempfile.mkdtemp(), "test_flash_attn.py")
    with open(copy, "w", encoding="utf-8") as file:
        file.write(re.sub(r'device = "cuda"', 'device = "cpu"', text))
    return copy


class Choice:
    """Chooses cases, and counts what becomes of them."""

    def __init__(self, options):
        self.options, self.counts, self.messages = options, collections.defaultdict(collections.Counter), []

    def pytest_collection_modifyitems(self, items):
        by_function, options = collections.defaultdict(list), self.options
        for item in items:
            values = item.callspec.params if hasattr(item, "callspec") else {}
            lengths = [value for name, value in values.items() if name.startswith("seqlen") and not isinstance(value, bool)]
            fits = all(length <= options.longest for length in lengths) and values.get("d", 0) <= options.widest
            wanted = not options.only or any(word in item.name for word in options.only.split(","))
            if fits and wanted and not any(word in item.name for word in filter(None, options.without.split(","))):
                by_function[item.function.__name__].append(item)
        random.seed(options.seed)
        items[:] = [item for group in by_function.values() for item in random.sample(group, min(len(group), options.each))]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = (yield).get_result()
        if report.when != "call" and not report.failed and not report.skipped:
            return
        error = call.excinfo.value if call.excinfo else None
        word = report.outcome
        if report.failed and isinstance(error, NotImplementedError):
            word = f"refused: {error}"
        elif report.failed and isinstance(error, ImportError):
            word = "skipped: it is about the package's own extension"
        elif report.failed:
            self.messages.append({"case": item.name, "message": str(error)[:400]})
        self.counts[item.function.__name__][word] += 1


def run_beside(options, arguments):
    """The same with one seed after the other, in processes of their own; their sums."""
    with tempfile.TemporaryDirectory() as folder:
        outs = [os.path.join(folder, f"{seed}.json") for seed in range(options.seed, options.seed + options.processes)]
        command = [sys.executable, os.path.abspath(__file__), *arguments, "--processes", "1"]
        # What comes last counts.
        running = [subprocess.Popen([*command, "--seed", str(options.seed + i), "--out", out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for i, out in enumerate(outs)]
        for process in running:
            process.wait()
        tables = []
        for out in filter(os.path.exists, outs):
            with open(out, encoding="utf-8") as file:
                tables.append(json.load(file))
    if len(tables) < len(outs):
        print(f"{len(outs) - len(tables)} of {len(outs)} processes ended without a table")
    counts = collections.defaultdict(collections.Counter)
    for table in tables:
        for name, of in table["counts"].items():
            counts[name].update(of)
    return counts, [failure for table in tables for failure in table["failures"]], len(tables) == len(outs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout")
    parser.add_argument("--each", type=int, default=40, help="cases of each function")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="words of which one is in the name of a case")
    parser.add_argument("--without", default="", help="words of which none is, such as 0.17: cases with dropout")
    parser.add_argument("--longest", type=int, default=1 << 30, help="positions of a sequence")
    parser.add_argument("--widest", type=int, default=1 << 30, help="elements of a head")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--processes", type=int, default=1, help="how many run beside each other, each with the next seed and --each cases")
    parser.add_argument("--commit", default="unknown", help="of the checkout, for the table")
    parser.add_argument("--out", help="the table as JSON")
    options = parser.parse_args()
    complete = True
    if options.processes > 1:
        counts, messages, complete = run_beside(options, sys.argv[1:])
    else:
        install(options.checkout, options.device)
        choice = Choice(options)
        pytest.main([source_for(options.checkout, options.device), "-q", "--no-header", "--tb=short", "-p", "no:cacheprovider"], plugins=[choice])
        counts, messages = choice.counts, choice.messages
    print("selvedge", selvedge.version(), "torch", torch.__version__)
    for message in messages:
        print(f"FAIL {message['case']}: {message['message'].splitlines()[0] if message['message'] else ''}")
    for name, of in counts.items():
        print(f"{name:40s} " + "  ".join(f"{word} {count}" for word, count in sorted(of.items())))
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            gpu = "the reference device" if options.device == "cpu" else torch.cuda.get_device_name()
            each = options.each * options.processes
            json.dump({"gpu": gpu, "torch": torch.__version__, "commit": options.commit, "each": each, "counts": counts, "failures": messages}, file, indent=1)
    sys.exit(1 if messages or not counts or not complete else 0)


if __name__ == "__main__":
    main()
