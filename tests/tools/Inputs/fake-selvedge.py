#!/usr/bin/env python3
# A `selvedge run --cases` whose cases pass, fail, hang or crash by their shapes.
# SPDX-License-Identifier: MIT
import os
import sys
import time

arguments = sys.argv[1:]
if arguments[arguments.index("--arch") + 1] == "sm_80":
    sys.exit("no such GPU")  # status 1 before the first case
with open(arguments[arguments.index("--cases") + 1]) as file:
    for number, line in enumerate(file, 1):
        assert "--compare ref,clean" in line and "--poison nan,ff" in line
        if "M=0" in line:
            print("compare o: first at flat index 7: got nan, expected 1 +- 0.5")
            print(f"case {number}: FAILED, 0.5 s: the outputs differ from those of 'ref'", flush=True)
        elif "M=5," in line:
            time.sleep(60)
        elif "N=4097" in line:
            print("about to crash", file=sys.stderr, flush=True)
            os.abort()
        elif "M=129" in line:
            print(f"case {number}: FAILED, 0.5 s: the GPU reports an error", flush=True)
            sys.exit(1)
        else:
            print(f"case {number}: ok, 0.25 s", flush=True)
