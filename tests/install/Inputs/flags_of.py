# Prints how a source is compiled: flags_of.py COMPILE_COMMANDS FILE.
# SPDX-License-Identifier: MIT
import json
import sys

for entry in json.load(open(sys.argv[1], encoding="utf-8")):
    if entry["file"].endswith("/" + sys.argv[2]):
        print(entry["command"])
