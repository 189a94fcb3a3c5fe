# Few queries per sequence, or a chunk of them, against long caches, dense and in pages: the ops `flash_decode` and `paged_decode`, `flash_chunk` and `paged_chunk`.
# SPDX-License-Identifier: MIT
import math
import random

import attention
import attention_peers
from selvedge_op import Build, Layout
from workload import Candidate, Cell, Unsupported

NAME = "decode"
LIMIT = attention.LIMIT
HEADS, KEY_HEADS, HEAD = 32, 8, 128
PAGE = 64


def lengths(cell):
    if not cell.ragged:
        return [cell.N] * cell.B
    generator = random.Random(cell.B)
    return [generator.randint(1, cell.N) for _ in range(cell.B - 1)] + [cell.N]


def cells(quick=False):
    made = []

    def add(kind, b, n, heads=HEADS, key_heads=KEY_HEADS, m=1, family=None, x=None, causal=None, whole=False):
        what = kind if m == 1 else f"{m} queries"
        cell = Cell(family or f"decode {what} GQA {heads}/{key_heads} D {HEAD}", x or f"B {b} N {n}", 0, "TB/s",
                    dict(B=b, M=m, N=n, H=heads, G=key_heads, D=HEAD, DV=HEAD, causal=m > 1 if causal is None else causal, T="bf16", kind=kind,
                         ragged=kind != "dense" and not whole))
        # Keys and values, read once.
        cell.work = 2.0 * sum(lengths(cell)) * key_heads * 2 * HEAD
        if whole:
            cell.unit, cell.work = "TFLOP/s", 4.0 * b * heads * m * (n - m / 2) * HEAD
        made.append(cell)

    for kind in ("dense", "ragged", "paged"):
        for b, n in [(1, 32768), (16, 8192)] if quick else [(1, 1024), (1, 8192), (1, 32768), (1, 131072), (16, 1024), (16, 8192), (16, 32768), (128, 1024), (128, 8192)]:
            add(kind, b, n)
    if quick:
        return made
    # Drafts that are verified together, and heads that no power of two counts.
    for m in (4, 16):
        for b, n in [(1, 8192), (1, 131072), (16, 8192)]:
            add("dense", b, n, m=m)
    for b, n in [(1, 8192), (1, 131072), (16, 8192)]:
        add("dense", b, n, heads=28, key_heads=4)
    # Queries that see all keys.
    for b, n in ((64, 8192), (4, 131072)):
        for m in (1, 2, 4, 8, 16):
            add("dense", b, n, m=m, family=f"cache {n} B {b} GQA {HEADS}/{KEY_HEADS} D {HEAD}", x=f"M {m}", causal=False)
    # Chunks of a prompt, of which the products take the time.
    for kind in ("dense", "paged"):
        for b, m, n in ((1, 64, 16384), (1, 256, 16384), (1, 64, 65536), (1, 256, 65536), (4, 64, 16384), (16, 64, 8192)):
            add(kind, b, n, m=m, family=f"chunks {kind} GQA {HEADS}/{KEY_HEADS} D {HEAD}", x=f"B {b} M {m} N {n}", whole=True)
    return made


def op_of(cell):
    """Tiles of 128 rows for chunks, of 64 for fewer."""
    return ("paged_" if cell.kind == "paged" else "flash_") + ("chunk" if cell.M * cell.H // cell.G > 64 else "decode")


def build(cell, arch):
    op = op_of(cell)
    sees = {"P": PAGE} if cell.kind == "paged" else {} if cell.causal or cell.M == 1 else {"causal": False}
    return Build(op + ".tile", op, arch, T=cell.T, D=cell.D, DV=cell.DV, **sees)


def layouts(cell):
    half = lambda *shape: Layout(cell.T, shape)
    made = {"q": half(cell.B, cell.M, cell.H, cell.D), "kv_len": Layout("i32", (cell.B,)), "o": half(cell.B, cell.M, cell.H, cell.DV), "lse": Layout("f32", (cell.B, cell.H, cell.M))}
    if cell.kind == "paged":
        pages = cell.N // PAGE
        return dict(made, kp=half(cell.B * pages, PAGE, cell.G, cell.D), vp=half(cell.B * pages, PAGE, cell.G, cell.DV), table=Layout("i32", (cell.B, pages)))
    return dict(made, k=half(cell.B, cell.N, cell.G, cell.D), v=half(cell.B, cell.N, cell.G, cell.DV))


def data(cell):
    import torch

    make = lambda *shape: torch.randn(*shape, device="cuda", dtype=torch.bfloat16)
    made = {"q": make(cell.B, cell.M, cell.H, cell.D), "kv_len": torch.tensor(lengths(cell), dtype=torch.int32, device="cuda")}
    if cell.kind == "paged":
        pages = cell.N // PAGE
        # Pages of a sequence lie anywhere.
        table = torch.randperm(cell.B * pages, device="cuda").to(torch.int32).view(cell.B, pages)
        return dict(made, kp=make(cell.B * pages, PAGE, cell.G, cell.D), vp=make(cell.B * pages, PAGE, cell.G, cell.DV), table=table)
    return dict(made, k=make(cell.B, cell.N, cell.G, cell.D), v=make(cell.B, cell.N, cell.G, cell.DV))


def sequence(cell, tensors, b):
    """Keys and values of a sequence, [length, G, D]."""
    length = lengths(cell)[b]
    if cell.kind == "paged":
        pages = tensors["table"][b].long()
        return tensors["kp"][pages].flatten(0, 1)[:length], tensors["vp"][pages].flatten(0, 1)[:length]
    return tensors["k"][b, :length], tensors["v"][b, :length]


def reference(cell, tensors):
    """fp32, [B, M, H, DV]."""
    import torch

    out = []
    for b in range(cell.B):
        k, v = sequence(cell, tensors, b)
        shape = dict(cell.shape, B=1, N=k.shape[0])
        out.append(attention.reference(Cell(cell.family, cell.x, 0, "", shape), {"q": tensors["q"][b:b + 1], "k": k[None], "v": v[None]}))
    return torch.cat(out)


def selvedge(cell, tensors, context):
    import torch

    views = dict(tensors, o=torch.full((cell.B, cell.M, cell.H, cell.DV), math.nan, device="cuda", dtype=torch.bfloat16), lse=torch.full((cell.B, cell.H, cell.M), math.nan, device="cuda"))
    launch = context.bind(build(cell, context.arch), views)

    def run():
        launch()
        return views["o"]

    return run, attention_peers.unchanged


def dense(backend):
    """PyTorch's scaled_dot_product_attention, which takes one length."""
    inner = attention_peers.sdpa(backend, False)

    def make(cell, tensors, context):
        if cell.kind != "dense":
            raise Unsupported("it takes no lengths")
        if cell.causal:
            raise Unsupported("its causal mask is aligned with the first key")
        return inner(cell, tensors, context)

    return make


def fa3(cell, tensors, context):
    function = attention_peers.package("flash_attn_interface").flash_attn_with_kvcache
    q, used = tensors["q"], tensors["kv_len"]
    if cell.kind == "paged":
        return lambda: function(q, tensors["kp"], tensors["vp"], cache_seqlens=used, page_table=tensors["table"], causal=cell.causal), attention_peers.first
    return lambda: function(q, tensors["k"], tensors["v"], cache_seqlens=used, causal=cell.causal), attention_peers.first


CANDIDATES = [Candidate("selvedge", selvedge), Candidate("cudnn", dense("CUDNN_ATTENTION")), Candidate("fa2", dense("FLASH_ATTENTION")), Candidate("fa3", fa3)]
