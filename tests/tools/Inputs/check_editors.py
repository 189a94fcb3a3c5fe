# SPDX-License-Identifier: MIT
import json
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
page = (root / "docs/language.md").read_text(encoding="utf-8")
words = re.search(r"`(op fn kernel [a-z_ ]+)`", page)[1].split()
# The table of element types.
words += re.findall(r"`([a-z0-9]+)`", "".join(re.findall(r"^\| (`[a-z0-9` ]+`) \|", page[page.index("**Element types**"):page.index("`valid condition`")], re.M)))
assert {"f32", "e5m2", "u8", "bool"} <= set(words)
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
print(len(words), "words in 2 grammars")
