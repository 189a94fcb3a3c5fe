# Python in the pages: it parses, and names only what the package has. The page about the package has every function with every argument, and no other.
# SPDX-License-Identifier: MIT
"""Usage: check_python.py ROOT"""
import ast
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
# By the name that pages give a module: its folder.
PACKAGE = root / "runtime/python/selvedge"
MODULES = {"selvedge": PACKAGE, "st": PACKAGE / "torch", "sj": PACKAGE / "jax"}
# By the heading of the page: which module its tables are of.
SECTIONS = {"Ops": "selvedge", "PyTorch": "st", "JAX": "sj"}
# What the page calls an object of a class, and is called itself.
METHODS = {"op": "Op.__call__", "op.prepare": "Op.prepare", "capped": "Variant.__call__"}
# Functions with the arguments of another package, which have a table of their own.
LIKE_FLASH, SHARED = "flash_attn_", {"q", "k", "v", "kv", "qkv"}


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def exports(folder):
    """{name: definition} of a module's __all__."""
    tree, found = parsed(folder / "__init__.py"), {}
    (names,) = (ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            inside = {each.name: each for each in parsed(folder / f"{node.module}.py").body if isinstance(each, (ast.FunctionDef, ast.ClassDef))}
            found.update({each.name: inside[each.name] for each in node.names if each.name in names})
    assert set(found) == set(names), f"{folder}: __all__ and imports differ: {sorted(set(found) ^ set(names))}"
    return found


def methods(definition):
    """{name: definition} of a class's methods that are for users."""
    return {each.name: each for each in definition.body if isinstance(each, ast.FunctionDef) and (each.name == "__call__" or not each.name.startswith("_"))}


def arguments(function):
    args = function.args
    return [each.arg for each in args.posonlyargs + args.args + args.kwonlyargs if each.arg != "self"]


def signature(function):
    """As a page writes it."""
    args = ast.parse(ast.unparse(function)).body[0].args
    args.args = [each for each in args.args if each.arg != "self"]
    return ast.unparse(args)


modules = {name: exports(folder) for name, folder in MODULES.items()}
blocks = calls = 0
for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
    for block in re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S):
        blocks += 1
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and node.func.value.id in modules:
                calls += 1
                name, module = node.func.attr, modules[node.func.value.id]
                assert name in module, f"{page}: {node.func.value.id}.{name} does not exist"
                if isinstance(module[name], ast.FunctionDef) and not module[name].args.kwarg:
                    for keyword in node.keywords:
                        assert keyword.arg in arguments(module[name]), f"{page}: {name} has no argument {keyword.arg}"

page = (root / "docs/python.md").read_text(encoding="utf-8")
sections = dict(re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", page, re.M | re.S))
documented = 0
for heading, name in SECTIONS.items():
    text, module = sections[heading], modules[name]
    wanted = {key: each for key, each in module.items() if isinstance(each, ast.FunctionDef) and not key.startswith(LIKE_FLASH)}
    classes = {key: each for key, each in module.items() if isinstance(each, ast.ClassDef)}
    for key, each in classes.items():
        for method, definition in methods(each).items():
            shown = next((shown for shown, place in METHODS.items() if place == f"{key}.{method}"), None)
            assert shown, f"{key}.{method} is on no page"
            wanted[shown] = definition
    rows = dict(re.findall(r"^\| `([\w.]+)\(([^`]*)\)` \|", text, re.M))
    for key in rows:
        assert key in wanted, f"{heading}: the page has {key}(), which does not exist"
    for key, function in wanted.items():
        assert key in rows, f"{heading}: {key}() is not on the page"
        assert rows[key] == signature(function).replace("'", '"'), f"{heading}: the page has\n{key}({rows[key]}), but it is\n{key}({signature(function)})"
        documented += 1
# Errors and classes by their names.
for name, module in modules.items():
    for key, each in module.items():
        assert not isinstance(each, ast.ClassDef) or re.search(rf"\b{key}\b", page), f"{name}.{key} is not on the page"

functions = {key: each for key, each in modules["st"].items() if key.startswith(LIKE_FLASH)}
(table,) = re.findall(r"^### Arguments of flash_attn\n(.*?)(?=^#)", page, re.M | re.S)
table = table[table.index("| argument |"):].split("\n\n")[0]
shown = {argument for cell in re.findall(r"^\| (`[^|]*) \|", table, re.M) for argument in re.findall(r"`(\w+)`", cell)} - SHARED
known = {argument for each in functions.values() for argument in arguments(each)} - SHARED
assert shown == known, f"arguments of flash_attn: on the page only: {sorted(shown - known)}; not on the page: {sorted(known - shown)}"
print(f"{blocks} blocks, {calls} calls: names exist; {documented} functions and {len(known)} arguments of {LIKE_FLASH}* are on the page")
