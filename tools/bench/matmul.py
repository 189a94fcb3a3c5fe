# bf16 matrix products against cuBLAS.
# SPDX-License-Identifier: MIT
import math

from selvedge_op import Build, Layout
from workload import Candidate, Cell

NAME = "matmul"
LIMIT = 4e-3


def cells(quick=False):
    sizes = (4096,) if quick else (4096, 8192)
    return [Cell("matmul", f"{s}^3", 2.0 * s**3, "TFLOP/s", dict(M=s, N=s, K=s)) for s in sizes]


def build(cell, arch):
    return Build("matmul.tile", "matmul", arch, T="bf16")


def layouts(cell):
    return {"a": Layout("bf16", (cell.M, cell.K)), "b": Layout("bf16", (cell.K, cell.N)), "c": Layout("bf16", (cell.M, cell.N))}


def data(cell):
    import torch

    make = lambda *shape: torch.randn(*shape, device="cuda").bfloat16()
    return {"a": make(cell.M, cell.K), "b": make(cell.K, cell.N)}


def reference(cell, tensors):
    return tensors["a"].float() @ tensors["b"].float()


def selvedge(cell, tensors, context):
    import torch

    views = dict(tensors, c=torch.full((cell.M, cell.N), math.nan, device="cuda", dtype=torch.bfloat16))
    launch = context.bind(build(cell, context.arch), views)

    def run():
        launch()
        return views["c"]

    return run, lambda c: c


def cublas(cell, tensors, context):
    return lambda: tensors["a"] @ tensors["b"], lambda c: c


CANDIDATES = [Candidate("selvedge", selvedge), Candidate("cublas", cublas)]
