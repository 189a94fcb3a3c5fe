# Kernels of the tile language on tensors of Python.
# SPDX-License-Identifier: MIT
"""Compile and launch kernels of the tile language.

    import selvedge
    axpy = selvedge.jit("op axpy(x: f32[N], a: f32 = 2) -> (y: f32[N] out_init(0)) { kernel main(i in N by BN) { y[i] = a * x[i]; } }")
    y = axpy(x, a=3)

Tensors are any that DLPack knows: those on a GPU launch on its current stream, those in host memory run on the reference device.
"""
from ._errors import BadInput, Failed, SelvedgeError, Unavailable
from ._library import version
from ._op import Op, compile, jit, load

__version__ = "0.1.0"
__all__ = ["BadInput", "Failed", "Op", "SelvedgeError", "Unavailable", "compile", "jit", "load", "version"]
