#!/usr/bin/env python3
"""selvedge.jax on a GPU: attention and its gradients beside jax.nn.dot_product_attention, ops in programs of JAX.

jax_clients.py [--only WORD,...] [--budget S] [--json table.json] [--platform cpu]

Each case is a line: what it measures, the error against float64 and JAX's own (`xla`, `cudnn`) beside it. A case fails where the error is more than twice the one
of `xla`, where results that have to be equal differ in a bit, or where JAX raises. `--platform cpu` tries the program itself on the reference device, with small shapes.
"""
# SPDX-License-Identifier: MIT
import argparse
import functools
import os
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
if "cpu" in sys.argv:
    os.environ["JAX_PLATFORMS"] = "cpu"
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import clients  # noqa: E402
from clients import record  # noqa: E402

# The reference is float64; everything else says its type.
jax.config.update("jax_enable_x64", True)
clients.find_package()
import selvedge  # noqa: E402
import selvedge.jax as sj  # noqa: E402

GPU = jax.default_backend() == "gpu"
AXPY = "op axpy(x: f32[N], a: f32 = 2) -> (y: f32[N] out_init(0)) { kernel main(i in N by BN) { y[i] = a * x[i]; } }"


def error(x, wanted):
    x, wanted = (np.asarray(t).astype(np.float64) for t in (x, wanted))
    return float(np.linalg.norm(x - wanted) / max(np.linalg.norm(wanted), 1e-300))


def equal(x, y):
    return all(bool((a == b).all()) for a, b in zip(jax.tree.leaves(x), jax.tree.leaves(y)))


def arrays(b, h, g, m, n, d, dtype=jnp.bfloat16, seed=0):
    keys = jax.random.split(jax.random.key(seed), 3)
    shapes = (b, m, h, d), (b, n, g, d), (b, n, g, d)
    return [jax.random.normal(key, shape, jnp.float32).astype(dtype) for key, shape in zip(keys, shapes)]


def small(*shape):
    """Shapes for the reference device."""
    return shape if GPU else tuple(1 if place == 0 else min(extent, 4) if place < 3 else min(extent, 20) for place, extent in enumerate(shape))


