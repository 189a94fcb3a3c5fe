# The grammar of docs/language.md reads every template and every example of the pages.
# SPDX-License-Identifier: MIT
"""Usage: check_grammar.py ROOT

Each rule gives the places where it may end, so the grammar needs no order of its alternatives."""
import functools
import pathlib
import re
import sys

from pages import blocks, pages_of

root = pathlib.Path(sys.argv[1])
page = root / "docs/language.md"
(text,) = [text for label, text in blocks(page) if label == "ebnf"]
CLASSES = {"NAME": r"[A-Za-z_]\w*", "INT": r"\d+", "FLOAT": r"\d+\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+", "PATH": r"[^\"\n]+"}


def parse_grammar(text):
    """{rule: tree}; a tree is ("word", text), ("rule", name), or an operator and its trees."""
    words = re.findall(r"'[^']+'|\"[^\"]+\"|[A-Za-z]+|[=;|\[\]{}()]", text)
    at = 0

    def choice():
        nonlocal at
        found = [sequence()]
        while words[at] == "|":
            at += 1
            found.append(sequence())
        return ("choice", *found)

    def sequence():
        nonlocal at
        found = []
        while words[at] not in "|;)]}":
            word, at = words[at], at + 1
            if word in "([{":
                inner = choice()
                at += 1
                found.append(({"(": "choice", "[": "maybe", "{": "many"}[word], inner))
            else:
                found.append(("word", word[1:-1]) if word[0] in "'\"" else ("rule", word))
        return ("all", *found)

    rules = {}
    while at < len(words):
        name, at = words[at], at + 2
        rules[name] = choice()
        at += 1
    return rules


rules = parse_grammar(text)
terminals = set(re.findall(r"\"([^\"]+)\"", text))
signs = sorted((each for each in terminals if not each[0].isalpha()), key=len, reverse=True)
TOKEN = re.compile(rf"//[^\n]*|\s+|\"[^\"\n]*\"|(?:{CLASSES['FLOAT']})|{CLASSES['INT']}|{CLASSES['NAME']}|" + "|".join(map(re.escape, signs)))


def tokens_of(source):
    found, at = [], 0
    while at < len(source):
        token = TOKEN.match(source, at)
        assert token, f"no token: {source[at:at + 30]!r}"
        at = token.end()
        if not token[0].isspace() and not token[0].startswith("//"):
            # The quotes of a path are words of the grammar.
            found += ['"', token[0][1:-1], '"'] if token[0][0] == '"' else [token[0]]
    return found


def farthest(source):
    """Whether the grammar reads all of it, and the token that it reads last."""
    tokens, last = tokens_of(source), 0

    @functools.lru_cache(maxsize=None)
    def ends(tree, at):
        nonlocal last
        last, kind = max(last, at), tree[0]
        if kind == "word" or tree[-1] in CLASSES:
            fits = at < len(tokens) and (tokens[at] == tree[1] if kind == "word" else re.fullmatch(CLASSES[tree[1]], tokens[at]))
            return frozenset({at + 1} if fits else ())
        if kind == "rule":
            return ends(rules[tree[1]], at)
        if kind == "choice":
            return frozenset().union(*(ends(each, at) for each in tree[1:]))
        if kind == "maybe":
            return ends(tree[1], at) | {at}
        if kind == "many":
            found, new = {at}, {at}
            while new:
                new = frozenset().union(*(ends(tree[1], each) for each in new)) - found
                found |= new
            return frozenset(found)
        found = {at}
        for each in tree[1:]:
            found = frozenset().union(*(ends(each, place) for place in found))
        return frozenset(found)

    return len(tokens) in ends(("rule", "file"), 0), " ".join(tokens[max(0, last - 5):last + 3])


sys.setrecursionlimit(100000)
sources = {str(path): path.read_text(encoding="utf-8") for folder in ("templates", "tests/programs/minimal", "tests/cases/Inputs") for path in sorted((root / folder).glob("*.tile"))}
sources.update({f"{each}, block {number}": text for each in pages_of(root) for number, (label, text) in enumerate(blocks(each), 1) if label == "tile"})
unread = [f"{name}: not read at '{place}'" for name, source in sources.items() for whole, place in [farthest(source)] if not whole]
print("\n".join(unread) or f"{len(sources)} sources are read by {len(rules)} rules")
sys.exit(bool(unread))
