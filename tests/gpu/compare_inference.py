# Packed, paged, listed, masked and appended attention against PyTorch: cases of compare_torch.py.
# SPDX-License-Identifier: MIT
"""PyTorch gets each sequence by itself, dense and cut to its length. NaN is in everything that results must not depend on."""
import math

import torch

from references import attention, rel, rows_with_keys, torch_attention

HEADS, GROUPS = 8, 2
SHAPE = f"G={GROUPS},R={HEADS // GROUPS}"


def ints(values):
    return torch.tensor(values, dtype=torch.int32)


def record(runner, case, o, lse, ref, sums, own):
    """Outputs [B, M, H, D] and [B, H, M] against those in fp64, and PyTorch's o."""
    runner.record(f"{case} o", rel(o, ref), rel(torch.where(rows_with_keys(sums), own, 0), ref))
    runner.record(f"{case} lse", rel(lse, sums), 5e-7)


def alone(q, k, v, causal):
    """One sequence [M, H, D], [N, G, D]: o and lse in fp64, PyTorch's o. Sequences may have no queries or no keys."""
    ref, sums = attention(q[None], k[None], v[None], causal, torch.float64)
    own = torch_attention(q[None], k[None], v[None], causal) if q.shape[0] and k.shape[0] else torch.zeros_like(q[None])
    return ref, sums, own


def packed(total, heads, d, ends, dtype, generator):
    """Rows of sequences, NaN around them."""
    tensor = torch.full((total, heads, d), math.nan, device="cuda")
    tensor[ends[0]:ends[-1]] = torch.randn(ends[-1] - ends[0], heads, d, device="cuda", generator=generator)
    return tensor.to(dtype)


def ends_of(lengths, first):
    ends = [first]
    for length in lengths:
        ends.append(ends[-1] + length)
    return ends


