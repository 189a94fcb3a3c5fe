# The functions of the package flash_attn on the reference device, beside float64: caches, pages, rotary embeddings, packed tensors. `kvcache.py cuda` is on a GPU, in bf16.
# SPDX-License-Identifier: MIT
import math
import sys

import torch

import selvedge.torch as st

DEVICE = sys.argv[1] if len(sys.argv) > 1 else "cpu"
TYPE, LIMIT = (torch.float32, 1e-6) if DEVICE == "cpu" else (torch.bfloat16, 8e-3)
B, H, G, D = 2, 4, 2, 8 if DEVICE == "cpu" else 64
torch.set_default_device(DEVICE)


def exact(q, k, v, keep):
    """One sequence: q [M, H, D], k and v [N, G, D], keep bool[M, N]; a row without keys is 0."""
    k, v = (t.double().repeat_interleave(H // G, 1) for t in (k, v))
    s = torch.einsum("mhd,nhd->hmn", q.double(), k) / math.sqrt(D)
    return torch.einsum("hmn,nhd->mhd", torch.nan_to_num(torch.softmax(s.masked_fill(~keep, -math.inf), -1)), v)


def keep_of(rows, keys, causal, left=-1, first=0):
    i, j = torch.arange(rows)[:, None] + keys - rows, torch.arange(keys)[None]
    keep = (j >= first).expand(rows, keys)
    if causal:
        keep = keep & (j <= i)
    return keep & (j >= i - left) if left >= 0 else keep


def turned(x, angles, interleaved):
    """x [A, heads, D], angles [A, R / 2]: pairs as complex numbers."""
    x, half = x.double(), angles.shape[1]
    head = x[..., :2 * half]
    a, b = (head[..., 0::2], head[..., 1::2]) if interleaved else (head[..., :half], head[..., half:])
    z = torch.complex(a, b) * torch.polar(torch.ones_like(angles), angles)[:, None]
    head = torch.stack([z.real, z.imag], -1).flatten(-2) if interleaved else torch.cat([z.real, z.imag], -1)
    return torch.cat([head, x[..., 2 * half:]], -1)


def report(what, *pairs):
    worst = max(((x.double() - y.double()).norm() / y.double().norm()).item() for x, y in pairs)
    print(f"{what}: {'equal' if worst < LIMIT else worst}", flush=True)


def random(*shape):
    return torch.randn(shape).to(TYPE)


def cache_case(what, rows, new, capacity=20, numbers=None, paged=False, rotary=None, causal=True, left=-1, pad=None):
    """lengths 3 and 9 in the cache, then `new` more."""
    torch.manual_seed(0)
    q, kn, vn = random(B, rows, H, D), *(random(B, new, G, D) for _ in range(2))
    lengths, caches = [3, 9], [random(B if numbers is None else 5, capacity, G, D) for _ in range(2)]
    numbers = numbers or [0, 1]
    angles = torch.rand(40, 3).double() * 6 if rotary else None
    arguments, given = {}, [cache.clone() for cache in caches]
    if paged:
        # Pages of 4 rows in any order, one that no sequence has among them.
        table = torch.randperm(B * capacity // 4 + 1)[:B * capacity // 4]
        given = [torch.full((len(table) + 1, 4, G, D), math.nan, dtype=TYPE) for _ in caches]
        for pages, cache in zip(given, caches):
            pages[table] = cache.reshape(-1, 4, G, D)
        arguments["block_table"] = table.reshape(B, -1).int()
    elif len(given[0]) > B:
        arguments["cache_batch_idx"] = torch.tensor(numbers, dtype=torch.int32)
    if rotary:
        arguments |= {"rotary_cos": angles.cos().float(), "rotary_sin": angles.sin().float(), "rotary_interleaved": rotary == "pairs"}
        angles = torch.atan2(arguments["rotary_sin"].double(), arguments["rotary_cos"].double())
    if pad:
        arguments["cache_leftpad"] = torch.tensor(pad, dtype=torch.int32)
    if new:
        arguments |= {"k": kn, "v": vn}
    o = st.flash_attn_with_kvcache(q, *given, cache_seqlens=torch.tensor(lengths, dtype=torch.int32), causal=causal, window_size=(left, -1), **arguments)
    wanted = []
    for b, (length, number) in enumerate(zip(lengths, numbers)):
        rows_q, rows_k, end = q[b], kn[b], length + new
        if rotary:
            places = torch.arange(rows) + length if causal or left >= 0 else torch.full((rows,), length)
            rows_q, rows_k = turned(q[b], angles[places], rotary == "pairs"), turned(kn[b], angles[length:end], rotary == "pairs").to(TYPE)
        for cache, rows_new in zip(caches, (rows_k, vn[b])):
            cache[number, length:end] = rows_new
        wanted.append(exact(rows_q, *(cache[number, :end] for cache in caches), keep_of(rows, end, causal, left, pad[b] if pad else 0)))
    held = given if not paged else [pages[table].reshape(B, capacity, G, D) for pages in given]
    report(what, (o, torch.stack(wanted)), *zip(held, caches))


cache_case("dense", 3, 3)
cache_case("dense, window", 3, 3, left=4)
cache_case("numbers of sequences", 3, 0, numbers=[4, 1])
cache_case("numbers, new keys", 3, 2, numbers=[4, 1])
cache_case("numbers, all see all", 20, 2, capacity=256, numbers=[0, 3], causal=False)
cache_case("pad", 3, 2, pad=[2, 5])
cache_case("pad and numbers", 3, 2, pad=[0, 9], numbers=[2, 0])
cache_case("pad and pages", 3, 2, paged=True, pad=[3, 1])
cache_case("pages, new keys", 3, 6, paged=True)
cache_case("pages, window", 2, 5, paged=True, left=5)
for kind in ("pairs", "halves"):
    cache_case(f"rotary, {kind}", 3, 3, rotary=kind)
cache_case("rotary, all see all", 4, 2, rotary="halves", causal=False)
cache_case("rotary, pages", 3, 3, rotary="pairs", paged=True)

# Slots that are not there are written nowhere.
caches, new = [torch.zeros(2, 4, G, D, dtype=TYPE) for _ in range(2)], torch.ones(1, 3, G, D, dtype=TYPE)
torch.ops.selvedge.append_slots(*caches, new, new, torch.tensor([[3, -1, 9]], dtype=torch.int32))
print("slots:", (caches[0].sum((2, 3)) / (G * D)).tolist(), torch.equal(*caches))

qkv = random(B, 6, 3, H, D)
one = st.flash_attn_func(*qkv.unbind(2), causal=True, window_size=(2, 0))
print("packed:", torch.equal(one, st.flash_attn_qkvpacked_func(qkv, causal=True, window_size=(2, 0))),
      torch.equal(one, st.flash_attn_kvpacked_func(qkv[:, :, 0], qkv[:, :, 1:], 0.0, None, True, (2, 0))))
cu, flat = torch.tensor([0, 6, 12], dtype=torch.int32), qkv.flatten(0, 1)
report("packed sequences", (st.flash_attn_varlen_qkvpacked_func(flat, cu, 6, causal=True, window_size=(2, 0)), one.flatten(0, 1)),
       (st.flash_attn_varlen_kvpacked_func(flat[:, 0], flat[:, 1:], cu, cu, 6, 6, causal=True, window_size=(2, 0)), one.flatten(0, 1)))
# Queries one behind the other, keys in pages.
cu_q, cu_k, q = torch.tensor([0, 2, 2, 7], dtype=torch.int32), torch.tensor([0, 5, 8, 17], dtype=torch.int32), random(7, H, D)
pages, table = [random(6, 4, G, D) for _ in range(2)], torch.tensor([[3, 0, 5], [2, 5, 5], [1, 4, 0]], dtype=torch.int32)
for causal in (False, True):
    o, lse, _ = st.flash_attn_varlen_func(q, *pages, cu_q, cu_k, 5, 9, causal=causal, block_table=table, return_attn_probs=True)
    wanted = [exact(q[cu_q[b]:cu_q[b + 1]], *(t[table[b]].flatten(0, 1)[:cu_k[b + 1] - cu_k[b]] for t in pages), keep_of(int(cu_q[b + 1] - cu_q[b]), int(cu_k[b + 1] - cu_k[b]), causal))
              for b in range(3)]
    report(f"varlen pages{', causal' if causal else ''}", (o, torch.cat(wanted)))
    assert lse.shape == (H, 7)
# All have as many: those of the two functions, one sequence behind the other.
for rows in (1, 2):
    q, cu_q = random(3 * rows, H, D), torch.arange(4, dtype=torch.int32) * rows
    for causal in (False, True):
        o, lse, _ = st.flash_attn_varlen_func(q, *pages, cu_q, cu_k, rows, 9, causal=causal, block_table=table, softcap=4.0, return_attn_probs=True)
        of_any, lse_of_any, _ = st.flash_attn_varlen_func(q, *pages, cu_q, cu_k, None, 9, causal=causal, block_table=table, softcap=4.0, return_attn_probs=True)
        report(f"varlen pages, {rows} each{', causal' if causal else ''}", (o, of_any), (lse, lse_of_any))
# More keys than queries: keys are split unless a gradient is wanted.
q, k, v = random(B, 2, H, D), *(random(B, 300, G, D) for _ in range(2))
for what, options in (("", {}), (", causal", {"causal": True}), (", cap", {"softcap": 3.0}), (", slopes", {"causal": True, "alibi_slopes": torch.rand(H)})):
    whole, parts = (st.flash_attn_func(t, k, v, return_attn_probs=True, **options)[:2] for t in (q.clone().requires_grad_(), q))
    report(f"few queries{what}", *((x.detach(), y) for x, y in zip(whole, parts)))
report("few queries, PyTorch's", tuple(t.detach() for t in (st.attention(*(t.transpose(1, 2) for t in (x, k, v))) for x in (q.clone().requires_grad_(), q))))
for wrong in ({"rotary_cos": q}, {"k": q}, {"block_table": table}, {"block_table": table, "cache_batch_idx": cu, "cache_seqlens": 3}):
    try:
        st.flash_attn_with_kvcache(random(B, 1, H, D), *caches, **wrong)
        print("not refused")
    except ValueError as refused:
        print(refused)
