# The page about manifests names every key that the compiler writes, and its example has no other.
# SPDX-License-Identifier: MIT
"""Usage: check_manifest.py ROOT"""
import json
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
page = (root / "docs/manifest.md").read_text(encoding="utf-8")
example = json.loads(re.search(r"^```json\n(.*?)^```$", page, re.M | re.S)[1])
named = set(re.findall(r'"(\w+)":', page)) | {name for code in re.findall(r"`([^`\n]+)`", page) for name in re.findall(r"\w+", code)}
FREE = {"params"}  # its keys are names of the program


def keys(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if key not in FREE:
                yield from keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)


written = set()
for template, *more in (("flash_fwd", "--op", "flash_fwd"), ("flash_decode", "--set", "D=64"), ("append_kv",), ("flash_varlen", "--mask", "exact", "--set", "D=64")):
    done = subprocess.run(["selvedge", "compile", root / f"templates/{template}.tile", *more, "--arch", "sm_90a", "--emit", "manifest", "-o", "-"], capture_output=True, text=True, check=True)
    written |= set(keys(json.loads(done.stdout)))
assert written <= named, f"not on the page: {written - named}"
operators = {"add", "sub", "mul", "floordiv", "ceildiv", "mod", "min", "max", "gcd"}
assert set(keys(example)) <= written | operators | {"stride"}, f"not written: {set(keys(example)) - written}"
print(len(written), "keys are on the page")
