# Launches axpy through the C interface, with tensors in host memory.
# SPDX-License-Identifier: MIT
import ctypes
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../tools/bench"))
from selvedge_op import Build, Call, Layout, Library, compile_all  # noqa: E402

folder, program = sys.argv[1:]
build = Build(os.path.join(os.path.dirname(os.path.abspath(__file__)), "axpy.tile"), "axpy", "sm_80")
assert not compile_all([build], program, "", folder)
library = Library(folder)
m, n = 3, 5
x, y = ((ctypes.c_float * (m * n))(*range(m * n)) for _ in range(2))
views = {name: Layout("f32", (m, n), address=ctypes.addressof(array)) for name, array in (("x", x), ("y", y))}
call, op = Call(views), library.load(build)
print("origin:", library.c.selvedge_origin(op).decode())
size = ctypes.c_uint64(1)
library.check(library.c.selvedge_workspace_size(op, ctypes.byref(call.arguments), ctypes.byref(size)))
print("workspace:", size.value)
library.check(library.c.selvedge_launch(op, ctypes.byref(call.arguments), None))
print("y:", *(f"{v:g}" for v in y))
for bad in ({"x": views["x"]}, dict(views, z=views["x"]), dict(views, x=Layout("bf16", (m, n)))):
    try:
        library.check(library.c.selvedge_launch(op, ctypes.byref(Call(bad).arguments), None))
    except RuntimeError as error:
        print("refused:", error)
library.c.selvedge_unload(op)
assert not library.c.selvedge_load(os.path.join(folder, "nothing").encode(), 0)
print("refused:", library.c.selvedge_last_error().decode())
