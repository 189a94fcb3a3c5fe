#!/usr/bin/env python3
# Runs every template under compute-sanitizer, and a thousand times in a row.
# SPDX-License-Identifier: MIT
"""usage: sanitize.py --selvedge bin/selvedge [--arch sm_90a ...] [--tools memcheck racecheck repeat] [--filter REGEX] [--jobs 4] [--budget S] [--out table.csv]

Each op of the poison matrix (poison_matrix.py) runs at one small shape: with every tool of compute-sanitizer that is named, and as `repeat`, 1000 launches that have
to be equal and within the bounds of `ref`. The table is written as rows come in.
"""
import argparse
import csv
import os
import re
import shutil
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from poison_matrix import make_groups

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/bench"))
from processes import finished  # noqa: E402

COLUMNS = ["op", "template", "arch", "sets", "case", "tool", "result", "seconds", "message"]
SANITIZERS = ("memcheck", "racecheck", "synccheck", "initcheck")
# The case of an op that has tails, several tiles and lengths of its own, where its first one does not; and the parameters that are preferred.
CASES = {"matmul": "M=65,N=33,K=129", "softmax": "M=77,N=65", "flash_fwd": "B=2,M=200", "flash_bwd": "B=2,M=65", "merge": "l2=-inf,0.5", "window": "B=3,M=130", "gemma": "B=3,M=130"}
SETS = {"causal": "true", "D": "64", "DV": "64", "T": "bf16", "W": "64", "BK": "128"}
# Other code: pages that a step divides and that it does not, sums in order and in any, of heads that share keys.
BOTH = {"P": ("16", "256"), "deterministic": ("true", "false"), "by_head": ("true",)}
EXIT = 86


def chosen(archs):
    """One group per op, way to mask, choice of BOTH and target, with the case that it runs."""
    found = {}
    for group in make_groups(archs, False):
        choice = {name: str(group.sets[name]) for name in BOTH if name in group.sets}
        if any(value not in BOTH[name] for name, value in choice.items()):
            continue
        key = (group.arch, group.template, group.op, group.mask, *choice.values())
        score = sum(str(group.sets.get(name, value)) == value for name, value in SETS.items())
        if key not in found or score > found[key][0]:
            found[key] = (score, group)
    made = []
    for key in sorted(found):
        group = found[key][1]
        fitting = [case for case in group.cases if "--break-requires" not in case]
        wanted = [case for case in fitting if re.search(CASES.get(group.op, ""), case)] or fitting
        made.append((group, re.sub(r" *--repeat \d+", "", wanted[0])))
    return made


def program_of(tool, options):
    """What is put before `selvedge`, and what behind its case."""
    if tool == "repeat":
        return [], ["--repeat", str(options.repeat), "--compare", "ref"]
    # ptxas, which selvedge calls, is of no interest.
    return [options.sanitizer, "--tool", tool, "--target-processes", "application-only", "--error-exitcode", str(EXIT)], []


def summary(tool, status, text):
    """(result, what was said)"""
    found = re.search(r"=+ (?:ERROR|RACECHECK) SUMMARY: (.*)", text)
    lines = [line for line in text.splitlines() if line.strip()]
    if tool != "repeat" and not found:
        return "no summary", f"status {status}: " + " / ".join(lines[-4:])
    problems = re.findall(r"(\d+) (?:error|hazard)", found[1]) if found else []
    if status == 0 and not any(map(int, problems)):
        return "pass", found[1] if found else ""
    told = [line for line in lines if re.search(r"FAILED|[Ee]rror|Race|Invalid|differ|first at", line)] or lines[-4:]
    return "FAIL", f"status {status}: " + " / ".join(told[:4])


