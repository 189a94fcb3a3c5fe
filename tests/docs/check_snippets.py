# Code that a page quotes is code of the sources: each ```cpp and ```td block is a part of some file that the page names.
# SPDX-License-Identifier: MIT
"""Usage: check_snippets.py ROOT PAGE..."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
count = 0
for name in sys.argv[2:]:
    page = (root / name).read_text(encoding="utf-8")
    named = [root / path for path in re.findall(r"`([\w./-]+\.(?:cpp|h|td))`", page)]
    # A page may name the folder of its sources.
    named += [path for folder in re.findall(r"`(compiler/[\w/]+)`", page) for path in (root / folder).rglob("*.cpp")]
    named += [path for kind in ("*.td", "*.cpp") for folder in ("compiler/Schedule", "compiler/Driver") for path in (root / folder).glob(kind)]
    texts = [path.read_text(encoding="utf-8") for path in named if path.is_file()]
    for block in re.findall(r"^```(?:cpp|td)\n(.*?)^```$", page, re.M | re.S):
        count += 1
        assert any(block in text for text in texts), f"{name}: of no source:\n{block}"
print(count, "snippets are parts of sources")
