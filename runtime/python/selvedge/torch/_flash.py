# Functions of the package flash_attn, with its arguments. Tensors are [B, positions, heads, D], or of sequences that lie one behind the other.
# SPDX-License-Identifier: MIT
import torch

from ._attention import call_text, check_heads, gains_in_order, split_template
from ._cached import attend
from ._text import make_text, wants_gradient


def check_dropout(dropout_p):
    if dropout_p:
        raise NotImplementedError("dropout is not supported")


def flash_attn_func(q, k, v, dropout_p=0.0, softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0, alibi_slopes=None, deterministic=False,
                    return_attn_probs=False):
    """Attention of [B, positions, heads, D]; masks are aligned to the last key.

    The gradient of q is a sum in any order, and so are those of k and v where long causal heads share keys, unless deterministic, or
    torch.use_deterministic_algorithms(), asks for equal bits. On compute capability 9.0 sums of short sequences have an order, which is faster there: up to 320 to 1280
    positions, by the heads and their mask. With return_attn_probs also the natural logs of the sums, f32[B, heads, positions], and None.
    """
    check_dropout(dropout_p)
    check_heads(q, k, 2)
    # Parts that a window leaves out would do nothing.
    whole = all(width < 0 for width in window_size) and not wants_gradient(alibi_slopes)
    template = whole and split_template(q, k, v) or "flash_fwd"
    text = make_text(template, q.shape[0], q.shape[2], causal, window_size, softcap, alibi_slopes)
    deterministic = deterministic or torch.are_deterministic_algorithms_enabled() or gains_in_order(q, k, q.shape[1], causal)
    o, lse = call_text(text, q, k, v, {}, softmax_scale, deterministic=deterministic)
    return (o, lse, None) if return_attn_probs else o


def flash_attn_kvpacked_func(q, kv, *arguments, **options):
    """flash_attn_func() of keys and values [B, positions, 2, heads, D]."""
    return flash_attn_func(q, *kv.unbind(2), *arguments, **options)


def flash_attn_qkvpacked_func(qkv, *arguments, **options):
    """flash_attn_func() of queries, keys and values [B, positions, 3, heads, D]."""
    return flash_attn_func(*qkv.unbind(2), *arguments, **options)


def flash_attn_varlen_func(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q=None, max_seqlen_k=None, dropout_p=0.0, softmax_scale=None, causal=False,
                           window_size=(-1, -1), softcap=0.0, alibi_slopes=None, deterministic=False, return_attn_probs=False, block_table=None):
    """Attention of sequences that lie one behind the other: [all positions, heads, D]. The longest lengths are not needed.

    With block_table, i32[B, pages of a sequence], k and v are pages [pages, size, heads, D], and there are no gradients. If all sequences have max_seqlen_q queries,
    one for instance, their keys are split where that is faster.
    The gradient of q is a sum in any order, and so are those of k and v where long causal heads share keys, unless deterministic, or
    torch.use_deterministic_algorithms(), asks for equal bits. On compute capability 9.0 sums of short sequences have an order, which is faster there: up to 384 rows on
    average if they are causal, or 896 where heads of 128 share keys, and else up to 600.
    """
    check_dropout(dropout_p)
    check_heads(q, k, -2)
    features = cu_seqlens_q.shape[0] - 1, q.shape[1], causal, window_size, softcap, alibi_slopes
    if block_table is not None:
        lengths, rows = cu_seqlens_k.diff(), max_seqlen_q
        # None has more than the longest, so all have as many.
        if isinstance(rows, int) and rows > 0 and q.shape[0] == features[0] * rows:
            o, lse = attend(q.unflatten(0, (features[0], rows)), k, v, lengths, block_table, softmax_scale, *features[2:])
            o, lse = o.flatten(0, 1), lse.transpose(0, 1).flatten(1)
            return (o, lse, None) if return_attn_probs else o
        text = make_text("flash_varlen_paged", *features, P=k.shape[1])
        tensors = {"table": block_table, "cu_q": cu_seqlens_q, "kv_len": lengths}
        o, lse = call_text(text, q, k, v, tensors, softmax_scale, "q,kp,vp")
        return (o, lse, None) if return_attn_probs else o
    text = make_text("flash_varlen", *features)
    deterministic = deterministic or torch.are_deterministic_algorithms_enabled() or gains_in_order(q, k, q.shape[0], causal, features[0])
    o, lse = call_text(text, q, k, v, {"cu_q": cu_seqlens_q, "cu_k": cu_seqlens_k}, softmax_scale, deterministic=deterministic)
    return (o, lse, None) if return_attn_probs else o


def flash_attn_varlen_kvpacked_func(q, kv, cu_seqlens_q, cu_seqlens_k, *arguments, **options):
    """flash_attn_varlen_func() of keys and values [all positions, 2, heads, D]."""
    return flash_attn_varlen_func(q, *kv.unbind(1), cu_seqlens_q, cu_seqlens_k, *arguments, **options)


def flash_attn_varlen_qkvpacked_func(qkv, cu_seqlens, max_seqlen=None, *arguments, **options):
    """flash_attn_varlen_func() of queries, keys and values [all positions, 3, heads, D]."""
    return flash_attn_varlen_func(*qkv.unbind(1), cu_seqlens, cu_seqlens, max_seqlen, max_seqlen, *arguments, **options)
