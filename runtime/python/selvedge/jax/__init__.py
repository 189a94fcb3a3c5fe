# Ops in programs of JAX, and attention with the arguments of jax.nn.dot_product_attention.
# SPDX-License-Identifier: MIT
from ._attention import attention
from ._call import call

__all__ = ["attention", "call"]
