# The libraries that attention is compared with, each called the way it is documented.
# SPDX-License-Identifier: MIT
import functools
import importlib
import os
import sys

from workload import Candidate, Missing, Unsupported


def find_packages(folder):
    """Makes what unpack_peers.sh unpacked importable, behind what is installed."""
    site = os.path.join(folder, "site")
    # The DSL of CUTLASS installs this folder through a .pth file.
    for path in (site, os.path.join(site, "nvidia_cutlass_dsl", "dsl_packages")):
        if os.path.isdir(path) and path not in sys.path:
            sys.path.append(path)


@functools.cache
def package(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Missing(f"{name}: {error}") from None


def unchanged(out):
    return out


def heads_last(out):
    return out.transpose(1, 2)


def first(out):
    return out[0] if isinstance(out, tuple) else out


def sdpa(backend, heads_first):
    """PyTorch's scaled_dot_product_attention with one back end."""

    def make(cell, data, context):
        import torch
        from torch.nn.attention import SDPBackend, sdpa_kernel

        if cell.causal and cell.M != cell.N:
            raise Unsupported("PyTorch aligns the causal mask with the first key")
        chosen = getattr(SDPBackend, backend)
        q, k, v = (data[name].transpose(1, 2) for name in "qkv")
        if heads_first:
            q, k, v = q.contiguous(), k.contiguous(), v.contiguous()

        def run():
            with sdpa_kernel(chosen):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=cell.causal, enable_gqa=cell.H != cell.G)

        return run, heads_last

    return make


def fa3(cell, data, context):
    """FlashAttention-3; with few queries through its interface for caches, which splits the keys."""
    import torch

    interface = package("flash_attn_interface")
    q, k, v = data["q"], data["k"], data["v"]
    if cell.M < 64:
        lengths = torch.full((cell.B,), cell.N, dtype=torch.int32, device="cuda")
        return lambda: interface.flash_attn_with_kvcache(q, k, v, cache_seqlens=lengths, causal=cell.causal), first
    return lambda: interface.flash_attn_func(q, k, v, causal=cell.causal), first


def fa4(cell, data, context):
    """FlashAttention-4; with few queries it chooses the number of splits."""
    interface = package("flash_attn.cute.interface")
    q, k, v = data["q"], data["k"], data["v"]
    splits = 0 if cell.M < 64 else 1
    return lambda: interface._flash_attn_fwd(q, k, v, causal=cell.causal, num_splits=splits), first


@functools.cache
def compiled_flex():
    import torch
    from torch.nn.attention.flex_attention import flex_attention

    # Beyond the default of 8 shapes it would silently run uncompiled.
    torch._dynamo.config.recompile_limit = 256
    return torch.compile(flex_attention, dynamic=False)


def flex(cell, data, context):
    from torch.nn.attention.flex_attention import create_block_mask

    mask = None
    if cell.causal:
        offset = cell.N - cell.M
        mask = create_block_mask(lambda b, h, i, j: i + offset >= j, None, None, cell.M, cell.N, device="cuda")
    q, k, v = (data[name].transpose(1, 2).contiguous() for name in "qkv")
    return lambda: compiled_flex()(q, k, v, block_mask=mask, enable_gqa=cell.H != cell.G), heads_last


def tilelang(cell, data, context):
    if cell.D != cell.DV or cell.H != cell.G or cell.M != cell.N or cell.T != "bf16":
        raise Unsupported("the kernel takes bf16, equal head sizes, heads and lengths")
    package("tilelang")
    kernel = importlib.import_module("tilelang_attention").forward(cell.B, cell.H, cell.M, cell.D, cell.causal)
    return lambda: kernel(data["q"], data["k"], data["v"]), unchanged


def triton(cell, data, context):
    """A kernel as in its tutorial, for its cold start: nothing is tuned."""
    if cell.D != cell.DV or cell.H != cell.G or cell.M != cell.N:
        raise Unsupported("the kernel takes equal head sizes, heads and lengths")
    package("triton")
    forward = importlib.import_module("triton_attention").forward
    return lambda: forward(data["q"], data["k"], data["v"], cell.causal), unchanged


# Compiling takes these seconds for every shape, and they are never the fastest.
CANDIDATES = [
    Candidate("cudnn", sdpa("CUDNN_ATTENTION", False)),
    Candidate("cudnn_bhsd", sdpa("CUDNN_ATTENTION", True), sampled=lambda cell: False),
    Candidate("fa2", sdpa("FLASH_ATTENTION", False)),
    Candidate("fa3", fa3),
    Candidate("fa4", fa4),
    Candidate("flex", flex, sampled=lambda cell: cell.M == 4096),
    Candidate("triton", triton, sampled=lambda cell: False),
    Candidate("tilelang", tilelang, sampled=lambda cell: cell.M in (1024, 4096, 16384)),
]
