# Compiles and launches axpy through the library of the compiler, with tensors in host memory.
# SPDX-License-Identifier: MIT
import ctypes
import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../tools/bench"))
from selvedge_op import Build, Call, Jit, Layout  # noqa: E402

jit = Jit(sys.argv[1], os.path.dirname(os.path.abspath(__file__)))
op = jit.load(Build("axpy.tile", "axpy", "sm_80"))
print("origin:", jit.c.selvedge_origin(op).decode())
m, n = 2, 3
memory = (ctypes.c_float * 64)()
base = (ctypes.addressof(memory) + 15) // 16 * 16


def call(x, y):
    for i in range(m * n):
        ctypes.c_float.from_address(x + 4 * i).value = i
        ctypes.c_float.from_address(y + 4 * i).value = 0
    return Call({"x": Layout("f32", (m, n), address=x), "y": Layout("f32", (m, n), address=y)})


def show(y):
    return " ".join(f"{ctypes.c_float.from_address(y + 4 * i).value:g}" for i in range(m * n))


def entries():
    return len(glob.glob(os.path.join(os.environ["XDG_CACHE_HOME"], "selvedge", "*.selv")))


# Rows of 12 bytes: of two rows the universal variant, of one the aligned one.
call_two = call(base, base + 64)
jit.check(jit.c.selvedge_prepare(op, ctypes.byref(call_two.arguments)))
print("prepared, y:", show(base + 64))
jit.check(jit.c.selvedge_launch(op, ctypes.byref(call_two.arguments), None))
print("y:", show(base + 64))
print("entries:", entries())
m, n = 1, 6
call_one = call(base, base + 64)
jit.check(jit.c.selvedge_launch(op, ctypes.byref(call_one.arguments), None))
print("y:", show(base + 64))
print("entries:", entries())
jit.c.selvedge_unload(op)
try:
    jit.load(Build("axpy.tile", "nothing", "sm_80"))
except RuntimeError as error:
    print("refused:", str(error).splitlines()[0])
