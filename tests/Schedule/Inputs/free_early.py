# Moves the releases behind a tile's last product before it: usage: free_early.py FILE.
# SPDX-License-Identifier: MIT
import re
import sys

lines = open(sys.argv[1], encoding="utf-8").read().split("\n")
role = next(i for i, line in enumerate(lines) if 'sm.role "products"' in line)
last = max(i for i, line in enumerate(lines) if i > role and 'over "R"' in line and "sm.wgmma " in line and i < next(j for j, other in enumerate(lines) if j > role and "sm.tma_store" in other))
freed = [i for i in range(last + 2, last + 8) if re.match(r" *sm\.arrive ", lines[i])]
assert freed, "no release behind the product"
moved = [lines[i] for i in freed]
for i in reversed(freed):
    del lines[i]
lines[last:last] = moved
print("\n".join(lines))
