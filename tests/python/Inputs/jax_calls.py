# selvedge.jax on the reference device: ops in programs of JAX, attention beside jax.nn.dot_product_attention in f32.
# SPDX-License-Identifier: MIT
import os

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
from concurrent.futures import ThreadPoolExecutor  # noqa: E402

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

import selvedge  # noqa: E402
import selvedge.jax as sj  # noqa: E402

AXPY = "op axpy(x: f32[i in M, j in N] valid j < len[i], len: i32[M]? = N, a: f32 = 2) requires len in 0..N -> (y: f32[M, N] out_init(0))\n" \
       "{ kernel main(i in M by BM) { for j in N by BN { y[i, j] = x[i, j] * a; } } }"
axpy = selvedge.jit(AXPY)
x = jnp.arange(12, dtype=jnp.float32).reshape(3, 4)
print("eager:", sj.call(axpy, x, len=jnp.array([0, 1, 4])).tolist())
print("jit:", jax.jit(lambda x: sj.call(axpy, x.T, a=3) + 1)(x).tolist())
print("vmap:", jax.vmap(lambda x: sj.call(axpy, x[None]))(x)[:, 0].tolist())
print("scan:", jax.lax.scan(lambda x, _: (sj.call(axpy, x), x.sum()), x, length=3)[1].tolist())
print("empty:", sj.call(axpy, x[:0]).shape)
with ThreadPoolExecutor(4) as pool:
    print("threads:", set(pool.map(lambda n: float(jax.jit(lambda x: sj.call(axpy, x, a=n))(x).sum()) / n, range(1, 20))))

# In place: the argument is another array afterwards.
append = selvedge.jit("append_kv.tile", T="bf16", D=16)
cache, new = jnp.zeros((1, 8, 2, 16), jnp.bfloat16), jnp.ones((1, 5, 2, 16), jnp.bfloat16)
result = jax.jit(lambda c, n: sj.call(append, n, n, jnp.array([2]), c, c))(cache, new)
print("in place:", result._fields, result.kc[0, :, 0, 0].tolist(), bool(cache.any()))
narrow = selvedge.jit("op narrow(x: f32[N], inout e: e4m3[N]) -> (u: u8[N] out_init(7)) { kernel main(i in N by BN) { e[i] = x[i] as e4m3; u[i] = x[i] as u8; } }")
result = sj.call(narrow, jnp.array([1, -3.2, 1000, 200.9]), jnp.zeros(4, jnp.float8_e4m3fn))
print("bytes:", result.u.tolist(), result.e.astype(jnp.float32).tolist())
decode = selvedge.jit("flash_decode.tile", T="bf16", D=16)
print("dims:", sj.call(decode, new[:, :1], new, new, dims={"S": 2}).o.shape)

keys = jax.random.split(jax.random.key(0), 4)
q = jax.random.normal(keys[0], (2, 6, 4, 16))
k, v = (jax.random.normal(key, (2, 7, 2, 16)) for key in keys[1:3])
bias = jax.random.normal(keys[3], (1, 4, 1, 7))


def losses(function, options):
    """The result's sum with weights, and its gradients."""

    def loss(q, k, v, bias):
        o = function(q, k, v, **({**options, "bias": bias} if "bias" in options else options))
        return jnp.sum(o * jnp.cos(jnp.arange(o.size).reshape(o.shape)))

    return jax.tree.leaves(jax.jit(jax.value_and_grad(loss, argnums=(0, 1, 2, 3)[:4 if "bias" in options else 3]))(q, k, v, bias))


def compare(name, wanted=None, **options):
    theirs = {key: value for key, value in options.items() if key != "deterministic"}
    pairs = zip(losses(sj.attention, options), losses(wanted or jax.nn.dot_product_attention, theirs))
    worst = max(float(jnp.linalg.norm(x - y) / jnp.linalg.norm(y)) for x, y in pairs)
    print(f"{name}: {'equal' if worst < 1e-5 else worst}", flush=True)


compare("plain")
compare("causal", is_causal=True)
compare("lengths", is_causal=True, key_value_seq_lengths=jnp.array([7, 3]), scale=0.3)
compare("bias", bias=bias)
compare("bias in any order", bias=bias, deterministic=False)
compare("window", local_window_size=(2, 3), is_causal=True)
compare("mask", mask=bias[:, :1] < 1, query_seq_lengths=jnp.array([6, 6]))
print("without a batch:", sj.attention(q[0], k[0], v[0]).shape)
o, lse = sj.attention(q, k, v, query_seq_lengths=jnp.array([6, 4]), return_residual=True)
print("rows that are none:", bool(o[1, 4:].any()), lse[1, 4:, 0].tolist())
square = jax.grad(lambda q: sj.attention(q, k, v, return_residual=True)[1].sum())(q)
wanted = jax.grad(lambda q: jax.nn.logsumexp(jnp.einsum("bmhd,bnhd->bhmn", q, k.repeat(2, 2)) / 4, -1).sum())(q)
print("lse:", bool(jnp.abs(square - wanted).max() < 1e-5))
small = q.astype(jnp.bfloat16)
gradient = jax.grad(jax.checkpoint(lambda q: sj.attention(q, q, q, is_causal=True).astype(jnp.float32).sum()))(small)
print("checkpoint:", gradient.dtype, gradient.shape)
mesh, spec = jax.sharding.Mesh(jax.devices(), ("b",)), jax.sharding.PartitionSpec("b")
parts = jax.jit(jax.grad(lambda q: jax.shard_map(lambda q: sj.attention(q, q, q), mesh=mesh, in_specs=spec, out_specs=spec)(q).sum()))(q)
print("shard_map:", bool((parts == jax.jit(jax.grad(lambda q: sj.attention(q, q, q).sum()))(q)).all()))


def refused(what, action):
    try:
        jax.block_until_ready(action())
    except Exception as error:  # JAX raises its own
        print(f"{what}: {type(error).__name__}: {error}", flush=True)
    else:
        print(f"{what}: not refused")


refused("promise", lambda: jax.jit(lambda n: sj.call(axpy, x, n))(jnp.array([0, 5, 4])))
print("afterwards:", sj.call(axpy, x)[2].tolist())
refused("type", lambda: sj.call(axpy, x.astype(jnp.bfloat16)))
refused("rank", lambda: sj.call(axpy, x[0]))
refused("name", lambda: sj.call(axpy, x, b=3))
refused("output", lambda: sj.call(axpy, x, y=x))
refused("traced", lambda: jax.jit(lambda a: sj.call(axpy, x, a=a))(2.0))
refused("called itself", lambda: axpy(x))
refused("gradient", lambda: jax.grad(lambda x: sj.call(axpy, x).sum())(x))
refused("heads", lambda: sj.attention(q[:, :, :3], k, v))
refused("types", lambda: sj.attention(small, k, v))
refused("bias", lambda: sj.attention(q, k, v, bias=bias[..., :3]))
refused("mask", lambda: sj.attention(q, k, v, mask=bias))
refused("rows", lambda: sj.attention(q[0, 0], k, v))
