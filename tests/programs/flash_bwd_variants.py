"""Gradients of the variants of attention, those of inputs that are `diff` among them, on device `ref` against the gradients of a loss in numpy: its formula in fp64, and differences of the loss.

Usage: flash_bwd_variants.py SELVEDGE TEMPLATES FOLDER
"""
# SPDX-License-Identifier: MIT
import os
import subprocess
import sys

import numpy as np

from devices import write_safetensors
from flash_bwd import read_safetensors
from inputs import to_bf16

B, M, N, G, R, D = 2, 21, 34, 2, 2, 16
H = G * R
LENGTHS = np.array([34, 19])
CAP, WINDOW = 1.5, 9
# Inputs of other shapes than those of the templates: gradients are sums over what they lack.
SOURCE = """import "flash_variants.tile";
op slopes(diff slope: f32[G*R]) extends flash_fwd<causal = true> { score(s, b, h, i, j) = s - slope[h] * (i + kv_len[b] - M - j); }
op shared(diff table: bf16[M, N]) extends flash_fwd { score(s, b, h, i, j) = 2 * tanh(s / 2) + 0.5 * (table[i, j] as f32) * s; }
op by_key(diff first: f32[G*R, N], diff second: f32[B, M]) extends flash_fwd { score(s, b, h, i, j) = s + first[h, j] * second[b, i]; }
op slopes_in_order(diff slope: f32[G*R] deterministic) extends flash_fwd<causal = true> { score(s, b, h, i, j) = s - slope[h] * (i + kv_len[b] - M - j); }
op shared_in_order(diff table: bf16[M, N] deterministic) extends flash_fwd { score(s, b, h, i, j) = 2 * tanh(s / 2) + 0.5 * (table[i, j] as f32) * s; }
op sinks_in_order(diff sink_score: f32[G*R] deterministic) extends flash_fwd { sink(b, h) = sink_score[h]; }
op capped_sink() extends sinks { score(s, b, h, i, j) = 1.5 * tanh(s / 1.5); }
op qk_norm_in_order(diff wq: f32[D] deterministic, diff wk: f32[D] deterministic) extends flash_fwd {
  fn rms_norm(x, w) = x * rsqrt(sum(x * x, D) / D + 0.000001) * w;
  query(x, b, h, i) = rms_norm(x as f32, wq[:]) as T;
  key(x, b, g, j)   = rms_norm(x as f32, wk[:]) as T;
}
op capped_norm() extends qk_norm<causal = true> { score(s, b, h, i, j) = 1.5 * tanh(s / 1.5); }
op layer_norm(diff wq: f32[G*R, D], diff add: f32[G, D]) extends flash_fwd {
  fn centred(x)     = x - sum(x, D) / D;
  fn unit(x)        = x / sqrt(sum(x * x, D) / D + 0.000001);
  query(x, b, h, i) = (unit(centred(x as f32)) * wq[h, :]) as T;
  key(x, b, g, j)   = (unit(centred(x as f32)) + add[g, :]) as T;
}
"""
SHAPES = {"sink_score": (H,), "slopes": (H,), "slope": (H,), "bias": (B, H, M, N), "table": (M, N), "first": (H, N), "second": (B, M), "wq": (D,), "wk": (D,), "add": (G, D)}
# Inputs, those with gradients, and whether rows see the past only, of each op.
OPS = {
    "window": ([], [], True), "softcap": ([], [], False), "alibi": (["slopes"], [], True), "sinks": (["sink_score"], ["sink_score"], False), "biased": (["bias"], ["bias"], False),
    "sink_window": (["sink_score"], ["sink_score"], True), "slopes": (["slope"], ["slope"], True), "shared": (["table"], ["table"], False),
    "by_key": (["first", "second"], ["first", "second"], False), "capped_sink": (["sink_score"], ["sink_score"], False),
    "qk_norm": (["wq", "wk"], ["wq", "wk"], False), "qk_norm_in_order": (["wq", "wk"], ["wq", "wk"], False), "capped_norm": (["wq", "wk"], ["wq", "wk"], True),
    "layer_norm": (["wq", "add"], ["wq", "add"], False),
    "slopes_in_order": (["slope"], ["slope"], True), "shared_in_order": (["table"], ["table"], False), "sinks_in_order": (["sink_score"], ["sink_score"], False),
}


def shape_of(op, name):
    return (H, D) if (op, name) == ("layer_norm", "wq") else SHAPES[name]


