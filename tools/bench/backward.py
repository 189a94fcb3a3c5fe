# Gradients of attention, the template `flash_bwd`, against the libraries that PyTorch calls. All launches of the backward are counted for everyone.
# SPDX-License-Identifier: MIT
import math

import attention
import attention_peers
from selvedge_op import Build, Layout
from workload import Candidate, Cell, Missing

NAME = "backward"
# Of the gradients together: p, ds and the gradients are rounded to bf16.
LIMIT = 8e-3


def cells(quick=False):
    made = []
    for cell in attention.cells(quick):
        if cell.family in ("D 128 full", "D 128 causal", "D 64 full", "D 64 causal", "D 256 full", "D 256 causal", "GQA 32/8 D 128 causal"):
            # Five products instead of two.
            made.append(Cell(cell.family, cell.x, 2.5 * cell.work, cell.unit, cell.shape))
    return made


BY_HEAD = 1024


def any_order_rows(cell):
    """Rows from which on gradients of queries in any order gain, as runtime/python/selvedge/torch/_ops.py has it."""
    wide, shares = cell.D >= 128, cell.H > cell.G
    if not cell.causal:
        return 704 if wide else 448
    if wide:
        return BY_HEAD if shares else 1280
    return 704 if shares else 320


def build(cell, arch, deterministic):
    deterministic = deterministic or arch == "sm_90a" and cell.M < any_order_rows(cell)
    # Warps of sm_80 have registers for the gradients of keys and values together, whatever their heads.
    params = {"apart": False} if arch == "sm_80" else {}
    # Heads that share keys, as runtime/python/selvedge/torch/_ops.py has it.
    if arch == "sm_90a" and not deterministic and cell.H > cell.G and cell.causal and cell.D >= 128 and cell.M >= BY_HEAD:
        params["by_head"] = True
    return Build("flash_bwd.tile", "flash_bwd", arch, T=cell.T, D=cell.D, DV=cell.DV, causal=cell.causal, deterministic=deterministic, **params)


def builds(cell, arch):
    return [build(cell, arch, False), build(cell, arch, True)]


def layouts(cell):
    half = lambda *shape: Layout(cell.T, shape)
    rows, keys = (cell.B, cell.M, cell.H), (cell.B, cell.N, cell.G)
    return {"q": half(*rows, cell.D), "k": half(*keys, cell.D), "v": half(*keys, cell.DV), "o": half(*rows, cell.DV), "dO": half(*rows, cell.DV),
            "lse": Layout("f32", (cell.B, cell.H, cell.M)), "dq": half(*rows, cell.D), "dk": half(*keys, cell.D), "dv": half(*keys, cell.DV)}


def forward(cell, q, k, v, b, g):
    """(o, lse) of the heads that share key head g, fp32."""
    import torch

    shared = cell.H // cell.G
    scores = q[b, :, g * shared:(g + 1) * shared].float().transpose(0, 1) @ k[b, :, g].float().T / math.sqrt(cell.D)
    if cell.causal:
        hidden = torch.ones(cell.M, cell.N, dtype=torch.bool, device="cuda").triu(1 + cell.N - cell.M)
        scores = scores.masked_fill(hidden, -math.inf)
    return torch.softmax(scores, -1) @ v[b, :, g].float(), torch.logsumexp(scores, -1)


def data(cell):
    import torch

    tensors = attention.data(cell)
    o = torch.empty(cell.B, cell.M, cell.H, cell.DV, device="cuda")
    tensors["lse"] = torch.empty(cell.B, cell.H, cell.M, device="cuda")
    shared = cell.H // cell.G
    for b in range(cell.B):
        for g in range(cell.G):
            heads = slice(g * shared, (g + 1) * shared)
            part, tensors["lse"][b, heads] = forward(cell, *(tensors[n] for n in "qkv"), b, g)
            o[b, :, heads] = part.transpose(0, 1)
    tensors["o"] = o.to(tensors["q"].dtype)
    tensors["dO"] = torch.randn_like(tensors["o"])
    return tensors


def together(gradients):
    import torch

    return torch.cat([t.float().flatten() for t in gradients])


def reference(cell, tensors):
    import torch

    found = [torch.zeros_like(tensors[n], dtype=torch.float32) for n in "qkv"]
    shared = cell.H // cell.G
    for b in range(cell.B):
        for g in range(cell.G):
            heads = slice(g * shared, (g + 1) * shared)
            inputs = [tensors["q"][b:b + 1, :, heads].float(), tensors["k"][b:b + 1, :, g:g + 1].float(), tensors["v"][b:b + 1, :, g:g + 1].float()]
            inputs = [t.requires_grad_() for t in inputs]
            one = Cell("", "", 0, "", dict(cell.shape, B=1, H=shared, G=1))
            o, _ = forward(one, *inputs, 0, 0)
            grads = torch.autograd.grad(o, inputs, tensors["dO"][b, :, heads].float().transpose(0, 1))
            found[0][b, :, heads], found[1][b, :, g], found[2][b, :, g] = grads[0][0], grads[1][0, :, 0], grads[2][0, :, 0]
    return together(found)


def launched(build_of):
    """A candidate that launches `build_of(cell, arch)`."""

    def make(cell, tensors, context):
        import torch

        views = dict(tensors)
        for name in "qkv":
            views["d" + name] = torch.full_like(tensors[name], math.nan)
        launch = context.bind(build_of(cell, context.arch), views)

        def run():
            launch()
            return [views["d" + name] for name in "qkv"]

        return run, together

    return make


def selvedge(deterministic):
    return launched(lambda cell, arch: build(cell, arch, deterministic))


def package_of(module):
    """The package of FlashAttention that has `module`, with its backward."""
    if module == "flash_attn_interface" and attention_peers.package("flash_attn_config").CONFIG["build_flags"].get("FLASHATTENTION_DISABLE_BACKWARD"):
        raise Missing("the package is built without its backward")
    return attention_peers.package(module)


def sdpa(backend):
    def make(cell, tensors, context):
        import torch
        from torch.nn.attention import SDPBackend, sdpa_kernel

        inputs = [tensors[n].transpose(1, 2).detach().requires_grad_() for n in "qkv"]
        do = tensors["dO"].transpose(1, 2)
        with sdpa_kernel(getattr(SDPBackend, backend)):
            o = torch.nn.functional.scaled_dot_product_attention(*inputs, is_causal=cell.causal, enable_gqa=cell.H != cell.G)
        return lambda: torch.autograd.grad(o, inputs, do, retain_graph=True), lambda raw: together([t.transpose(1, 2) for t in raw])

    return make


def packaged(module):
    """A function of FlashAttention that autograd differentiates."""

    def make(cell, tensors, context):
        import torch

        function = package_of(module).flash_attn_func
        inputs = [tensors[n].detach().requires_grad_() for n in "qkv"]
        with torch.enable_grad():
            o = attention_peers.first(function(*inputs, causal=cell.causal))
        return lambda: torch.autograd.grad(o, inputs, tensors["dO"], retain_graph=True), together

    return make


CANDIDATES = [Candidate("selvedge", selvedge(False)), Candidate("selvedge_deterministic", selvedge(True)), Candidate("fa2", sdpa("FLASH_ATTENTION")),
              Candidate("fa3", packaged("flash_attn_interface")), Candidate("fa4", packaged("flash_attn.cute.interface")), Candidate("cudnn", sdpa("CUDNN_ATTENTION"))]
