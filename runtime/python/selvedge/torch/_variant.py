# Variants of attention of one's own: hooks of the tile language.
# SPDX-License-Identifier: MIT
import re

import torch

from ._attention import call, check_heads
from ._text import wants_gradient

HOOKS = {"score": "s, b, h, i, j", "keep": "b, h, i, j", "sink": "b, h", "query": "x, b, h, i", "key": "x, b, g, j"}


class Input:
    """One of a variant: a tensor, or a scalar, which may also come as a tensor of one element."""

    def __init__(self, text):
        found = re.fullmatch(r"\s*(diff\s+)?(\w+)\s*:\s*([^=]+?)\s*(=.*)?", text, re.DOTALL)
        if not found:
            raise ValueError(f"'{text.strip()}' is no input, expected 'name: type'")
        self.diff, self.name, self.type, default = bool(found[1]), found[2], found[3], found[4]
        self.default = f" {default}" if default else ""
        self.scalar = "[" not in self.type

    def lifted(self, given):
        """A scalar's tensor of one element."""
        return given.reshape(1).to(torch.int32 if self.type == "i32" else torch.float32)

    def declared(self, as_tensor, diff):
        type_, default = (f"{self.type}[1]", "") if as_tensor else (self.type, self.default)
        return f"{'diff ' if diff or self.diff else ''}{self.name}: {type_}{default}"


class Variant:
    """An attention of its own; see variant()."""

    def __init__(self, body, inputs="", *, causal=False):
        # "..." stands for the parameters that hooks have.
        body = re.sub(rf"\b({'|'.join(HOOKS)})\(\s*([sx]\s*,\s*)?\.\.\.\s*\)", lambda m: f"{m[1]}({HOOKS[m[1]]})", body).strip()
        self.body, self.causal = body + ("" if not body or body.endswith(";") else ";"), causal
        # Commas of shapes part no inputs.
        texts = re.split(r",(?![^\[\(]*[\]\)])", inputs) if inputs.strip() else []
        self.inputs = {each.name: each for each in map(Input, texts)}

    def _source(self, tensors, differentiable):
        """The program where these inputs come as tensors, and these get gradients."""
        lifted = [name for name in tensors if self.inputs[name].scalar]
        head = ", ".join(each.declared(name in lifted, name in differentiable) for name, each in self.inputs.items())
        body = re.sub(rf"\b({'|'.join(lifted)})\b", r"\1[0]", self.body) if lifted else self.body
        return f'import "flash_fwd.tile";\nop variant({head}) extends flash_fwd<causal = {str(self.causal).lower()}> {{\n  {body}\n}}\n'

    def __call__(self, query, key, value, *, scale=None, kv_len=None, return_lse=False, **inputs):
        """Query, key and value are [B, heads, positions, D] in bf16 or f16; `scale` is 1 / sqrt(D) by default.

        kv_len, i32[B], tells how many keys each sequence has. With return_lse also the natural logs of the sums, f32[B, heads, positions].
        TypeError: the variant has no such input. ValueError: heads do not fit. BadInput: a type or a shape is wrong.
        """
        for name in inputs:
            if name not in self.inputs:
                raise TypeError(f"the variant has no input '{name}'" + (f"; it has {', '.join(self.inputs)}" if self.inputs else ""))
        check_heads(query, key, 1)
        tensors = {name: given for name, given in inputs.items() if isinstance(given, torch.Tensor)}
        scalars = {name: given for name, given in inputs.items() if name not in tensors}
        source = self._source(tensors, [name for name, given in tensors.items() if wants_gradient(given)])
        tensors = {name: self.inputs[name].lifted(given) if self.inputs[name].scalar else given for name, given in tensors.items()}
        o, lse = call(*(t.transpose(1, 2) for t in (query, key, value)), {"kv_len": kv_len, **tensors}, {"scale": scale, **scalars}, source, "variant")
        return (o.transpose(1, 2), lse) if return_lse else o.transpose(1, 2)


def variant(body, inputs="", *, causal=False):
    """Attention with hooks of the tile language, differentiable:

        capped = variant("score(s, ...) = cap * tanh(s / cap)", "cap: f32 = 50", causal=True)
        o = capped(q, k, v, cap=30.0)

    score(s, b, h, i, j) is the scaled score s of query i and key j of head h, keep(b, h, i, j) whether there is one; `...` stands for b, h, i, j.
    query(x, b, h, i) and key(x, b, g, j) are the rows whose product is the score, of rows x of the query and the key: `query(x, ...) = norm(x as f32, w[:]) as T`.
    keep replaces the causal mask unless it says `super(b, h, i, j) &&`. `inputs` are the variant's own tensors and scalars, as in a signature. A scalar may be given
    as a tensor of one element, which the kernel reads. Tensors that require gradients get them, summed in f32 in any order. Query, key and value are
    [B, heads, positions, D].
    """
    return Variant(body, inputs, causal=causal)