def rows(op, x, name, b, h):
    """Rows of q or k as the product takes them, and what takes their gradients back: to the rows, and to inputs by name and place."""
    t = x[name][b, :, h]
    if "norm" not in op:
        return t, lambda g: (g, {})
    isLayer = op == "layer_norm"
    centred = t - t.mean(-1, keepdims=True) if isLayer else t
    root = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-6)
    unit = centred / root
    weight, place = ("wq", (h,) if isLayer else ()) if name == "q" else ("add", (h,)) if isLayer else ("wk", ())
    w = np.ones(D) if weight == "add" else x[weight][place]

    def back(g):
        by = {weight: (place, (g if weight == "add" else g * unit).sum(0))}
        g = g * w
        g = (g - unit * (g * unit).mean(-1, keepdims=True)) / root
        return g - g.mean(-1, keepdims=True) if isLayer else g, by

    return unit + x["add"][h] if weight == "add" else unit * w, back


def score(op, x, b, h, s):
    """Scores, their derivative by s, and by each input of the op."""
    i, j = np.ogrid[:M, :N]
    one = np.ones_like(s)
    if op in ("softcap", "capped_sink", "capped_norm"):
        t = np.tanh(s / CAP)
        return CAP * t, 1 - t * t, {}
    if op in ("alibi", "slopes", "slopes_in_order"):
        distance = i + LENGTHS[b] - M - j
        name = OPS[op][0][0]
        return s - x[name][h] * distance, one, {name: (h, -distance)}
    if op == "biased":
        return s + x["bias"][b, h], one, {"bias": ((b, h), one)}
    if op in ("shared", "shared_in_order"):
        t = np.tanh(s / 2)
        return 2 * t + 0.5 * x["table"] * s, 1 - t * t + 0.5 * x["table"], {"table": ((), 0.5 * s)}
    if op == "by_key":
        return s + x["first"][h] * x["second"][b][:, None], one, {"first": (h, x["second"][b][:, None]), "second": (b, x["first"][h])}
    return s, one, {}