def paged(lengths, rows, d, dtype, generator):
    """Keys and values in pages of `rows` rows, in any order; a table whose entries behind the last key name no page, or pages of others; the keys of each sequence, dense."""
    counts = [-(-length // rows) for length in lengths]
    order = torch.randperm(sum(counts) + 3, generator=torch.Generator().manual_seed(rows)).tolist()
    table = torch.tensor([-1, 2**31 - 1, order[0]]).repeat(len(lengths), max(counts) // 3 + 1)[:, :max(counts) + 1].int()
    caches = [torch.full((len(order), rows, GROUPS, d), math.nan, device="cuda") for _ in "kv"]
    dense = []
    for b, (length, count) in enumerate(zip(lengths, counts)):
        pages, order = order[:count], order[count:]
        table[b, :count] = ints(pages)
        own = [torch.randn(length, GROUPS, d, device="cuda", generator=generator).to(dtype) for _ in caches]
        for cache, keys in zip(caches, own):
            for t, page in enumerate(pages):
                part = keys[t * rows:(t + 1) * rows]
                cache[page, :part.shape[0]] = part.float()
        dense.append(own)
    return [cache.to(dtype) for cache in caches], table, dense


def varlen(runner, arch, dtype, name, d, causal):
    """lse packed and padded, in rows that are longer than any sequence."""
    lengths = [(333, 333), (0, 17), (1, 500), (1024, 1500), (64, 0), (64, 64)]
    generator = torch.Generator("cuda").manual_seed(d)
    cu_q, cu_k = ends_of([m for m, _ in lengths], 5), ends_of([n for _, n in lengths], 5)
    rows, keys, longest = cu_q[-1] + 40, cu_k[-1] + 3, 1031
    q = packed(rows, HEADS, d, cu_q, dtype, generator)
    k, v = (packed(keys, GROUPS, d, cu_k, dtype, generator) for _ in "kv")
    ref, own = torch.zeros(1, rows, HEADS, d, device="cuda", dtype=torch.float64), torch.zeros(1, rows, HEADS, d, device="cuda", dtype=dtype)
    sums = torch.full((1, HEADS, rows), -math.inf, device="cuda", dtype=torch.float64)
    padded = torch.full((len(lengths), HEADS, longest), -math.inf, device="cuda", dtype=torch.float64)
    for b, (m, _) in enumerate(lengths):
        i, j = slice(cu_q[b], cu_q[b + 1]), slice(cu_k[b], cu_k[b + 1])
        ref[:, i], sums[:, :, i], own[:, i] = alone(q[i], k[j], v[j], causal)
        padded[b, :, :m] = sums[0, :, i]
    inputs = {"q": q, "k": k, "v": v, "cu_q": ints(cu_q), "cu_k": ints(cu_k)}
    sets = {"T": name, "D": d, "causal": str(causal).lower()}
    case = f"{arch} {name} D={d} causal={causal}"
    out = runner.run("flash_varlen.tile", arch, sets, inputs, "flash_varlen", SHAPE)
    record(runner, f"flash_varlen {case}", out["o"][None], out["lse"][None], ref, sums, own)
    out = runner.run("flash_varlen.tile", arch, sets, inputs, "flash_varlen_padded", f"{SHAPE},L={longest}")
    runner.record(f"flash_varlen_padded {case} o", rel(out["o"][None], ref), rel(torch.where(rows_with_keys(sums), own, 0), ref))
    runner.record(f"flash_varlen_padded {case} lse", rel(out["lse"], padded), 5e-7)


def pages(runner, arch, dtype, name, d, rows):
    """The three ops over pages: many queries, few of them, and packed ones."""
    lengths = [700, 0, 65, 1500]
    generator = torch.Generator("cuda").manual_seed(rows)
    (kp, vp), table, dense = paged(lengths, rows, d, dtype, generator)
    inputs = {"kp": kp, "vp": vp, "table": table, "kv_len": ints(lengths)}
    for template, m, causal in (("flash_paged", 333, False), ("flash_paged", 70, True), ("paged_decode", 1, True), ("paged_decode", 3, True)):
        q = torch.randn(len(lengths), m, HEADS, d, device="cuda", generator=generator).to(dtype)
        parts = [alone(q[b], *dense[b], causal) for b in range(len(lengths))]
        sets = {"T": name, "D": d, "P": rows, "causal": str(causal).lower()}
        out = runner.run(f"{template}.tile", arch, sets, {**inputs, "q": q}, shape=SHAPE)
        record(runner, f"{template} {arch} {name} D={d} P={rows} M={m} causal={causal}", out["o"], out["lse"], *(torch.cat(part) for part in zip(*parts)))
    cu_q = ends_of([200, 1, 0, 77], 3)
    q = packed(cu_q[-1] + 9, HEADS, d, cu_q, dtype, generator)
    for causal in (False, True):
        ref, own = torch.zeros(1, *q.shape, device="cuda", dtype=torch.float64), torch.zeros(1, *q.shape, device="cuda", dtype=dtype)
        sums = torch.full((1, HEADS, q.shape[0]), -math.inf, device="cuda", dtype=torch.float64)
        for b in range(len(lengths)):
            i = slice(cu_q[b], cu_q[b + 1])
            ref[:, i], sums[:, :, i], own[:, i] = alone(q[i], *dense[b], causal)
        sets = {"T": name, "D": d, "P": rows, "causal": str(causal).lower()}
        out = runner.run("flash_varlen_paged.tile", arch, sets, {**inputs, "q": q, "cu_q": ints(cu_q)}, shape=SHAPE)
        record(runner, f"flash_varlen_paged {arch} {name} D={d} P={rows} causal={causal}", out["o"][None], out["lse"][None], ref, sums, own)


def dense_forward(q, k, v, hidden, added, kind, weights):
    """o [B, M, H, D] and lse under a mask, True where hidden, and numbers that are added; scores in `kind`, weights and the second product in `weights`. Heads one by one."""
    b, m, h, d = q.shape
    o, lse = torch.empty(b, m, h, v.shape[-1], device="cuda", dtype=weights), torch.empty(b, h, m, device="cuda", dtype=kind)
    hidden, added = (t.expand(b, h, m, k.shape[1]) for t in (hidden, added))
    for bi in range(b):
        for hi in range(h):
            g = hi // (h // k.shape[2])
            s = (q[bi, :, hi].to(kind) @ k[bi, :, g].to(kind).T / math.sqrt(d) + added[bi, hi].to(kind)).masked_fill(hidden[bi, hi], -math.inf)
            lse[bi, hi] = torch.logsumexp(s, -1)
            p = torch.where(hidden[bi, hi].all(-1, keepdim=True), 0, torch.softmax(s, -1))
            o[bi, :, hi] = p.to(weights) @ v[bi, :, g].to(weights)
    return o, lse


def under_mask(runner, case, out, q, k, v, hidden, added, dtype):
    (ref, sums), (own, _) = dense_forward(q, k, v, hidden, added, torch.float64, torch.float64), dense_forward(q, k, v, hidden, added, torch.float32, dtype)
    record(runner, case, out["o"], out["lse"], ref, sums, own)


def blocksparse(runner, arch, dtype, name, d, causal):
    """Lists in any order, of any length, one of them empty, with garbage behind."""
    b, n, size = 2, 1000, 128
    generator = torch.Generator("cuda").manual_seed(d)
    make = lambda *s: torch.randn(*s, device="cuda", generator=generator).to(dtype)
    q, k, v = make(b, n, HEADS, d), make(b, n, GROUPS, d), make(b, n, GROUPS, d)
    blocks = -(-n // size)
    order = torch.Generator().manual_seed(d)
    idx = torch.stack([torch.randperm(blocks, generator=order) for _ in range(b * HEADS * blocks)]).int().view(b, HEADS, blocks, blocks)
    cnt = torch.randint(0, blocks + 1, (b, HEADS, blocks), generator=order).int()
    cnt[0, 0, 0] = 0
    seen = torch.zeros(b, HEADS, blocks, blocks, dtype=torch.bool)
    seen.scatter_(3, idx.long(), torch.arange(blocks) < cnt[..., None])
    idx = torch.where(torch.arange(blocks) < cnt[..., None], idx, 2**31 - 1).int()
    hidden = ~seen.repeat_interleave(size, 2).repeat_interleave(size, 3)[:, :, :n, :n].cuda()
    if causal:
        hidden = hidden | torch.ones(n, n, dtype=torch.bool, device="cuda").triu(1)
    sets = {"T": name, "D": d, "BQ": size, "BK": size, "causal": str(causal).lower()}
    out = runner.run("flash_blocksparse.tile", arch, sets, {"q": q, "k": k, "v": v, "idx": idx, "cnt": cnt}, shape=SHAPE)
    under_mask(runner, f"flash_blocksparse {arch} {name} D={d} causal={causal}", out, q, k, v, hidden, torch.zeros(1, 1, 1, 1, device="cuda"), dtype)


def masked(runner, arch, dtype, name, d, causal):
    """4095 keys; a mask for all batches and heads that hides whole blocks, and rows; a bias of each head for all rows."""
    b, m, n = 2, 300, 4095
    generator = torch.Generator("cuda").manual_seed(d)
    make = lambda *s: torch.randn(*s, device="cuda", generator=generator).to(dtype)
    q, k, v, bias = make(b, m, HEADS, d), make(b, n, GROUPS, d), make(b, n, GROUPS, d), make(1, HEADS, 1, n)
    mask = torch.rand(1, 1, m, n, device="cuda", generator=generator) > 0.3
    mask[:, :, :, 512:1536] = False
    mask[:, :, 17:19] = False
    hidden = ~mask
    if causal:
        hidden = hidden | torch.ones(m, n, dtype=torch.bool, device="cuda").triu(n - m + 1)
    # Blocks that nobody sees are not read.
    k[:, 640:1280], v[:, 640:1280] = math.nan, math.nan
    clean = [t.nan_to_num(0) for t in (k, v)]
    sets = {"T": name, "D": d, "causal": str(causal).lower()}
    inputs = {"q": q, "k": k, "v": v, "mask": mask}
    case = f"{arch} {name} D={d} causal={causal}"
    out = runner.run("flash_masked.tile", arch, sets, inputs, "flash_masked", SHAPE)
    under_mask(runner, f"flash_masked {case}", out, q, *clean, hidden, torch.zeros(1, 1, 1, 1, device="cuda"), dtype)
    out = runner.run("flash_masked.tile", arch, {**sets, "BT": name}, {**inputs, "bias": bias}, "flash_masked_bias", SHAPE)
    under_mask(runner, f"flash_masked_bias {case}", out, q, *clean, hidden, bias, dtype)


def append_slots(runner, arch, dtype, name):
    b, a, rows, count, d = 5, 33, 16, 20, 128
    make = lambda *s: torch.randn(*s, device="cuda").to(dtype)
    inputs = {"kn": make(b, a, GROUPS, d), "vn": make(b, a, GROUPS, d), "kp": make(count, rows, GROUPS, d), "vp": make(count, rows, GROUPS, d)}
    slot = torch.randperm(count * rows)[:b * a].int()
    slot[::7] = -1 - torch.arange(len(slot[::7])).int()
    slot[3], slot[5] = count * rows, 2**31 - 1
    out = runner.run("append_slots.tile", arch, {"T": name, "D": d}, {**inputs, "slot": slot.view(b, a)})
    inside = ((slot >= 0) & (slot < count * rows)).cuda()
    places = slot.cuda().long()[inside]
    for cache, new in (("kp", "kn"), ("vp", "vn")):
        ref = inputs[cache].clone()
        ref.view(count * rows, GROUPS, d)[places] = inputs[new].view(b * a, GROUPS, d)[inside]
        runner.record(f"append_slots {arch} {name} {cache}", rel(out[cache], ref), 0)


def turned(x, cos, sin, positions, kind):
    """Rotary embedding of the first 2 * half columns of x [B, A, heads, D]; positions [B, A]."""
    half = cos.shape[1]
    c, s = (t[positions].to(kind)[:, :, None] for t in (cos, sin))
    a, b, rest = x[..., :half].to(kind), x[..., half:2 * half].to(kind), x[..., 2 * half:].to(kind)
    return torch.cat([a * c - b * s, a * s + b * c, rest], -1)


def append_attend(runner, arch, dtype, name, d, half):
    """New positions in a cache of NaN behind its lengths; turned before, if half > 0."""
    for a, n, lengths in ((1, 2000, [1999, 0, 700]), (5, 300, [295, 17, 0])):
        b = len(lengths)
        generator = torch.Generator("cuda").manual_seed(n + half)
        make = lambda *s: torch.randn(*s, device="cuda", generator=generator).to(dtype)
        q, kn, vn, kc, vc = make(b, a, HEADS, d), make(b, a, GROUPS, d), make(b, a, GROUPS, d), make(b, n, GROUPS, d), make(b, n, GROUPS, d)
        for i, length in enumerate(lengths):
            kc[i, length:], vc[i, length:] = math.nan, math.nan
        inputs, sets = {"q": q, "kn": kn, "vn": vn, "kc": kc, "vc": vc, "len": ints(lengths)}, {"T": name, "D": d}
        positions = torch.tensor(lengths, device="cuda")[:, None] + torch.arange(a, device="cuda")
        exact, ours = [q.double(), kn.double()], [q, kn]
        if half:
            angles = torch.arange(n, device="cuda")[:, None] / 10000 ** (torch.arange(half, device="cuda") / half)
            cos, sin = angles.cos().float(), angles.sin().float()
            inputs, sets = {**inputs, "cos": cos, "sin": sin}, {**sets, "HALF": half}
            exact = [turned(x, cos, sin, positions, torch.float64) for x in (q, kn)]
            ours = [turned(x, cos, sin, positions, torch.float32).to(dtype) for x in (q, kn)]
        op = "append_attend_rotary" if half else "append_attend"
        out = runner.run("append_attend.tile", arch, sets, inputs, op, SHAPE)
        parts, caches = [], [[], [], []]
        for i, length in enumerate(lengths):
            end = length + a
            keys, values = (torch.cat([cache[i, :length], new[i]]) for cache, new in ((kc, ours[1]), (vc, vn)))
            known = torch.cat([kc[i, :length].double(), exact[1][i]])
            ref, sums = attention(exact[0][i:i + 1], known[None], values[None], True, torch.float64)
            parts.append((ref, sums, torch_attention(ours[0][i:i + 1], keys[None], values[None], True)))
            for found, t in zip(caches, (out["kc"][i, :end], known, keys)):
                found.append(t)
            runner.record(f"{op} {arch} {name} D={d} A={a} vc {i}", rel(out["vc"][i, :end], values), 0)
        case = f"{op} {arch} {name} D={d} half={half} A={a} N={n}"
        got, known, keys = (torch.cat(found) for found in caches)
        runner.record(f"{case} kc", rel(got, known), rel(keys, known))
        ref, sums, own = (torch.cat(part) for part in zip(*parts))
        runner.record(f"{case} o", rel(out["o"], ref), rel(own, ref))
        # Queries and keys are rounded once more than in fp64 where they are turned.
        runner.record(f"{case} lse", rel(out["lse"], sums), 5e-7 if not half else 1e-3 if dtype == torch.bfloat16 else 1e-4)


def measure(runner, arch, dtype, name):
    runner.note(f"append_slots {arch} {name}", append_slots, arch, dtype, name)
    for d in (64, 128):
        for causal in (False, True):
            runner.note(f"flash_varlen {arch} {name} {d} {causal}", varlen, arch, dtype, name, d, causal)
            runner.note(f"flash_blocksparse {arch} {name} {d} {causal}", blocksparse, arch, dtype, name, d, causal)
            runner.note(f"flash_masked {arch} {name} {d} {causal}", masked, arch, dtype, name, d, causal)
        for rows in (16, 64, 3):
            runner.note(f"flash_paged {arch} {name} {d} {rows}", pages, arch, dtype, name, d, rows)
        for half in (0, d // 2, d // 4):
            runner.note(f"append_attend {arch} {name} {d} {half}", append_attend, arch, dtype, name, d, half)
