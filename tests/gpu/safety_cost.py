#!/usr/bin/env python3
# Measures on a GPU what safety costs in time.
# SPDX-License-Identifier: MIT
"""usage: safety_cost.py --bin bin [--templates templates] [--arch sm_80 sm_90a] [--rounds 20] [--out cost.csv]

Each row compares two launches, in interleaved rounds on the same inputs: S = 4095 with S = 4096, kv_len = S with no kv_len, and the kernel with the one that
tests no bound (without_bounds.py), which is launched on full tiles only. `--bin` is the folder of selvedge and selvedge-opt. Times are medians over rounds of
the mean over some launches. ptxas, if there is one ($SELVEDGE_PTXAS or on PATH), assembles for this GPU, else the driver does.
"""
import argparse
import csv
import ctypes
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import torch
from without_bounds import compile_unsafe

HERE = os.path.dirname(os.path.abspath(__file__))
DYNAMIC_SMEM = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
MAP_TYPES = {torch.float16: 6, torch.float32: 7, torch.bfloat16: 9}
MAP_ALIGN = 64

cuda = ctypes.CDLL("libcuda.so.1")


def check(status):
    if status:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(status, ctypes.byref(text))
        raise RuntimeError((text.value or b"unknown error").decode())


def value(expression, dims):
    """An expression of the manifest."""
    if isinstance(expression, dict):
        (name, operands), = expression.items()
        a, b = (value(operand, dims) for operand in operands)
        return {"add": a + b, "sub": a - b, "mul": a * b, "floordiv": a // max(b, 1), "ceildiv": -(-a // max(b, 1)), "mod": a % max(b, 1), "min": min(a, b),
                "max": max(a, b)}[name]
    return dims[expression] if isinstance(expression, str) else expression


def tensor_map(tensor, box):
    """A TMA descriptor as the runtime encodes it, in memory aligned for the driver."""
    memory = ctypes.create_string_buffer(128 + MAP_ALIGN)
    start = -ctypes.addressof(memory) % MAP_ALIGN
    rank, size = tensor.dim(), tensor.element_size()
    array = lambda kind, values: (kind * rank)(*values)
    extents = array(ctypes.c_uint64, reversed(tensor.shape))
    strides = array(ctypes.c_uint64, [step * size if extent > 1 else 16 for extent, step in zip(tensor.shape, tensor.stride())][-2::-1])
    check(cuda.cuTensorMapEncodeTiled(ctypes.byref(memory, start), MAP_TYPES[tensor.dtype], rank, ctypes.c_void_p(tensor.data_ptr()), extents, strides,
                                      array(ctypes.c_uint32, reversed(box)), array(ctypes.c_uint32, [1] * rank), 0, 3, 2, 0))
    return memory.raw[start : start + 128]


class Kernel:
    """The first variant of a compiled op, as PTX of the compiler or of without_bounds.py."""

    def __init__(self, options, arch, safe, arguments):
        program = lambda name: os.path.join(options.bin, name)
        arguments = [os.path.join(options.templates, arguments[0]), *arguments[1:]]
        emit = lambda what: subprocess.run([program("selvedge"), "compile", *arguments, "--arch", arch, "--emit", what, "-o", "-"], check=True,
                                           stdout=subprocess.PIPE, text=True).stdout
        self.manifest = json.loads(emit("manifest"))
        self.launches = self.manifest["variants"][0]["launches"]
        if safe:
            ptx = emit("ptx")
        else:
            ptx, unsafe = compile_unsafe(arguments, arch, selvedge=program("selvedge"), optimizer=program("selvedge-opt"))
            self.launches = [{**launch, **unsafe[launch["kernel"]]} for launch in self.launches]
        module = ctypes.c_void_p()
        check(cuda.cuModuleLoadData(ctypes.byref(module), assemble(ptx, arch)))
        self.functions = []
        for launch in self.launches:
            function = ctypes.c_void_p()
            check(cuda.cuModuleGetFunction(ctypes.byref(function), module, launch["kernel"].encode()))
            check(cuda.cuFuncSetAttribute(function, DYNAMIC_SMEM, launch["smem"]))
            self.functions.append(function)

    def bind(self, dims, tensors):
        """A function that launches on PyTorch's stream; an optional tensor may be left out."""
        bound = []
        for function, launch in zip(self.functions, self.launches):
            packed = [self.argument(argument, dims, tensors) for argument in launch["args"]]
            buffers = []
            for data in packed:
                memory = ctypes.create_string_buffer(len(data) + MAP_ALIGN)
                start = -ctypes.addressof(memory) % MAP_ALIGN
                ctypes.memmove(ctypes.addressof(memory) + start, data, len(data))
                buffers.append((memory, ctypes.addressof(memory) + start))
            pointers = (ctypes.c_void_p * len(buffers))(*(address for _, address in buffers))
            grid = ([value(extent, dims) for extent in launch["grid"]] + [1, 1])[:3]
            bound.append((function, grid, launch["block"], launch["smem"], pointers, buffers))

        def run(keep=tensors):
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            for function, grid, block, smem, pointers, _ in bound:
                check(cuda.cuLaunchKernel(function, *grid, block, 1, 1, smem, stream, pointers, None))

        return run

    def argument(self, argument, dims, tensors):
        (kind, what), = argument.items()
        if kind == "pointer":
            return struct.pack("<Q", tensors[what].data_ptr() if what in tensors else 0)
        if kind == "stride":
            return struct.pack("<q", tensors[what[0]].stride(what[1]) if what[0] in tensors else 0)
        if kind == "dim":
            return struct.pack("<i", dims[what])
        if kind == "tensorMap":
            return tensor_map(tensors[what[0]], what[1])
        scalar = next(s for s in self.manifest["scalars"] if s["name"] == what)
        return struct.pack({"f32": "<f", "i32": "<i"}[scalar["dtype"]], scalar["default"])


