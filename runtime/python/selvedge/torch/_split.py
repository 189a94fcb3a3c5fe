# Which op attends to many keys: one that splits them over thread blocks, where the tiles of the queries leave multiprocessors idle.
# SPDX-License-Identifier: MIT
import torch

# Rows of a tile: of flash_decode, and of flash_chunk and flash_fwd. A tile of the first two has rows of all heads that share keys, one of flash_fwd those of one head.
FEW_ROWS, ROWS = 64, 128
# From so many keys on tiles of ROWS rows gain although they are fewer.
LONG = 4096
# Where flash_fwd has so many times the tiles of flash_chunk, most of its rows are none.
EMPTY = 1.3


def hands_out_bulk_copies(tensor):
    """Whether code for the tensor's device has warps with roles, of which one hands tiles to the copy engine: compute capability 9.0."""
    return tensor.is_cuda and torch.cuda.get_device_capability(tensor.device)[0] == 9


def splits_keys(q, heads, keys):
    """"decode" or "chunk" where these are faster than attention without split keys, else None (docs/dev/experiments.md, "Chunks of queries and long caches").

    q is [B, positions, heads, D], of which `heads` of keys serve each as many; keys counts those of a sequence, or the room for them.
    """
    batch, rows, all_heads, width = q.shape
    shared = rows * (all_heads // heads)
    if shared <= FEW_ROWS:
        return "decode"
    if not q.is_cuda:
        return None
    tiles, own = batch * heads * -(-shared // ROWS), batch * all_heads * -(-rows // ROWS)
    processors = torch.cuda.get_device_properties(q.device).multi_processor_count
    if 2 * tiles <= processors:
        return "chunk" if keys >= LONG else "decode"
    if own >= EMPTY * tiles:
        return "chunk"
    # Tiles of flash_fwd have more rows yet, of heads of 64 on compute capability 9.0.
    gains = width <= 64 if hands_out_bulk_copies(q) else keys >= LONG
    return "chunk" if tiles <= processors and gains else None
