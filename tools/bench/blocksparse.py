# Forward attention over lists of blocks of keys, the template `flash_blocksparse`, beside FlexAttention with the same blocks.
# SPDX-License-Identifier: MIT
import math

import attention
import attention_peers
from selvedge_op import Build, Layout
from workload import Candidate, Cell

NAME = "blocksparse"
LIMIT = attention.LIMIT
BLOCK, HEADS = 128, 16


def cells(quick=False):
    made = []
    for d in (128,) if quick else (128, 64):
        for s in (8192,) if quick else (4096, 8192, 16384):
            for kept in (0.25,) if quick else (0.1, 0.25, 0.5):
                count = max(1, round(kept * s / BLOCK))
                shape = dict(B=1, M=s, N=s, H=HEADS, G=HEADS, D=d, DV=d, T="bf16", count=count)
                made.append(Cell(f"block-sparse D {d}, {kept:.0%} kept", str(s), attention.flops(1, s, count * BLOCK, HEADS, d, d, False), "TFLOP/s", shape))
    return made


def build(cell, arch):
    return Build("flash_blocksparse.tile", "flash_blocksparse", arch, T=cell.T, D=cell.D, DV=cell.DV, BQ=BLOCK, BK=BLOCK)


def layouts(cell):
    half = lambda *shape: Layout(cell.T, shape)
    blocks, token = cell.M // BLOCK, (cell.B, cell.M, cell.H, cell.D)
    return {"q": half(*token), "k": half(*token), "v": half(*token), "idx": Layout("i32", (cell.B, cell.H, blocks, blocks)), "cnt": Layout("i32", (cell.B, cell.H, blocks)), "o": half(*token),
            "lse": Layout("f32", (cell.B, cell.H, cell.M))}


def data(cell):
    import torch

    blocks = cell.M // BLOCK
    # Each block of queries keeps as many blocks of keys, any, in order.
    order = torch.rand(cell.B, cell.H, blocks, blocks, device="cuda").argsort(-1)
    kept = order[..., :cell.count].sort(-1).values
    return dict(attention.data(cell), idx=torch.cat([kept, order[..., cell.count:]], -1).to(torch.int32).contiguous(),
                cnt=torch.full((cell.B, cell.H, blocks), cell.count, dtype=torch.int32, device="cuda"))


def reference(cell, tensors):
    """fp32, [B, M, H, DV]: one block of queries at a time."""
    import torch

    out = torch.empty(cell.B, cell.M, cell.H, cell.DV, device="cuda")
    blocks = cell.M // BLOCK
    for b in range(cell.B):
        for h in range(cell.H):
            q, k, v = (tensors[name][b, :, h].float().view(blocks, BLOCK, -1) for name in "qkv")
            named = tensors["idx"][b, h, :, :cell.count].long()
            scores = torch.einsum("aid,acjd->aicj", q, k[named]).flatten(2) / math.sqrt(cell.D)
            out[b, :, h] = torch.bmm(torch.softmax(scores, -1), v[named].flatten(1, 2)).flatten(0, 1)
    return out


def selvedge(cell, tensors, context):
    import torch

    views = dict(tensors, o=torch.full((cell.B, cell.M, cell.H, cell.DV), math.nan, device="cuda", dtype=torch.bfloat16), lse=torch.full((cell.B, cell.H, cell.M), math.nan, device="cuda"))
    launch = context.bind(build(cell, context.arch), views)

    def run():
        launch()
        return views["o"]

    return run, attention_peers.unchanged


def flex(cell, tensors, context):
    from torch.nn.attention.flex_attention import BlockMask

    q, k, v = (tensors[name].transpose(1, 2).contiguous() for name in "qkv")
    count, blocks = tensors["cnt"], tensors["idx"]
    # No block is masked in part, those of the second list are kept whole.
    mask = BlockMask.from_kv_blocks(count * 0, blocks, count, blocks, BLOCK_SIZE=BLOCK)
    return lambda: attention_peers.compiled_flex()(q, k, v, block_mask=mask), attention_peers.heads_last


CANDIDATES = [Candidate("selvedge", selvedge), Candidate("flex", flex)]
