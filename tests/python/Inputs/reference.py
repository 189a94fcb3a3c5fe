# The package on host memory: the reference device, with tensors of numpy.
# SPDX-License-Identifier: MIT
import sys
import types

import numpy as np

import selvedge

AXPY = "op axpy(x: f32[i in M, j in N] valid j < len[i], len: i32[M]? = N, a: f32 = 2) requires len in 0..N -> (y: f32[M, N] out_init(0))\n" \
       "{ kernel main(i in M by BM) { for j in N by BN { y[i, j] = x[i, j] * a; } } }"

axpy = selvedge.jit(AXPY)
print(axpy)
x = np.arange(12, dtype=np.float32).reshape(3, 4)
print("new:", axpy(x).tolist())
print("strides:", axpy(x.T[:, ::-1], a=1).tolist())
y = np.full((3, 4), np.nan, np.float32)
print("given:", axpy(x, len=np.array([0, 1, 4], np.int32), y=y) is y, y.tolist())

# Several outputs, parameters, a shipped template, and an op of it by name.
rng = np.random.default_rng(0)
q, k, v = (rng.standard_normal((1, 5, 2, 16)).astype(np.float16) for _ in range(3))
forward = selvedge.jit("flash_fwd.tile", T="f16", D=16, causal=True)
o, lse = forward(q, k, v)
s = np.einsum("bmhd,bnhd->bhmn", q.astype(float), k.astype(float)) / 4
s[:, :, np.triu(np.ones((5, 5), bool), 1)] = -np.inf
p = np.exp(s - s.max(-1, keepdims=True))
wanted = np.einsum("bhmn,bnhd->bmhd", p / p.sum(-1, keepdims=True), v.astype(float))
print("attention:", o.dtype, abs(o - wanted).max() < 2e-3, lse.shape)
result = forward(q, k, v)
print("names:", result._fields)
gradients = selvedge.jit("flash_fwd.tile", op="grad(flash_fwd)", T="f16", D=16, causal=True)(q, k, v, o=o, dO=o, lse=lse)
print("gradients:", gradients._fields, gradients.dk.shape)

# A dim that launches choose, given; in place; a type that numpy lacks.
decode = selvedge.jit("flash_decode.tile", T="f16", D=16)
print("dims:", np.array_equal(decode(q, k, v, dims={"S": 2}).o, decode(q, k, v, dims={"S": 2}).o))
cache = [np.zeros((1, 8, 2, 16), np.float16) for _ in range(2)]
selvedge.jit("append_kv.tile", T="f16", D=16)(k, v, np.array([2], np.int32), *cache)
print("in place:", np.array_equal(cache[0][:, 2:7], k), cache[1][:, 7:].any())


def refused(what, action):
    try:
        action()
    except selvedge.SelvedgeError as error:
        print(f"{what}: {type(error).__name__}: {error}")
    else:
        print(f"{what}: not refused")


refused("source", lambda: selvedge.jit("op f(x: f32[N]) -> (y: f32[N] out_init(0)) { kernel main(i in N by BN) { y[i] = z[i]; } }"))
refused("op", lambda: selvedge.jit(AXPY, op="axpi"))
refused("parameter", lambda: selvedge.jit(AXPY, D=3))
refused("file", lambda: selvedge.jit("nowhere/nothing.tile"))
refused("name", lambda: axpy(x, b=3))
refused("twice", lambda: axpy(x, x=x))
refused("many", lambda: axpy(x, None, x, x))
refused("missing", lambda: axpy())
refused("type", lambda: axpy(x.astype(np.float64)))
refused("shape", lambda: axpy(x, y=np.zeros((3, 5), np.float32)))
refused("rank", lambda: axpy(x[0]))
refused("promise", lambda: axpy(x, len=np.array([0, 5, 0], np.int32)))
refused("tensor", lambda: axpy([1, 2]))
refused("bf16", lambda: selvedge.jit("flash_fwd.tile", D=16)(q, k, v))
refused("artefact", lambda: selvedge.load("nothing.selv"))


class Float8Type:
    itemsize = 1

    def __str__(self):
        return "torch.float8_e4m3fn"


class Float8:
    """What PyTorch has for floats of 8 bits: it exports its bytes."""

    dtype = Float8Type()

    def __init__(self, count):
        self.bytes = np.zeros(count, np.uint8)

    def view(self, dtype):
        return self.bytes.view(dtype)

    def __dlpack_device__(self):
        return self.bytes.__dlpack_device__()

    def __dlpack__(self):
        raise BufferError("float8 types are not supported by dlpack")


sys.modules.setdefault("torch", types.SimpleNamespace(uint8=np.uint8))
narrow = selvedge.jit("op narrow(x: f32[N], inout e: e4m3[N]) -> (u: u8[N] out_init(7)) { kernel main(i in N by BN) { e[i] = x[i] as e4m3; u[i] = x[i] as u8; } }")
print(narrow)
e = Float8(4)
print("bytes:", narrow(np.array([1, -3.2, 1000, 200.9], np.float32), e).tolist(), e.bytes.tolist())
refused("float8", lambda: selvedge.jit("op f(x: f32[N]) -> (e: e5m2[N] out_init(0)) { kernel main(i in N by BN) { e[i] = x[i] as e5m2; } }")(x[0]))
