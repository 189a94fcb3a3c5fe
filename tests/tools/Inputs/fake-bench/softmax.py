# A workload whose candidates do nothing, each wrong in its own way.
# SPDX-License-Identifier: MIT
import os
import time

import torch
from selvedge_op import Build, Layout
from workload import Candidate, Cell, Missing, Unsupported

NAME = "softmax"
LIMIT = 1e-3


class Number:
    def __init__(self, value):
        self.value = value

    float = lambda self: self
    item = lambda self: self.value
    norm = lambda self: Number(abs(self.value))
    __sub__ = lambda self, other: Number(self.value - other.value)
    __truediv__ = lambda self, other: Number(self.value / other.value)


def cells(quick=False):
    return [Cell("rows", f"{m}", 4e9, "TB/s", dict(M=m, N=8)) for m in (16, 32)]


def build(cell, arch):
    return Build("softmax.tile", "softmax", arch, T="bf16")


def layouts(cell):
    return {"x": Layout("bf16", (cell.M, cell.N)), "y": Layout("bf16", (cell.M, cell.N))}


data = lambda cell: None
reference = lambda cell, data: Number(1.0)


def raises(error):
    def run():
        raise error

    return run


def loses():
    torch.lost = True
    raise RuntimeError("illegal address")


def gives(value):
    return lambda cell, data, context: (lambda: Number(value), lambda out: out)


def calls(function, cell_m=None):
    make = gives(1.0)
    return lambda cell, data, context: (function, lambda out: out) if cell_m in (None, cell.M) else make(cell, data, context)


def refuse(cell, data, context):
    raise Missing("no package")


def decline(cell, data, context):
    raise Unsupported("not this one")


CANDIDATES = [
    Candidate("selvedge", gives(1.0)),
    Candidate("inexact", gives(1.1)),
    Candidate("nan", gives(float("nan"))),
    Candidate("raises", calls(raises(ValueError("bad\nshape")))),
    Candidate("absent", refuse),
    Candidate("declines", decline),
    Candidate("dies", calls(lambda: os._exit(9), 16)),
    Candidate("loses", calls(loses, 16)),
    Candidate("hangs", calls(lambda: time.sleep(60), 32)),
    Candidate("copy", gives(5.0), roof=True),
]