def forward(op, x, b, h):
    q, k, v = rows(op, x, "q", b, h)[0], rows(op, x, "k", b, h // R)[0], x["v"][b, :, h // R]
    s, slope, by_input = score(op, x, b, h, q @ k.T / np.sqrt(D))
    i, j = np.ogrid[:M, :N]
    keep = np.broadcast_to(j < LENGTHS[b], s.shape)
    if OPS[op][2]:
        keep = keep & (j <= i + LENGTHS[b] - M)
    if "window" in op:
        keep = keep & (j > i + LENGTHS[b] - M - WINDOW)
    s = np.where(keep, s, -np.inf)
    sink = x["sink_score"][h] if "sink_score" in x else -np.inf
    most = np.maximum(s.max(-1, keepdims=True), sink)
    most = np.where(np.isfinite(most), most, 0)
    e, e_sink = np.where(keep, np.exp(s - most), 0), np.exp(sink - most)
    total = e.sum(-1, keepdims=True) + e_sink
    p = e / np.where(total > 0, total, 1)
    with np.errstate(divide="ignore"):
        lse = np.where(total > 0, most + np.log(total), -np.inf)[:, 0]
    return p @ v, lse, p, slope, by_input, (e_sink / np.where(total > 0, total, 1))[:, 0]


def reduced(array, shape):
    """The sum over what a part of an input lacks."""
    while array.ndim > len(shape):
        array = array.sum(0)
    for axis, size in enumerate(shape):
        if size != array.shape[axis]:
            array = array.sum(axis, keepdims=True)
    return array.reshape(shape)


def gradients(op, x):
    out = {"d" + name: np.zeros_like(x[name]) for name in "qkv"} | {"d_" + name: np.zeros(shape_of(op, name)) for name in OPS[op][1]}
    o, lse = np.zeros_like(x["dO"]), np.zeros((B, H, M))
    for b in range(B):
        for h in range(H):
            g = h // R
            o[b, :, h], lse[b, h], p, slope, by_input, p_sink = forward(op, x, b, h)
            do = x["dO"][b, :, h]
            delta = (o[b, :, h] * do).sum(-1) - x["dLSE"][b, h]
            ds = p * (do @ x["v"][b, :, g].T - delta[:, None])
            (q, back_q), (k, back_k) = rows(op, x, "q", b, h), rows(op, x, "k", b, g)
            out["dq"][b, :, h], by_q = back_q((slope * ds) @ k / np.sqrt(D))
            dk, by_k = back_k((slope * ds).T @ q / np.sqrt(D))
            out["dk"][b, :, g] += dk
            for name, (place, by) in [*by_q.items(), *by_k.items()]:
                out["d_" + name][place] += by
            out["dv"][b, :, g] += p.T @ do
            for name, (place, by) in by_input.items():
                if name == "second":
                    out["d_second"][b] += (ds * by).sum(1)
                elif "d_" + name in out:
                    out["d_" + name][place] += reduced(ds * by, np.shape(x[name][place]))
            if "d_sink_score" in out:
                out["d_sink_score"][h] -= (p_sink * delta).sum()
    return out, o, lse


def loss(op, x):
    total = 0.0
    for b in range(B):
        for h in range(H):
            o, lse, *_ = forward(op, x, b, h)
            total += (o * x["dO"][b, :, h]).sum() + (np.where(np.isfinite(lse), lse, 0) * x["dLSE"][b, h]).sum()
    return total


def check(selvedge, source, templates, folder, op):
    rng = np.random.default_rng(3)
    names, diffs, _ = OPS[op]
    half = ["table"]
    x = {"q": to_bf16(rng.standard_normal((B, M, H, D))), "k": to_bf16(rng.standard_normal((B, N, G, D))), "v": to_bf16(rng.standard_normal((B, N, G, D))),
         "dO": to_bf16(rng.standard_normal((B, M, H, D))), "dLSE": np.float32(rng.standard_normal((B, H, M))).astype(np.float64)}
    x |= {name: to_bf16(0.5 * rng.standard_normal(shape_of(op, name))) for name in names}
    expected, o, lse = gradients(op, x)
    step = 1e-5
    for name in [*"qkv", *diffs]:
        direction = rng.standard_normal(x[name].shape)
        slope = (loss(op, {**x, name: x[name] + step * direction}) - loss(op, {**x, name: x[name] - step * direction})) / (2 * step)
        own = (expected[("d_" if name in diffs else "d") + name] * direction).sum()
        assert abs(slope - own) < 1e-6 * max(1, abs(slope)), f"{op}: {name}: {slope} {own}"
    arrays = {**x, "o": to_bf16(o), "lse": lse, "kv_len": LENGTHS}
    types = {name: "i32" if name == "kv_len" else "bf16" if name in ("q", "k", "v", "o", "dO", *half) else "f32" for name in arrays}
    given, found = os.path.join(folder, "in.safetensors"), os.path.join(folder, "out.safetensors")
    write_safetensors(given, arrays, types)
    if op in ("window", "softcap", "alibi", "sinks", "biased", "sink_window", "qk_norm"):
        source = os.path.join(templates, "flash_variants.tile")
    if op in ("window", "softcap", "sink_window"):
        # Their window and cap are scalars, whose defaults are those of a model.
        with open(source) as file:
            text = file.read().replace("W: i32 = 4096", f"W: i32 = {WINDOW}").replace("W: i32 = 128", f"W: i32 = {WINDOW}").replace("cap: f32 = 50", f"cap: f32 = {CAP}")
        source = os.path.join(folder, "small.tile")
        with open(source, "w") as file:
            file.write(text)
    command = [selvedge, "run", source, "-I", templates, "--op", f"grad({op})", "--set", f"D={D}", "--device", "ref", "--shape", f"G={G},R={R}", "-i", given, "-o", found]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    results = read_safetensors(found)
    assert set(results) == set(expected), f"{op}: {sorted(results)}"
    for name, value in results.items():
        assert np.all(np.isfinite(value)), f"{op}: {name}: not finite"
        wrong = np.linalg.norm(value - expected[name]) / np.linalg.norm(expected[name])
        # o, and with it delta, is bf16, as are weights and other gradients: 2^-9 each.
        assert wrong < (0.02 if name.startswith("d_") else 0.006), f"{op}: {name}: {wrong} of the norm"
    print(f"{op}: gradients of {', '.join(sorted(results))} are the loss's")


def main(selvedge, templates, folder):
    os.makedirs(folder, exist_ok=True)
    source = os.path.join(folder, "inputs.tile")
    with open(source, "w") as file:
        file.write(SOURCE)
    for op in OPS:
        check(selvedge, source, templates, folder, op)


if __name__ == "__main__":
    main(*sys.argv[1:])