def assemble(ptx, arch):
    program = os.environ.get("SELVEDGE_PTXAS") or shutil.which("ptxas")
    if not program:
        return ptx.encode() + b"\0"
    major, minor = torch.cuda.get_device_capability()
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "code.ptx"), os.path.join(folder, "code.cubin")
        with open(source, "w") as file:
            file.write(ptx)
        subprocess.run([program, "-arch", arch if arch.endswith("a") else f"sm_{major}{minor}", source, "-o", target], check=True)
        with open(target, "rb") as file:
            return file.read()


def measure(launches, rounds, count):
    """Milliseconds of each launch, round by round, in an order that turns around."""
    times = {name: [] for name in launches}
    for run in launches.values():
        run()
    torch.cuda.synchronize()
    for number in range(rounds):
        for name in list(launches)[:: 1 if number % 2 == 0 else -1]:
            run, start, end = launches[name], torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            time.sleep(0.02)
            torch.cuda._sleep(2_000_000)  # the host runs ahead
            run()
            start.record()
            for _ in range(count):
                run()
            end.record()
            torch.cuda.synchronize()
            times[name].append(start.elapsed_time(end) / count)
    return times


def attention(seq, lengths, heads=16, d=128, tokens=16384):
    batch = tokens // 4096
    make = lambda: torch.randn(batch, seq, heads, d, device="cuda", dtype=torch.bfloat16)
    tensors = {name: make() for name in "qkvo"}
    tensors["lse"] = torch.empty(batch, heads, seq, device="cuda")
    if lengths:
        tensors["kv_len"] = torch.full((batch,), seq, device="cuda", dtype=torch.int32)
    return {"B": batch, "M": seq, "N": seq, "G": heads, "R": 1}, tensors


def product(rows):
    a, b = (torch.randn(n, 4096, device="cuda", dtype=torch.bfloat16) for n in (rows, 4096))
    return {"M": rows, "N": 4096, "K": 4096}, {"a": a, "b": b, "c": torch.empty(rows, 4096, device="cuda", dtype=torch.bfloat16)}


def cases(options, arch):
    """(kernel, {name: launch}) with the launch that others are compared with named `base`."""
    for causal in ("false", "true"):
        source = ["flash_fwd.tile", "--op", "flash_fwd", "--set", f"causal={causal}"]
        safe, unsafe = (Kernel(options, arch, is_safe, source) for is_safe in (True, False))
        yield f"flash_fwd causal={causal}", {
            "base": safe.bind(*attention(4096, False)), "S 4095": safe.bind(*attention(4095, False)), "kv_len": safe.bind(*attention(4096, True)),
            "S 4095, kv_len": safe.bind(*attention(4095, True)), "without bounds": unsafe.bind(*attention(4096, False))}
    safe, unsafe = (Kernel(options, arch, is_safe, ["matmul.tile"]) for is_safe in (True, False))
    yield "matmul", {"base": safe.bind(*product(4096)), "M 4095": safe.bind(*product(4095)), "without bounds": unsafe.bind(*product(4096))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--templates", default=os.path.join(HERE, "../../templates"))
    parser.add_argument("--arch", nargs="+", default=["sm_80", "sm_90a"])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--launches", type=int, default=10, help="per round")
    parser.add_argument("--out", help="CSV: kernel, arch, case, median, min and max in ms, percent over the base case")
    options = parser.parse_args()
    torch.cuda.init()
    torch.zeros(1, device="cuda")  # makes the context current
    rows = []
    for arch in options.arch:
        for kernel, launches in cases(options, arch):
            times = measure(launches, options.rounds, options.launches)
            for name, all_times in times.items():
                # Rounds are compared with each other: clocks drift.
                ratio = statistics.median(t / b for t, b in zip(all_times, times["base"]))
                rows.append([kernel, arch, name, *(f"{t:.4f}" for t in (statistics.median(all_times), min(all_times), max(all_times))), f"{100 * (ratio - 1):.2f}"])
                print(f"{kernel:24s} {arch:7s} {name:16s} {rows[-1][3]} ms  {rows[-1][6]} %", flush=True)
    if options.out:
        with open(options.out, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["kernel", "arch", "case", "median_ms", "min_ms", "max_ms", "percent"])
            writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
