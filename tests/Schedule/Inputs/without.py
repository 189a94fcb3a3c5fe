# Prints MLIR text without the Nth operation of a name in the first operation of another name of a kernel.
# SPDX-License-Identifier: MIT
"""usage: without.py FILE KERNEL OUTER NAME N"""
import re
import sys

path, kernel, outer, name, number = sys.argv[1:]
lines = open(path, encoding="utf-8").read().splitlines(keepends=True)
start = next(i for i, line in enumerate(lines) if f"@{kernel} " in line and "sm.kernel" in line)
start = next(i for i in range(start, len(lines)) if re.search(rf"\b{re.escape(outer)}\b", lines[i]))
found = [i for i in range(start, len(lines)) if re.match(rf"\s*{re.escape(name)}\b", lines[i])]
del lines[found[int(number)]]
sys.stdout.write("".join(lines))
