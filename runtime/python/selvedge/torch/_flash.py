# The functions of the package flash_attn, with its arguments. Tensors are [B, positions, heads, D], or packed.
# SPDX-License-Identifier: MIT
import torch

from ._attention import call, call_text, check_heads, hands_out_bulk_copies
from ._text import Text

# More query rows than this fill a GPU without splitting keys.
DECODE_ROWS = 16


def make_text(template, batch, heads, causal, window_size, softcap, alibi_slopes, **params):
    left, right = window_size
    right = 0 if causal else right
    # The template's own causal mask, where the window ends with it: loops are shorter by it.
    text = Text(template, causal=True if right == 0 else None, **params)
    if softcap:
        text.softcap(softcap)
    if alibi_slopes is not None:
        text.alibi(alibi_slopes.float().expand(batch, heads))
    text.window(left, -1 if right == 0 else right)
    return text


def check_dropout(dropout_p):
    if dropout_p:
        raise NotImplementedError("dropout is not supported")


def flash_attn_func(q, k, v, dropout_p=0.0, softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0, alibi_slopes=None, deterministic=False,
                    return_attn_probs=False):
    """Attention of [B, positions, heads, D]; masks are aligned to the last key.

    The gradient of q is a sum in any order unless deterministic, or torch.use_deterministic_algorithms(), asks for equal bits.
    With return_attn_probs also the natural logs of the sums, f32[B, heads, positions], and None.
    """
    check_dropout(dropout_p)
    check_heads(q, k, 2)
    text = make_text("flash_fwd", q.shape[0], q.shape[2], causal, window_size, softcap, alibi_slopes)
    deterministic = deterministic or torch.are_deterministic_algorithms_enabled()
    o, lse = call_text(text, q, k, v, {}, softmax_scale, deterministic=deterministic)
    return (o, lse, None) if return_attn_probs else o


def flash_attn_varlen_func(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q=None, max_seqlen_k=None, dropout_p=0.0, softmax_scale=None, causal=False,
                           window_size=(-1, -1), softcap=0.0, alibi_slopes=None, deterministic=False, return_attn_probs=False, block_table=None):
    """Attention of sequences that lie one behind the other: [all positions, heads, D]. The longest lengths are not needed.

    Before compute capability 9.0 the gradient of q is a sum in any order unless deterministic, or torch.use_deterministic_algorithms(), asks for equal bits.
    """
    check_dropout(dropout_p)
    check_heads(q, k, 1)
    if block_table is not None:
        raise NotImplementedError("block_table is for flash_attn_with_kvcache")
    text = make_text("flash_varlen", cu_seqlens_q.shape[0] - 1, q.shape[1], causal, window_size, softcap, alibi_slopes)
    # Rows of one sequence are no whole tiles, which the copy engine adds.
    deterministic = deterministic or torch.are_deterministic_algorithms_enabled() or hands_out_bulk_copies(q)
    o, lse = call_text(text, q, k, v, {"cu_q": cu_seqlens_q, "cu_k": cu_seqlens_k}, softmax_scale, deterministic=deterministic)
    return (o, lse, None) if return_attn_probs else o


def lengths_of(cache_seqlens, batch, device):
    if isinstance(cache_seqlens, int):
        return torch.full((batch,), cache_seqlens, dtype=torch.int32, device=device)
    return cache_seqlens


def flash_attn_with_kvcache(q, k_cache, v_cache, k=None, v=None, rotary_cos=None, rotary_sin=None, cache_seqlens=None, cache_batch_idx=None,
                            cache_leftpad=None, block_table=None, softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0,
                            rotary_interleaved=True, alibi_slopes=None, num_splits=0, return_softmax_lse=False):
    """Attention to a cache: [B, capacity, heads, D], or pages [pages, size, heads, D] with block_table i32[B, pages of a sequence].

    k and v, if given, are written behind the cache_seqlens positions of each sequence first, in place.
    """
    for name, value in (("rotary_cos", rotary_cos), ("rotary_sin", rotary_sin), ("cache_batch_idx", cache_batch_idx), ("cache_leftpad", cache_leftpad)):
        if value is not None:
            raise NotImplementedError(f"{name} is not supported")
    check_heads(q, k_cache, 2)
    batch, rows, heads, _ = q.shape
    lengths = lengths_of(cache_seqlens, batch, q.device)
    if k is not None:
        if lengths is None:
            raise ValueError("k needs cache_seqlens: where it goes")
        if block_table is not None:
            raise NotImplementedError("k with block_table is not supported: write into the pages first")
        torch.ops.selvedge.append(k_cache, v_cache, k, v, lengths)
        lengths = lengths + k.shape[1]
    plain = window_size == (-1, -1) and not softcap and alibi_slopes is None
    if block_table is not None:
        if lengths is None:
            raise ValueError("block_table needs cache_seqlens")
        if plain and (causal or rows == 1) and rows <= DECODE_ROWS:
            text = Text("paged_decode", P=k_cache.shape[1])
        else:
            text = make_text("flash_paged", batch, heads, causal, window_size, softcap, alibi_slopes, P=k_cache.shape[1])
        o, lse = call_text(text, q, k_cache, v_cache, {"table": block_table, "kv_len": lengths}, softmax_scale, "q,kp,vp")
    elif plain and (causal or rows == 1) and rows <= DECODE_ROWS:
        o, lse = call(q, k_cache, v_cache, {"kv_len": lengths}, {"scale": softmax_scale}, "flash_decode.tile", "flash_decode")
    else:
        text = make_text("flash_fwd", batch, heads, causal, window_size, softcap, alibi_slopes)
        o, lse = call_text(text, q, k_cache, v_cache, {"kv_len": lengths}, softmax_scale)
    return (o, lse) if return_softmax_lse else o
