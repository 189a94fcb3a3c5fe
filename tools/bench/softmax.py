# Softmax along rows, bf16, against a copy of the same bytes and PyTorch.
# SPDX-License-Identifier: MIT
import math

from selvedge_op import Build, Layout
from workload import Candidate, Cell

NAME = "softmax"
LIMIT = 4e-3


def cells(quick=False):
    shapes = [(16384, 8192)] if quick else [(131072, 1024), (16384, 8192), (16000, 8184), (16000, 8191), (4096, 32768)]
    return [Cell("softmax", f"{m} x {n}", 4.0 * m * n, "TB/s", dict(M=m, N=n)) for m, n in shapes]


def build(cell, arch):
    return Build("softmax.tile", "softmax", arch, T="bf16")


def layouts(cell):
    return {"x": Layout("bf16", (cell.M, cell.N)), "y": Layout("bf16", (cell.M, cell.N))}


def data(cell):
    import torch

    return {"x": torch.randn(cell.M, cell.N, device="cuda").bfloat16()}


def reference(cell, tensors):
    import torch

    return torch.softmax(tensors["x"].float(), -1)


def selvedge(cell, tensors, context):
    import torch

    views = dict(tensors, y=torch.full((cell.M, cell.N), math.nan, device="cuda", dtype=torch.bfloat16))
    launch = context.bind(build(cell, context.arch), views)

    def run():
        launch()
        return views["y"]

    return run, lambda y: y


def pytorch(cell, tensors, context):
    import torch

    return lambda: torch.softmax(tensors["x"], -1), lambda y: y


def copy(cell, tensors, context):
    import torch

    y = torch.empty_like(tensors["x"])
    return lambda: y.copy_(tensors["x"]), lambda y: y


CANDIDATES = [Candidate("selvedge", selvedge), Candidate("pytorch", pytorch), Candidate("copy", copy, roof=True)]
