# SPDX-License-Identifier: MIT
import pathlib
import sys

folder, *sources = map(pathlib.Path, sys.argv[1:])
for source in sources:
    for path in source.glob("*.tile"):
        before, after = ("".join(text.read_text(encoding="utf-8").split()) for text in (path, folder / path.name))
        assert before == after, path
