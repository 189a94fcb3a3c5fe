# Gradients of attention over packed sequences of different lengths, the template `flash_bwd_varlen`. All launches of the backward are counted for everyone.
# `selvedge` is what PyTorch's attention takes; `selvedge_five` and `selvedge_deterministic` are the same with sums in any order, and in one.
# SPDX-License-Identifier: MIT
import attention_peers
import backward
import varlen
from selvedge_op import Build, Layout
from workload import Candidate, Cell

NAME = "backward_varlen"
LIMIT = backward.LIMIT


def cells(quick=False):
    # Five products instead of two.
    return [Cell(cell.family, cell.x, 2.5 * cell.work, cell.unit, cell.shape) for cell in varlen.cells(quick)]


# Rows per sequence, on average, from which on gradients of queries are added in any order, and heads that share keys have blocks of their own: as
# runtime/python/selvedge/torch/_ops.py has it.
BY_HEAD = 896


def any_order_rows(cell):
    if not cell.causal:
        return 600
    return BY_HEAD if cell.D >= 128 and cell.H > cell.G else 384


def has_rows(cell, least):
    lengths = varlen.lengths(cell.lengths)
    return sum(lengths) >= least * len(lengths)


def build(cell, arch, deterministic):
    by_head = arch == "sm_90a" and not deterministic and cell.H > cell.G and cell.causal and cell.D >= 128 and has_rows(cell, BY_HEAD)
    return Build("flash_bwd_varlen.tile", "flash_bwd_varlen", arch, T=cell.T, D=cell.D, DV=cell.DV, causal=cell.causal, deterministic=deterministic,
                 **({"by_head": True} if by_head else {}), **({"apart": False, "copied": False} if arch == "sm_80" else {}))


def builds(cell, arch):
    return [build(cell, arch, False), build(cell, arch, True)]


def layouts(cell):
    found = varlen.layouts(cell)
    return {**found, "dO": found["o"], "dq": found["q"], "dk": found["k"], "dv": found["v"]}


def sequences(cell):
    """Of each sequence, its tokens and the cell of a dense batch of it."""
    first = 0
    for length in varlen.lengths(cell.lengths):
        yield slice(first, first + length), Cell("", "", 0, "", dict(cell.shape, B=1, M=length, N=length))
        first += length


def data(cell):
    import torch

    tensors = varlen.data(cell)
    shared = cell.H // cell.G
    total = len(tensors["q"])
    o = torch.empty(total, cell.H, cell.DV, device="cuda")
    tensors["lse"] = torch.empty(cell.H, total, device="cuda")
    for tokens, one in sequences(cell):
        part = [tensors[name][None, tokens] for name in "qkv"]
        for g in range(cell.G):
            heads = slice(g * shared, (g + 1) * shared)
            rows, tensors["lse"][heads, tokens] = backward.forward(one, *part, 0, g)
            o[tokens, heads] = rows.transpose(0, 1)
    tensors["o"] = o.to(tensors["q"].dtype)
    tensors["dO"] = torch.randn_like(tensors["o"])
    return tensors


def reference(cell, tensors):
    """fp32: each sequence as a batch of its own."""
    import torch

    found = [torch.zeros_like(tensors[name], dtype=torch.float32) for name in "qkv"]
    for tokens, one in sequences(cell):
        part = {name: tensors[name][None, tokens] for name in ("q", "k", "v", "dO")}
        flat = backward.reference(one, part)
        for whole, piece in zip(found, flat.split([part[name].numel() for name in "qkv"])):
            whole[tokens] = piece.view(whole[tokens].shape)
    return backward.together(found)


def selvedge(is_deterministic):
    return backward.launched(lambda cell, arch: build(cell, arch, is_deterministic(cell)))


def differentiated(forward):
    """What autograd does with the results of `forward(q, k, v, cu, longest)`."""

    def make(cell, tensors, context):
        import torch

        function = forward(cell)
        inputs = [tensors[name].detach().requires_grad_() for name in "qkv"]
        with torch.enable_grad():
            o = attention_peers.first(function(*inputs, tensors["cu_q"], max(varlen.lengths(cell.lengths))))
        return lambda: torch.autograd.grad(o, inputs, tensors["dO"], retain_graph=True), backward.together

    return make


def fa2(cell):
    import torch

    return lambda q, k, v, cu, longest: torch.ops.aten._flash_attention_forward(q, k, v, cu, cu, longest, longest, 0.0, cell.causal, False)


def packaged(module):
    def forward(cell):
        function = backward.package_of(module).flash_attn_varlen_func
        return lambda q, k, v, cu, longest: function(q, k, v, cu_seqlens_q=cu, cu_seqlens_k=cu, max_seqlen_q=longest, max_seqlen_k=longest, causal=cell.causal)

    return forward


CANDIDATES = [Candidate("selvedge", selvedge(lambda cell: not has_rows(cell, any_order_rows(cell)))), Candidate("selvedge_five", selvedge(lambda cell: False)),
              Candidate("selvedge_deterministic", selvedge(lambda cell: True)), Candidate("fa2", differentiated(fa2)),
              Candidate("fa3", differentiated(packaged("flash_attn_interface"))), Candidate("fa4", differentiated(packaged("flash_attn.cute.interface")))]
