# What stands in the pages: code in blocks by their labels, and code in lines.
# SPDX-License-Identifier: MIT
import pathlib
import re

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)


def pages_of(root):
    root = pathlib.Path(root)
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def blocks(path):
    """(label, text) of each block."""
    return FENCE.findall(path.read_text(encoding="utf-8"))


def inline(path):
    """Code between words."""
    return [code.replace("\\|", "|") for code in re.findall(r"`([^`\n]+)`", FENCE.sub("", path.read_text(encoding="utf-8")))]


def shell_lines(text):
    """Commands of a block, without comments."""
    return list(filter(None, (re.sub(r"(^|\s+)#.*$", "", line) for line in text.splitlines())))
