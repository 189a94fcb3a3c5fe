# Context parallelism on the CPU: four processes with gloo, each on the reference device, beside one process in float64.
# SPDX-License-Identifier: MIT
import math
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

import selvedge.torch as st

WORLD, HEADS, KEY_HEADS, D = 4, 4, 2, 16


def exact(q, k, v, mask):
    """float64, [B, positions, heads, D]; the mask is bool[queries, keys]."""
    q, k, v = (t.double().transpose(1, 2) for t in (q, k, v))
    k, v = (t.repeat_interleave(q.shape[1] // k.shape[1], 1) for t in (k, v))
    s = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).masked_fill(~mask, -math.inf)
    lse = torch.logsumexp(s, -1)
    p = torch.exp(s - lse.masked_fill(lse == -math.inf, 0)[..., None])
    # A removed value counts for nothing, whatever it is.
    seen = mask[..., None].expand(*mask.shape, v.shape[-1])
    return torch.where(seen, p[..., None] * v[:, :, None], 0).sum(-2).transpose(1, 2), lse


def tensors(total, key_total, batch=2, key_heads=KEY_HEADS):
    torch.manual_seed(0)
    return [torch.randn(batch, n, heads, D) for n, heads in ((total, HEADS), (key_total, key_heads), (key_total, key_heads))]


def weights(o, lse):
    """What the results are multiplied with before they are summed: finite where a row has no key, too."""
    torch.manual_seed(1)
    return torch.randn(o.shape).double(), torch.randn(lse.shape).double()


def loss(o, lse, w, u):
    return (o.double() * w).sum() + torch.where(lse == -math.inf, 0, lse.double() * u).sum()


def error(x, y):
    return ((x.double() - y).norm() / y.norm().clamp_min(1e-30)).item() if y.numel() else 0.0


def segments_mask(ends, causal):
    total = ends[-1]
    number = torch.bucketize(torch.arange(total), torch.tensor(ends[1:]), right=True)
    mask = number[:, None] == number[None]
    return mask.tril() if causal else mask


class Cases:
    """What ranks 0 to world - 1 do as one group; rank 0 prints."""

    def __init__(self, group, world):
        self.group, self.world, self.rank, self.passed = group, world, dist.get_rank(group), 0

    def report(self, what, worst, limit=1e-6):
        worst = torch.tensor([worst if worst == worst else math.inf], dtype=torch.float64)
        dist.all_reduce(worst, dist.ReduceOp.MAX, group=self.group)
        if worst.item() < limit:
            self.passed += 1
        elif self.rank == 0:
            print(f"{self.world} ranks, {what}: {worst.item()}", flush=True)

    def compare(self, what, inputs, mask, function, balanced, cu=None, with_lse=True, limit=1e-6):
        """function(q, k, v) of shards gives (o, lse); results and gradients against those of one process."""
        whole = [t.double().requires_grad_() for t in inputs]
        wanted = exact(*whole, mask)
        wanted = wanted if with_lse else (wanted[0], torch.full_like(wanted[1], -math.inf))
        w, u = weights(*wanted)
        loss(*wanted, w, u).backward()
        cut = lambda t, dim: st.shard(t, dim, self.group, balanced, cu)  # noqa: E731
        leaves = [cut(t, 1).requires_grad_() for t in inputs]
        found = function(*leaves)
        loss(*found, cut(w, 1), cut(u, 2)).backward()
        pairs = [(found[0], cut(wanted[0], 1)), (torch.exp(found[1]), cut(torch.exp(wanted[1]), 2)), *((x.grad, cut(y.grad, 1)) for x, y in zip(leaves, whole))]
        self.report(what, max(error(x.detach(), y.detach()) for x, y in pairs), limit)

    def ring(self, what, total, key_total=None, causal=False, balanced=True, key_heads=KEY_HEADS, through=None, dtype=torch.float32):
        key_total = key_total or total
        mask = torch.ones(total, key_total, dtype=torch.bool)
        mask = mask.tril() if causal else mask

        def function(q, k, v):
            if through:
                return through(q, k, v), torch.full((q.shape[0], HEADS, q.shape[1]), -math.inf)
            return st.ring_attention(q, k, v, causal, None, self.group, balanced, total=key_total, return_lse=True)

        inputs = [t.to(dtype) for t in tensors(total, key_total, key_heads=key_heads)]
        self.compare(what, inputs, mask, function, balanced, with_lse=not through, limit=1e-6 if dtype == torch.float32 else 4e-3)

    def packed(self, what, ends, causal, balanced):
        inputs = [t[:1] for t in tensors(ends[-1], ends[-1])]

        def function(q, k, v):
            o, lse = st.ring_attention_varlen(q[0], k[0], v[0], torch.tensor(ends, dtype=torch.int32), causal, None, self.group, balanced, return_lse=True)
            return o[None], lse[None]

        self.compare(what, inputs, segments_mask(ends, causal), function, balanced, cu=ends)


    def heads(self, what, total, causal, balanced, key_heads=KEY_HEADS, through=None):
        mask = torch.ones(total, total, dtype=torch.bool)

        def function(q, k, v):
            o = through(q, k, v) if through else st.heads_attention(q, k, v, causal, None, self.group, balanced, total=total)
            return o, torch.full((o.shape[0], HEADS, o.shape[1]), -math.inf)

        self.compare(what, tensors(total, total, key_heads=key_heads), mask.tril() if causal else mask, function, balanced, with_lse=False)

    def packed_heads(self, what, ends, causal, balanced):
        def function(q, k, v):
            o = st.heads_attention(q[0], k[0], v[0], causal, None, self.group, balanced, cu_seqlens=ends)[None]
            return o, torch.full((1, HEADS, o.shape[1]), -math.inf)

        self.compare(what, [t[:1] for t in tensors(ends[-1], ends[-1])], segments_mask(ends, causal), function, balanced, cu=ends, with_lse=False)

    def visible(self, what, bad, function, inputs, balanced):
        """NaN in key `bad` of head 0: non-finite, in results and gradients, is what depends on it, and nothing else."""
        q, k, v = inputs
        k = k.clone()
        k[0, bad, 0, 3] = math.nan
        leaves = [st.shard(t, 1, self.group, balanced).requires_grad_() for t in (q, k, v)]
        o = function(*leaves)
        o.sum().backward()
        # Rows from `bad` on see it, in the heads that share the key's; through them so do all keys that they see, and the queries of these rows.
        rows = torch.zeros(q.shape[:3], dtype=torch.bool)
        rows[0, bad:, :HEADS // KEY_HEADS] = True
        keys = torch.zeros(k.shape[:3], dtype=torch.bool)
        keys[0, :, 0] = True
        wanted = [st.shard(t, 1, self.group, balanced) for t in (rows, rows, keys, keys)]
        found = [~t.isfinite().all(-1) for t in (o, *(leaf.grad for leaf in leaves))]
        self.report(what, 0.0 if all(torch.equal(x, y) for x, y in zip(found, wanted)) else 1.0)

    def equal_bits(self, what, function, inputs, balanced):
        def once():
            leaves = [st.shard(t, 1, self.group, balanced).requires_grad_() for t in inputs]
            o = function(*leaves)
            o.sum().backward()
            return [o, *(leaf.grad for leaf in leaves)]

        self.report(what, 0.0 if all(torch.equal(x, y) for x, y in zip(once(), once())) else 1.0)

    def refused(self, action):
        try:
            action()
            word = "not refused"
        except (ValueError, NotImplementedError) as error:
            word = f"{type(error).__name__}: {error}"
        if self.rank == 0:
            print(word, flush=True)
        dist.barrier(self.group)


def of_any_world(cases):
    cases.ring("ring causal", 24, causal=True)
    cases.ring("ring causal, consecutive", 24, causal=True, balanced=False)
    cases.ring("ring full", 24)
    cases.ring("ring bf16", 24, causal=True, dtype=torch.bfloat16)
    cases.ring("ring causal, uneven", 19, causal=True, key_heads=1)
    cases.ring("ring full, uneven keys", 8 * cases.world, 13, key_heads=4)
    cases.ring("ring causal, empty shards", 2, causal=True)
    cases.packed("ring packed causal", [0, 9, 9, 10, 28], True, True)
    cases.packed("ring packed causal, consecutive", [0, 9, 9, 10, 28], True, False)
    cases.packed("ring packed full", [0, 7, 7, 8, 8, 20], False, True)
    inputs, group = tensors(17, 17), cases.group
    causal = lambda *t: st.ring_attention(*t, True, None, group, total=17)  # noqa: E731
    cases.visible("ring NaN", 11, causal, inputs, True)
    if HEADS % cases.world == 0:
        cases.heads("heads causal", 24, True, False)
        cases.heads("heads full, balanced shards", 24, False, True, key_heads=1)
        cases.heads("heads causal, uneven", 19, True, True, key_heads=4)
        cases.heads("heads causal, empty shards", 2, True, False)
        cases.packed_heads("heads packed causal", [0, 9, 9, 10, 28], True, True)
        cases.visible("heads NaN", 11, lambda *t: st.heads_attention(*t, True, None, group, total=17), inputs, True)


def of_three(cases):
    inputs, group = tensors(24, 24), cases.group
    cases.equal_bits("ring, again", lambda *t: st.ring_attention(*t, True, None, group), inputs, True)
    whole = st.unshard(st.shard(inputs[0], 1, group), 1, group)
    cases.report("unshard", 0.0 if torch.equal(whole, inputs[0]) else 1.0)
    packed = st.unshard(st.shard(inputs[0], 1, group, True, [0, 5, 5, 24]), 1, group, True, [0, 5, 5, 24])
    cases.report("unshard packed", 0.0 if torch.equal(packed, inputs[0]) else 1.0)
    layer = torch.compile(lambda *t: st.ring_attention(*t, True, None, group) + t[0], fullgraph=True, backend="aot_eager")
    cases.ring("ring compiled", 24, causal=True, through=lambda *t: layer(*t) - t[0])
    q, k, v = (st.shard(t, 1, group) for t in inputs)
    cases.refused(lambda: st.ring_attention(q[:, :7], k, v, True, group=group))
    cases.refused(lambda: st.ring_attention(q, k, v, True, group=group, total=31))
    cases.refused(lambda: st.ring_attention(q[:, :, :3], k, v, group=group))
    cases.refused(lambda: st.ring_attention_varlen(q[0], k[0], v[0], [0, 9, 3], group=group))
    cases.refused(lambda: st.heads_attention(q, k, v, group=group))
    cases.refused(lambda: st.unshard(q.requires_grad_(), group=group))


def of_four(cases):
    layer = torch.compile(lambda *t: st.heads_attention(*t, True, None, cases.group, False) + t[0], fullgraph=True, backend="aot_eager")
    cases.heads("heads compiled", 24, True, False, through=lambda *t: layer(*t) - t[0])
    # A window as wide as all positions, and a cap that scores do not come near, take the way that others do.
    cases.heads("heads, window and cap", 24, True, False, through=lambda *t: st.heads_attention(*t, True, None, cases.group, False, window_size=(24, 0), softcap=1e5))


def run(rank, path):
    dist.init_process_group("gloo", init_method=f"file://{path}", rank=rank, world_size=WORLD)
    torch.set_num_threads(1)
    groups = [dist.new_group(range(world)) for world in range(1, WORLD + 1)]
    for world, group in enumerate(groups, 1):
        if rank < world:
            cases = Cases(group, world)
            for function in (of_any_world, *{3: [of_three], 4: [of_four]}.get(world, [])):
                function(cases)
            if rank == 0:
                print(f"{world} rank{'s' * (world > 1)}: {cases.passed} equal", flush=True)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    try:
        st.ring_attention(*tensors(4, 4))
    except ValueError as refused:
        print(f"{type(refused).__name__}: {refused}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(run, (folder + "/store",), WORLD, start_method="fork")
