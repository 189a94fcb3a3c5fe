# Executes the Python of a page.
# SPDX-License-Identifier: MIT
"""Usage: page.py PAGE HEADING...

The ```python blocks directly below each heading run in one namespace. A line `print(...)  # text` has to print that text."""
import io
import pathlib
import re
import sys
from contextlib import redirect_stdout


def blocks(page, heading):
    section, found = None, []
    for kind, title, block in re.findall(r"^(#+) ([^\n]*)$|^```python\n(.*?)^```$", page, re.M | re.S):
        if kind:
            section = title
        elif section == heading:
            found.append(block)
    return found


page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
for heading in sys.argv[2:]:
    names, found, compared = {"__name__": heading}, blocks(page, heading), 0
    assert found, f"no Python below '{heading}'"
    for block in found:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(block, f"{sys.argv[1]}: {heading}", "exec"), names)
        wanted = re.findall(r"^print\(.*\) +# (.*)$", block, re.M)
        assert len(re.findall(r"^print\(", block, re.M)) == len(wanted), f"{heading}: print() without its text"
        assert printed.getvalue().splitlines() == wanted, f"{heading}: printed {printed.getvalue()!r}, but the page says {wanted}"
        compared += len(wanted)
    print(f"{heading}: {len(found)} blocks, {compared} lines")
