#!/usr/bin/env python3
"""Edits of form `lanes`, one at a time, executed on device `sim`: what it notices.

    lanes_mutants.py SELVEDGE TEMPLATES [--count 10] [--seed 0] [--kernel NAME] [--show KIND]

Makes COUNT edits of each class in each kernel, and prints a row per class: edits that sim refuses (a fault), whose results are outside of ref's bounds (wrong), or are other bits inside of them (near), and
those that change nothing (same). Lines that no case executes are left alone. `--show` prints edits of a kind. The status is 1 where an edit of a class that no bound covers is near, or sim fails by itself.
"""
# SPDX-License-Identifier: MIT
import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

LIMIT_S = 120

# Template, options, variant, shapes: small, with tails in every direction.
KERNELS = {
    "softmax-80": ("softmax", ["--arch", "sm_80"], "universal", ["M=3,N=130"]),
    "matmul-80": ("matmul", ["--arch", "sm_80"], "aligned", ["M=130,N=72,K=104"]),
    "flash-80": ("flash_fwd", ["--arch", "sm_80", "--set", "D=64", "--set", "causal=true"], "aligned", ["B=2,M=140,G=1,R=2,N=300"]),
    "matmul-90": ("matmul", ["--arch", "sm_90a"], "bulk", ["M=700,N=520,K=136"]),
    "flash-90": ("flash_fwd", ["--arch", "sm_90a", "--set", "D=64", "--set", "causal=true"], "bulk", ["B=1,M=520,G=2,R=2,N=600"]),
}


def constants(lines):
    """Names of the i32 constants by value, and by name."""
    found = {}
    for line in lines:
        if m := re.match(r"\s*(%\S+) = arith\.constant (-?\d+) : i32", line):
            found[m[1]] = int(m[2])
    return found


def other_constant(name, values, rng):
    """A constant near another one."""
    value = values[name]
    near = sorted((n for n in values if values[n] != value), key=lambda n: abs(values[n] - value))
    return rng.choice(near[:4]) if near else None


def swap_constant(pattern):
    """An edit that gives an operation of a kind another constant."""

    def edit(line, values, rng):
        if not re.search(pattern, line):
            return None
        uses = [m for m in re.finditer(r"%c-?\d+_i32(?:_\d+)?", line) if m[0] in values and m.start() > line.find("=")]
        if not uses:
            return None
        use = rng.choice(uses)
        new = other_constant(use[0], values, rng)
        return new and line[: use.start()] + new + line[use.end() :]

    return edit


def replace(pattern, *news):
    """An edit that replaces a match."""

    def edit(line, values, rng):
        matches = list(re.finditer(pattern, line))
        if not matches:
            return None
        m = rng.choice(matches)
        return line[: m.start()] + m.expand(rng.choice(news)) + line[m.end() :]

    return edit


def delete(pattern):
    """An edit that deletes a line without results."""

    def edit(line, values, rng):
        if not re.search(pattern, line) or re.match(r"\s*%", line):
            return None
        return ""

    return edit


def descriptor(line, values, rng):
    """Another field of a matrix descriptor, or another step in it."""
    if m := re.match(r"(\s*%\S+ = arith\.constant )(\d{15,}|\d{11,13})( : i64)", line):
        bits = int(m[2])
        if bits >> 62 not in (0, 1) or not bits >> 32 & 0x3FFF:
            return None
        at = rng.choice([16, 17, 32, 33, 35, 62, 63])
        # The leading distance of rows of a swizzle is not read.
        return f"{m[1]}{(bits ^ 1 << at) if bits ^ 1 << at < 1 << 63 else (bits ^ 1 << at) - (1 << 64)}{m[3]}"
    steps = list(re.finditer(r"add\.s64 d[ab], \$\d+, (\d+);", line))
    if not steps:
        return None
    m = rng.choice(steps)
    return line[: m.start(1)] + str(int(m[1]) + rng.choice([1, 2, 4])) + line[m.end(1) :]


WAIT = r"mbarrier\.try_wait"
CLASSES = {
    "address": [swap_constant(r"arith\.(addi|muli|shli|shrui) .* : i32"), replace(r"getelementptr (%\S+?)\[(\d+)\]", r"getelementptr \1[1\2]", r"getelementptr \1[2]")],
    "lane": [swap_constant(r"arith\.(andi|shrui) .* : i32"), swap_constant(r"shfl\.sync")],
    "swizzle": [replace(r"arith\.xori (%\S+), (%\S+) : i32", r"arith.ori \1, \2 : i32", r"arith.addi \1, \2 : i32", r"arith.ori \1, \1 : i32")],
    "matrix": [replace(r"m8n8\.x4\.trans\.", "m8n8.x4."), replace(r"m8n8\.x4\.(b16|shared)", r"m8n8.x4.trans.\1"), replace(r"\$1, \$2, \$3, \$4\};", "$1, $3, $2, $4};")],
    "product": [replace(r"(mma\.m16n8k16\S+\()(%\S+), (%\S+), ", r"\1\3, \2, "), replace(r"(ff2\w+\.rn\S*\()(%\S+), (%\S+)\)", r"\1\3, \2)"), replace(r"(scale, 1, 1), 0", r"\1, 1")],
    "descriptor": [descriptor],
    "phase": [replace(r'("r,r,~\{memory\}" %\S+), (%\S+)( : \(i32, i32\) -> \(\))', r"\1, %PHASE0\3", r"\1, %PHASE1\3")],
    "predicate": [
        replace(r"arith\.cmpi slt,", "arith.cmpi sle,"),
        replace(r"arith\.cmpi ult,", "arith.cmpi ule,"),
        replace(r"arith\.cmpi sge,", "arith.cmpi sgt,"),
        replace(r"arith\.andi (%\S+), (%\S+) : i1", r"arith.andi \1, \1 : i1", r"arith.andi \2, \2 : i1"),
        replace(r'"@\$(\d)', r'"@!$\1'),
        replace(r"arith\.select (%\S+), (%\S+), (%\S+) :", r"arith.select \1, \3, \2 :"),
    ],
    "wait": [delete(WAIT), delete(r"wait\.?_?group"), replace(r"wait_group(\S*) 0;", r"wait_group\1 1;")],
    "barrier": [delete(r"barrier\.cta|bar\.warp\.sync"), swap_constant(r"barrier\.cta\.\S+count|mbarrier\.init")],
    "arrival": [delete(r"mbarrier\.arrive|commit")],
    "fence": [delete(r"fence\."), replace(r"wgmma\.fence\.sync\.aligned;", "")],
    "bytes": [swap_constant(r"expect_tx")],
}
# Where a fault or a wrong result is due: what is near there is missed.
EXACT = {"wait", "barrier", "arrival", "fence", "bytes", "phase"}


