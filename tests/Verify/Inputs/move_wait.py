#!/usr/bin/env python3
"""Moves the wait of the first kernel that has one, in text of form async.

    move_wait.py FILE load|end|block_id|branch|role|other

Behind the kernel's first load at its top level or the operation that holds one, behind its last operation, behind its block number, or into a branch. In the first kernel with roles that has one: behind the roles, or into another role."""
# SPDX-License-Identifier: MIT
import re
import sys

lines = open(sys.argv[1]).readlines()
where = sys.argv[2]
of_roles = where in ("role", "other")
kernels = [i for i, line in enumerate(lines) if line.startswith("  sm.kernel")]
for first, last in zip(kernels, kernels[1:] + [len(lines)]):
    body = lines[first:last]
    waits = [i for i, line in enumerate(body) if line.strip() == "sm.await_launch"]
    if waits and (not of_roles or any(line.startswith("    sm.role") for line in body)):
        break
else:
    sys.exit("no such kernel")
at = waits[0]
if where == "other":
    # The last role that has none.
    roles = [i for i, line in enumerate(body) if line.startswith("    sm.role")]
    to = next(i for i in reversed(roles) if i + 2 not in waits) + 2
else:
    to = None
del body[at]
WAIT = "    sm.await_launch\n"
if where == "other":
    body.insert(to - (to > at), "  " + WAIT)
elif where == "branch":
    body[at:at] = ["    %wait_if = arith.constant true\n", "    scf.if %wait_if {\n", "  " + WAIT, "    }\n"]
else:
    pattern = {"load": r" sm\.load ", "end": r"^    sm\.return", "block_id": r" sm\.block_id", "role": r"^    sm\.return"}[where]
    found = next(i for i in range(0 if where == "block_id" else at, len(body)) if re.search(pattern, body[i]))
    # Behind the operation of the kernel itself that holds it.
    if where not in ("end", "role"):
        is_whole = re.match(r"    [^ ].*[^{]$", body[found].rstrip())
        found = found + 1 if is_whole else next(i for i in range(found, len(body)) if re.match(r"    \}(?! else)", body[i])) + 1
    body.insert(found, WAIT)
lines[first:last] = body
sys.stdout.writelines(lines)
