"""flash_bwd_varlen on device `ref` against the gradients of a loss in numpy: its formula in fp64, and differences of the loss itself. NaN lies wherever no sequence does.

Usage: flash_bwd_varlen.py SELVEDGE TEMPLATES FOLDER
"""
# SPDX-License-Identifier: MIT
import os
import subprocess
import sys

import numpy as np

from devices import write_safetensors
from flash_bwd import read_safetensors
from inputs import to_bf16

G, R, D, DV = 2, 2, 16, 24
# Empty at the beginning, in the middle and at the end, of queries, of keys, and of both; rows before, and behind.
CU_Q, CU_K = [2, 2, 20, 21, 21, 50, 50], [1, 4, 4, 30, 30, 61, 61]
ROWS, KEYS, LONGEST = 56, 64, 33


def sequences():
    return [(b, slice(CU_Q[b], CU_Q[b + 1]), slice(CU_K[b], CU_K[b + 1])) for b in range(len(CU_Q) - 1)]


def forward(q, k, v, causal):
    """(o, lse, weights) of one head of one sequence; a row without keys has 0 and -inf."""
    s = q @ k.T / np.sqrt(D)
    i, j = np.ogrid[:len(q), :len(k)]
    s = np.where((not causal) | (j <= i + len(k) - len(q)), s, -np.inf)
    most = s.max(-1, keepdims=True, initial=-np.inf)
    e = np.exp(s - np.where(np.isfinite(most), most, 0))
    total = e.sum(-1, keepdims=True)
    p = e / np.where(total > 0, total, 1)
    with np.errstate(divide="ignore"):
        return p @ v, (most + np.log(total))[:, 0], p


def gradients(x, causal):
    out = {"d" + name: np.zeros_like(x[name]) for name in "qkv"}
    o, lse = np.zeros_like(x["dO"]), np.zeros((G * R, ROWS))
    for _, i, j in sequences():
        for h in range(G * R):
            q, k, v, do = x["q"][i, h], x["k"][j, h // R], x["v"][j, h // R], x["dO"][i, h]
            o[i, h], lse[h, i], p = forward(q, k, v, causal)
            ds = p * (do @ v.T - ((o[i, h] * do).sum(-1) - x["dLSE"][h, i])[:, None]) / np.sqrt(D)
            out["dq"][i, h] = ds @ k
            out["dk"][j, h // R] += ds.T @ q
            out["dv"][j, h // R] += p.T @ do
    return out, o, lse


def loss(x, causal):
    total = 0.0
    for _, i, j in sequences():
        for h in range(G * R):
            o, lse, _ = forward(x["q"][i, h], x["k"][j, h // R], x["v"][j, h // R], causal)
            total += (o * x["dO"][i, h]).sum() + (np.where(np.isfinite(lse), lse, 0) * x["dLSE"][h, i]).sum()
    return total


def nowhere(array, axis, cu):
    """`array` with NaN in the rows of no sequence."""
    array = np.moveaxis(array.copy(), axis, 0)
    array[:cu[0]], array[cu[-1]:] = np.nan, np.nan
    return np.moveaxis(array, 0, axis)


def check(selvedge, templates, folder, op, causal):
    rng = np.random.default_rng(7)
    shapes = {"q": (ROWS, G * R, D), "k": (KEYS, G, D), "v": (KEYS, G, DV), "dO": (ROWS, G * R, DV)}
    x = {name: to_bf16(rng.standard_normal(shape)) for name, shape in shapes.items()}
    x["dLSE"] = np.float32(rng.standard_normal((G * R, ROWS))).astype(np.float64)
    expected, o, lse = gradients(x, causal)
    step = 1e-5
    for name in "qkv":
        direction = rng.standard_normal(x[name].shape)
        slope = (loss({**x, name: x[name] + step * direction}, causal) - loss({**x, name: x[name] - step * direction}, causal)) / (2 * step)
        assert abs(slope - (expected["d" + name] * direction).sum()) < 1e-6 * max(1, abs(slope)), name
    if op.endswith("padded"):
        padded = np.full((len(CU_Q) - 1, G * R, LONGEST), np.nan)
        for b, i, _ in sequences():
            padded[b, :, :i.stop - i.start] = lse[:, i]
        lse = padded
    else:
        lse = nowhere(lse, 1, CU_Q)
    rows = {name: nowhere(x[name], 0, CU_Q) for name in ("q", "dO")} | {name: nowhere(x[name], 0, CU_K) for name in ("k", "v")}
    arrays = {**rows, "o": nowhere(to_bf16(o), 0, CU_Q), "dLSE": nowhere(x["dLSE"], 1, CU_Q), "lse": lse, "cu_q": np.array(CU_Q), "cu_k": np.array(CU_K)}
    types = {name: "f32" if name in ("lse", "dLSE") else "i32" if name.startswith("cu_") else "bf16" for name in arrays}
    given, found = os.path.join(folder, "in.safetensors"), os.path.join(folder, "out.safetensors")
    write_safetensors(given, arrays, types)
    source = "flash_varlen.tile" if op.startswith("grad") else "flash_bwd_varlen.tile"
    subprocess.run([selvedge, "run", os.path.join(templates, source), "--op", op, "--device", "ref", "--set", f"D={D}", "--set", f"DV={DV}", "--set", f"causal={str(causal).lower()}",
                    "--shape", f"G={G},R={R}", "-i", given, "-o", found], check=True, stdout=subprocess.DEVNULL)
    for name, value in read_safetensors(found).items():
        assert np.all(np.isfinite(value)), f"{name}: not finite"
        wrong = np.linalg.norm(value - expected[name]) / np.linalg.norm(expected[name])
        # Weights and outputs are bf16: 2^-9 each.
        assert wrong < 0.005, f"{name}: {wrong} of the norm"
        assert np.all(value[expected[name] == 0] == 0), f"{name}: what nothing reaches has no gradient"
    print(f"{op}, causal {causal}: gradients are the loss's")


def main(selvedge, templates, folder):
    os.makedirs(folder, exist_ok=True)
    for op in ("flash_bwd_varlen", "flash_bwd_varlen_padded", "grad(flash_varlen)"):
        for causal in (False, True):
            check(selvedge, templates, folder, op, causal)


if __name__ == "__main__":
    main(*sys.argv[1:])
