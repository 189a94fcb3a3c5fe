"""`vjp` of every elementwise function on device `ref` against differences of the function.

Usage: derivatives.py SELVEDGE FOLDER
"""
# SPDX-License-Identifier: MIT
import os
import subprocess
import sys

import numpy as np

from flash_bwd import read_safetensors
from devices import write_safetensors

# Of x near and away from 0, c of another axis, and a scalar a = 3.
FUNCTIONS = ["x + c[i]", "c[i] - x", "-x", "x * x * c[i]", "x / a + a / (a + x * x)", "c[i] / (2.0 + exp(x))", "max(x, c[i])", "min(c[i], x * x)", "exp(x)", "exp2(x)", "log(1.0 + x * x)",
             "log2(2.0 + x * x)", "a * tanh(x / a)", "sqrt(1.0 + x * x)", "rsqrt(1.0 + x * x)", "abs(x) * x", "select(x > c[i], x * x, exp(-x))", "x / (1.0 + exp(-x))", "c[i] + a",
             "if a_is_used { x * a } else { x }"]
N, STEP = 64, 2.0**-7


def program():
    outputs = ", ".join(f"y{n}: f32[M, N] out_init(0), z{n}: f32[M, N] out_init(0)" for n in range(len(FUNCTIONS)))
    text = f"op vjps<a_is_used: bool = true>(t: f32[M, N], g: f32[M, N], c: f32[M], a: f32 = 3) -> ({outputs}) {{\n"
    text += "".join(f"  fn f{n}(x, i) = {body};\n" for n, body in enumerate(FUNCTIONS))
    for n in range(len(FUNCTIONS)):
        text += f"  kernel k{n}(i in M by B{n}, j in N by C{n}) {{\n    let (y, pull) = vjp(f{n})(t[i, j], i);\n    y{n}[i, j] = y;\n    z{n}[i, j] = pull(g[i, j]);\n  }}\n"
    return text + "}\n"


def main(selvedge, folder):
    os.makedirs(folder, exist_ok=True)
    source = os.path.join(folder, "vjps.tile")
    with open(source, "w") as file:
        file.write(program())
    rng = np.random.default_rng(3)
    t, g, c = (np.float32(rng.standard_normal(shape)) for shape in ((3, N), (3, N), (3,)))

    def run(x):
        given, found = os.path.join(folder, "in.safetensors"), os.path.join(folder, "out.safetensors")
        write_safetensors(given, {"t": x, "g": g, "c": c}, dict.fromkeys("tgc", "f32"))
        subprocess.run([selvedge, "run", source, "--device", "ref", "-i", given, "-o", found], check=True, stdout=subprocess.DEVNULL)
        return read_safetensors(found)

    here, above, below = run(t), run(t + np.float32(STEP)), run(t - np.float32(STEP))
    for n, body in enumerate(FUNCTIONS):
        slope = (above[f"y{n}"] - below[f"y{n}"]) / (2 * STEP)
        error = np.abs(slope * g - here[f"z{n}"]) / (1 + np.abs(g) * (1 + np.abs(slope)))
        # Differences are wrong across a kink.
        smooth = np.abs(t) > 2 * STEP if "abs" in body else np.full(t.shape, True)
        if "max" in body or "select" in body:
            smooth = np.abs(t - c[:, None]) > 2 * STEP
        elif "min" in body:
            smooth = np.abs(t * t - c[:, None]) > 8 * STEP
        assert np.all(error[smooth] < 1e-3), f"{body}: {error[smooth].max()}"
        print(f"{body}: {error[smooth].max():.1e}")


if __name__ == "__main__":
    main(*sys.argv[1:])
