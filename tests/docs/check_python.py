# Python in the pages: it parses, and what it takes of the package is there, by name and by argument.
# SPDX-License-Identifier: MIT
"""Usage: check_python.py ROOT"""
import ast
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
PACKAGES = {"selvedge": root / "runtime/python/selvedge/__init__.py", "st": root / "runtime/python/selvedge/torch/__init__.py"}


def arguments(name):
    """{argument} of a function of the package, wherever it is defined; None where it takes any."""
    for path in sorted((root / "runtime/python/selvedge").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name == name:
                every = node.args.args + node.args.kwonlyargs + node.args.posonlyargs
                return None if node.args.kwarg else {a.arg for a in every}
    return None


exported = {name: path.read_text(encoding="utf-8") for name, path in PACKAGES.items()}
blocks = calls = 0
for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
    for block in re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S):
        blocks += 1
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and node.func.value.id in PACKAGES:
                calls += 1
                name = node.func.attr
                assert re.search(rf"\b{name}\b", exported[node.func.value.id]), f"{page}: {node.func.value.id}.{name} does not exist"
                known = arguments(name)
                for keyword in node.keywords:
                    assert known is None or keyword.arg in known, f"{page}: {name} has no argument {keyword.arg}"
# Names in the tables of the page about the package.
page = (root / "docs/python.md").read_text(encoding="utf-8")
texts = "".join(path.read_text(encoding="utf-8") for path in (root / "runtime/python/selvedge").rglob("*.py"))
for name, listed in re.findall(r"^\| `(\w+)\(([^`]*)\)`", page, re.M):
    assert re.search(rf"def {name}\(", texts), f"{name} does not exist"
    known = arguments(name)
    for argument in re.findall(r"(?:^|, )(\w+)", listed):
        assert known is None or argument in known, f"{name} has no argument {argument}"
print(f"{blocks} blocks, {calls} calls: names exist")
