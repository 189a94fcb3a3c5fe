#!/usr/bin/env python3
"""Says of each kernel of a cubin whether it waits for the launch before it and admits the one behind it.

    launch_wait.py CUBIN [LATE...]

Fails where something accesses memory, or leaves the first basic block, ahead of a wait, or where a kernel has two, but for kernels that wait late, which have an end of one of these names: of those it fails where one has none."""
# SPDX-License-Identifier: MIT
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import device_code  # noqa: E402

# Loads of constants are parameters; the rest names memory, or is where control flow parts.
MEMORY = r"(LD|LDG|LDL|LDS|LDSM|ST|STG|STL|STS|STSM|ATOM|ATOMG|ATOMS|RED|REDG|REDAS|LDGSTS|CCTL|UTMA\w+|UBLK\w+|SYNCS|BRA|BRX|CALL|RET|EXIT|BSSY)\b"

for name, code in device_code.read(sys.argv[1]).items():
    opcodes = [instruction.opcode for instruction in code]
    waits = [i for i, opcode in enumerate(opcodes) if opcode.startswith("ACQBULK")]
    if name.endswith(tuple(sys.argv[2:])):
        if not waits:
            sys.exit(f"{name} does not wait")
        print(name, "waits late")
        continue
    if len(waits) > 1:
        sys.exit(f"{name} waits {len(waits)} times")
    early = [opcode for opcode in opcodes[: waits[0] if waits else 0] if re.match(MEMORY, opcode)]
    if early:
        sys.exit(f"{name} does not wait ahead of {early[0]}")
    words = ["waits"] * bool(waits) + ["admits"] * any(opcode.startswith("PREEXIT") for opcode in opcodes)
    print(name, " and ".join(words) or "neither waits nor admits")
