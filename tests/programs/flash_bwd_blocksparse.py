"""grad(flash_blocksparse) on device `ref` against the formula in fp64 and differences of the loss: a block that a list names twice counts twice, and keys from kv_len on do not count.

Usage: flash_bwd_blocksparse.py SELVEDGE TEMPLATES FOLDER
"""
# SPDX-License-Identifier: MIT
import os
import subprocess
import sys

import numpy as np

from devices import write_safetensors
from flash_bwd import read_safetensors
from inputs import to_bf16

B, M, N, G, R, D, BQ, BK = 2, 37, 50, 1, 2, 16, 16, 8
H, MQ, MK = G * R, 3, 4
LENGTHS = np.array([50, 21])


def weights(rng):
    """Lists, and how often each query sees each key."""
    idx = rng.integers(-2, 9, (B, H, MQ, MK))
    cnt = rng.integers(0, MK + 1, (B, H, MQ))
    often = np.zeros((B, H, M, N))
    for place in np.ndindex(B, H, MQ):
        rows = slice(place[2] * BQ, (place[2] + 1) * BQ)
        for block in idx[place][:cnt[place]]:
            if block >= 0:
                often[place[0], place[1], rows, block * BK:(block + 1) * BK] += 1
    for b in range(B):
        often[b, :, :, LENGTHS[b]:] = 0
    return idx, cnt, often


def forward(q, k, v, often):
    s = np.where(often > 0, q @ k.T / np.sqrt(D), -np.inf)
    most = s.max(-1, keepdims=True)
    e = often * np.exp(s - np.where(np.isfinite(most), most, 0))
    total = e.sum(-1, keepdims=True)
    p = e / np.where(total > 0, total, 1)
    with np.errstate(divide="ignore"):
        return p @ v, (most + np.log(total))[:, 0], p


def gradients(x, often):
    out = {"d" + name: np.zeros_like(x[name]) for name in "qkv"}
    o, lse = np.zeros_like(x["dO"]), np.zeros((B, H, M))
    for b, h in np.ndindex(B, H):
        q, k, v, do = x["q"][b, :, h], x["k"][b, :, h // R], x["v"][b, :, h // R], x["dO"][b, :, h]
        o[b, :, h], lse[b, h], p = forward(q, k, v, often[b, h])
        ds = p * (do @ v.T - ((o[b, :, h] * do).sum(-1) - x["dLSE"][b, h])[:, None]) / np.sqrt(D)
        out["dq"][b, :, h] = ds @ k
        out["dk"][b, :, h // R] += ds.T @ q
        out["dv"][b, :, h // R] += p.T @ do
    return out, o, lse


def loss(x, often):
    total = 0.0
    for b, h in np.ndindex(B, H):
        o, lse, _ = forward(x["q"][b, :, h], x["k"][b, :, h // R], x["v"][b, :, h // R], often[b, h])
        total += (o * x["dO"][b, :, h]).sum() + (np.where(np.isfinite(lse), lse, 0) * x["dLSE"][b, h]).sum()
    return total


def main(selvedge, templates, folder):
    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(11)
    idx, cnt, often = weights(rng)
    x = {name: to_bf16(rng.standard_normal(shape)) for name, shape in {"q": (B, M, H, D), "k": (B, N, G, D), "v": (B, N, G, D), "dO": (B, M, H, D)}.items()}
    x["dLSE"] = np.float32(rng.standard_normal((B, H, M))).astype(np.float64)
    expected, o, lse = gradients(x, often)
    step = 1e-5
    for name in "qkv":
        direction = rng.standard_normal(x[name].shape)
        slope = (loss({**x, name: x[name] + step * direction}, often) - loss({**x, name: x[name] - step * direction}, often)) / (2 * step)
        assert abs(slope - (expected["d" + name] * direction).sum()) < 1e-6 * max(1, abs(slope)), name
    arrays = {**x, "o": to_bf16(o), "lse": lse, "idx": idx, "cnt": cnt, "kv_len": LENGTHS}
    types = {name: "f32" if name in ("lse", "dLSE") else "i32" if name in ("idx", "cnt", "kv_len") else "bf16" for name in arrays}
    given, found = os.path.join(folder, "in.safetensors"), os.path.join(folder, "out.safetensors")
    write_safetensors(given, arrays, types)
    subprocess.run([selvedge, "run", os.path.join(templates, "flash_blocksparse.tile"), "--op", "grad(flash_blocksparse)", "--device", "ref", "--set", f"D={D}", "--set", f"BQ={BQ}", "--set", f"BK={BK}",
                    "--shape", f"G={G},R={R}", "-i", given, "-o", found], check=True, stdout=subprocess.DEVNULL)
    for name, value in read_safetensors(found).items():
        wrong = np.linalg.norm(value - expected[name]) / np.linalg.norm(expected[name])
        assert wrong < 0.006, f"{name}: {wrong} of the norm"
        assert np.all(value[expected[name] == 0] == 0), f"{name}: what nothing reaches has no gradient"
    print("lists of blocks: gradients are the loss's")


if __name__ == "__main__":
    main(*sys.argv[1:])
