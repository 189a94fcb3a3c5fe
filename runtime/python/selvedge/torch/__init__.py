# Attention for PyTorch: with the arguments that its users know, differentiable, for torch.compile and CUDA graphs.
# SPDX-License-Identifier: MIT
from . import _ops  # noqa: F401 defines the operators
from ._attention import attention
from ._flash import (flash_attn_func, flash_attn_kvpacked_func, flash_attn_qkvpacked_func, flash_attn_varlen_func, flash_attn_varlen_kvpacked_func,
                     flash_attn_varlen_qkvpacked_func)
from ._heads import heads_attention
from ._kvcache import flash_attn_with_kvcache
from ._ring import ring_attention, ring_attention_varlen
from ._shards import shard, unshard
from ._transformers import register_transformers
from ._variant import Variant, variant

__all__ = ["Variant", "attention", "flash_attn_func", "flash_attn_kvpacked_func", "flash_attn_qkvpacked_func", "flash_attn_varlen_func",
           "flash_attn_varlen_kvpacked_func", "flash_attn_varlen_qkvpacked_func", "flash_attn_with_kvcache", "heads_attention", "register_transformers",
           "ring_attention", "ring_attention_varlen", "shard", "unshard", "variant"]
