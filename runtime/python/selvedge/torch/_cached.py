# Attention to caches, in pages or not, by the op that is fastest for their sizes.
# SPDX-License-Identifier: MIT
from ._attention import call_text
from ._split import splits_keys
from ._text import make_text


def attend(q, k_cache, v_cache, lengths, block_table, scale, causal, window_size, softcap, alibi_slopes, leftpad=None):
    """o and lse of q [B, positions, heads, D] to the first lengths i32[B], or all, positions of [B, capacity, heads, D], or of pages [pages, size, heads, D] that
    block_table i32[B, pages of a sequence] names."""
    batch, rows, heads, _ = q.shape
    paged, local = block_table is not None, any(width >= 0 for width in window_size)
    room = k_cache.shape[1] * (block_table.shape[1] if paged else 1)
    # Parts that a window leaves out would do nothing, and parts of padded sequences have no roles (docs/dev/status.md).
    split = None if local or leftpad is not None else splits_keys(q, k_cache.shape[2], room)
    if paged:
        template, names, tensors = "paged_" + split if split else "flash_paged", "q,kp,vp", {"table": block_table, "kv_len": lengths}
    else:
        template, names, tensors = "flash_" + (split or "fwd"), "q,k,v", {"kv_len": lengths}
    # A single query sees all keys either way.
    text = make_text(template, batch, heads, causal or bool(split) and rows == 1, window_size, softcap, alibi_slopes, P=k_cache.shape[1] if paged else None)
    if leftpad is not None:
        text.left_pad(leftpad)
    return call_text(text, q, k_cache, v_cache, tensors, scale, names)
