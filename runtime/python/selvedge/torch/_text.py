# The source of an attention with these features: an op of a few lines that extends a template.
# SPDX-License-Identifier: MIT
import torch

# Templates that split keys, causal ones by default. By template: how far the last query's own key lies ahead of it, counted from the first key.
SPLIT = "flash_decode", "flash_chunk", "paged_decode", "paged_chunk"
OFFSET = {**dict.fromkeys(("flash_fwd", "flash_paged", *SPLIT), "kv_len[b] - M"), "flash_varlen": "(cu_k[b + 1] - cu_k[b]) - (cu_q[b + 1] - cu_q[b])",
          "flash_varlen_paged": "kv_len[b] - (cu_q[b + 1] - cu_q[b])"}


def wants_gradient(value):
    return isinstance(value, torch.Tensor) and value.requires_grad and torch.is_grad_enabled()


class Text:
    """Collects what hooks do. Scores are capped before anything is added to them."""

    def __init__(self, template, **params):
        self.template, self.params = template, {name: value for name, value in params.items() if value is not None}
        self.inputs, self.score, self.keep, self.tensors, self.scalars = [], "s", [], {}, {}
        self.hooks = []

    def tensor(self, name, kind, value):
        self.inputs.append(f"{'diff ' if wants_gradient(value) else ''}{name}: {kind}")
        self.tensors[name] = value

    def scalar(self, name, kind, value):
        self.inputs.append(f"{name}: {kind}")
        self.scalars[name] = float(value)

    def softcap(self, cap):
        self.scalar("cap", "f32", cap)
        self.score = f"cap * tanh({self.score} / cap)"

    def alibi(self, slopes):
        self.tensor("slopes", "f32[B, G*R]", slopes)
        self.score = f"{self.score} - slopes[b, h] * abs(i + {OFFSET[self.template]} - j)"

    def sink(self, scores):
        """A score per head that has no key."""
        self.tensor("sink_score", "f32[G*R]", scores)
        self.hooks.append("sink(b, h) = sink_score[h]")

    def left_pad(self, first):
        """Keys before the first of each sequence are not there."""
        self.tensor("left_pad", "i32[B]", first)
        self.keep.append("j >= left_pad[b]")

    def add_mask(self, mask, q, keys):
        """One of PyTorch: where it is False there is no key, or numbers that are added to scores. q is [B, M, heads, D].

        The gradient of numbers that stand for several rows or heads is summed where it is computed, in any order, or by PyTorch where that has to be deterministic.
        """
        whole = mask.expand(q.shape[0], q.shape[2], q.shape[1], keys)
        if mask.dtype == torch.bool:
            self.tensor("mask", "bool[B, G*R, M, N]", whole)
            self.keep.append("mask[b, h, i, j]")
        elif mask.dtype in (torch.float32, q.dtype):
            kind = "f32" if mask.dtype == torch.float32 else "T"
            if wants_gradient(mask) and not torch.are_deterministic_algorithms_enabled():
                self.tensor("bias", f"{kind}[~B, ~G*R, ~M, ~N]", mask[(None,) * (4 - mask.dim())])
            else:
                self.tensor("bias", f"{kind}[B, G*R, M, N]", whole)
            self.score = f"{self.score} + (bias[b, h, i, j] as f32)"
        else:
            raise ValueError(f"the mask has type {mask.dtype}, expected torch.bool, torch.float32 or that of the queries")

    def window(self, left, right):
        offset = OFFSET[self.template]
        if left >= 0:
            self.scalar("left", "i32", left)
            self.keep.append(f"j >= i + {offset} - left")
        if right >= 0:
            self.scalar("right", "i32", right)
            self.keep.append(f"j <= i + {offset} + right")

    def source(self):
        """Text and name of the op; the template itself where nothing is added."""
        params = ", ".join(f"{name} = {str(value).lower()}" for name, value in self.params.items())
        hooks = list(self.hooks)
        if self.score != "s":
            hooks.append(f"score(s, b, h, i, j) = {self.score}")
        if self.keep:
            hooks.append(f"keep(b, h, i, j) = {' && '.join(['super(b, h, i, j)', *self.keep])}")
        hooks = "".join(f"  {hook};\n" for hook in hooks)
        inputs = f"({', '.join(self.inputs)})" if self.inputs else ""
        extends = f"{self.template}<{params}>" if params else self.template
        return f'import "{self.template}.tile";\nop attention{inputs} extends {extends} {{\n{hooks}}}\n', "attention"


def make_text(template, batch, heads, causal, window_size, softcap, alibi_slopes, **params):
    left, right = (int(width) for width in window_size)
    right = 0 if causal else right
    # The template's own causal mask, where the window ends with it: loops are shorter by it. Those that split keys have it unless they are told not to.
    text = Text(template, causal=right == 0 if template in SPLIT else True if right == 0 else None, **params)
    if softcap:
        text.softcap(softcap)
    if alibi_slopes is not None:
        text.alibi(alibi_slopes.float().expand(batch, heads))
    text.window(left, -1 if right == 0 else right)
    return text
