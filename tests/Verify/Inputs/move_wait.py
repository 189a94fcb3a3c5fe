#!/usr/bin/env python3
"""Moves the wait of the first kernel that has one, in text of form async.

    move_wait.py FILE load|end|block_id|branch|role

Behind the kernel's first load at its top level or the operation that holds one, behind its last operation, behind its block number, into a branch, or behind the roles of the first kernel that has some."""
# SPDX-License-Identifier: MIT
import re
import sys

WAIT = "    sm.await_launch\n"
lines = open(sys.argv[1]).readlines()
where = sys.argv[2]
kernels = [i for i, line in enumerate(lines) if line.startswith("  sm.kernel")]
for first, last in zip(kernels, kernels[1:] + [len(lines)]):
    body = lines[first:last]
    if WAIT in body and (where != "role" or any(line.startswith("    sm.role") for line in body)):
        break
else:
    sys.exit("no such kernel")
at = body.index(WAIT)
del body[at]
if where == "branch":
    body[at:at] = ["    %wait_if = arith.constant true\n", "    scf.if %wait_if {\n", "  " + WAIT, "    }\n"]
else:
    pattern = {"load": r" sm\.load ", "end": r"^    sm\.return", "block_id": r" sm\.block_id", "role": r"^    sm\.return"}[where]
    found = next(i for i in range(at, len(body)) if re.search(pattern, body[i]))
    # Behind the operation of the kernel itself that holds it.
    if where not in ("end", "role"):
        is_whole = re.match(r"    [^ ].*[^{]$", body[found].rstrip())
        found = found + 1 if is_whole else next(i for i in range(found, len(body)) if re.match(r"    \}(?! else)", body[i])) + 1
    body.insert(found, WAIT)
lines[first:last] = body
sys.stdout.writelines(lines)
