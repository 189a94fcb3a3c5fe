#!/usr/bin/env python3
"""selvedge.torch with its clients on a GPU: SDPA beside it, torch.compile, CUDA graphs, checkpointing. Models of transformers: models.py.

python_clients.py [--only WORD,...] [--budget S] [--json table.json]

Each case is a line: what it measures, the error against float64 and SDPA's own beside it, where there is one. A case fails where the error is more than twice
SDPA's, where results that have to be equal differ in a bit, or where a client raises.
"""
# SPDX-License-Identifier: MIT
import argparse
import math
import time

import torch
import torch.nn.functional as F

import clients
from clients import record

clients.find_package()
import selvedge  # noqa: E402
import selvedge.torch as st  # noqa: E402

DEVICE = "cuda"


def error(x, wanted):
    x, wanted = x.double(), wanted.double()
    return ((x - wanted).norm() / wanted.norm().clamp_min(1e-300)).item()


def reference(q, k, v, mask=None, scale=None, score=lambda s: s):
    """float64, [B, heads, positions, D]; a mask is bool or added."""
    q, k, v = q.double(), k.double(), v.double()
    k, v = (t.repeat_interleave(q.shape[1] // k.shape[1], 1) for t in (k, v))
    s = score(q @ k.transpose(-1, -2) * (scale or 1 / math.sqrt(q.shape[-1])))
    if mask is not None:
        s = s.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else s + mask.double()
    p = torch.softmax(s, -1)
    return torch.nan_to_num(p) @ v


def bottom_right(rows, keys, left=-1, right=0):
    i, j = torch.arange(rows, device=DEVICE)[:, None] + keys - rows, torch.arange(keys, device=DEVICE)[None]
    mask = torch.ones(rows, keys, dtype=torch.bool, device=DEVICE)
    if left >= 0:
        mask &= j >= i - left
    return mask & (j <= i + right) if right >= 0 else mask


def tensors(b, h, g, m, n, d, dtype=torch.bfloat16, seed=0):
    torch.manual_seed(seed)
    make = lambda *shape: torch.randn(shape, device=DEVICE).to(dtype)  # noqa: E731
    return make(b, h, m, d), make(b, g, n, d), make(b, g, n, d)


def gradients(function, inputs, weight):
    """Of the sum of weighted results: the result, and the inputs' gradients."""
    leaves = [t.detach().clone().requires_grad_() for t in inputs]
    out = function(*leaves)
    out.backward(weight.to(out.dtype))
    return [out.detach(), *(leaf.grad for leaf in leaves)]


def against(case, ours, wanted, own, inputs):
    """Results and gradients against float64, beside those of a function of PyTorch's own."""
    shape = (*inputs[0].shape[:-1], inputs[2].shape[-1])
    weight = torch.randn(shape, device=DEVICE)
    exact = gradients(wanted, [t.double() for t in inputs], weight.double())
    try:
        theirs = gradients(own, inputs, weight) if own else [None] * 4
    except RuntimeError:
        theirs = [None] * 4
    for name, x, y, z in zip(("o", "dq", "dk", "dv"), gradients(ours, inputs, weight), exact, theirs):
        mine, limit = error(x, y), error(z, y) if z is not None else 0.004
        record(f"{case} {name}", mine <= 2 * limit + 1e-7, error=mine, **({"sdpa": limit} if z is not None else {}))


def repeat(t, heads):
    return t.repeat_interleave(heads // t.shape[1], 1)


def sdpa(q, k, v, **options):
    return F.scaled_dot_product_attention(q, repeat(k, q.shape[1]), repeat(v, q.shape[1]), **options)


def case_sdpa():
    for dtype in (torch.bfloat16, torch.float16):
        for b, h, g, m, n, d, causal in ((2, 8, 8, 512, 512, 64, True), (1, 8, 2, 777, 777, 128, True), (2, 4, 4, 300, 555, 128, False), (1, 4, 1, 130, 257, 64, True)):
            inputs = tensors(b, h, g, m, n, d, dtype)
            mask = torch.ones(m, n, dtype=torch.bool, device=DEVICE).tril() if causal else None
            against(f"attention {str(dtype)[6:]} {b}x{h}/{g}x{m}x{n}x{d}{' causal' if causal else ''}", lambda *t: st.attention(*t, is_causal=causal),
                    lambda *t: reference(*t, mask), lambda *t: sdpa(*t, is_causal=causal), inputs)
    inputs = tensors(2, 4, 2, 200, 300, 64)
    mask = torch.rand(2, 1, 200, 300, device=DEVICE) < 0.7
    against("attention bool mask", lambda *t: st.attention(*t, attn_mask=mask), lambda *t: reference(*t, mask), lambda *t: sdpa(*t, attn_mask=mask), inputs)
    bias = torch.randn(1, 4, 200, 300, device=DEVICE)
    against("attention bias", lambda *t: st.attention(*t, attn_mask=bias), lambda *t: reference(*t, bias),
            lambda *t: sdpa(*t, attn_mask=bias.to(torch.bfloat16)), inputs)
    capped = st.variant("score(s, ...) = cap * tanh(s / cap)", "cap: f32 = 50", causal=False)
    against("variant softcap", lambda *t: capped(*t, cap=20.0), lambda *t: reference(*t, score=lambda s: 20 * torch.tanh(s / 20)), None, inputs)
    window = st.variant("keep(...) = super(...) && j > i + kv_len[b] - M - W".replace("super(...)", "super(b, h, i, j)"), "W: i32", causal=True)
    against("variant window", lambda *t: window(*t, W=50), lambda *t: reference(*t, bottom_right(200, 300, 49)), None, inputs)


def case_flash():
    def swapped(function, **options):
        return lambda *t: function(*(x.transpose(1, 2) for x in t), **options).transpose(1, 2)

    b, h, g, m, n, d = 2, 8, 2, 333, 400, 128
    inputs = tensors(b, h, g, m, n, d, seed=3)
    slopes = torch.rand(h, device=DEVICE)
    i, j = torch.arange(m, device=DEVICE)[:, None] + n - m, torch.arange(n, device=DEVICE)[None]
    alibi = -slopes.double()[:, None, None] * (i - j).abs()
    for name, options, mask, score in (
            ("causal", {"causal": True}, bottom_right(m, n), lambda s: s), ("full", {}, None, lambda s: s),
            ("window", {"causal": True, "window_size": (63, 0)}, bottom_right(m, n, 63), lambda s: s),
            ("window both ways", {"window_size": (40, 20)}, bottom_right(m, n, 40, 20), lambda s: s),
            ("softcap", {"causal": True, "softcap": 15.0}, bottom_right(m, n), lambda s: 15 * torch.tanh(s / 15)),
            ("alibi", {"causal": True, "alibi_slopes": slopes}, bottom_right(m, n), lambda s: s + alibi),
            ("scale", {"softmax_scale": 0.3}, None, None)):
        wanted = (lambda *t: reference(*t, None, 0.3)) if score is None else (lambda *t, mask=mask, score=score: reference(*t, mask, score=score))
        against(f"flash_attn_func {name}", swapped(st.flash_attn_func, **options), wanted, None, inputs)
    lengths = [0, 1, 130, 257, 64]
    cu = torch.tensor([0, *torch.tensor(lengths).cumsum(0)], dtype=torch.int32, device=DEVICE)
    total = sum(lengths)
    q, k, v = (torch.randn(total, heads, 64, device=DEVICE, dtype=torch.bfloat16) for heads in (8, 2, 2))
    o = st.flash_attn_varlen_func(q, k, v, cu, cu, max(lengths), max(lengths), causal=True)
    worst = 0.0
    for a, e in zip(cu.tolist(), cu.tolist()[1:]):
        if a < e:
            part = [t[a:e].transpose(0, 1)[None] for t in (q, k, v)]
            worst = max(worst, error(o[a:e], reference(*part, bottom_right(e - a, e - a))[0].transpose(0, 1)))
    record("flash_attn_varlen_func causal o", worst < 0.005, error=worst)


def case_varlen_gradients():
    lengths = [0, 1, 130, 257, 64]
    cu = torch.tensor([0, *torch.tensor(lengths).cumsum(0)], dtype=torch.int32, device=DEVICE)
    inputs = [torch.randn(sum(lengths), heads, 64, device=DEVICE, dtype=torch.bfloat16) for heads in (8, 2, 2)]
    weight = torch.randn(sum(lengths), 8, 64, device=DEVICE)

    def packed(q, k, v):
        parts = [reference(*(t[a:e].transpose(0, 1)[None] for t in (q, k, v)), bottom_right(e - a, e - a))[0].transpose(0, 1)
                 for a, e in zip(cu.tolist(), cu.tolist()[1:]) if a < e]
        return torch.cat(parts)

    exact = gradients(packed, [t.double() for t in inputs], weight.double())
    ours = gradients(lambda q, k, v: st.flash_attn_varlen_func(q, k, v, cu, cu, 257, 257, causal=True), inputs, weight)
    for name, x, y in zip(("o", "dq", "dk", "dv"), ours, exact):
        record(f"flash_attn_varlen_func causal gradients {name}", error(x, y) < 0.006, error=error(x, y))


def case_own_gradients():
    """Of masks that are added, slopes, sinks, norms of rows, and a variant's tensors and scalars."""
    b, h, g, n, d = 2, 4, 2, 200, 64
    qkv = tensors(b, h, g, n, n, d, seed=5)
    swap = lambda t: t.transpose(1, 2)  # noqa: E731
    make = lambda *shape: torch.randn(shape, device=DEVICE)  # noqa: E731
    distance = (torch.arange(n, device=DEVICE)[:, None] - torch.arange(n, device=DEVICE)[None]).abs()
    capped = st.variant("score(s, ...) = cap * tanh(s / cap) + w[h, j]", "cap: f32, w: f32[G*R, N]")

    norm = st.variant("fn unit(x) = x * rsqrt(sum(x * x, D) / D + 0.000001); query(x, ...) = (unit(x as f32) * wq[:]) as T; key(x, ...) = (unit(x as f32) * wk[:]) as T",
                      "wq: f32[D], wk: f32[D]", causal=True)
    unit = lambda t: t * torch.rsqrt((t * t).mean(-1, keepdim=True) + 1e-6)  # noqa: E731

    def scores(add=0.0, cap=None):
        return lambda s: (cap * torch.tanh(s / cap) if cap is not None else s) + add

    def with_sink(q, k, v, sink):
        q, k, v = q.double(), *(t.double().repeat_interleave(h // g, 1) for t in (k, v))
        s = (q @ k.transpose(-1, -2) / math.sqrt(d)).masked_fill(~bottom_right(n, n), -math.inf)
        s = torch.cat([s, sink.double()[None, :, None, None].expand(b, h, n, 1)], -1)
        return torch.softmax(s, -1)[..., :-1] @ v

    from selvedge.torch._transformers import attention_forward

    cases = {
        "bias of all": ([make(b, h, n, n)], lambda q, k, v, x: st.attention(q, k, v, attn_mask=x), lambda q, k, v, x: reference(q, k, v, score=scores(x))),
        "bias of keys, bf16": ([make(1, h, 1, n).bfloat16()], lambda q, k, v, x: st.attention(q, k, v, attn_mask=x), lambda q, k, v, x: reference(q, k, v, score=scores(x))),
        "slopes": ([make(h).abs()], lambda q, k, v, x: swap(st.flash_attn_func(swap(q), swap(k), swap(v), alibi_slopes=x)),
                   lambda q, k, v, x: reference(q, k, v, score=scores(-x[:, None, None] * distance))),
        "sinks": ([make(h)], lambda q, k, v, x: swap(attention_forward(None, q, k, v, None, is_causal=True, s_aux=x)[0]), with_sink),
        "norms of rows": ([make(d), make(d)], lambda q, k, v, x, y: norm(q, k, v, wq=x, wk=y),
                          lambda q, k, v, x, y: reference(unit(q) * x, unit(k) * y, v, bottom_right(n, n))),
        "variant": ([make(1).abs() + 5, make(h, n)], lambda q, k, v, c, w: capped(q, k, v, cap=c, w=w), lambda q, k, v, c, w: reference(q, k, v, score=scores(w[:, None], c))),
    }
    for name, (own, ours, wanted) in cases.items():
        inputs, weight = [*qkv, *own], torch.randn(b, h, n, d, device=DEVICE)
        exact = gradients(wanted, [t.double() for t in inputs], weight.double())
        for what, x, y in zip(("o", "dq", "dk", "dv", "own", "own too"), gradients(ours, inputs, weight), exact):
            # One number is a sum of terms that cancel; the rounding of o is in all of them.
            most = 0.03 if y.numel() == 1 else 0.01
            record(f"gradients of {name}: {what}", error(x, y) < most and x.shape == y.shape, error=error(x, y))


def case_cache():
    b, h, g, capacity, d = 4, 16, 4, 1000, 128
    for rows, causal in ((1, False), (3, True), (1, True), (40, True)):
        q, kc, vc = (t.transpose(1, 2).contiguous() for t in tensors(b, h, g, rows, capacity, d, seed=rows))
        lengths = torch.tensor([0, 17, 512, capacity - rows], dtype=torch.int32, device=DEVICE)
        new = [torch.randn(b, rows, g, d, device=DEVICE, dtype=torch.bfloat16) for _ in range(2)]
        kw, vw = kc.clone(), vc.clone()
        for s, length in enumerate(lengths.tolist()):
            kw[s, length:length + rows], vw[s, length:length + rows] = new[0][s], new[1][s]
        o = st.flash_attn_with_kvcache(q, kc, vc, *new, cache_seqlens=lengths, causal=causal)
        worst = 0.0
        for s, length in enumerate(lengths.tolist()):
            end = length + rows
            part = reference(q[s:s + 1].transpose(1, 2), kw[s:s + 1, :end].transpose(1, 2), vw[s:s + 1, :end].transpose(1, 2), bottom_right(rows, end) if causal else None)
            worst = max(worst, error(o[s], part[0].transpose(0, 1)))
        record(f"flash_attn_with_kvcache {rows} rows{' causal' if causal else ''}", worst < 0.005 and torch.equal(kc, kw) and torch.equal(vc, vw), error=worst)
        pages = kc[:, :960].reshape(b * 15, 64, g, d), vc[:, :960].reshape(b * 15, 64, g, d)
        table = torch.arange(b * 15, dtype=torch.int32, device=DEVICE).reshape(b, 15)
        short = (lengths + rows).clamp(max=960)
        paged = st.flash_attn_with_kvcache(q, *pages, cache_seqlens=short, block_table=table, causal=True)
        dense = st.flash_attn_func(q[1:2], kc[1:2, :17 + rows], vc[1:2, :17 + rows], causal=True)
        record(f"flash_attn_with_kvcache {rows} rows, pages", error(paged[1:2], dense) < 0.004, error=error(paged[1:2], dense))


def case_chunks():
    """More keys than queries: by split keys, in tiles of 64 and 128 rows, or without, as the number of tiles says."""
    for b, h, g, rows, keys, d in ((1, 16, 4, 64, 8192, 128), (1, 16, 4, 64, 8192, 64), (1, 8, 8, 300, 5000, 128), (2, 16, 4, 64, 1000, 64), (16, 32, 8, 64, 640, 64), (2, 16, 2, 2, 4096, 128)):
        q, k, v = tensors(b, h, g, rows, keys, d, seed=rows)
        rows_first = [t.transpose(1, 2).contiguous() for t in (q, k, v)]
        lengths = torch.full((b,), keys, dtype=torch.int32, device=DEVICE)
        name = f"{b} x {rows} queries, {keys} keys, D {d}"
        with torch.no_grad():
            causal, full = (reference(q, k, v, mask) for mask in (bottom_right(rows, keys), None))
            wanted = st.flash_attn_func(rows_first[0].clone().requires_grad_(), *rows_first[1:], causal=True).detach()
            record(f"flash_attn_func, {name}", error(st.flash_attn_func(*rows_first, causal=True).transpose(1, 2), causal) < 2 * error(wanted.transpose(1, 2), causal))
            record(f"attention, {name}", error(st.attention(q, k, v), full) < 0.004)
            record(f"flash_attn_with_kvcache, {name}", error(st.flash_attn_with_kvcache(*rows_first, cache_seqlens=lengths, causal=True).transpose(1, 2), causal) < 0.004)
            if keys % 64 == 0:
                pages, table = [t.reshape(-1, 64, g, d) for t in rows_first[1:]], torch.arange(b * keys // 64, dtype=torch.int32, device=DEVICE).reshape(b, -1)
                ends = [torch.arange(b + 1, dtype=torch.int32, device=DEVICE) * n for n in (rows, keys)]
                paged = st.flash_attn_with_kvcache(rows_first[0], *pages, cache_seqlens=lengths, block_table=table, causal=True)
                packed = st.flash_attn_varlen_func(rows_first[0].flatten(0, 1), *pages, *ends, rows, keys, causal=True, block_table=table)
                record(f"pages, {name}", error(paged.transpose(1, 2), causal) < 0.004 and torch.equal(packed, paged.flatten(0, 1)))
            capped = reference(q, k, v, bottom_right(rows, keys), score=lambda s: 2 * torch.tanh(s / 2))
            record(f"capped, {name}", error(st.flash_attn_func(*rows_first, causal=True, softcap=2.0).transpose(1, 2), capped) < 0.004)
            if d == 128:
                compiled = torch.compile(lambda *t: st.flash_attn_func(*t, causal=True), fullgraph=True)
                record(f"torch.compile, {name}", torch.equal(compiled(*rows_first), st.flash_attn_func(*rows_first, causal=True)))


def case_compile():
    inputs, weight = tensors(2, 8, 2, 300, 300, 64), torch.randn(2, 8, 300, 64, device=DEVICE)

    def layer(q, k, v):
        return st.attention(q * 1.5, k, v, is_causal=True).relu() + q

    eager, compiled = gradients(layer, inputs, weight), gradients(torch.compile(layer, fullgraph=True), inputs, weight)
    # Inductor adds the two parts of dq without rounding them before.
    for name, x, y, limit in zip(("o", "dq", "dk", "dv"), compiled, eager, (1e-3, 4e-3, 1e-3, 1e-3)):
        record(f"torch.compile fullgraph {name}", error(x, y) < limit, difference=error(x, y))
    dynamic = torch.compile(layer, fullgraph=True, dynamic=True)
    for rows in (64, 65, 200):
        q, k, v = tensors(1, 4, 4, rows, rows, 64, seed=rows)
        record(f"torch.compile dynamic, {rows} positions", error(dynamic(q, k, v), layer(q, k, v)) < 1e-3)
    from torch.utils.checkpoint import checkpoint

    again = gradients(lambda *t: checkpoint(layer, *t, use_reentrant=False), inputs, weight)
    record("activation checkpointing", all(torch.equal(x, y) for x, y in zip(again, eager)))


def case_opcheck():
    q, k, v = (t.transpose(1, 2).detach().requires_grad_() for t in tensors(1, 4, 2, 65, 70, 64))
    arguments = (q, k, v, [], "q,k,v", [0.2], "scale", 'import "flash_fwd.tile";\nop attention extends flash_fwd<causal = true> {}\n', "attention", True)
    for test in ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_static", "test_aot_dispatch_dynamic"):
        outcome = torch.library.opcheck(torch.ops.selvedge.attention.default, arguments, test_utils=test, raise_exception=False)
        record(f"opcheck {test}", outcome[test] == "SUCCESS", outcome=str(outcome[test])[:200])


def case_graph():
    q, k, v = tensors(2, 8, 2, 512, 512, 128)
    weight, leaves = torch.randn(2, 8, 512, 128, device=DEVICE).to(q.dtype), [t.clone().requires_grad_() for t in (q, k, v)]

    def step():
        out = st.attention(*leaves, is_causal=True)
        return [out, *torch.autograd.grad(out, leaves, weight)]

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = step()
    for turn in range(3):
        with torch.no_grad():
            for leaf in leaves:
                leaf.copy_(torch.randn_like(leaf))
        graph.replay()
        record(f"CUDA graph of forward and backward, replay {turn}", all(torch.equal(x, y) for x, y in zip(captured, step())))


def case_validate():
    """What an op requires, checked of tensors on the GPU: of any strides, behind what is on the stream, and never while it is captured."""
    pick = selvedge.jit("op pick(x: f32[N], at: i32[B, C]) requires at in 0..N -> (y: f32[B, C] out_init(-1)) "
                        "{ kernel main(b in B, c in C by BC) { y[b, c] = x[at[b, c]]; } }")
    x, memory = torch.arange(10.0, device=DEVICE), torch.full((64, 64), 77, dtype=torch.int32, device=DEVICE)
    layouts = {"dense": memory[:3, :64], "rows": memory[:5, :7], "columns": memory[3:9, 1:30:3], "transposed": memory[2:9, 4:40].t(), "alone": memory[:1, 5:6]}
    for name, at in layouts.items():
        at.copy_(torch.arange(at.numel(), device=DEVICE).reshape(at.shape) % 11)
        wanted = torch.where(at < 10, at.float(), -1)
        record(f"validate: {name}, kept", torch.equal(pick(x, at, validate=True), wanted))
        for place in ((0, 0), (at.shape[0] - 1, at.shape[1] - 1)):
            torch.cuda._sleep(10_000_000)
            at[place] = 11
            try:
                pick(x, at, validate=True)
                record(f"validate: {name}, broken at {place}", False)
            except selvedge.BadInput as refused:
                record(f"validate: {name}, broken at {place}", f"'at' at {list(place)} is 11, outside the required 0..10" in str(refused))
            at[place] = 0
        memory.fill_(77)
    at = torch.zeros(3, 4, dtype=torch.int32, device=DEVICE)
    graph, y = torch.cuda.CUDAGraph(), pick(x, at)
    try:
        with torch.cuda.graph(graph):
            try:
                pick(x, at, y=y, validate=True)
                record("validate: captured", False)
            except selvedge.BadInput as refused:
                record("validate: captured", "captured cannot be validated" in str(refused))
            pick(x, at, y=y)
        y.zero_().sub_(1)
        x[0] = 5
        graph.replay()
        record("validate: the capture goes on", bool((y == 5).all()))
    except RuntimeError as failure:
        record("validate: the capture goes on", False, message=str(failure)[:200])


def case_package():
    """The package itself: another stream, another type of tensor, the reference device beside the GPU."""
    axpy = selvedge.jit("op axpy(x: f32[N], a: f32 = 2) -> (y: f32[N] out_init(0)) { kernel main(i in N by BN) { y[i] = a * x[i]; } }")
    x = torch.arange(1000.0, device=DEVICE)
    record("package: a launch", torch.equal(axpy(x, a=3), 3 * x))
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    y = axpy(x[::2], stream=side)
    side.synchronize()
    record("package: strides, a stream", torch.equal(y, 2 * x[::2]))
    record("package: host memory", torch.equal(axpy(x.cpu()), 2 * x.cpu()))
    artefact = selvedge.load(selvedge.compile("softmax.tile", "softmax", arch="sm_80"))
    t = torch.randn(7, 100, device=DEVICE, dtype=torch.bfloat16)
    out = artefact(t)
    out = out[0] if isinstance(out, tuple) else out
    record("package: an artefact", error(out, torch.softmax(t.double(), -1)) < 0.004)
    for what, action in (("devices", lambda: axpy(x, y=torch.empty(1000))), ("type", lambda: axpy(x.double())), ("capture", None)):
        if action:
            try:
                action()
                record(f"package: {what} refused", False)
            except selvedge.BadInput as refused:
                record(f"package: {what} refused", True, message=str(refused)[:90])
    q, k, v = (t.transpose(1, 2) for t in tensors(8, 32, 8, 1, 512, 128))
    kernel = selvedge.jit("flash_decode.tile", T="bf16", D=128)
    kernel(q, k, v)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(500):
        kernel(q, k, v)
    passed = time.perf_counter() - start
    torch.cuda.synchronize()
    record("package: microseconds of the CPU per call", passed / 500 < 2e-3, microseconds=passed / 500 * 1e6)


def case_workspace():
    """One buffer is the workspace of launches of two shapes in turn, of one op and of two: what one leaves there is nothing to the next."""
    from selvedge import _tensors

    empty, sizes = _tensors.empty, []
    buffer = torch.full((1 << 28,), 255, dtype=torch.uint8, device=DEVICE)

    def shared(like, shape, code, bits, name):
        if name != "workspace":
            return empty(like, shape, code, bits, name)
        sizes.append(shape[0])
        return buffer[:shape[0]]

    def of_decode(b, n, heads, seed):
        q, k, v = (t.transpose(1, 2) for t in tensors(b, heads, 4, 1, n, 128, seed=seed))
        lengths = torch.arange(b, dtype=torch.int32, device=DEVICE) * 97 % (n + 1)
        return {"q": q, "k": k, "v": v, "kv_len": lengths}

    def of_gradients(b, n, seed):
        q, k, v = (t.transpose(1, 2) for t in tensors(b, 4, 2, n, n, 64, seed=seed))
        o, lse = forward(q, k, v)
        return {"q": q, "k": k, "v": v, "o": o, "lse": lse, "dO": torch.randn_like(o)}

    forward = selvedge.jit("flash_fwd.tile", T="bf16", D=64, causal=True)
    decode = selvedge.jit("flash_decode.tile", T="bf16", D=128)
    # In order, and so that blocks of keys add to the workspace.
    in_order, added = (selvedge.jit("flash_bwd.tile", T="bf16", D=64, causal=True, deterministic=kind) for kind in (True, False))
    shapes = {"decode, 8 sequences": (decode, of_decode(8, 3000, 32, 1)), "decode, 2 sequences": (decode, of_decode(2, 9000, 8, 2)),
              "gradients in order, 333 positions": (in_order, of_gradients(2, 333, 3)), "gradients in order, 700 positions": (in_order, of_gradients(1, 700, 4)),
              "gradients in any order, 333 positions": (added, of_gradients(2, 333, 5)), "gradients in any order, 700 positions": (added, of_gradients(1, 700, 6))}
    alone = {name: kernel(**inputs) for name, (kernel, inputs) in shapes.items()}
    torch.cuda.synchronize()
    _tensors.empty = shared
    try:
        found = [{name: kernel(**inputs) for name, (kernel, inputs) in shapes.items()} for _ in range(4)]
        torch.cuda.synchronize()
    finally:
        _tensors.empty = empty
    record("workspace: a buffer is used in turn", len(sizes) == 4 * len(shapes) and len(set(sizes)) > 2, sizes=len(set(sizes)))
    for name, wanted in alone.items():
        if "any order" in name:
            worst = max(error(x, y) for turn in found for x, y in zip(turn[name], wanted))
            record(f"workspace: {name}", worst < 2e-3, error=worst)
        else:
            record(f"workspace: {name}", all(torch.equal(x, y) for turn in found for x, y in zip(turn[name], wanted)))


CASES = clients.cases_of(globals())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options = clients.parse(parser, CASES)
    print("selvedge", selvedge.version(), "torch", torch.__version__, torch.cuda.get_device_name(), flush=True)
    clients.run(CASES, options)


if __name__ == "__main__":
    main()
