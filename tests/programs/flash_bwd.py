"""flash_bwd, and the gradient of a variant of flash_fwd, on device `ref` against the gradients of a loss in numpy: its formula in fp64, and differences of the loss itself.

Usage: flash_bwd.py SELVEDGE TEMPLATES FOLDER
"""
# SPDX-License-Identifier: MIT
import json
import os
import subprocess
import sys

import numpy as np

from devices import write_safetensors
from inputs import to_bf16

B, M, N, G, R, D, DV = 2, 37, 50, 2, 3, 16, 24
LENGTHS = np.array([50, 21])
CAP, WINDOW = 1.5, 11
# Scores of a variant are capped and have a slope by head, and rows see the last keys only.
VARIANT = """import "flash_fwd.tile";
op variant(cap: f32 = %s) extends flash_fwd<causal = true> {
  score(s, b, h, i, j) = cap * tanh(s / cap) + 0.25 * s - 0.01 * (i - j);
  keep(b, h, i, j)     = super(b, h, i, j) && j > i + kv_len[b] - M - %d;
}
op sentinels(bias: bf16[M, N]) extends flash_fwd { score(s, b, h, i, j) = s + (bias[i, j] as f32); }
""" % (CAP, WINDOW)
# The least bf16 where the caller wants no key.
BIAS = np.where(np.add.outer(np.arange(M), 2 * np.arange(N)) % 3 == 0, -3.3895313892515355e38, 0.0)


def read_safetensors(path):
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        data = file.read()
    arrays = {}
    for name, entry in header.items():
        if name != "__metadata__":
            raw = data[slice(*entry["data_offsets"])]
            words = np.frombuffer(raw, "<u4") if entry["dtype"] == "F32" else np.frombuffer(raw, "<u2").astype(np.uint32) << 16
            arrays[name] = words.view(np.float32).reshape(entry["shape"]).astype(np.float64)
    return arrays


def forward(q, k, v, kind, length):
    """(o, lse, weights, derivative of the scores) of one query head of one batch; a row without keys has 0 and -inf."""
    s, slope = q @ k.T / np.sqrt(D), 1.0
    i, j = np.ogrid[:M, :N]
    keep = (j < length) & (kind not in ("causal", "variant") or j <= i + length - M)
    if kind == "sentinels":
        s = s + BIAS
    if kind == "variant":
        keep &= j > i + length - M - WINDOW
        t = np.tanh(s / CAP)
        s, slope = CAP * t + 0.25 * s - 0.01 * (i - j), 1 - t * t + 0.25
    s = np.where(keep, s, -np.inf)
    most = s.max(-1, keepdims=True)
    e = np.where(keep, np.exp(s - np.where(np.isfinite(most), most, 0)), 0)
    total = e.sum(-1, keepdims=True)
    p = e / np.where(total > 0, total, 1)
    with np.errstate(divide="ignore"):
        return p @ v, np.where(total > 0, most + np.log(total), -np.inf)[:, 0], p, slope


def gradients(x, kind):
    """What flash_bwd gives for the inputs `x`, and its inputs o and lse."""
    out = {"dq": np.zeros_like(x["q"]), "dk": np.zeros_like(x["k"]), "dv": np.zeros_like(x["v"])}
    o, lse = np.zeros_like(x["dO"]), np.zeros((B, G * R, M))
    for b in range(B):
        for h in range(G * R):
            g = h // R
            q, k, v, do = x["q"][b, :, h], x["k"][b, :, g], x["v"][b, :, g], x["dO"][b, :, h]
            o[b, :, h], lse[b, h], p, slope = forward(q, k, v, kind, LENGTHS[b])
            delta = (o[b, :, h] * do).sum(-1) - x["dLSE"][b, h]
            ds = slope * p * (do @ v.T - delta[:, None]) / np.sqrt(D)
            out["dq"][b, :, h] = ds @ k
            out["dk"][b, :, g] += ds.T @ q
            out["dv"][b, :, g] += p.T @ do
    return out, o, lse


def loss(x, kind):
    total = 0.0
    for b in range(B):
        for h in range(G * R):
            o, lse, _, _ = forward(x["q"][b, :, h], x["k"][b, :, h // R], x["v"][b, :, h // R], kind, LENGTHS[b])
            total += (o * x["dO"][b, :, h]).sum() + (np.where(np.isfinite(lse), lse, 0) * x["dLSE"][b, h]).sum()
    return total


def check(selvedge, templates, folder, kind, deterministic):
    rng = np.random.default_rng(5)
    shapes = {"q": (B, M, G * R, D), "k": (B, N, G, D), "v": (B, N, G, DV), "dO": (B, M, G * R, DV)}
    x = {name: to_bf16(rng.standard_normal(shape)) for name, shape in shapes.items()}
    x["dLSE"] = np.float32(rng.standard_normal((B, G * R, M))).astype(np.float64)
    expected, o, lse = gradients(x, kind)
    # The formula is the derivative of the loss.
    step = 1e-5
    for name in ("q", "k", "v"):
        direction = rng.standard_normal(x[name].shape)
        slope = (loss({**x, name: x[name] + step * direction}, kind) - loss({**x, name: x[name] - step * direction}, kind)) / (2 * step)
        assert abs(slope - (expected["d" + name] * direction).sum()) < 1e-6 * max(1, abs(slope)), name
    arrays = {**x, "o": to_bf16(o), "lse": lse, "kv_len": LENGTHS}
    if kind == "sentinels":
        arrays["bias"] = BIAS
    types = {name: "f32" if name in ("lse", "dLSE") else "i32" if name == "kv_len" else "bf16" for name in arrays}
    given, found = os.path.join(folder, "in.safetensors"), os.path.join(folder, "out.safetensors")
    write_safetensors(given, arrays, types)
    variant = os.path.join(folder, "variant.tile")
    with open(variant, "w") as file:
        file.write(VARIANT)
    chosen = [variant, "-I", templates, "--op", f"grad({kind})"] if kind in ("variant", "sentinels") else [os.path.join(templates, "flash_bwd.tile"), "--set", f"causal={str(kind == 'causal').lower()}"]
    subprocess.run([selvedge, "run", *chosen, "--device", "ref", "--set", f"D={D}", "--set", f"DV={DV}", "--set", f"deterministic={str(deterministic).lower()}", "--shape", f"G={G},R={R}", "-i", given, "-o", found],
                   check=True, stdout=subprocess.DEVNULL)
    for name, value in read_safetensors(found).items():
        assert np.all(np.isfinite(value)), f"{name}: not finite"
        wrong = np.linalg.norm(value - expected[name]) / np.linalg.norm(expected[name])
        # Weights and outputs are bf16: 2^-9 each.
        assert wrong < 0.005, f"{name}: {wrong} of the norm"
        assert np.all(value[expected[name] == 0] == 0), f"{name}: what nothing reaches has no gradient"
    print(f"{kind}{', deterministic' if deterministic else ''}: gradients are the loss's")


def main(selvedge, templates, folder):
    os.makedirs(folder, exist_ok=True)
    for kind in ("full", "causal", "variant", "sentinels"):
        for deterministic in (True, False):
            check(selvedge, templates, folder, kind, deterministic)


if __name__ == "__main__":
    main(*sys.argv[1:])
