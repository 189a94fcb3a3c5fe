# SPDX-License-Identifier: MIT
import json
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
page = (root / "docs/language.md").read_text(encoding="utf-8")
reserved = re.search(r"`(op fn kernel [a-z_ ]+)`", page)[1].split()
# The table of element types.
types = re.findall(r"`([a-z0-9]+)`", "".join(re.findall(r"^\| (`[a-z0-9` ]+`) \|", page[page.index("**Element types**"):page.index("`valid condition`")], re.M)))
assert {"f32", "e5m2", "u8", "bool"} <= set(types)
# The names among which the front end looks for what an unknown function may mean.
calls = (root / "compiler/Frontend/Calls.cpp").read_text(encoding="utf-8")
functions = re.findall(r'"(\w+)"', "".join(re.findall(r"StringRef k(?:Math|Reductions)\[\] = \{[^}]*\}|> names\{[^}]*\}", calls)))
assert {"exp", "sum", "dot", "vjp", "present"} <= set(functions)
words = reserved + types + functions
folder = root / "tools/editors"
for path in folder.rglob("*.json"):
    json.loads(path.read_text(encoding="utf-8"))
grammar = json.loads((folder / "vscode/syntaxes/tile.tmLanguage.json").read_text(encoding="utf-8"))
patterns = [re.compile(pattern["match"]) for pattern in grammar["patterns"] if "match" in pattern]
package = json.loads((folder / "vscode/package.json").read_text(encoding="utf-8"))
for language in package["contributes"]["grammars"]:
    assert (folder / "vscode" / language["path"]).exists()
vim = (folder / "vim/syntax/tile.vim").read_text(encoding="utf-8")
for word in words:
    # `super` is coloured where it is called, declarations with their name.
    assert any(pattern.match(text) for pattern in patterns for text in (word, f"{word}(", f"{word} name")), f"{word}: no pattern"
    assert re.search(rf"\b{word}\b", vim), f"{word}: not in vim"


def same(what, found, wanted):
    assert set(found) == set(wanted), f"tree-sitter, {what}: {sorted(set(found) ^ set(wanted))}"


# The grammar for tree-sitter has the words and signs of the page's.
ebnf = page[page.index("```ebnf"):]
terminals = re.findall(r'"([^"\s]+)"', ebnf[:ebnf.index("\n```\n")].replace("'\"'", ""))
source = (folder / "tree-sitter/grammar.js").read_text(encoding="utf-8")
head, rules = source.split("  rules: {\n")
listed = {name: text.split() for name, text in re.findall(r'const (reserved|shared) =\s+"([a-z_ ]+)"', head)}
same("words that are no names", listed["reserved"], reserved)
fields = re.findall(r'field\("(\w+)"', source)
# The comma stands in `some`; a field's name, a quote and a pattern are no words.
words_and_signs = [",", *listed["shared"], *re.findall(r'"([^"\s]+)"', re.sub(r"field\(\"\w+\"|'\"'|/[^/\n]*\[[^/\n]*/", "", rules))]
same("words and signs", words_and_signs, terminals)

# src/parser.c is made from this grammar: symbols without those of repetitions, and hidden ones may be left out.
parser = (folder / "tree-sitter/src/parser.c").read_text(encoding="utf-8")
tables = {name: re.findall(r'^  \[\w+\] = "(.*)",$', text, re.M) for name, text in re.findall(r"(ts_\w+_names)\[\] = \{\n(.*?)\n\};", parser, re.S)}
same("fields of src/parser.c", tables["ts_field_names"], fields)
names = re.findall(r"^    (\w+): \(", rules, re.M)
made = [name.replace("\\", "") for name in tables["ts_symbol_names"] if not re.search(r'_repeat\d|_token\d|^end$|"', name)]
same("symbols of src/parser.c", made, [*words_and_signs, *(name for name in names if name in made or name[0] != "_")])

colours = (folder / "tree-sitter/queries/highlights.scm").read_text(encoding="utf-8")
groups = re.findall(r'#(?:not-)?match\? @([\w.]+) "\^\(([\w|]+)\)\$"', colours)
assert len(groups) == 3, groups
for capture, text in groups:
    # `vjp` is a word of the grammar.
    same(f"colour {capture}", text.split("|"), types if capture == "type" else set(functions) - {"vjp"})
rest = re.sub(r'\(#.*"\)', "", colours)
# The colour of these words is that of their node.
nodes = {"true": "true", "false": "false", "inf": "inf", "super": "super", "int": "kind", "bool": "kind", "float": "kind", "type": "kind"}
same("coloured words and signs", re.findall(r'"([^"\s]+)"', rest) + [word for word, node in nodes.items() if f"({node})" in rest], terminals)

# The names that the page of editors gives to settings and files.
ways = (root / "docs/editors.md").read_text(encoding="utf-8")
setting = re.search(r"The setting `([a-z.]+)` names the server", ways)[1]
section, name = setting.split(".")
assert setting in package["contributes"]["configuration"]["properties"]
assert f'getConfiguration("{section}").get("{name}")' in (folder / "vscode/extension.js").read_text(encoding="utf-8")
assert all((root / path).exists() for path in re.findall(r"`(tools/editors/[a-z/A-Z.]+)`", ways))
plugin = (folder / "vim/ftplugin/tile.vim").read_text(encoding="utf-8")
assert "vim.lsp.start" in plugin and "selvedge-lsp" in plugin and 'formatprg = "selvedge fmt -"' in plugin
print(len(words), "words in 3 grammars")
