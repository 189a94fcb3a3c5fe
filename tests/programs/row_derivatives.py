"""`vjp` of functions that reduce rows, or make them of numbers, on device `ref` against differences of a loss: gradients of the argument and of an input that is `diff`.

Usage: row_derivatives.py SELVEDGE FOLDER
"""
# SPDX-License-Identifier: MIT
import os
import subprocess
import sys

import numpy as np

from devices import write_safetensors
from flash_bwd import read_safetensors

# Of rows x, of which the first l[i] elements exist, rows v of an input that is `diff`, and c of another axis. A function has a value per element, or one per row;
# or it is given a number per row, and has one per element.
ROWS = [
    "x - sum(x, C) / C", "x * rsqrt(sum(x * x, C) / C + 0.5) * v[:]", "exp(x - max(x, C)) / sum(exp(x - max(x, C)), C) * v[:]", "x * min(x, C) + c[i]",
    "x * sum(x * v[:] where v[:] > 0.0, C) + v[:]", "v[:] + x + sum(x where x > 0.25, C) * (x where x > 0.0 else 0.5)", "select(x > 0.5, x * v[:], sum(exp(-x), C))",
    "sqrt(1.0 + x * x) / (2.0 + sum(abs(x) * v[:] * v[:], C))",
]
SUMS = ["sum(x * x * v[:], C)", "max(x, C) * sum(x + v[:], C) + c[i]", "log(sum(exp(x * v[:]), C))"]
NUMBERS = ["x * v[:]", "tanh(x + v[:] * c[i])"]
# Functions, whether the argument and the value have a row, and the function of the op that they replace.
KINDS = {"rows": (ROWS, True, True, "x"), "sums": (SUMS, True, False, "sum(x, C)"), "numbers": (NUMBERS, False, True, "x + zeros f32[C]")}
M, C, STEP = 3, 24, 2.0**-7
LENGTHS = np.array([24, 9, 1])


def program():
    text = ""
    for kind, (bodies, of, to, default) in KINDS.items():
        index = lambda part: "[i, :]" if part else "[i]"
        tensor = lambda name, part: f"{name}: f32[i in M, j in C] valid j < l[i]" if part else f"{name}: f32[M]"
        out = lambda name, part: f"{name}: f32[{'M, C' if part else 'M'}] out_init(0)"
        inputs = f"{tensor('x', of)}, c: f32[M], l: i32[M]"
        text += (f"op {kind}_back<C: int = {C}>({inputs}, {tensor('g', to)}) requires l in 0..C -> ({out('dx', of)}) {{\n  f(x, i) = {default};\n"
                 f"  kernel main(i in M by BM) {{\n    let (y, pull) = vjp(f)(x{index(of)}, i);\n    pull.inputs(g{index(to)});\n    dx{index(of)} = pull(g{index(to)});\n  }}\n}}\n"
                 f"op {kind}<C: int = {C}>({inputs}) requires l in 0..C -> ({out('y', to)}) backward {kind}_back {{\n  f(x, i) = {default};\n  kernel main(i in M by BM) {{ y{index(to)} = f(x{index(of)}, i); }}\n}}\n")
        text += "".join(f"op {kind}{n}(diff v: f32[C]) extends {kind} {{ f(x, i) = {body}; }}\n" for n, body in enumerate(bodies))
    return text


def check(selvedge, folder, source, op, body, of, to):
    rng = np.random.default_rng(5)
    present = np.arange(C) < LENGTHS[:, None]
    normal = lambda *shape: np.float32(rng.standard_normal(shape)).astype(np.float64)
    arrays = {"x": normal(M, C) if of else normal(M), "c": normal(M), "v": normal(C)}
    # What does not exist has no influence.
    outside = lambda t: np.where(present, t, np.nan) if t.ndim == 2 else t
    gradient = normal(M, C) if to else normal(M)

    def run(name, **inputs):
        given, found = os.path.join(folder, "in.safetensors"), os.path.join(folder, "out.safetensors")
        write_safetensors(given, {**inputs, "l": LENGTHS}, dict.fromkeys(inputs, "f32") | {"l": "i32"})
        subprocess.run([selvedge, "run", source, "--op", name, "--device", "ref", "-i", given, "-o", found], check=True, stdout=subprocess.DEVNULL)
        return read_safetensors(found)

    def loss(x, c, v):
        y = run(op, x=outside(x), c=c, v=v)["y"]
        return float((np.where(present, y, 0) * gradient).sum() if to else (y * gradient).sum())

    found = run(f"grad({op})", **{name: outside(t) if name == "x" else t for name, t in arrays.items()}, g=outside(gradient))
    for name in ("x", "v"):
        own = found["dx" if name == "x" else "d_v"]
        assert np.all(np.isfinite(own)), f"{body}: {name}: not finite"
        if name == "x" and of:
            assert np.all(own[~present] == 0), f"{body}: what does not exist has a gradient"
        # Along short directions: a difference is wrong across a kink.
        for _ in range(2):
            direction = STEP * normal(*arrays[name].shape) * (np.abs(arrays[name]) > 4 * STEP)
            above, below = (loss(**{**arrays, name: arrays[name] + sign * direction}) for sign in (1, -1))
            expected, derived = (above - below) / 2, (own * direction).sum()
            scale = np.abs(own * direction).sum() + STEP
            assert abs(expected - derived) < 2e-2 * scale, f"{body}: {name}: {derived}, expected {expected}"
    print(f"{body}: gradients are the loss's")


def main(selvedge, folder):
    os.makedirs(folder, exist_ok=True)
    source = os.path.join(folder, "rows.tile")
    with open(source, "w") as file:
        file.write(program())
    for kind, (bodies, of, to, _) in KINDS.items():
        for n, body in enumerate(bodies):
            check(selvedge, folder, source, f"{kind}{n}", body, of, to)


if __name__ == "__main__":
    main(*sys.argv[1:])
