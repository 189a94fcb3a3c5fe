# selvedge.torch on the reference device, beside scaled_dot_product_attention in f32: results, gradients, what the compiler sees.
# SPDX-License-Identifier: MIT
import math

import torch
import torch.nn.functional as F

import selvedge.torch as st
from selvedge.torch._transformers import attention_forward

torch.manual_seed(0)
q, k, v = (torch.randn(1, heads, 12, 16).to(torch.bfloat16) for heads in (4, 2, 2))
i, j = torch.arange(12)[:, None], torch.arange(12)[None]


def results(function, inputs=(q, k, v)):
    leaves = [t.clone().requires_grad_() for t in inputs]
    o = function(*leaves)
    torch.manual_seed(1)
    o.backward(torch.randn(o.shape).to(o.dtype))
    return [o.detach(), *(leaf.grad for leaf in leaves)]


def sdpa(**options):
    return lambda q, k, v: F.scaled_dot_product_attention(q.float(), k.float(), v.float(), enable_gqa=True, **options).to(q.dtype)


def plain(mask, score=lambda s: s):
    def function(q, k, v):
        k, v = (t.float().repeat_interleave(2, 1) for t in (k, v))
        s = score(q.float() @ k.transpose(-1, -2) / 4).masked_fill(~mask, -math.inf)
        return (torch.softmax(s, -1) @ v).to(q.dtype)

    return function


def swapped(function, **options):
    return lambda *t: function(*(x.transpose(1, 2) for x in t), **options).transpose(1, 2)


def compare(name, ours, wanted, inputs=(q, k, v)):
    pairs = list(zip(results(ours, inputs), results(wanted, inputs)))
    worst = max(((x.float() - y.float()).norm() / y.float().norm()).item() for x, y in pairs)
    print(f"{name}: {'equal' if worst < 8e-3 else worst}", flush=True)


mask, bias = torch.rand(1, 1, 12, 12) < 0.8, torch.randn(4, 12, 12)
mask[..., 0] = True
compare("causal", lambda *t: st.attention(*t, is_causal=True), sdpa(is_causal=True))
compare("mask", lambda *t: st.attention(*t, attn_mask=mask), sdpa(attn_mask=mask))
compare("bias", lambda *t: st.attention(*t, attn_mask=bias, scale=0.5), sdpa(attn_mask=bias, scale=0.5))
compare("fewer rows", lambda *t: st.attention(*t, is_causal=True), sdpa(is_causal=True), (q[:, :, :5], k, v))
capped = st.variant("score(s, ...) = cap * tanh(s / cap)", "cap: f32 = 50", causal=True)
compare("variant", lambda *t: capped(*t, cap=2.0), plain(j <= i, lambda s: 2 * torch.tanh(s / 2)))
shorter = st.variant("score(s, ...) = s + 0.5")
compare("variant of seven keys", lambda *t: shorter(*t, kv_len=torch.tensor([7], dtype=torch.int32)), plain(j < 7))
window = {"causal": True, "window_size": (3, 0)}
compare("window", swapped(st.flash_attn_func, **window), plain((j <= i) & (j >= i - 3)))
slopes = torch.rand(4)
compare("alibi", swapped(st.flash_attn_func, alibi_slopes=slopes), plain(j >= 0, lambda s: s - slopes[:, None, None] * (i - j).abs()))

sinks = torch.randn(4)


def with_sinks(q, k, v):
    k, v = (t.float().repeat_interleave(2, 1) for t in (k, v))
    s = (q.float() @ k.transpose(-1, -2) / 4).masked_fill(j > i, -math.inf)
    p = torch.softmax(torch.cat([s, sinks[None, :, None, None].expand(1, 4, 12, 1)], -1), -1)
    return (p[..., :-1] @ v).to(q.dtype)


compare("sinks", lambda *t: attention_forward(None, *t, None, is_causal=True, s_aux=sinks)[0].transpose(1, 2), with_sinks)

rows = [t.transpose(1, 2) for t in (q, k, v)]
cu = torch.tensor([0, 4, 4, 12], dtype=torch.int32)
packed = st.flash_attn_varlen_func(*(t[0] for t in rows), cu, cu, 8, 8, causal=True)
print("packed:", torch.equal(packed[4:], st.flash_attn_func(*(t[:, 4:] for t in rows), causal=True)[0]))
caches = [torch.zeros(1, 32, 2, 16, dtype=torch.bfloat16) for _ in range(2)]
lengths = torch.tensor([4], dtype=torch.int32)
dense = st.flash_attn_with_kvcache(rows[0][:, :3], *caches, *rows[1:], cache_seqlens=lengths, causal=True)
pages = [cache.view(4, 8, 2, 16) for cache in caches]
paged = st.flash_attn_with_kvcache(rows[0][:, :3], *pages, cache_seqlens=16, block_table=torch.arange(4, dtype=torch.int32)[None], causal=True)
print("cache:", torch.equal(caches[0][:, 4:16], rows[1]), torch.allclose(dense, paged, atol=1e-2))

text = 'import "flash_fwd.tile";\nop attention extends flash_fwd<causal = true> {}\n'
arguments = (*(t.detach().requires_grad_() for t in rows), [], "q,k,v", [0.25], "scale", text, "attention", True)
outcome = torch.library.opcheck(torch.ops.selvedge.attention.default, arguments, test_utils=("test_schema", "test_autograd_registration", "test_faketensor"))
print("opcheck:", set(outcome.values()))
layer = torch.compile(lambda *t: st.attention(*t, is_causal=True) + t[0], fullgraph=True, backend="aot_eager")
compare("compiled", layer, lambda *t: sdpa(is_causal=True)(*t) + t[0])
for wrong in (lambda: st.attention(q.int(), k.int(), v.int()), lambda: st.attention(q, k, v, dropout_p=0.1), lambda: capped(q, k, v, cup=1),
              lambda: st.attention(q[:, :3], k, v)):
    try:
        wrong()
        print("not refused")
    except (ValueError, TypeError, NotImplementedError) as error:
        print(f"{type(error).__name__}: {error}")
