# No two axes of a tile share threads of a warp, or warps: for each bit of their numbers one axis at most has elements.
# SPDX-License-Identifier: MIT
"""Usage: axes_apart.py < MLIR"""
import re
import sys

layouts = set(re.findall(r"#sm\.layout<((?:<[^>]*>(?:, )?)+)>", sys.stdin.read()))
for layout in layouts:
    for part in ("lanes", "warps"):
        axes = [[int(step) for step in re.findall(r"\d+", bits)] for bits in re.findall(part + r"\[([^\]]*)\]", layout)]
        for bit in range(max(map(len, axes), default=0)):
            shared = [axis for axis in axes if bit < len(axis) and axis[bit]]
            assert len(shared) < 2, f"{part} {bit} are shared: {layout}"
assert layouts
print(len(layouts), "layouts have axes of their own")
