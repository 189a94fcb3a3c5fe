# Messages that the pages show are those of the sources, but for names and numbers.
# SPDX-License-Identifier: MIT
"""Usage: check_messages.py ROOT"""
import pathlib
import re
import sys

from pages import blocks, inline, pages_of

root = pathlib.Path(sys.argv[1])
# How a message begins.
MESSAGE = re.compile(r"tensor '|this artefact of|case \d+ FAILED")
sources = ""
for folder in ("runtime/src", "compiler", "tools/selvedge"):
    for path in (root / folder).rglob("*.cpp"):
        # Parts of a literal on several lines are one.
        sources += re.sub(r'"\s+"', "", path.read_text(encoding="utf-8")) + "\n"
wrong, count = [], 0
for page in pages_of(root):
    for shown in inline(page) + [text for label, text in blocks(page) if label == "text"]:
        if not MESSAGE.match(shown):
            continue
        count += 1
        first = shown.splitlines()[0]
        # Names, numbers and what stands for a value of the caller.
        for part in re.split(r"'[^']*'|\[?\d[\d.]*\]?|NVIDIA \w+|\bnone\b|\(N,|[,;:] |tensor", first):
            words = part.strip(" ,;:)")
            if " " in words and words not in sources:
                wrong.append(f"{page}: '{words}' is no part of a message")
print("\n".join(wrong) or f"{count} messages are those of the sources")
sys.exit(bool(wrong) or not count)
