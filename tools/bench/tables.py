#!/usr/bin/env python3
# Writes the tables of results that stand in pages of prose, from the files in docs/data.
# SPDX-License-Identifier: MIT
"""usage: tables.py [--data docs/data] [--docs docs] [--check]

A table stands between the lines `<!-- table NAME -->` and `<!-- end -->`. Where its file is missing the page stays as it is. `--check` fails where a page is not what the data give.
"""
import argparse
import collections
import csv
import glob
import json
import os
import re
import sys

from page import ROOT, table


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        lines = list(file)
    facts = dict(re.findall(r"^# (\w+): (.*)$", "".join(lines), re.M))
    return facts, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def newest(data, pattern):
    """A file by its pattern: one per kind of GPU at most is kept."""
    found = sorted(glob.glob(os.path.join(data, pattern)))
    return found[-1] if found else None


def context_parallel(data):
    path = newest(data, "context-parallel-*.csv")
    if not path:
        return None
    shares = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows_of(path)[1]:
        shares[int(row["positions"])][f"{row['way']}, {row['pass_of']}"].append(float(row["share"]))
    columns = ["ring, forward", "ring, backward", "heads, forward", "heads, backward"]
    span = lambda values: f"{min(values):.2f} to {max(values):.2f}"
    return table(["positions", *columns], [[positions, *(span(of[column]) for column in columns)] for positions, of in sorted(shares.items())])


def flash_attn(data):
    path = newest(data, "flash-attn-tests-*.json")
    if not path:
        return None
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    rows = []
    for name, counts in found["counts"].items():
        others = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()) if word != "passed")
        rows.append([f"`{name}`", f"{counts.get('passed', 0)} of {sum(counts.values())}", others])
    where = f"On {found['gpu']}, PyTorch {found['torch']}, at most {found['each']} random cases of each function without dropout, which is refused (commit {found['commit']}, [data](data/{os.path.basename(path)}))"
    return f"{where}:\n\n{table(['test', 'passed', 'others'], rows)}"


def models(data):
    path = newest(data, "models-*.csv")
    if not path:
        return None
    facts, rows = rows_of(path)
    of = collections.defaultdict(dict)
    for row in rows:
        of[row["model"], f"{row['heads']} over {row['kv_heads']}, {row['head_dim']}", row["peer_name"]][row["measure"]] = row
    both = lambda row, form: f"{format(float(row['selvedge']), form)} ({format(float(row['peer']), form)})"
    of_all = lambda row: f"{row['selvedge']} ({row['peer']}) of {row['reference']}"
    errors = ["error of prefill", "error of a padded prefill", "error of decode", "error of gradients"]
    tokens = ["tokens of prefill", "tokens of decode", "first tokens of generate"]
    first = table(["model", "heads, D", "beside", *(name.removeprefix("error of ").removeprefix("a ") for name in errors)],
                  [[*key, *(both(measures[name], ".1e") for name in errors)] for key, measures in of.items()])
    second = table(["model", *tokens], [[key[0], *(of_all(measures[name]) for name in tokens)] for key, measures in of.items()])
    steps = {model: [row for name, row in measures.items() if name.startswith("loss of step")] for (model, *_), measures in of.items()}
    losses = lambda row: f"{float(row['selvedge']):.4f}, {float(row['peer']):.4f}, {float(row['reference']):.4f}"
    last = max(map(len, steps.values()))
    third = table(["model", *(f"loss of step {number}" for number in (1, last))], [[model, *(losses(found[number - 1]) for number in (1, last))] for model, found in steps.items()])
    passed = sum(row["pass"] == "True" for row in rows)
    return (f"Two layers each, on {facts['device']} (PyTorch {facts['torch']}, transformers {facts['transformers']}, [data](data/{os.path.basename(path)})): {passed} of {len(rows)} measures pass. "
            f"Errors are relative, in the Frobenius norm, against the same model in float32; those of the other attention in parentheses.\n\n{first}\n"
            f"Most likely tokens that equal those of the model in float32, and how many tokens of `generate` do from the first on:\n\n{second}\n"
            f"Losses of training steps on one batch, with our attention, with the other one, in float32:\n\n{third}")


# Page: tables by name.
PAGES = {"python.md": {"flash-attn-tests": flash_attn, "context-parallel": context_parallel, "models": models}}


def filled(text, name, content):
    start, end = f"<!-- table {name} -->\n", "<!-- end -->\n"
    pattern = re.compile(re.escape(start) + r".*?" + re.escape(end), re.S)
    if len(pattern.findall(text)) != 1:
        sys.exit(f"expected one place for table '{name}'")
    return pattern.sub(lambda _: f"{start}\n{content}\n{end}", text) if content else text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.path.join(ROOT, "docs", "data"))
    parser.add_argument("--docs", default=os.path.join(ROOT, "docs"), help="the folder of the pages")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    for page, tables in PAGES.items():
        path = os.path.join(options.docs, page)
        with open(path, encoding="utf-8") as file:
            text = before = file.read()
        for name, make in tables.items():
            text = filled(text, name, make(options.data))
        if options.check and text != before:
            sys.exit(f"{path}: not what the data give; run tools/bench/tables.py")
        if not options.check:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)


if __name__ == "__main__":
    main()
