# SPDX-License-Identifier: MIT
"""A training step of flash-dmattn #181: attention with sentinels in its bias, and its gradient with the o and lse that the forward has given.

sentinels.py SELVEDGE FILE OP FOLDER M N ROW [--also CASE] [OPTIONS of `selvedge run`]: one key head for two query heads of 64, the last M of N causal rows. The bias is one for both heads. It has the least bf16 where keys are
removed: every second group of 128 keys. One row has a single key, one has no sentinel, two have large logits of both signs, and ROW, unless it is -1, has sentinels only. CASE
is another one of the gradient, which is compiled once for both.
"""
import array
import json
import os
import random
import struct
import subprocess
import sys

selvedge, source, op, folder = sys.argv[1:5]
M, N, ONLY_SENTINELS = map(int, sys.argv[5:8])
options, also = sys.argv[8:], []
if options[:1] == ["--also"]:
    options, also = options[2:], [options[1]]
H, D = 2, 64
LEAST = -3.3895313892515355e38
ONE_KEY, NO_SENTINEL, LARGE, LARGER = 5, 7, 9, 11
random.seed(181)


def words(values):
    """bf16, rounded to nearest even."""
    bits = array.array("I", array.array("f", values).tobytes())
    return array.array("H", ((b + 0x7FFF + (b >> 16 & 1)) >> 16 for b in bits)).tobytes()


def normal(count):
    return [random.gauss(0, 1) for _ in range(count)]


def bias():
    values = []
    for i in range(M):
        row = [LEAST if j // 128 % 2 == 0 else random.gauss(0, 1) for j in range(N)]
        if i == NO_SENTINEL:
            row = normal(N)
        elif i in (ONLY_SENTINELS, ONE_KEY):
            row = [LEAST] * N
        if i == ONE_KEY:
            row[N // 2] = 0.5
        values += row
    return values


def scale(values, row, factor):
    for at in range(row * H * D, (row + 1) * H * D):
        values[at] *= factor


def write(path, tensors):
    header, data = {}, b""
    for name, (kind, shape, content) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    return {name: (e["dtype"], e["shape"], data[slice(*e["data_offsets"])]) for name, e in header.items() if name != "__metadata__"}


def run(op, *more):
    command = [selvedge, "run", source, "--op", op, "--set", f"D={D}", *options, *more]
    sys.stdout.flush()
    subprocess.run(command, check=True)


os.makedirs(folder, exist_ok=True)
q = normal(M * H * D)
scale(q, LARGE, 1000)
scale(q, LARGER, -1e5)
tensors = {
    "q": ("BF16", [1, M, H, D], words(q)),
    "k": ("BF16", [1, N, 1, D], words(normal(N * D))),
    "v": ("BF16", [1, N, 1, D], words(normal(N * D))),
    "bias": ("BF16", [1, 1, M, N], words(bias())),
}
given, made, cases = (os.path.join(folder, name) for name in ("given.safetensors", "made.safetensors", "gradient.cases"))
write(given, tensors)
run(op, "-i", given, "--shape", f"G=1,R={H}", "-o", made)
tensors |= read(made)
tensors["dO"] = ("BF16", [1, M, H, D], words(normal(M * H * D)))
write(given, tensors)
with open(cases, "w") as file:
    file.write("\n".join([f"-i {given} --shape G=1,R={H},d_bias_0=1,d_bias_1=1", *also]) + "\n")
run(f"grad({op})", "--cases", cases)