def reference(q, k, v, bias=None, mask=None, scale=None, is_causal=False, key_value_seq_lengths=None, local_window_size=None):
    """In the type of its arguments; rows without keys are 0."""
    k, v = (t.repeat(q.shape[2] // k.shape[2], 2) for t in (k, v))
    s = jnp.einsum("bmhd,bnhd->bhmn", q, k, precision="highest") * (scale or q.shape[-1] ** -0.5)
    s = s if bias is None else s + bias.astype(s.dtype)
    i, j = jnp.arange(s.shape[2])[:, None], jnp.arange(s.shape[3])[None]
    keep = jnp.ones(s.shape, bool) if mask is None else jnp.broadcast_to(mask, s.shape)
    keep &= j <= i if is_causal else True
    if key_value_seq_lengths is not None:
        keep &= j < key_value_seq_lengths[:, None, None, None]
    if local_window_size is not None:
        keep &= (j >= i - local_window_size[0]) & (j <= i + local_window_size[1])
    p = jnp.where(keep, jnp.exp(s - jnp.where(keep, s, -jnp.inf).max(-1, keepdims=True)), 0)
    return jnp.einsum("bhmn,bnhd->bmhd", p / jnp.where(p.sum(-1, keepdims=True) == 0, 1, p.sum(-1, keepdims=True)), v, precision="highest")


def program(function, **options):
    """A jitted function of q, k, v, perhaps a bias, and weights: the result, and the gradients of its weighted sum."""

    def loss(inputs, weight):
        q, k, v, *bias = inputs
        o = function(q, k, v, **({"bias": bias[0]} if bias else {}), **options)
        return (o.astype(weight.dtype) * weight).sum(), o

    @jax.jit
    def run(inputs, weight):
        (_, o), gradients = jax.value_and_grad(loss, has_aux=True)(inputs, weight)
        return [o, *gradients]

    return run


def against(case, inputs, peers=("xla", "cudnn"), **options):
    weight = jax.random.normal(jax.random.key(9), inputs[0].shape, jnp.float32)
    shared = {key: each for key, each in options.items() if key != "deterministic"}
    exact = program(reference, **shared)([t.astype(jnp.float64) for t in inputs], weight.astype(jnp.float64))
    theirs = {}
    for peer in peers if GPU else peers[:1]:
        try:
            theirs[peer] = program(functools.partial(jax.nn.dot_product_attention, implementation=peer), **shared)(inputs, weight)
        except Exception as refused:  # cuDNN takes some shapes only
            print(f"     {case}: {peer} refuses: {str(refused)[:100]!r}", flush=True)
    run = program(sj.attention, **options)
    ours = run(inputs, weight)
    for place, (name, x, y) in enumerate(zip(("o", "dq", "dk", "dv", "dbias"), ours, exact)):
        beside = {peer: error(found[place], y) for peer, found in theirs.items()}
        record(f"{case} {name}", x.dtype == inputs[max(place - 1, 0)].dtype and error(x, y) <= 2 * beside.get("xla", 0.004) + 1e-6, error=error(x, y), **beside)
    if options.get("deterministic", True):
        record(f"{case}: equal bits", equal(ours, run(inputs, weight)))


def case_attention():
    shapes = (2, 8, 8, 512, 512, 64), (1, 8, 2, 777, 777, 128), (2, 4, 4, 300, 555, 128), (1, 4, 1, 3, 257, 64), (1, 8, 8, 1024, 1024, 256)
    cases = [(jnp.bfloat16, shape, causal) for shape in shapes for causal in (False, True)] + [(jnp.float16, shape, True) for shape in shapes[:2]]
    for dtype, shape, causal in cases:
        name = f"attention {jnp.dtype(dtype).name} {'x'.join(map(str, shape))}{' causal' if causal else ''}"
        against(name, arrays(*small(*shape), dtype), is_causal=causal)
    against("attention float32", arrays(*small(1, 4, 2, 130, 130, 64), jnp.float32), peers=("xla",))


def case_features():
    b, h, g, m, n, d = shape = small(2, 8, 2, 333, 400, 128)
    inputs = arrays(*shape, seed=3)
    make = lambda *extents: jax.random.normal(jax.random.key(7), extents, jnp.float32)  # noqa: E731
    against("any order", inputs, is_causal=True, deterministic=False)
    against("scale", inputs, scale=0.3)
    against("window", inputs, local_window_size=(63, 20))
    against("causal window", inputs, is_causal=True, local_window_size=(63, 0))
    against("lengths", inputs, key_value_seq_lengths=jnp.arange(n, n - b, -1, dtype=jnp.int32))
    against("mask", inputs, mask=(make(b, 1, m, n) < 1).at[..., 0].set(True))
    for extents in ((b, h, m, n), (1, h, 1, n), (1, 1, m, n)):
        against(f"bias {extents}", [*inputs, make(*extents)])
        against(f"bias {extents}, any order", [*inputs, make(*extents)], deterministic=False)
    against("bias bfloat16", [*inputs, make(1, h, m, n).astype(jnp.bfloat16)], peers=("xla",))
    o, lse = jax.jit(functools.partial(sj.attention, return_residual=True, key_value_seq_lengths=jnp.array([0] * b, jnp.int32)))(*inputs)
    record("rows without keys", not bool(o.any()) and bool(jnp.isneginf(lse).all()))


def case_programs():
    """What surrounds a call: its stream, loops, transformations."""
    axpy = selvedge.jit(AXPY)
    x = jnp.arange(1000, dtype=jnp.float32)
    record("an op", equal(jax.jit(lambda x: sj.call(axpy, x, a=3))(x), 3 * x))
    record("eager", equal(sj.call(axpy, x), 2 * x))
    record("vmap", equal(jax.vmap(lambda x: sj.call(axpy, x))(x.reshape(10, 100)), 2 * x.reshape(10, 100)))
    record("scan", equal(jax.jit(lambda x: jax.lax.scan(lambda x, _: (sj.call(axpy, x), ()), x, length=20)[0])(x), x * 2.0**20))
    record("no elements", sj.call(axpy, x[:0]).shape == (0,))
    size = 4096 if GPU else 32
    square = jax.random.normal(jax.random.key(1), (size, size), jnp.float32) / size**0.5

    @functools.partial(jax.jit, static_argnums=1)
    def chain(square, call):
        """Each step needs the one before, which takes long: a wrong stream reads too early."""
        y = square
        for _ in range(6):
            y = call(jnp.matmul(y, square, precision="highest").reshape(-1)).reshape(square.shape)
        return y

    wanted, ours = chain(square, lambda y: 2 * y), lambda y: sj.call(axpy, y)
    record("order on the stream", max(error(chain(square, ours), wanted) for _ in range(3)) < 1e-4)
    cache = jnp.zeros((2, 64, 2, 16), jnp.bfloat16)
    new, at = jnp.ones((2, 5, 2, 16), jnp.bfloat16), jnp.array([2, 7], jnp.int32)
    append = selvedge.jit("append_kv.tile", T="bf16", D=16)
    step = jax.jit(lambda kc, vc: sj.call(append, new, new, at, kc, vc))
    kept, donated = step(cache, cache), jax.jit(lambda kc, vc: sj.call(append, new, new, at, kc, vc), donate_argnums=(0, 1))(cache + 0, cache + 0)
    wanted = cache.at[0, 2:7].set(1).at[1, 7:12].set(1)
    record("in place", equal(kept, (wanted, wanted)) and equal(donated, kept) and not bool(cache.any()))
    inputs = arrays(*small(2, 8, 2, 300, 300, 64))
    layer = lambda q, k, v: jnp.tanh(sj.attention(q * 1.5, k, v, is_causal=True)) + q  # noqa: E731
    weight = jnp.ones(inputs[0].shape, jnp.float32)
    # XLA rounds in other places where it computes again.
    record("jax.checkpoint", all(error(x, y) < 4e-3 for x, y in zip(program(layer)(inputs, weight), program(jax.checkpoint(layer))(inputs, weight))))
    # Workspaces of several shapes in turn.
    others = [arrays(*small(1, 4, 2, 700, 700, 64), seed=5), inputs, arrays(*small(2, 8, 8, 130, 130, 128), seed=6)]
    run, others = program(sj.attention), [(each, jnp.ones(each[0].shape, jnp.float32)) for each in others]
    alone = [jax.block_until_ready(run(*each)) for each in others]
    turns = [[run(*each) for each in others] for _ in range(4)]
    record("gradients in turn", all(equal(found, alone) for found in turns))


def case_errors():
    axpy = selvedge.jit(AXPY)
    for name, action in (("type", lambda: sj.call(axpy, jnp.ones(3, jnp.float16))), ("traced scalar", lambda: jax.jit(lambda a: sj.call(axpy, jnp.ones(3, jnp.float32), a=a))(2.0))):
        try:
            action()
            record(f"{name} refused", False)
        except selvedge.BadInput as refused:
            record(f"{name} refused", True, message=str(refused)[:90])
    x = jnp.ones(3, jnp.float32)
    artefact = selvedge.load(selvedge.compile(AXPY, arch="sm_80"))
    if GPU:
        record("an artefact", equal(jax.jit(lambda x: sj.call(artefact, x, a=5))(x), 5 * x))
    else:
        # An error of the run, whose message is the library's.
        try:
            jax.block_until_ready(sj.call(artefact, x))
            record("an artefact in host memory refused", False)
        except Exception as refused:
            record("an artefact in host memory refused", "runs on a GPU only" in str(refused), message=str(refused)[:120])
    record("a call behind an error", equal(sj.call(axpy, x), 2 * x))


def seconds(function, inputs, turns):
    jax.block_until_ready(function(*inputs))
    start = time.perf_counter()
    for _ in range(turns):
        out = function(*inputs)
    submitted = time.perf_counter() - start
    jax.block_until_ready(out)
    return submitted / turns, (time.perf_counter() - start) / turns


def case_speed():
    """Milliseconds of one shape beside JAX's own, and microseconds of the CPU per call."""
    axpy = selvedge.jit(AXPY)
    x = jnp.ones(1000, jnp.float32)
    ours, wanted = (seconds(jax.jit(function), [x], 500 if GPU else 20)[1] for function in (lambda x: sj.call(axpy, x), lambda x: 2 * x))
    record("microseconds of a call in a program", ours < 5e-3, microseconds=ours * 1e6, without=wanted * 1e6)
    inputs = arrays(*small(2, 16, 16, 4096, 4096, 128))
    kinds = {"ours": sj.attention, "ours_any_order": functools.partial(sj.attention, deterministic=False)}
    kinds |= {peer: functools.partial(jax.nn.dot_product_attention, implementation=peer) for peer in ("xla", "cudnn")[:2 if GPU else 1]}
    for what in ("forward", "forward and backward"):
        found = {}
        for name, function in kinds.items():
            forward = functools.partial(function, is_causal=True)
            run = forward if what == "forward" else jax.grad(lambda q, k, v, forward=forward: forward(q, k, v).astype(jnp.float32).sum(), argnums=(0, 1, 2))
            try:
                found[name] = seconds(jax.jit(run), inputs, 30 if GPU else 1)[1] * 1e3
            except Exception as refused:
                print(f"     speed: {name} refuses: {str(refused)[:100]!r}", flush=True)
        record(f"milliseconds of {what}, {'x'.join(map(str, inputs[0].shape))} causal", "ours" in found, **found)


CASES = clients.cases_of(globals())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--platform", choices=("cpu", "gpu"), default="gpu", help="cpu: the reference device")
    options = clients.parse(parser, CASES)
    if GPU != (options.platform == "gpu"):
        sys.exit(f"JAX has the backend {jax.default_backend()}, asked for is {options.platform}")
    print("selvedge", selvedge.version(), "jax", jax.__version__, jax.devices()[0].device_kind, flush=True)
    clients.run(CASES, options)


if __name__ == "__main__":
    main()
