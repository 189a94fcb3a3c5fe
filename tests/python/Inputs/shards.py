# Which positions each rank holds: the rule of selvedge.torch, without a PyTorch.
# SPDX-License-Identifier: MIT
import pathlib
import sys
import types
from unittest.mock import MagicMock

package = pathlib.Path(sys.argv[1]) / "selvedge"
# Only the module of the rule is loaded, beside stand-ins of what the others need.
for name in ("torch", "torch.distributed"):
    sys.modules[name] = MagicMock()
for name, folder in (("selvedge", package), ("selvedge.torch", package / "torch")):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [str(folder)]
from selvedge.torch._shards import Shards, lengths_of_segments  # noqa: E402


def positions(shards, rank):
    return [place for first, count in shards.pieces(rank) for place in range(first, first + count)]


balanced, consecutive = Shards((12,), 3, True), Shards((12,), 3, False)
print("balanced:", *(positions(balanced, rank) for rank in range(3)))
print("consecutive:", *(positions(consecutive, rank) for rank in range(3)))
# A row of a causal mask sees the keys up to its own.
print("keys seen:", *(sum(place + 1 for place in positions(balanced, rank)) for rank in range(3)))
uneven = Shards((7,), 3, True)
print("any length:", sorted(place for rank in range(3) for place in positions(uneven, rank)))


class OnGpu:
    """A tensor that tells how often it is copied to the host."""

    copies = 0

    def tolist(self):
        OnGpu.copies += 1
        return [0, 3, 3, 8]


sys.modules["torch"].Tensor = OnGpu
lengths = lengths_of_segments(OnGpu())
of_tensor = OnGpu.copies
assert lengths == lengths_of_segments([0, 3, 3, 8]) == (3, 0, 5)
print(f"copied: {of_tensor} of a tensor, {OnGpu.copies - of_tensor} of a list")
