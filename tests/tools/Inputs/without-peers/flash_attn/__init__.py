"""Takes the place of FlashAttention, and is not there."""
# SPDX-License-Identifier: MIT
raise ImportError("no package of that name")