def function_of(lines, variant):
    """First and last line of the variant's main kernel."""
    first = next(i for i, line in enumerate(lines) if re.match(rf"  llvm\.func @\S+_main_{variant}\(", line))
    return first, next(i for i in range(first, len(lines)) if lines[i] == "  }")


def mutants(lines, span, reached, count, rng):
    """Class, number of the line, and the new text: some of the edits that lines allow."""
    values = constants(lines[span[0] : span[1]])
    zero = next((n for n in values if values[n] == 0), None)
    one = next((n for n in values if values[n] == 1), None)
    for name, edits in CLASSES.items():
        places = [(i, edit) for i in range(*span) if i in reached or "arith.constant" in lines[i] for edit in edits if edit(lines[i], values, random.Random(0)) is not None]
        for i, edit in rng.sample(places, min(count, len(places))):
            new = edit(lines[i], values, rng)
            if new is None or (name == "phase" and WAIT.replace("\\", "") not in lines[i]):
                continue
            new = new.replace("%PHASE0", zero or "").replace("%PHASE1", one or "")
            if new != lines[i]:
                yield name, i, new


class Kernel:
    """A kernel, its cases, and what it prints unchanged."""

    def __init__(self, selvedge, templates, name, folder):
        template, options, self.variant, self.shapes = KERNELS[name]
        self.name, self.folder = name, folder
        path = str(pathlib.Path(templates) / f"{template}.tile")
        text = folder / f"{name}.mlir"
        subprocess.run([selvedge, "compile", path, *options, "--emit", "sm:lanes", "-o", str(text)], check=True)
        self.lines = text.read_text().split("\n")
        self.cases = folder / f"{name}.cases"
        self.cases.write_text("".join(f"--shape {shape} --compare ref\n" for shape in self.shapes))
        self.command = [selvedge, "run", path, *options, "--device", "sim", "--variant", self.variant, "--cases", str(self.cases), "--schedules", "2", "--lanes"]
        coverage = folder / f"{name}.lines"
        self.expected = self.run(text, "--coverage", str(coverage))
        if self.expected[0] != 0:
            sys.exit(f"{name} fails as it is: {self.expected[1]}")
        self.reached = {int(line) - 1 for line in coverage.read_text().split()}

    def run(self, path, *more):
        """Status and text, without times."""
        try:
            done = subprocess.run([*self.command, str(path), *more], capture_output=True, text=True, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return 124, "no end"
        return done.returncode, re.sub(r", [0-9.]+ s", "", done.stdout + done.stderr)

    def judge(self, number, line, new):
        """What sim makes of an edit: fault, wrong, near, same, invalid or failed."""
        path = self.folder / f"{self.name}.{number}.mlir"
        lines = list(self.lines)
        lines[line] = new
        path.write_text("\n".join(lines))
        status, text = self.run(path)
        path.unlink()
        if status == 0:
            return ("same" if text == self.expected[1] else "near"), ""
        if status < 0 or status == 124:
            return "failed", f"status {status}"
        if "cannot be executed" in text:
            return "invalid", text
        if "differ from those of 'ref'" in text:
            return "wrong", ""
        return "fault", text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("selvedge")
    parser.add_argument("templates")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kernel", action="append", choices=KERNELS)
    parser.add_argument("--show", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    counts = collections.defaultdict(collections.Counter)
    isBad = False
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name in options.kernel or KERNELS:
            kernel = Kernel(options.selvedge, options.templates, name, pathlib.Path(folder))
            rng = random.Random(f"{options.seed} {name}")
            span = function_of(kernel.lines, kernel.variant)
            edits = list(mutants(kernel.lines, span, kernel.reached, options.count, rng))
            jobs = [pool.submit(kernel.judge, i, line, new) for i, (_, line, new) in enumerate(edits)]
            for (kind, line, new), job in zip(edits, jobs):
                outcome, why = job.result()
                counts[kind][outcome] += 1
                isMissed = outcome == "failed" or (outcome == "near" and kind in EXACT)
                isBad |= isMissed
                if isMissed or outcome in options.show:
                    print(f"{name} {kind} {outcome}, line {line + 1}:\n  {kernel.lines[line].strip()[:300]}\n  {new.strip()[:300]}\n  {why.strip()[:400]}", flush=True)
    columns = ["fault", "wrong", "near", "same", "invalid", "failed"]
    print(f"{'':12}" + "".join(f"{column:>9}" for column in columns))
    for kind in [*CLASSES, "all"]:
        row = counts[kind] if kind != "all" else sum(counts.values(), collections.Counter())
        print(f"{kind:12}" + "".join(f"{row[column]:9}" for column in columns))
    return isBad


if __name__ == "__main__":
    sys.exit(main())
