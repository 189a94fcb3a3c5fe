#!/usr/bin/env python3
# Turns results of bench.py into Markdown tables and SVG plots.
# SPDX-License-Identifier: MIT
"""usage: report.py results.csv [more.csv ...] [--out report.md] [--svg FOLDER]

One table per family of cells: the median rate of every candidate, the best peer in bold, our rate over the best peer's, and the geometric mean of
that ratio. Where files hold the same measurement, the last one counts.
"""
import argparse
import csv
import math
import os
import re
import sys

import plot

OURS = "selvedge"
# Left to right; the same candidates in another layout of memory stand beside them.
ORDER = ["selvedge", "selvedge_deterministic", "selvedge_bhsd", "cudnn", "cudnn_bhsd", "cublas", "pytorch", "efficient", "fa2", "fa3", "fa4", "flex", "tilelang", "copy"]


class Family:
    """Cells that share a table: {x: {candidate: row}}."""

    def __init__(self, workload, name, mode):
        self.workload, self.name, self.mode, self.unit = workload, name, mode, ""
        self.cells = {}

    def add(self, row):
        self.cells.setdefault(row["x"], {})[row["candidate"]] = row
        self.unit = row["unit"] or self.unit

    def title(self):
        name = self.name if self.name.startswith(self.workload) else f"{self.workload} {self.name}"
        return f"{name}, {self.unit}" + (", sustained" if self.mode == "sustained" else "")

    def file(self):
        return re.sub(r"[^a-z0-9]+", "-", f"{self.title().split(',')[0]} {self.mode}".lower()).strip("-")

    def candidates(self):
        """Those with a number somewhere."""
        present = {name for rows in self.cells.values() for name, row in rows.items() if row["median"]}
        return [name for name in ORDER if name in present] + sorted(present.difference(ORDER))

    def rate(self, x, candidate):
        row = self.cells[x].get(candidate)
        return float(row["median"]) if row and row["median"] else None

    def best_peer(self, x):
        """The name of the fastest candidate that is neither ours nor a roof."""
        rates = {name: self.rate(x, name) for name, row in self.cells[x].items() if not name.startswith(OURS) and row["status"] == "ok"}
        return max(rates, key=rates.get) if rates else None

    def ratio(self, x):
        ours, best = self.rate(x, OURS), self.best_peer(x)
        return ours / self.rate(x, best) if ours and best else None

    def mean_ratio(self):
        ratios = [r for r in map(self.ratio, self.cells) if r]
        return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def read(paths):
    """Families in the order of the files, and the lines that say what was measured on."""
    families, environment = {}, {}
    for path in paths:
        with open(path, newline="") as file:
            lines = file.readlines()
        for line in lines:
            if line.startswith("# ") and ": " in line:
                key, value = line[2:].rstrip("\n").split(": ", 1)
                environment[key] = value
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            if not row["candidate"]:
                print(f"{path}: {row['workload']} {row['family']}: {row['status']}, {row['note']}", file=sys.stderr)
                continue
            key = (row["workload"], row["family"], row["mode"])
            families.setdefault(key, Family(*key)).add(row)
    return list(families.values()), environment


def number(rate):
    return "" if rate is None else f"{rate:.0f}" if rate >= 100 else f"{rate:.2f}" if rate < 10 else f"{rate:.1f}"


def span(family, column):
    values = [float(row[column]) for rows in family.cells.values() for row in rows.values() if row[column]]
    return f"{min(values):.0f} to {max(values):.0f}" if values else "not read"


def spread(family):
    """The widest (max - min) / median."""
    rows = [row for cell in family.cells.values() for row in cell.values() if row["median"]]
    return max(((float(r["high"]) - float(r["low"])) / float(r["median"]) for r in rows), default=0)


def table(family):
    names = family.candidates()
    lines = [f"### {family.title()}", "", "| | " + " | ".join(names) + " | ours / best |", "|" + "---|" * (len(names) + 2)]
    for x in family.cells:
        best, ratio = family.best_peer(x), family.ratio(x)
        row = [f"**{number(family.rate(x, name))}**" if name == best else number(family.rate(x, name)) for name in names]
        lines.append(f"| {x} | " + " | ".join(row) + f" | {f'{ratio:.2f}' if ratio else ''} |")
    mean = family.mean_ratio()
    lines += ["", (f"Geometric mean {mean:.3f}. " if mean else "") + f"Widest spread {100 * spread(family):.1f} %; SM clock {span(family, 'clock_mhz')} MHz, "
              f"power {span(family, 'power_w')} W."]
    rows = [row for cell in family.cells.values() for row in cell.values()]
    problems = {(row["candidate"], row["status"], row["note"]) for row in rows if row["status"] in ("wrong", "failed")}
    lines += [f"* {name} {status}: {note}" for name, status, note in sorted(problems)]
    return "\n".join(lines) + "\n"


def summary(families):
    lines = ["| | cells | ours / best peer, geometric mean | lowest | highest |", "|---|---|---|---|---|"]
    for family in families:
        ratios = [r for r in map(family.ratio, family.cells) if r]
        if ratios:
            lines.append(f"| {family.title()} | {len(ratios)} of {len(family.cells)} | {family.mean_ratio():.3f} | {min(ratios):.2f} | {max(ratios):.2f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+")
    parser.add_argument("--out")
    parser.add_argument("--svg", metavar="FOLDER", help="also draw families of at least three cells")
    options = parser.parse_args()
    families, environment = read(options.results)
    about = ", ".join(f"{key} {value}" for key, value in environment.items() if value != "missing")
    text = "\n".join([about + "\n", summary(families)] + [table(family) for family in families])
    if options.out:
        with open(options.out, "w") as file:
            file.write(text)
    else:
        print(text)
    if options.svg:
        os.makedirs(options.svg, exist_ok=True)
        for family in families:
            if len(family.cells) >= 3:
                curves = {name: [family.rate(x, name) for x in family.cells] for name in family.candidates()}
                with open(os.path.join(options.svg, family.file() + ".svg"), "w") as file:
                    file.write(plot.draw(family.title(), list(family.cells), curves, OURS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