class Table:
    def __init__(self, options):
        self.options, self.lock, self.rows = options, threading.Lock(), []
        self.deadline = time.monotonic() + (options.budget or 1e9)
        self.file = open(options.out, "w", newline="") if options.out else None
        self.write(COLUMNS)

    def write(self, row):
        if self.file:
            csv.writer(self.file).writerow(row)
            self.file.flush()

    def add(self, group, case, tool, result, seconds, message):
        row = [group.op, group.template, group.arch, " ".join(f"{key}={value}" for key, value in group.sets.items()), case, tool, result, f"{seconds:.1f}", message[:2000]]
        with self.lock:
            self.rows.append(row)
            self.write(row)
            told = "" if result == "pass" else f"\n     {case}\n     {result}: {message[:600]}"
            print(f"{'ok  ' if result == 'pass' else 'FAIL'} {tool:9s} {group.arch:7s} {group.name()} {seconds:5.1f} s{told}", flush=True)

    def run(self, group, case, tool):
        limit = min(self.options.timeout, self.deadline - time.monotonic())
        if limit < 5:
            return
        before, behind = program_of(tool, self.options)
        with tempfile.TemporaryDirectory() as folder:
            command = [*before, self.options.selvedge, "run", group.source(self.options.templates, folder), "--arch", group.arch, "--op", group.op, "--mask", group.mask,
                       "--device", "gpu", "--poison", "nan", *case.split(), *behind]
            for name, value in group.sets.items():
                command += ["--set", f"{name}={value}"]
            start = time.monotonic()
            status, text = finished(command, limit, os.path.join(folder, "said.txt"))
        seconds = time.monotonic() - start
        if status is None:
            if limit < self.options.timeout:
                return  # the budget is over, which says nothing
            self.add(group, case, tool, "timeout", seconds, text[-600:])
            return
        result, message = summary(tool, status, text)
        self.add(group, case, tool, result, seconds, message)
        if result != "pass" and self.options.logs:
            os.makedirs(self.options.logs, exist_ok=True)
            name = re.sub(r"[^A-Za-z0-9_.=-]+", "-", f"{tool} {group.arch} {group.name()}")
            with open(os.path.join(self.options.logs, name + ".txt"), "w") as file:
                file.write(" ".join(command) + "\n" + text[:200000])


def sanitizer_of(named):
    places = [named, shutil.which("compute-sanitizer"), os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin/compute-sanitizer"), "/usr/local/cuda/bin/compute-sanitizer"]
    return next((place for place in places if place and os.path.exists(place)), None)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--selvedge", required=True)
    parser.add_argument("--templates", default=os.path.join(here, "../../templates"))
    parser.add_argument("--arch", nargs="+", default=["sm_80", "sm_90a"])
    parser.add_argument("--tools", nargs="+", default=["memcheck", "racecheck", "repeat"], choices=[*SANITIZERS, "repeat"])
    parser.add_argument("--sanitizer", help="compute-sanitizer (default: on PATH or in the CUDA toolkit)")
    parser.add_argument("--filter", default="", help="a regular expression that the target and name of a kernel match: 'sm_90a flash_bwd'")
    parser.add_argument("--repeat", type=int, default=1000, help="launches of `repeat`")
    parser.add_argument("--jobs", type=int, default=min(6, os.cpu_count() or 1))
    parser.add_argument("--timeout", type=float, default=150, help="seconds for one run, its compilation included")
    parser.add_argument("--budget", type=float, default=0, help="seconds after which nothing runs any more")
    parser.add_argument("--logs", help="a folder for what failing runs said")
    parser.add_argument("--out", help="CSV: " + ", ".join(COLUMNS))
    parser.add_argument("--list", action="store_true", help="print what would run")
    options = parser.parse_args()
    cases = [(group, case) for group, case in chosen(options.arch) if re.search(options.filter, f"{group.arch} {group.name()}")]
    if options.list:
        for group, case in cases:
            print(f"{group.arch} {group.template} {group.name()}: {case}")
        return 0
    options.selvedge = shutil.which(options.selvedge) or options.selvedge
    options.sanitizer = sanitizer_of(options.sanitizer)
    if not options.sanitizer and set(options.tools) != {"repeat"}:
        print("sanitize.py: there is no compute-sanitizer; only `repeat` runs", file=sys.stderr)
        options.tools = [tool for tool in options.tools if tool == "repeat"]
    table = Table(options)
    # Tool by tool: a budget leaves out the end of each list last.
    jobs = [(group, case, tool) for tool in options.tools for group, case in cases]
    with ThreadPoolExecutor(options.jobs) as pool:
        for future in [pool.submit(table.run, *job) for job in jobs]:
            future.result()
    failed = sum(row[6] != "pass" for row in table.rows)
    left = len(jobs) - len(table.rows)
    print(f"{len(table.rows) - failed} passed, {failed} failed" + (f", {left} left out for want of time" if left else ""))
    return 1 if failed or not table.rows else 0


if __name__ == "__main__":
    sys.exit(main())
