# Moves the release of what lanes read ahead of the read.
# SPDX-License-Identifier: MIT
import re
import sys

lines = open(sys.argv[1]).read().splitlines()
barrier = sys.argv[2]
out = []
for line in lines:
    if re.search(rf"sm\.arrive {barrier}\[.* per_warp", line):
        at = max(n for n, other in enumerate(out) if "sm.read " in other)
        # What the fence and the meeting of the warp order comes with it.
        moved = [other for other in out[at:] if "sm.proxy_fence" in other or "sm.warp_sync" in other]
        kept = [other for other in out[at:] if other not in moved]
        out[at:] = [*moved, line, *kept]
    else:
        out.append(line)
print("\n".join(out))
