# The generated pages are complete, mkdocs.yml names every page, and their links lead somewhere.
# SPDX-License-Identifier: MIT
"""Usage: check_site.py ROOT PAGES"""
import pathlib
import re
import sys

root, pages = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
reference = (pages / "generated/passes.md").read_text(encoding="utf-8")
flags = [flag for path in (root / "compiler").rglob("Passes.td") for flag in re.findall(r'^def \w+ : Pass<"([\w-]+)"', path.read_text(encoding="utf-8"), re.M)]
missing = [flag for flag in flags if f"### `-{flag}`" not in reference]
assert flags and not missing, f"passes that are not in the reference: {missing}"
architecture = (root / "docs/architecture.md").read_text(encoding="utf-8")
missing = [flag for flag in flags if f"`{flag}`" not in architecture]
assert not missing, f"passes that docs/architecture.md does not name: {missing}"
ops = [("tile" if path.parent.name == "Tile" else "sm") + "." + name for path in (root / "dialect").rglob("*.td")
       for name in re.findall(r'^def \w+ : \w+_(?:\w*Op)<"([\w]+)"', path.read_text(encoding="utf-8"), re.M)]
missing = [op for op in ops if f"### `{op}`" not in (pages / f"generated/{op.split('.')[0]}.md").read_text(encoding="utf-8")]
assert ops and not missing, f"ops that are not in the reference: {missing}"
print(f"{len(flags)} passes, {len(ops)} ops")

nav = set(re.findall(r"^\s+- .*: (\S+\.md)$", (root / "mkdocs.yml").read_text(encoding="utf-8"), re.M)) | {"index.md"}
written = {str(path.relative_to(pages)) for path in pages.rglob("*.md")}
assert nav == written, f"only in mkdocs.yml: {nav - written}; not there: {written - nav}"
for path in pages.rglob("*.md"):
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    for link in re.findall(r"\]\(([^)\s#]+)[^)]*\)", text):
        if not re.match(r"[a-z]+:", link):
            assert (path.parent / link).exists(), f"{path.relative_to(pages)}: {link} does not exist"
for name in ("merge", "softmax"):
    assert "<svg" in (pages / f"explain/{name}.html").read_text(encoding="utf-8")
print(f"{len(written)} pages are in mkdocs.yml")
