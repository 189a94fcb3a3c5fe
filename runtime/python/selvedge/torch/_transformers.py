# Models of the package transformers: attn_implementation="selvedge".
# SPDX-License-Identifier: MIT
from ._attention import call_text, check_heads, split_template
from ._text import make_text


def attention_forward(module, query, key, value, attention_mask, scaling=None, dropout=0.0, is_causal=None, softcap=None, sliding_window=None, s_aux=None,
                      **kwargs):
    """What a layer calls: query [B, heads, positions, D]; the result is [B, positions, heads, D], and no weights."""
    if dropout:
        raise NotImplementedError("dropout is not supported: set attention_dropout=0 in the model's configuration")
    check_heads(query, key, 1)
    rows, keys = query.shape[2], key.shape[2]
    q, k, v = (t.transpose(1, 2) for t in (query, key, value))
    causal = attention_mask is None and (getattr(module, "is_causal", True) if is_causal is None else is_causal)
    window = (sliding_window - 1, 0) if causal and sliding_window and sliding_window <= keys else (-1, -1)
    plain = attention_mask is None and s_aux is None and window == (-1, -1)
    template = plain and split_template(q, k, v) or "flash_fwd"
    # A single query sees all keys either way.
    text = make_text(template, q.shape[0], q.shape[2], causal or rows == 1 and template != "flash_fwd", window, softcap, None)
    if attention_mask is not None:
        text.add_mask(attention_mask[..., :keys], q, keys)
    if s_aux is not None:
        text.sink(s_aux.float())
    return call_text(text, q, k, v, {}, scaling)[0], None


def register_transformers(name="selvedge"):
    """Makes attn_implementation=name known to transformers."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

    AttentionInterface.register(name, attention_forward)
    AttentionMaskInterface.register(name, sdpa_mask)
