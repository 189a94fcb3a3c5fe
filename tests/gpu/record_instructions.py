#!/usr/bin/env python3
"""Executes the kernels of tests/Sim/Inputs/Recorded on a Hopper GPU and writes what each stores, which device `sim` has to store, too.

    record_instructions.py build FOLDER --out DIR [--opt selvedge-opt] [--ptxas ptxas]
    record_instructions.py run FOLDER --cubins DIR > tests/Sim/Inputs/Recorded/results.txt

`build` needs no GPU: it leaves KERNEL.cubin. `run` needs libcuda and nothing else. Each line of the results is a kernel's name and the checksum (FNV-1a, 64 bits) of its output.
"""
# SPDX-License-Identifier: MIT
import argparse
import ctypes
import pathlib
import re
import struct
import subprocess
import sys

SPECIAL = [0x7F800000, 0xFF800000, 0x7FC00000, 0x477FE000, 0x477FEFFF, 0x477FF000, 0x7F7FFFFF, 0x7F7F8000, 0x7F7F7FFF, 0x33800000, 0x33000000, 0x33000001, 0x43808000, 0x43818000, 0x80000000, 0x00000001]


def header(path):
    """How a kernel is launched, as its second line says."""
    return dict(re.findall(r"(\w+)=(\w+)", path.read_text().split("\n")[1]))


def mixed(i):
    return i * 2654435761 & 0xFFFFFFFF


def contents(kind, size):
    """The input: small multiples of an eighth, exact in every type, or any bits."""
    if kind == "bits":
        words = [SPECIAL[i] if i < len(SPECIAL) else mixed(i) ^ i << 7 for i in range(size // 4)]
        return struct.pack(f"<{size // 4}I", *words)
    values = [((mixed(i) >> 25) - 64) / 8 for i in range(size // 2)]
    if kind == "f16":
        return struct.pack(f"<{size // 2}e", *values)
    return b"".join(struct.pack("<f", value)[2:] for value in values)


def checksum(data):
    result = 0xCBF29CE484222325
    for byte in data:
        result = (result ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return result


def build(args):
    args.out.mkdir(parents=True, exist_ok=True)
    for path in sorted(args.folder.glob("*.mlir")):
        ptx = subprocess.run([args.opt, str(path), "--emit-ptx=arch=sm_90a", "-o", "/dev/null"], check=True, capture_output=True, text=True).stdout
        (args.out / f"{path.stem}.ptx").write_text(ptx)
        subprocess.run([args.ptxas, "-arch=sm_90a", str(args.out / f"{path.stem}.ptx"), "-o", str(args.out / f"{path.stem}.cubin")], check=True)


def run(args):
    """Each kernel in a process of its own: what one breaks is broken for all that follow."""
    failed = False
    for path in sorted(args.folder.glob("*.mlir")):
        if args.only:
            if path.stem == args.only:
                launch_one(path, args.cubins)
            continue
        done = subprocess.run([sys.executable, __file__, "run", str(args.folder), "--cubins", str(args.cubins), "--only", path.stem], capture_output=True, text=True)
        print(done.stdout, end="", flush=True)
        if done.returncode:
            failed = True
            print(f"{path.stem}: {done.stderr.strip()}", file=sys.stderr)
    if failed:
        sys.exit(1)


def launch_one(path, cubins):
    cu = ctypes.CDLL("libcuda.so.1")

    def call(name, *values):
        if result := getattr(cu, name)(*values):
            sys.exit(f"{name}: error {result}")

    call("cuInit", 0)
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    launch = header(path)
    size_in, size_out = int(launch["in"]), int(launch["out"])
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), (cubins / f"{path.stem}.cubin").read_bytes())
    call("cuModuleGetFunction", ctypes.byref(function), module, b"kernel")
    given, stored = ctypes.c_uint64(), ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(given), ctypes.c_size_t(size_in))
    call("cuMemAlloc_v2", ctypes.byref(stored), ctypes.c_size_t(size_out))
    call("cuMemcpyHtoD_v2", given, contents(launch["type"], size_in), ctypes.c_size_t(size_in))
    call("cuMemsetD8_v2", stored, ctypes.c_ubyte(0), ctypes.c_size_t(size_out))
    values = [given, stored]
    parameters = [ctypes.addressof(value) for value in values]
    if "%map" in path.read_text():
        raw = ctypes.create_string_buffer(128 + 64)
        at = (ctypes.addressof(raw) + 63) // 64 * 64
        described = stored if "tensor-store" in path.stem else given
        call("cuTensorMapEncodeTiled", ctypes.c_void_p(at), 9, 2, ctypes.c_void_p(described.value), (ctypes.c_uint64 * 2)(60, 40), (ctypes.c_uint64 * 1)(128), (ctypes.c_uint32 * 2)(64, 16), (ctypes.c_uint32 * 2)(1, 1), 0, 3, 2, 0)
        parameters.append(at)
    pointers = (ctypes.c_void_p * len(parameters))(*parameters)
    call("cuLaunchKernel", function, 1, 1, 1, int(launch["threads"]), 1, 1, int(launch["shared"]), None, pointers, None)
    call("cuCtxSynchronize")
    result = ctypes.create_string_buffer(size_out)
    call("cuMemcpyDtoH_v2", result, stored, ctypes.c_size_t(size_out))
    print(f"{path.stem} {checksum(result.raw):016x}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    building = commands.add_parser("build")
    building.add_argument("folder", type=pathlib.Path)
    building.add_argument("--out", type=pathlib.Path, required=True)
    building.add_argument("--opt", default="selvedge-opt")
    building.add_argument("--ptxas", default="ptxas")
    building.set_defaults(do=build)
    running = commands.add_parser("run")
    running.add_argument("folder", type=pathlib.Path)
    running.add_argument("--cubins", type=pathlib.Path, required=True)
    running.add_argument("--only", help="the name of one kernel")
    running.set_defaults(do=run)
    args = parser.parse_args()
    args.do(args)


if __name__ == "__main__":
    main()
