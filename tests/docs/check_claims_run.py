# Each sentence of a page for users names the test that fails if it is false, or says why it has none.
# SPDX-License-Identifier: MIT
"""Usage: check_claims_run.py ROOT

The tables are tests/docs/claims/PAGE.csv, one line per statement: statement, by, words.

- statement: words of one sentence, bullet or row of the page, enough to tell it from the others. The lines of a sentence have all its numbers, so that none changes unnoticed. A sentence with several facts may have several lines; whole sentences that are the same share one where it has a class.
- by: a test under tests/, `path` or `path:Test` of GoogleTest; `gpu:path` for what only a GPU shows, a script or data; or a class of CLASSES.
- words: what stands in that file and belongs to the statement, so that the link cannot rot."""
import collections
import csv
import difflib
import pathlib
import re
import sys

from pages import FENCE, pages_of

CLASSES = {
    "definition": "gives a thing its name, or the grammar its words",
    "explanation": "a reason, a purpose, advice, or a summary of statements beside it",
    "link": "says where something stands",
}
# Pages without a table: docs/dev is about work on the compiler; the pages of results are written by tools/bench/page.py, with which tests/tools/performance-page.test compares them.
WITHOUT = re.compile(r"docs/(dev/|performance)")


def statements(path):
    """(line, text) of each sentence of a page; of rows with their cells joined by ' | '."""
    text = FENCE.sub(lambda block: "\n" * block[0].count("\n"), path.read_text(encoding="utf-8"))
    # Tables that tools write.
    text = re.sub(r"<!-- table .*?<!-- end -->", lambda table: "\n" * table[0].count("\n"), text, flags=re.S)
    found, lines = [], text.splitlines()
    for number, line in enumerate(lines):
        row = line.startswith("|")
        if re.match(r"#|!\[|<!--|\|[-| ]+\|$", line) or row and re.match(r"\|[-| ]+\|$", (lines + [""])[number + 1]):
            continue
        if row:
            line = " | ".join(filter(None, map(str.strip, re.split(r"(?<!\\)\|", line))))
        else:
            line = re.sub(r"^([-*]|\d+\.) ", "", line.strip())
        # Code and links do not end sentences.
        hidden = re.sub(r"`[^`]*`|\]\([^)]*\)", lambda code: "_" * len(code[0]), line)
        begin = 0
        for end in [*(each.start() for each in re.finditer(r"(?<=[.!?])(?<!\.\.) +(?=[^a-z|])", hidden)), len(line)]:
            if re.search(r"\w", part := line[begin:end].strip()) and not re.fullmatch(r"!\[.*\]\(.*\)", part):
                found.append((number + 1, part))
            begin = end
    return found


def unseen_numbers(text, fragments):
    """Numbers of a sentence that none of its fragments has; those in code and in links' targets are names."""
    plain = re.sub(r"`[^`]*`|\]\([^)]*\)", lambda code: "_" * len(code[0]), text)
    seen = set()
    for fragment in fragments:
        for found in re.finditer(re.escape(fragment), text):
            seen.update(range(*found.span()))
    return [number[0] for number in re.finditer(r"(?<![\w.])\d+([.,]\d+)*", plain) if not seen.issuperset(range(*number.span()))]


def folded(text):
    return " ".join(text.split())


def shown_by(root, by, words):
    """What is wrong with a link, if anything."""
    if by in CLASSES:
        return None
    gpu, test = by.startswith("gpu:"), by.removeprefix("gpu:")
    path, _, name = test.partition(":")
    file = (root if gpu else root / "tests") / path
    shown = path if gpu else f"tests/{path}"
    if not file.is_file():
        return f"{shown} does not exist, and '{by}' is no class ({', '.join(CLASSES)})"
    text = file.read_text(encoding="utf-8")
    if name and not re.search(rf"\bTEST\w*\(\s*\w+,\s*{name}\)", text):
        return f"{shown} has no test {name}"
    if not words and not name and not gpu:
        return f"name words of {shown} that belong to the statement"
    if folded(words) not in folded(text):
        return f"{shown} does not say '{words}'"
    return None


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    folder = root / "tests/docs/claims"
    wrong, missing, count, tests = [], 0, 0, set()
    for page in pages_of(root):
        name = str(page.relative_to(root))
        if WITHOUT.match(name):
            continue
        table = folder / name.removeprefix("docs/").replace(".md", ".csv")
        where = table.relative_to(root)
        if not table.exists():
            wrong.append(f"{name}: there is no {where}: write one, or add the page to WITHOUT of {pathlib.Path(__file__).name}")
            continue
        parts = [(line, folded(text)) for line, text in statements(page)]
        named = collections.defaultdict(list)
        with table.open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file))
        assert lines[0] == ["statement", "by", "words"], f"{where}: begins with another line"
        for number, entry in enumerate(lines[1:], 2):
            if len(entry) != 3:
                wrong.append(f"{where}:{number}: expects three columns, but got {len(entry)}")
                continue
            statement, by, words = map(folded, entry)
            whole = [place for place, (_, text) in enumerate(parts) if statement == text]
            hits = whole or [place for place, (_, text) in enumerate(parts) if statement in text]
            for place in hits:
                named[place].append((number, statement))
            count += 1
            if by not in CLASSES:
                tests.add(by)
            if not hits:
                near = difflib.get_close_matches(statement, [text[: len(statement)] for _, text in parts], 1)
                wrong.append(f"{where}:{number}: {name} does not say '{statement}'" + (f"; it says '{near[0]}'" if near else ""))
            elif len(hits) > 1 and not (whole and by in CLASSES):
                wrong.append(f"{where}:{number}: {len(hits)} sentences of {name} say '{statement}': take more words")
            if problem := shown_by(root, by, words):
                wrong.append(f"{where}:{number}: {problem}")
        for place, (line, text) in enumerate(parts):
            if place not in named:
                missing += 1
                wrong.append(f"{name}:{line}: no test is named for this sentence. Add to {where}:\n  {quoted(text)},TEST,WORDS")
                continue
            if unseen := unseen_numbers(text, [statement for _, statement in named[place]]):
                wrong.append(f"{where}:{named[place][0][0]}: take more words of {name}:{line}: its lines lack {', '.join(unseen)}")
    if missing:
        wrong.append("TEST is a file under tests/ that fails if the sentence is false, or path:Test; WORDS stand in it. A sentence that states no behaviour has a class there, and no words:")
        wrong += [f"  {name}: {meaning}" for name, meaning in CLASSES.items()]
    print("\n".join(wrong) or f"{count} statements name {len(tests)} tests, or say why they have none")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
