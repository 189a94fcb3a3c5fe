"""Conversions of floats of 8 bits against tables, in the code of threads of both targets, in physical mode and by `ref`: byte_values.py SELVEDGE FOLDER.

A table has all finite values of a format in order, made of the format's definition; rounding is a search in it, by distance and then by the last bit.
"""
# SPDX-License-Identifier: MIT
import json
import pathlib
import struct
import subprocess
import sys

import numpy as np

DTYPES = {"F8_E4M3": "u1", "F8_E5M2": "u1", "F16": "<u2", "BF16": "<u2", "F32": "<f4"}


def values_of(mantissa, bias, infinite):
    """The numbers of all 256 bytes; without Inf the last byte of each sign alone is NaN."""
    table = []
    for byte in range(256):
        exponent, rest = byte >> mantissa & 0x7F >> mantissa, byte & (1 << mantissa) - 1
        number = rest * 2.0 ** (1 - bias - mantissa) if exponent == 0 else (1 + rest / 2**mantissa) * 2.0 ** (exponent - bias)
        if infinite and exponent == 0x7F >> mantissa:
            number = np.nan if rest else np.inf
        if not infinite and byte & 0x7F == 0x7F:
            number = np.nan
        table.append(-number if byte & 0x80 else number)
    return np.array(table)


E4M3, E5M2 = values_of(3, 7, False), values_of(2, 15, True)


def narrowed(x, table):
    """The bytes of numbers: nearest, then even; saturated, Inf too."""
    with np.errstate(invalid="ignore"):
        x = x.astype(np.float64)
    finite = table[:128][np.isfinite(table[:128])]
    size = np.minimum(np.abs(x), finite[-1])
    size[np.isnan(size)] = 0
    above = np.searchsorted(finite, size)
    below = np.maximum(above - 1, 0)
    up, down = finite[above] - size, size - finite[below]
    byte = np.where((up < down) | ((up == down) & (above % 2 == 0)) | (above == 0), above, below)
    byte = byte | np.where(np.signbit(x), 0x80, 0)
    return np.where(np.isnan(x), 0x7F, byte).astype(np.uint8)


def read(path):
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, tensor in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = tensor["data_offsets"]
            tensors[name] = np.frombuffer(data[8 + size + begin:8 + size + end], DTYPES[tensor["dtype"]])
    return tensors


def write(path, tensors):
    header, data = {}, b""
    for name, (dtype, array) in tensors.items():
        content = array.tobytes()
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + data)


def numbers():
    """f32: random bits, numbers near each value and each middle of two values, of both formats."""
    generator = np.random.default_rng(0)
    exact = np.concatenate([t[np.isfinite(t)] for t in (E4M3, E5M2)])
    exact = np.unique(exact)
    middle = ((exact[1:] + exact[:-1]) / 2).astype(np.float32)
    near = np.concatenate([exact.astype(np.float32), middle, np.float32([464, -464, 480, 61440, -61440, np.inf, -np.inf, 1e-45, 3e38])])
    near = np.concatenate([near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))])
    bits = generator.integers(0, 1 << 32, 4096, np.uint32).view(np.float32)
    usual = (generator.standard_normal(4096) * np.exp2(generator.integers(-20, 20, 4096))).astype(np.float32)
    return np.concatenate([near, bits, usual])


def bfloat(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def inputs(path):
    every = np.arange(256, dtype=np.uint8)
    halves = np.arange(65536, dtype=np.uint16)
    write(path, {"a": ("F8_E4M3", every), "b": ("F8_E5M2", every), "h": ("F16", halves), "g": ("BF16", halves), "x": ("F32", numbers())})


def differing(name, got, wanted):
    """Numbers that are not the same; any NaN is NaN."""
    same = (got == wanted) & (np.signbit(got) == np.signbit(wanted)) | np.isnan(got) & np.isnan(wanted)
    if not same.all():
        at = int(np.argmin(same))
        sys.exit(f"{name}[{at}] is {got[at]}, expected {wanted[at]} ({int((~same).sum())} of {same.size} differ)")
    return same.size


def check(path_in, path_out):
    t, out, count = read(path_in), read(path_out), 0
    for name, table in (("a", E4M3), ("b", E5M2)):
        wide = table[t[name]]
        count += differing(name + "f", out[name + "f"].astype(np.float64), wide)
        count += differing(name + "h", out[name + "h"].view(np.float16).astype(np.float64), wide)
        count += differing(name + "b", bfloat(out[name + "b"]).astype(np.float64), wide)
    # A byte comes back as it was: Inf alone, which saturates, does not.
    count += differing("aa", E4M3[out["aa"]], E4M3)
    count += differing("bs", E5M2[out["bs"]], E5M2[narrowed(E5M2, E5M2)])
    with np.errstate(invalid="ignore"):
        sources = {"h": t["h"].view(np.float16).astype(np.float32), "g": bfloat(t["g"]), "x": t["x"]}
    for name, source in sources.items():
        for suffix, table in (("a", E4M3), ("b", E5M2)):
            bytes_ = narrowed(source, table)
            count += differing(name + suffix, table[out[name + suffix]], table[bytes_])
    return count


DEVICES = {"sm_80": "--arch sm_80 --device sim", "sm_90a": "--arch sm_90a --device sim", "physical": "--arch sm_80 --device ref --form sm:async",
           "ref": "--device ref"}


def main():
    selvedge, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    program = pathlib.Path(__file__).parent / "Inputs" / "byte_values.tile"
    inputs(folder / "in")
    for name, options in DEVICES.items():
        subprocess.run([selvedge, "run", program, *options.split(), "-i", folder / "in", "-o", folder / name], check=True, stdout=subprocess.DEVNULL)
        print(name, check(folder / "in", folder / name), "conversions")
    if (folder / "sm_80").read_bytes() != (folder / "sm_90a").read_bytes():
        sys.exit("the targets differ")


if __name__ == "__main__":
    main()
