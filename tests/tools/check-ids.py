# SPDX-License-Identifier: MIT
"""Ids of the page of `explain`, for the first op of each template.

check-ids.py TEMPLATES FOLDER ARCH: no id occurs twice, and every link leads to one. FOLDER is for the pages.
"""
import collections
import pathlib
import re
import subprocess
import sys

templates, folder, arch = sorted(pathlib.Path(sys.argv[1]).glob("*.tile")), pathlib.Path(sys.argv[2]), sys.argv[3]
for template in templates:
    page = folder / f"{template.stem}.html"
    op = re.search(r"^op (\w+)", template.read_text(encoding="utf-8"), re.M)[1]
    subprocess.run(["selvedge", "explain", template, "--op", op, "--arch", arch, "--html", page], check=True)
    text = page.read_text(encoding="utf-8")
    ids = collections.Counter(re.findall(r'\bid="([^"]*)"', text))
    assert not (twice := [name for name, count in ids.items() if count > 1]), f"{template.name}: ids repeat: {twice}"
    assert not (nowhere := set(re.findall(r'href="#([^"]*)"', text)) - set(ids)), f"{template.name}: links to nowhere: {nowhere}"
print(f"{len(templates)} pages: each id once")
