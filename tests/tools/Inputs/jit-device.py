# Prepares a launch of an op whose plans depend on the GPU: what is compiled is for this one alone.
# SPDX-License-Identifier: MIT
import ctypes
import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../tools/bench"))
from selvedge_op import Build, Call, Jit, Layout  # noqa: E402

jit = Jit(sys.argv[1], sys.argv[2])
op = jit.load(Build("flash_fwd.tile", "flash_fwd", "sm_80", D=192))
shape = (1, 512, 1, 192)
call = Call({name: Layout("bf16", shape, address=0x10000 * (i + 1)) for i, name in enumerate("qkvo")} | {"lse": Layout("f32", (1, 1, 512), address=0x100000)})
jit.check(jit.c.selvedge_prepare(op, ctypes.byref(call.arguments)))
text = b"".join(open(path, "rb").read() for path in glob.glob(os.path.join(os.environ["XDG_CACHE_HOME"], "selvedge", "*.selv")))
print("shared memory:", *sorted({int(part.split(b",")[0]) for part in text.split(b'"smem":')[1:]}))
print("for other devices:", text.count(b"_99k"))
