# The parser of tools/editors/tree-sitter reads what the front end reads, as the front end reads it.
# SPDX-License-Identifier: MIT
"""Usage: check_tree_sitter.py ROOT FOLDER"""
import ctypes
import pathlib
import re
import subprocess
import sys

from tree_sitter import Language, Parser, Query, QueryCursor

root, work = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(root / "tests/docs"))
from pages import blocks, pages_of

folder = root / "tools/editors/tree-sitter"
# As the page of editors says, but for the place.
command, place = re.search(r"in `tools/editors/tree-sitter`, `(cc [^`]*) -o ([^` ]*)`", (root / "docs/editors.md").read_text(encoding="utf-8")).groups()
assert {"-shared", "-fPIC"} <= set(command.split()) and pathlib.PurePath(place).name == "tile.so", command
subprocess.run([*command.split(), "-o", (work / "tile.so").resolve()], cwd=folder, check=True)
entry = ctypes.CDLL(str((work / "tile.so").resolve())).tree_sitter_tile
entry.restype = ctypes.c_void_p
capsule = ctypes.pythonapi.PyCapsule_New
capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
language = Language(capsule(entry(), b"tree_sitter.Language", None))
parser = Parser(language)


def selvedge(*words, source=None):
    return subprocess.run(["selvedge", *map(str, words)], input=source, capture_output=True, text=True)


def nodes_of(node):
    yield node
    for child in node.children:
        yield from nodes_of(child)


def fault(source):
    """The line of the first error, or None."""
    top = parser.parse(source.encode()).root_node
    return min((node.start_point.row + 1 for node in nodes_of(top) if node.is_error or node.is_missing), default=None)


# The corpus, as `tree-sitter test` reads it.
corpus = []
for path in sorted((folder / "test/corpus").glob("*.txt")):
    parts = re.split(r"^=+\n(.*)\n((?::error\n)?)=+\n", path.read_text(encoding="utf-8"), flags=re.M)[1:]
    for name, error, text in zip(*[iter(parts)] * 3):
        source, tree = re.split(r"^---\n", text, flags=re.M)
        found = re.sub(r"\w+: ", "", str(parser.parse(source.encode()).root_node))
        assert error and fault(source) or " ".join(tree.split()).replace(" )", ")") == found, f"{path.name}, {name}: {found}"
        corpus.append((source, bool(error)))
print(len(corpus), "trees of the corpus")

# The front end refuses a source on the line of its first fault, and what it lists has none.
sources = {path: path.read_text(encoding="utf-8") for each in ("templates", "examples", "tests") for path in sorted((root / each).rglob("*.tile"))}
sources.update({f"{page.relative_to(root)}, block {number}": text for page in pages_of(root) for number, (label, text) in enumerate(blocks(page), 1) if label == "tile"})
refused = 0
for name, source in sources.items():
    if line := fault(source):
        errors = selvedge("compile", name, "--emit", "tile", "-o", "-").stderr if isinstance(name, pathlib.Path) else ""
        assert f"{name}:{line}:" in errors, f"{name}:{line}: not read"
        refused += 1
print(len(sources) - refused, "sources are read,", refused, "are refused where the front end does")

# With a word or sign left out or twice, a text is read if the front end lists it. What it refuses beyond the page's grammar:
BEYOND = r"expects distinct names|expects '(diff|inout)' among the inputs|cannot be 'diff'|belongs to (outputs|inputs)|expects a tensor type"
tried = 0
for source, error in corpus:
    data = source.encode()
    for leaf in nodes_of(parser.parse(data).root_node):
        if leaf.children or leaf.type == "comment" or "import" in source:
            continue
        for text in (b" ", b" " + leaf.text + b" " + leaf.text + b" "):
            changed = (data[:leaf.start_byte] + text + data[leaf.end_byte:]).decode()
            listed = selvedge("list", "-", source=changed)
            if not re.search(f"error: .*({BEYOND})", listed.stderr):
                assert (fault(changed) is None) == (listed.returncode == 0), f"{changed}: {listed.stderr}"
                tried += 1
print(tried, "changed texts are read where the front end lists them")

# Parentheses around all operations change no program.
OPERATIONS = {"where", "else", "or", "and", "compare", "sum", "product", "cast", "unary", "index", "method", "call"}
compiled = parentheses = 0
for path in [*(root / "templates").glob("*.tile"), *(root / "tests/programs/minimal").glob("*.tile")]:
    data = path.read_bytes()
    around = []
    for node in nodes_of(parser.parse(data).root_node):
        # A target keeps its form.
        if node.is_named and node.type in OPERATIONS and not (node.parent.type == "store" and node.parent.child_by_field_name("target") == node):
            around += [(node.start_byte, 1, -node.end_byte, b"("), (node.end_byte, 0, -node.start_byte, b")")]
    parentheses += len(around) // 2
    pieces, last = [], 0
    for place, _, _, sign in sorted(around):
        pieces += [data[last:place], sign]
        last = place
    changed = (b"".join(pieces) + data[last:]).decode()
    for op in re.findall(r"^op (\w+)", data.decode(), re.M):
        before, after = (selvedge("compile", "-", "--op", op, "-I", path.parent, "--emit", "tile", "-o", "-", source=text) for text in (data.decode(), changed))
        if before.returncode == 0:
            assert before.stdout == after.stdout, f"{path}, {op}: {after.stderr}\n{changed}"
            compiled += 1
print(compiled, "ops with", parentheses, "parentheses compile to the same")

# No node has two colours, and each word and sign has one.
query = Query(language, (folder / "queries/highlights.scm").read_text(encoding="utf-8"))
coloured = 0
for source in sources.values():
    top = parser.parse(source.encode()).root_node
    seen = [node.id for nodes in QueryCursor(query).captures(top).values() for node in nodes]
    assert len(seen) == len(set(seen)), f"two colours: {source}"
    for node in nodes_of(top):
        if not node.children and not node.is_named and not top.has_error:
            assert node.id in seen or node.parent.type in ("path", "kind", "name") or node.parent.id in seen, f"no colour: {node} in {node.parent}"
    coloured += len(seen)
print(coloured, "colours")
