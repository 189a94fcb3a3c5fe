# The operator as functions call it, and attention() with the arguments of scaled_dot_product_attention.
# SPDX-License-Identifier: MIT
import torch

from ._ops import any_order_rows, on_one_line
from ._split import hands_out_bulk_copies, splits_keys
from ._text import Text, wants_gradient


def call(q, k, v, tensors, scalars, source, op, names="q,k,v", deterministic=True):
    """The operator; tensors that are None are left out. In host memory float64 is computed as f32 is, so that numerical gradients can be taken."""
    given = {name: value for name, value in tensors.items() if value is not None}
    double = q.dtype == torch.float64 and not q.is_cuda
    if double:
        q, k, v = (t.float() for t in (q, k, v))
        given = {name: value.float() if value.dtype == torch.float64 else value for name, value in given.items()}
    scalars = {name: float(value) for name, value in scalars.items() if value is not None}
    o, lse = torch.ops.selvedge.attention(q, k, v, list(given.values()), ",".join([names, *given]), list(scalars.values()), ",".join(scalars), on_one_line(source), op,
                                          deterministic)
    return (o.double(), lse.double()) if double else (o, lse)


def call_text(text, q, k, v, tensors, scale, names="q,k,v", deterministic=True):
    return call(q, k, v, {**tensors, **text.tensors}, {"scale": scale, **text.scalars}, *text.source(), names, deterministic)


def gains_in_order(q, k, rows, causal, sequences=None):
    """Whether gradients whose sums have an order are faster: where roles add them in bulk, only those of short sequences are. Packed ones have so many rows together,
    others so many each."""
    packed = sequences is not None
    least = any_order_rows(packed, q.shape[-1], causal, q.shape[-2] > k.shape[-2])
    return rows < least * (sequences if packed else 1) and hands_out_bulk_copies(q)


def split_template(q, k, v):
    """The template that splits keys, [B, positions, heads, D], where there are more of them than queries and nothing wants a gradient; None where none gains."""
    if q.shape[1] >= k.shape[1] or any(wants_gradient(t) for t in (q, k, v)):
        return None
    kind = splits_keys(q, k.shape[2], k.shape[1])
    return kind and "flash_" + kind


def check_heads(q, k, head):
    if k.shape[head] == 0 or q.shape[head] % k.shape[head]:
        raise ValueError(f"{q.shape[head]} heads of queries are no multiple of {k.shape[head]} heads of keys")


def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False, *, return_lse=False):
    """scaled_dot_product_attention: tensors [B, heads, positions, D], in bf16 or f16.

    A row whose keys are all masked is 0. Heads of keys may always be fewer than those of queries. With return_lse also the natural logs of the sums,
    f32[B, heads, positions]. ValueError: shapes or masks do not fit. NotImplementedError: dropout.
    """
    if dropout_p:
        raise NotImplementedError("dropout is not supported")
    if query.dim() != 4:
        raise ValueError(f"query has {query.dim()} dimensions, expected 4: batch, heads, positions, D")
    if attn_mask is not None and is_causal:
        raise ValueError("attn_mask and is_causal exclude each other")
    check_heads(query, key, 1)
    rows, keys = query.shape[2], key.shape[2]
    q, k, v = (t.transpose(1, 2) for t in (query, key, value))
    if attn_mask is None and not is_causal and (template := split_template(q, k, v)):
        o, lse = call_text(Text(template, causal=False), q, k, v, {}, scale)
        return (o.transpose(1, 2), lse) if return_lse else o.transpose(1, 2)
    # PyTorch's causal mask begins with the first key, the template's ends with the last.
    text = Text("flash_fwd", causal=True if is_causal and rows == keys else None)
    if is_causal and rows != keys:
        text.keep.append("j <= i")
    if attn_mask is not None:
        text.add_mask(attn_mask, q, keys)
    o, lse = call_text(text, q, k, v, {}, scale)
    return (o.transpose(1, 2), lse) if return_lse else o.transpose(1, 2)
