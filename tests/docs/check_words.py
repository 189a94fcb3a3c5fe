# The words that docs/language.md takes from names cannot be names; other words of its grammar can.
# SPDX-License-Identifier: MIT
"""Usage: check_words.py ROOT FOLDER"""
import pathlib
import re
import subprocess
import sys

page = (pathlib.Path(sys.argv[1]) / "docs/language.md").read_text(encoding="utf-8")
listed = re.search(r"`(op fn kernel [a-z_ ]+)`", page)[1].split()
grammar = page[page.index("```ebnf"):]
others = set(re.findall(r'"([a-z_]+)"', grammar[:grammar.index("\n```\n")])) - set(listed)
# The table of element types.
types = re.findall(r"`([a-z0-9]+)`", "".join(re.findall(r"^\| (`[a-z0-9` ]+`) \|", page[page.index("**Element types**"):page.index("`valid condition`")], re.M)))
listed, others = listed + types, others - set(types)
assert {"f32", "bool"} <= set(types) and len(listed) > 35
file = pathlib.Path(sys.argv[2]) / "word.tile"
for word in [*listed, *others]:
    file.write_text(f"op t({word}: f32[N]) -> (y: f32[N] out_init(0)) {{ kernel main(i in N by BN) {{ y[i] = {word}[i]; }} }}", encoding="utf-8")
    done = subprocess.run(["selvedge", "compile", file, "--emit", "tile", "-o", "-"], capture_output=True, text=True)
    assert (done.returncode != 0) == (word in listed), f"{word}: the page says otherwise; {done.stderr}"
print(f"{len(listed)} words are no names, {len(others)} are")
