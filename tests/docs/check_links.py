# Links between pages lead to files and headings that exist, and files that a page names in code exist.
# SPDX-License-Identifier: MIT
"""Usage: check_links.py ROOT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]).resolve()
pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
# Written by tools/docs_site.py into the site, not into the repository.
GENERATED = re.compile(r"(^|/)(generated|explain)/")


def without_code(text):
    return re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.M | re.S)


def anchors(path):
    """Slugs of headings, as mkdocs and GitHub make them."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        slug = re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower()
        found.add(re.sub(r"[-\s]+", "-", slug))
    return found


wrong, links, names = [], 0, 0
for page in pages:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text)):
        if re.match(r"[a-z]+:", target):
            continue
        links += 1
        path, _, anchor = target.partition("#")
        if GENERATED.search(path):
            continue
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            wrong.append(f"{page.relative_to(root)}: {target} does not exist")
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            wrong.append(f"{page.relative_to(root)}: {target}: no such heading")
    for name in re.findall(r"`((?:compiler|dialect|runtime|templates|tests|tools|examples|docs)/[\w./-]*)`", text):
        if re.search(r"NAME|clip|merge-waits|rms.norm", name):  # of examples
            continue
        names += 1
        if not (root / name).exists() and not list(root.glob(name.rstrip("/") + ".*")):
            wrong.append(f"{page.relative_to(root)}: `{name}` does not exist")
print("\n".join(wrong) or f"{links} links and {names} names of files lead somewhere")
sys.exit(bool(wrong))
