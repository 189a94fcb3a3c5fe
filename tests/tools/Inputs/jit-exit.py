# Ends while verifiers are at work on an op that nobody gives back.
# SPDX-License-Identifier: MIT
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../tools/bench"))
from selvedge_op import Build, Jit  # noqa: E402

Jit(sys.argv[1], sys.argv[2]).load(Build("flash_fwd.tile", "flash_fwd", "sm_90a", causal=True))
print("ends")
