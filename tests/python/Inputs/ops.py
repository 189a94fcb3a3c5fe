# What the package takes and gives, with tensors of numpy on the reference device.
# SPDX-License-Identifier: MIT
import pathlib
import sys

import numpy as np

import selvedge

folder = pathlib.Path(sys.argv[1])
COPY = "op scale(x: f32[N], bias: f32[N]?, a: f32 = 2) -> (y: f32[N] out_init(0)) { kernel main(i in N by BN) { y[i] = a * x[i] + (bias[i] else 0); } }"
x = np.arange(4, dtype=np.float32)

# What may be left out, or None; by position and by name.
scale = selvedge.jit(COPY)
print("left out:", scale(x).tolist(), scale(x, None, a=None).tolist())
print("by name:", scale(bias=x, x=x, a=1).tolist())

# A source is text, a path, or the name of a template; imported files are looked for in folders.
(folder / "part.tile").write_text("fn twice(x) = 2 * x;\n", encoding="utf-8")
(folder / "own").mkdir(exist_ok=True)
path = folder / "own/f.tile"
path.write_text('import "part.tile";\nop f(x: f32[N]) -> (y: f32[N] out_init(0)) { kernel main(i in N by BN) { y[i] = twice(x[i]); } }\n', encoding="utf-8")
print("path and folder:", selvedge.jit(path, folders=[folder])(x).tolist())
print("template:", selvedge.jit("softmax.tile", T="f16"))

# Errors, and what they are.
for what, action in (("source", lambda: selvedge.jit(path)), ("target", lambda: selvedge.compile(COPY, arch="sm_75"))):
    try:
        action()
    except selvedge.BadInput as error:
        print(f"{what}: ValueError {isinstance(error, ValueError)}, SelvedgeError {isinstance(error, selvedge.SelvedgeError)}")
print("errors:", issubclass(selvedge.Unavailable, selvedge.SelvedgeError), issubclass(selvedge.Failed, selvedge.SelvedgeError), issubclass(selvedge.Failed, ValueError))
print("version:", selvedge.version())

# Only with exact masks what a mask removes has no influence, where code is compiled for it; ref is exact in any case.
causal = dict(T="f16", D=16, causal=True)
print("exact masks:", b'"mask": "exact"' in selvedge.compile("flash_fwd.tile", arch="sm_80", exact_masks=True, **causal), b'"mask": "exact"' in selvedge.compile("flash_fwd.tile", arch="sm_80", **causal))
