# The package with a driver that executes axpy on the CPU: tensors that say of host memory that it is a GPU's.
# SPDX-License-Identifier: MIT
import ctypes
import os
import sys

import selvedge
from selvedge._library import DLTensor

make_capsule = ctypes.pythonapi.PyCapsule_New
make_capsule.restype, make_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Tensor:
    """f32 or i32, contiguous, on GPU `ordinal`."""

    def __init__(self, values, shape, ordinal=0, code=2):
        self.memory = ((ctypes.c_float if code == 2 else ctypes.c_int32) * len(values))(*values)
        self.shape, self.ordinal = (ctypes.c_int64 * len(shape))(*shape), ordinal
        self.tensor = DLTensor(ctypes.addressof(self.memory), 2, ordinal, len(shape), code, 32, 1, self.shape, None, 0)

    def __dlpack_device__(self):
        return 2, self.ordinal

    def __dlpack__(self, stream=None):
        assert stream == -1
        return make_capsule(ctypes.addressof(self.tensor), b"dltensor", None)


def refused(what, action):
    try:
        action()
    except selvedge.SelvedgeError as error:
        print(f"{what}: {type(error).__name__}: {error}")


source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/Inputs/axpy.tile")
x, y = Tensor(range(15), (3, 5)), Tensor([-1] * 15, (3, 5))
axpy = selvedge.jit(source)
axpy.prepare(x, y=y)
print("prepared:", y.memory[1])
axpy(x, y=y, a=3)
print("launched:", *(f"{value:g}" for value in y.memory))
lengths = Tensor([5, 6, -1], (3,), code=0)
refused("validated", lambda: axpy(x, lengths, y=y, validate=True))
lengths.memory[:] = 5, 0, 1
axpy(x, lengths, y=y, validate=True)
print("validated:", *(f"{value:g}" for value in y.memory))
second, third = Tensor([1, 2], (1, 2), 1), Tensor([0, 0], (1, 2), 1)
axpy(second, y=third, stream=0)
print("second GPU:", *third.memory)

artefact = selvedge.compile(source, arch="sm_80")
path = os.path.join(sys.argv[1], "axpy.selv")
with open(path, "wb") as file:
    file.write(artefact)
for loaded in (selvedge.load(path), selvedge.load(artefact)):
    loaded(second, y=third, a=5)
    print("loaded:", loaded.signature.arch, *third.memory)

refused("third GPU", lambda: axpy(Tensor([1], (1, 1), 2), y=Tensor([1], (1, 1), 2)))
refused("mixed", lambda: axpy(x, y=third))
refused("allocation", lambda: axpy(x))
refused("stream", lambda: axpy(x, y=y, stream="s"))
refused("target", lambda: selvedge.compile(source, arch="sm_70"))
