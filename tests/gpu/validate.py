#!/usr/bin/env python3
"""Launches that check their promises on a GPU, against a check by numpy.

validate.py [--seed N] [--cases N] [--most N] [--only WORD,...] [--budget S] [--json table.json]

An artefact is made of a manifest with one promise and of a kernel that does nothing. Tensors of i32 and i64, of 0 to 5 dimensions and any strides, get none,
one or many elements that break the promise, the first or the last one among them. The error has to be numpy's, word for word. `large` has tensors of more than
2^31 elements and needs 10 GB. `times` compares with the check on the host (SELVEDGE_HOST_VALIDATION=1); of --most elements, the GPU has to be faster.

It needs libcuda and numpy, nothing else. tests/python/validate.test executes it with a driver that has no GPU.
"""
# SPDX-License-Identifier: MIT
import argparse
import ctypes
import json
import os
import struct
import subprocess
import sys
import time

import numpy as np

import clients
from clients import record

clients.find_package()
import selvedge  # noqa: E402
from selvedge._library import DLTensor  # noqa: E402

PTX = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry nothing(.param .u64 o)\n{\n  ret;\n}\n"
LO, HI = -3, 1000003
BITS = {"i32": 32, "i64": 64}

make_capsule = ctypes.pythonapi.PyCapsule_New
make_capsule.restype, make_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Gpu:
    """Memory of GPU 0."""

    def __init__(self):
        self.cu = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxPushCurrent_v2", context)

    def call(self, name, *values):
        if result := getattr(self.cu, name)(*values):
            raise RuntimeError(f"{name}: error {result}")

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        return address.value

    def free(self, address):
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def write(self, address, array):
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))


class Tensor:
    """A tensor at an address of the GPU. Strides are in elements."""

    def __init__(self, address, shape, strides, dtype):
        self.shape, self.strides = (ctypes.c_int64 * len(shape))(*shape), (ctypes.c_int64 * len(shape))(*strides)
        code, bits = (2, 32) if dtype == "f32" else (0, BITS[dtype])
        self.tensor = DLTensor(address, 2, 0, len(shape), code, bits, 1, self.shape, self.strides, 0)

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream=None):
        return make_capsule(ctypes.addressof(self.tensor), b"dltensor", None)


