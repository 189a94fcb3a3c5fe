# attention() with the arguments of scaled_dot_product_attention, and variants of one's own.
# SPDX-License-Identifier: MIT
import re

import torch

from ._ops import on_one_line
from ._text import Text


def call(q, k, v, tensors, scalars, source, op, names="q,k,v", deterministic=True):
    """The operator; tensors that are None are left out."""
    given = {name: value for name, value in tensors.items() if value is not None}
    for name, value in given.items():
        if torch.is_grad_enabled() and value.requires_grad:
            raise NotImplementedError(f"'{name}' gets no gradient; detach it")
    scalars = {name: float(value) for name, value in scalars.items() if value is not None}
    return torch.ops.selvedge.attention(q, k, v, list(given.values()), ",".join([names, *given]), list(scalars.values()), ",".join(scalars), on_one_line(source), op,
                                        deterministic)


def call_text(text, q, k, v, tensors, scale, names="q,k,v", deterministic=True):
    return call(q, k, v, {**tensors, **text.tensors}, {"scale": scale, **text.scalars}, *text.source(), names, deterministic)


def hands_out_bulk_copies(tensor):
    """Whether code for the tensor's device has warps with roles, of which one hands tiles to the copy engine: compute capability 9.0."""
    return tensor.is_cuda and torch.cuda.get_device_capability(tensor.device)[0] == 9


def check_heads(q, k, head):
    if k.shape[head] == 0 or q.shape[head] % k.shape[head]:
        raise ValueError(f"{q.shape[head]} heads of queries are no multiple of {k.shape[head]} heads of keys")


def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False, *, return_lse=False):
    """scaled_dot_product_attention: tensors [B, heads, positions, D], in bf16 or f16.

    A row whose keys are all masked is 0. Heads of keys may always be fewer than those of queries. A floating-point mask gets no gradient.
    """
    if dropout_p:
        raise NotImplementedError("dropout is not supported")
    if query.dim() != 4:
        raise ValueError(f"query has {query.dim()} dimensions, expected 4: batch, heads, positions, D")
    if attn_mask is not None and is_causal:
        raise ValueError("attn_mask and is_causal exclude each other")
    check_heads(query, key, 1)
    rows, keys = query.shape[2], key.shape[2]
    # PyTorch's causal mask begins with the first key, the template's ends with the last.
    text = Text("flash_fwd", causal=True if is_causal and rows == keys else None)
    if is_causal and rows != keys:
        text.keep.append("j <= i")
    if attn_mask is not None:
        text.add_mask(attn_mask, query.transpose(1, 2), keys)
    o, lse = call_text(text, *(t.transpose(1, 2) for t in (query, key, value)), {}, scale)
    return (o.transpose(1, 2), lse) if return_lse else o.transpose(1, 2)


class Variant:
    """An attention of its own; see variant()."""

    def __init__(self, body, inputs="", *, causal=False):
        names = ", ".join(("b", "h", "i", "j"))
        # "..." stands for the parameters that hooks have.
        body = re.sub(r"\b(score|keep|sink)\(\s*(s\s*,\s*)?\.\.\.\s*\)", lambda m: f"{m[1]}({dict(score='s, ' + names, keep=names, sink='b, h')[m[1]]})", body)
        body = body.strip()
        body += "" if not body or body.endswith(";") else ";"
        head = f"({inputs})" if inputs else ""
        self.source = f'import "flash_fwd.tile";\nop variant{head} extends flash_fwd<causal = {str(causal).lower()}> {{\n  {body}\n}}\n'
        self.names = re.findall(r"(\w+)\s*:", inputs)

    def __call__(self, query, key, value, *, scale=None, kv_len=None, return_lse=False, **inputs):
        for name in inputs:
            if name not in self.names:
                raise TypeError(f"the variant has no input '{name}'" + (f"; it has {', '.join(self.names)}" if self.names else ""))
        check_heads(query, key, 1)
        tensors = {name: value for name, value in inputs.items() if isinstance(value, torch.Tensor)}
        scalars = {name: value for name, value in inputs.items() if name not in tensors}
        o, lse = call(*(t.transpose(1, 2) for t in (query, key, value)), {"kv_len": kv_len, **tensors}, {"scale": scale, **scalars}, self.source, "variant")
        return (o.transpose(1, 2), lse) if return_lse else o.transpose(1, 2)


def variant(body, inputs="", *, causal=False):
    """Attention with hooks of the tile language, differentiable in query, key and value:

        capped = variant("score(s, ...) = cap * tanh(s / cap)", "cap: f32 = 50", causal=True)
        o = capped(q, k, v, cap=30.0)

    score(s, b, h, i, j) is the scaled score s of query i and key j of head h, keep(b, h, i, j) whether there is one; `...` stands for b, h, i, j.
    keep replaces the causal mask unless it says `super(b, h, i, j) &&`. `inputs` are the variant's own tensors and scalars, as in a signature.
    The tensors are [B, heads, positions, D].
    """
    return Variant(body, inputs, causal=causal)
