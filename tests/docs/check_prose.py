# Sentences of the pages for users: none is longer than a reader follows at once.
# SPDX-License-Identifier: MIT
"""Usage: check_prose.py ROOT

25 words are the habit, 30 the most. Code counts as one word; a cell of a table, and what follows a colon or semicolon, begin anew. Left out: docs/dev, and pages that are generated."""
import re
import sys

from pages import FENCE, pages_of

MOST = 30
long, count = [], 0
for page in pages_of(sys.argv[1]):
    if "docs/dev/" in str(page) or page.name.startswith("performance"):
        continue
    text = FENCE.sub(lambda block: "\n" * block[0].count("\n"), page.read_text(encoding="utf-8"))
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`\n]*`", "code", text))
    for number, line in enumerate(text.splitlines(), 1):
        for part in line.strip("|").split("|") if line.startswith("|") else [line]:
            for sentence in re.split(r"(?<=[.!?:;])\s+", part):
                count += 1
                words = len(re.findall(r"\w[\w%.,'/-]*", sentence))
                if words > MOST:
                    long.append(f"{page}:{number}: {words} words: {sentence.strip()}")
print("\n".join(long) or f"{count} sentences can be read")
sys.exit(bool(long))