def artefact(manifest):
    """The file of docs/manifest.md."""
    contents = [json.dumps(manifest).encode(), PTX.encode()]
    rest, offset = b"", 32 + 24 * len(contents)
    for name, content in zip((b"manifest", b"ptx"), contents):
        rest += struct.pack("<8sQQ", name, offset, len(content))
        offset += len(content)
    rest += b"".join(contents)
    prime, total = 1 << 88 | 0x13B, 0x6C62272E07BB0142 << 64 | 0x62B821756295C58D
    words = rest[: len(rest) // 8 * 8]
    count = struct.pack("<I", len(contents))
    for value in (*count, *struct.unpack(f"<{len(words) // 8}Q", words), *rest[len(words):], len(rest)):
        total = (total ^ value) * prime & (1 << 128) - 1
    return b"SELVEDGE" + struct.pack("<I", 2) + count + struct.pack("<QQ", total & (1 << 64) - 1, total >> 64) + rest


class Ops:
    """Ops with one tensor `x`, and one promise: loaded once each."""

    def __init__(self, gpu):
        self.gpu, self.loaded, self.out = gpu, {}, Tensor(gpu.allocate(4), [1], [1], "f32")

    def check(self, promise, dtype, rank, x):
        """The error; none where the promise is kept."""
        key = promise, dtype, rank
        if key not in self.loaded:
            dims = [f"D{d}" for d in range(rank)]
            tensors = [{"name": "x", "role": "in", "dtype": dtype, "shape": dims, "optional": False, "unique": promise == "unique"},
                       {"name": "o", "role": "out", "dtype": "f32", "shape": [1], "optional": False}]
            lo, hi = (LO, HI) if promise == "range" else (-(1 << 62), 1 << 62)
            requires = [] if promise == "unique" else [{"tensor": "x", "lo": lo, "hi": hi, "ordered": promise == "order"}]
            launch = {"kernel": "nothing", "grid": [1], "block": 32, "smem": 0, "args": [{"pointer": "o"}]}
            self.loaded[key] = selvedge.load(artefact({
                "selvedge": 1, "compiler": selvedge.__version__, "op": "checked", "arch": "sm_80", "params": {}, "dims": dims, "tensors": tensors,
                "scalars": [], "requires": requires, "variants": [{"name": "universal", "when": [], "launches": [launch]}]}))
        try:
            self.loaded[key](x, o=self.out, validate=True)
        except selvedge.BadInput as error:
            return str(error)
        return None


def expected(promise, values):
    """What the error says of the elements of an array."""
    flat = values.reshape(-1).astype(np.int64)
    if promise == "range":
        broken = (flat < LO) | (flat > HI)
    elif promise == "order":
        broken = np.concatenate([[False], flat[1:] < flat[:-1]]) if flat.size else np.zeros(0, bool)
    else:
        broken = flat >= 0
        _, first = np.unique(flat, return_index=True)
        broken[first] = False
    places = np.flatnonzero(broken)
    if not places.size:
        return None
    index = lambda place: f"[{', '.join(str(i) for i in np.unravel_index(place, values.shape))}]"  # noqa: E731
    first, value = places[0], flat[places[0]]
    if promise == "range":
        why = f"outside the required {LO}..{HI}"
    elif promise == "order":
        why = f"less than {flat[first - 1]} before it; segments are required"
    else:
        why = f"as at {index(np.flatnonzero(flat == value)[0])}; unique ones are required"
    others = f"; {places.size} elements break this" if places.size > 1 else ""
    return f"tensor 'x' at {index(first)} is {value}, {why}{others}"


def layout(rng, count):
    """A shape of about `count` elements, and strides: dense, with gaps, permuted, reversed, some of them 0."""
    rank = int(rng.integers(0, 6))
    shape = [max(1, round(count ** (1 / rank) * rng.uniform(0.5, 1.5))) if rank else 1 for _ in range(rank)]
    if rank and rng.random() < 0.3:
        shape[rng.integers(rank)] = 1
    strides, dense = [0] * rank, 1
    for d in rng.permutation(rank) if rng.random() < 0.5 else reversed(range(rank)):
        strides[d] = dense * (-1 if rng.random() < 0.25 else 1)
        dense *= shape[d] + (int(rng.integers(0, 4)) if rng.random() < 0.25 else 0)
    if rank and rng.random() < 0.25:
        strides[rng.integers(rank)] = 0
    return shape, strides


def draw(rng, promise, dtype, count):
    """Elements, in the order of indices, that keep a promise."""
    scale = 1 << 36 if dtype == "i64" and promise != "range" else 1
    if promise == "range":
        return rng.integers(LO, HI + 1, count)
    if promise == "order":
        return np.sort(rng.integers(-1000, 1000 + count // 4, count)) * scale
    values = rng.permutation(2 * count + 3)[:count] * (scale if rng.random() < 0.5 else 1)
    if rng.random() < 0.3:
        values[rng.random(count) < 0.2] = -7
    return values


def plant(rng, promise, dtype, values):
    """Breaks a promise nowhere, in the first element, in the last one, or in some."""
    count = values.size
    how = rng.choice(["none", "first", "last", "one", "some", "all"])
    places = {"none": [], "first": [0], "last": [count - 1], "one": [rng.integers(count)], "some": rng.integers(0, count, 1 + count // 50),
              "all": range(count)}[how]
    most = np.iinfo(np.int64 if dtype == "i64" else np.int32)
    for place in places:
        if promise == "range":
            values[place] = rng.choice([LO - 1, HI + 1, most.min, most.max])
        elif promise == "order":
            values[place] = rng.choice([-2000, most.max if dtype == "i32" else 1 << 62])
        else:
            values[place] = abs(values[rng.integers(count)])
    return how


def bench(gpu, ops, most):
    """Seconds of a validated launch, the least of several, by case."""
    times = {}
    for count in sorted({1000, min(100000, most), most}):
        dense = np.arange(count, dtype=np.int32)
        address = gpu.allocate(dense.nbytes)
        gpu.write(address, dense % (HI + 1))
        rows = count // 1000
        for name, promise, shape, strides in (("range", "range", [count], [1]), ("transposed range", "range", [1000, rows], [1, 1000]),
                                              ("order", "order", [count], [1]), ("unique", "unique", [count], [1]),
                                              ("transposed unique", "unique", [1000, rows], [1, 1000])):
            if promise != "range":
                gpu.write(address, dense)
            x, least = Tensor(address, shape, strides, "i32"), float("inf")
            for _ in range(12 if count < most else 4):
                start = time.perf_counter()
                found = ops.check(promise, "i32", len(shape), x)
                least = min(least, time.perf_counter() - start)
                if found:
                    raise RuntimeError(found)
            times[f"{name} {count}"] = least
            gpu.write(address, dense % (HI + 1))
        gpu.free(address)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=600, help="random tensors")
    parser.add_argument("--most", type=int, default=10**7, help="elements of the largest ones")
    parser.add_argument("--print-times", action="store_true", help=argparse.SUPPRESS)
    options = clients.parse(parser, ["random", "twins", "large", "times"])
    gpu = Gpu()
    ops = Ops(gpu)
    if options.print_times:
        print(json.dumps(bench(gpu, ops, options.most)))
        return

    def compare(case, promise, dtype, shape, strides, values):
        """`values` are written in the order of indices; where several share a place the last one counts."""
        reach = [(n - 1) * s for n, s in zip(shape, strides)] if values.size else []
        lowest, highest = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
        memory = np.full(highest - lowest + 1, -2**31 + 5, np.int64 if dtype == "i64" else np.int32)
        size = memory.itemsize
        view = np.lib.stride_tricks.as_strided(memory[-lowest:], shape, [s * size for s in strides])
        view[...] = values.reshape(shape)
        address = gpu.allocate(memory.nbytes)
        gpu.write(address, memory)
        found = ops.check(promise, dtype, len(shape), Tensor(address - lowest * size, shape, strides, dtype))
        gpu.free(address)
        wanted = expected(promise, view)
        if found != wanted:
            record(case, False, shape=shape, strides=strides, found=found, wanted=wanted)
        return found == wanted

    def case_random():
        rng = np.random.default_rng(options.seed)
        passed = broken = 0
        for i in range(options.cases):
            promise, dtype = ("range", "order", "unique")[i % 3], ("i32", "i64")[i // 3 % 2]
            count = options.most if i >= options.cases - 6 else int(10 ** rng.uniform(0, min(5.5, np.log10(options.most))))
            shape, strides = layout(rng, count)
            values = draw(rng, promise, dtype, int(np.prod(shape)))
            how = plant(rng, promise, dtype, values)
            broken += how != "none"
            passed += compare(f"{i}: {promise} {dtype} {how}", promise, dtype, shape, strides, values)
        record(f"random tensors, {broken} with elements that break a promise", passed == options.cases, right=passed, of=options.cases)
        record("tensors without elements", all(compare("none", p, "i32", [0, 3], [3, 1], np.zeros(0, int)) for p in ("range", "order", "unique")))

    def case_twins():
        """Equal elements far apart and side by side, at each place of the first; all equal."""
        passed = []
        for dtype in ("i32", "i64"):
            for distance in (1, 31, 256, options.most // 2):
                values = np.arange(min(options.most, 3 * distance + 1000)) * (1 if dtype == "i32" else 1 << 33)
                for place in (0, values.size // 3, values.size - 1 - distance):
                    twins = values.copy()
                    twins[place + distance] = twins[place]
                    passed.append(compare(f"twins {distance} apart at {place}", "unique", dtype, [twins.size], [1], twins))
            passed.append(compare("all equal", "unique", dtype, [options.most], [1], np.full(options.most, 5)))
            passed.append(compare("all negative", "unique", dtype, [options.most], [1], np.full(options.most, -5)))
        record("twins", all(passed), right=sum(passed), of=len(passed))

    def case_large():
        """More elements than 32 bits count, and memory whose last byte is 8 GiB away."""
        half = (1 << 30) + 3
        small = np.array([7, HI + 5, 7], np.int32)
        address = gpu.allocate(small.nbytes)
        gpu.write(address, small)
        found = ops.check("range", "i32", 2, Tensor(address, [3, half], [1, 0], "i32"))
        record("one element that stands for 2^30", found == f"tensor 'x' at [1, 0] is {HI + 5}, outside the required {LO}..{HI}; {half} elements break this",
               found=found)
        found = ops.check("order", "i32", 2, Tensor(address, [3, half], [1, 0], "i32"))
        record("order of 3 * 2^30 elements", found == f"tensor 'x' at [2, 0] is 7, less than {HI + 5} before it; segments are required", found=found)
        gpu.free(address)
        address = gpu.allocate(8 * half)
        zeros = np.zeros(1 << 26, np.int32)
        for at in range(0, 2 * half, zeros.size):
            gpu.write(address + 4 * at, zeros[: 2 * half - at])
        gpu.write(address + 8 * half - 4, small[1:2])
        for name, shape, strides, index in (("dense", [2, half], [half, 1], f"[1, {half - 1}]"), ("transposed", [half, 2], [1, half], f"[{half - 1}, 1]"),
                                            ("backwards", [2, half], [-half, -1], "[0, 0]")):
            start = address if min(strides) > 0 else address + 8 * half - 4
            found = ops.check("range", "i32", 2, Tensor(start, shape, strides, "i32"))
            record(f"more than 2^31 elements, {name}", found == f"tensor 'x' at {index} is {HI + 5}, outside the required {LO}..{HI}", found=found)
        gpu.free(address)

    def case_times():
        command = [sys.executable, __file__, "--print-times", "--most", str(options.most)]
        gpus, hosts = (json.loads(subprocess.run(command, env=dict(os.environ, SELVEDGE_HOST_VALIDATION=flag), check=True, stdout=subprocess.PIPE).stdout)
                       for flag in ("0", "1"))
        for name, on_gpu in gpus.items():
            is_largest = name.endswith(f" {options.most}")
            record(f"times {name}", on_gpu < hosts[name] or not is_largest, gpu_us=on_gpu * 1e6, host_us=hosts[name] * 1e6, ratio=hosts[name] / on_gpu)

    clients.run({"random": case_random, "twins": case_twins, "large": case_large, "times": case_times}, options)


if __name__ == "__main__":
    main()
