#!/usr/bin/env python3
# Measures compiled kernels and their peers side by side; docs/dev/measuring.md says how to read it.
# SPDX-License-Identifier: MIT
"""usage: bench.py [attention] [backward] [backward_varlen] [varlen] [decode] [blocksparse] [matmul] [softmax] [softcap] [bias] --selvedge build/bin/selvedge --out results.csv

All candidates of a cell run in one process on the same random tensors, in interleaved rounds. Each is compared with an fp32 reference before it is
timed. A candidate that fails, hangs or takes the CUDA context with it gets a row that says so, and the others go on in a new process.
Kernels are compiled first, into --artefacts; without --selvedge those found there are used, so that a machine without the compiler can run them.
"""
import argparse
import csv
import fnmatch
import importlib
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time

import selvedge_op
from processes import lines_of
from worker import WORKLOADS

COLUMNS = ["workload", "family", "x", "mode", "candidate", "status", "unit", "median", "low", "high", "median_us", "rounds", "launches", "clock_mhz",
           "power_w", "temperature_c", "error", "note"]
# A process that died this often is not started again.
MOST_STARTS = 20


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", choices=[[], *WORKLOADS], metavar="WORKLOAD", help="attention (default), backward, backward_varlen, varlen, decode, blocksparse, matmul, softmax, softcap, bias")
    parser.add_argument("--selvedge", help="the compiler; libselvedge.so is expected in ../lib beside it")
    parser.add_argument("--templates", default=os.path.join(selvedge_op.ROOT, "templates"))
    parser.add_argument("--artefacts", help="folder of compiled kernels (default: a temporary one)")
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--peers", default=os.environ.get("PEERS", "/tmp/peers"), help="where unpack_peers.sh put the peers")
    parser.add_argument("--cells", nargs="+", default=["*"], metavar="PATTERN", help="cells by name, such as 'D 128 causal *'; --list prints them")
    parser.add_argument("--candidates", nargs="+", metavar="NAME", help="only these, in every cell")
    parser.add_argument("--every", action="store_true", help="all candidates in every cell, also those that are slow to compile and never best")
    parser.add_argument("--quick", action="store_true", help="a few cells")
    parser.add_argument("--mode", choices=["burst", "sustained"], default="burst")
    parser.add_argument("--rounds", type=int, help="default: 8 bursts, or 2 times one second")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a sustained measurement")
    parser.add_argument("--warm-seconds", type=float, default=0.3, help="load before it")
    parser.add_argument("--budget", type=float, default=0, help="seconds after which no further cell is begun")
    parser.add_argument("--hang", type=float, default=90, help="seconds without a word after which a candidate is given up")
    parser.add_argument("--out", default="bench.csv")
    parser.add_argument("--dry-run", action="store_true", help="compile, and print what would be launched; needs neither GPU nor PyTorch")
    parser.add_argument("--list", action="store_true", help="only print the names of the cells")
    options = parser.parse_args()
    options.workloads = list(dict.fromkeys(options.workloads)) or ["attention"]
    if options.list:
        return options
    if not options.selvedge and not options.artefacts:
        parser.error("one of --selvedge and --artefacts is needed")
    if options.selvedge and not (program := shutil.which(options.selvedge)):
        parser.error(f"there is no program '{options.selvedge}'")
    elif options.selvedge:
        options.selvedge = program
    options.rounds = options.rounds or (8 if options.mode == "burst" else 2)
    return options


def selected(options):
    """The cells of each workload."""
    match = lambda cell: any(fnmatch.fnmatch(cell.name, pattern) for pattern in options.cells)
    return {name: [c for c in importlib.import_module(name).cells(options.quick) if match(c)] for name in options.workloads}


def builds_of(workload, cell, arch):
    """Those of all candidates, where a workload has several of ours."""
    return workload.builds(cell, arch) if hasattr(workload, "builds") else [workload.build(cell, arch)]


def compile_kernels(options, cells):
    if not options.selvedge:
        return {}
    builds = [build for name, row in cells.items() for cell in row for build in builds_of(importlib.import_module(name), cell, options.arch)]
    start = time.monotonic()
    failures = selvedge_op.compile_all(builds, options.selvedge, options.templates, options.artefacts)
    print(f"compiled {len({b.file() for b in builds})} kernels in {time.monotonic() - start:.1f} s, {len(failures)} failed", flush=True)
    for name, message in failures.items():
        print(f"  {name}: {message.splitlines()[0]}")
    return failures


def dry_run(options, cells, failures):
    library, broken = selvedge_op.Library(options.artefacts), len(failures)
    for name, row in cells.items():
        workload = importlib.import_module(name)
        for cell in row:
            print(f"{name}: {cell.name}: " + ", ".join(f"{key} {value}" for key, value in cell.shape.items()))
            try:
                lines = [line for build in builds_of(workload, cell, options.arch) for line in library.describe(build, workload.layouts(cell))]
            except RuntimeError as error:
                lines, broken = [f"error: {error}"], broken + 1
            for line in lines:
                print(f"    {line}")
            takes_part = [c.name for c in workload.CANDIDATES if options.every or c.sampled(cell)]
            print(f"    candidates: {', '.join(options.candidates or takes_part)}")
    return 1 if broken else 0


class Bench:
    """Feeds a worker with cells, records its rows and replaces it when it dies."""

    def __init__(self, options, cells, failures):
        self.options, self.started = options, time.time()
        self.left = {name: [cell.name for cell in row] for name, row in cells.items()}
        deadline = self.started + options.budget if options.budget else time.time() + 1e9
        self.job = dict(quick=options.quick, mode=options.mode, rounds=options.rounds, seconds=options.seconds, warm_seconds=options.warm_seconds,
                        every=options.every, candidates=options.candidates, artefacts=options.artefacts, arch=options.arch, peers=options.peers,
                        failures=failures, excluded={}, deadline=deadline)
        self.file = open(options.out, "w", newline="")
        self.writer = csv.DictWriter(self.file, COLUMNS, restval="")
        self.header_written = False
        self.broken = 0

    def run(self):
        for _ in range(MOST_STARTS):
            if not any(self.left.values()):
                break
            if not self.run_worker():
                return 1
        self.file.close()
        print(f"{self.options.out}: {time.time() - self.started:.0f} s, {self.broken} rows that failed", flush=True)
        return 1 if any(self.left.values()) else 0

    def run_worker(self):
        """False where there is no use in another one."""
        here = os.path.dirname(os.path.abspath(__file__))
        process = subprocess.Popen([sys.executable, os.path.join(here, "worker.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        process.stdin.write(json.dumps(dict(self.job, cells=self.left)))
        process.stdin.close()
        lines = lines_of(process.stdout)
        current, reason, progress = None, None, False
        while True:
            try:
                line = lines.get(timeout=self.options.hang)
            except queue.Empty:
                reason = f"no answer for {self.options.hang:g} s"
                process.kill()
                break
            if line is None:
                break
            message = json.loads(line)
            if message["kind"] == "unusable":
                print(message["reason"], file=sys.stderr)
                return False
            if message["kind"] == "environment":
                self.header(message["values"])
            elif message["kind"] == "end":
                self.record(message)
                current, progress = None, True
            else:
                current, reason = message, message.get("reason", reason)
        status = process.wait()
        if reason is None and status == 0:
            return True
        if current is None:
            print(f"the measuring process ended with status {status} between cells", file=sys.stderr)
            return progress
        self.give_up(current, reason or f"the process ended with status {status}")
        return True

    def give_up(self, current, reason):
        """The candidate that was at work is left out of this cell; without one the cell itself is."""
        workload, cell, candidate = current["workload"], current["cell"], current["candidate"]
        print(f"{workload}: {cell}: {candidate or 'reference'}: {reason}", flush=True)
        if candidate:
            self.job["excluded"][f"{workload} {cell} {candidate}"] = reason
        else:
            self.record(dict(workload=workload, cell=cell, rows=[dict(candidate="", status="failed", note=reason)]))

    def header(self, values):
        if self.header_written:
            return
        self.header_written = True
        values = dict(date=time.strftime("%Y-%m-%d"), arch=self.options.arch, mode=self.options.mode, **values)
        for key, value in values.items():
            self.file.write(f"# {key}: {value}\n")
        self.writer.writeheader()

    def record(self, message):
        workload, cell = message["workload"], message["cell"]
        self.left[workload].remove(cell)
        for row in message["rows"]:
            family, x = (row.get("family"), row.get("x")) if "family" in row else (cell, "")
            error = row.get("error")
            row = dict(row, workload=workload, family=family, x=x, mode=self.options.mode, error="" if error is None else f"{error:.2e}")
            self.writer.writerow(row)
            self.broken += row["status"] in ("wrong", "failed")
        self.file.flush()
        rates = " ".join(f"{r['candidate']} {r['median']:.4g}" for r in message["rows"] if "median" in r)
        others = "; ".join(f"{r['candidate']} {r['status']}: {r.get('note', '')}"[:110] for r in message["rows"] if r["status"] not in ("ok", "roof"))
        print(f"[{time.time() - self.started:4.0f} s] {workload}: {cell}: {rates}" + (f" ({others})" if others else ""), flush=True)


def main():
    options = parse()
    cells = selected(options)
    names = [cell.name for row in cells.values() for cell in row]
    if nameless := [pattern for pattern in options.cells if not fnmatch.filter(names, pattern)]:
        sys.exit(f"bench.py: no cell is named '{nameless[0]}'; --list without --cells prints the names")
    if options.list:
        print("\n".join(f"{workload}: {cell.name}" for workload, row in cells.items() for cell in row))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        options.artefacts = options.artefacts or folder
        failures = compile_kernels(options, cells)
        return dry_run(options, cells, failures) if options.dry_run else Bench(options, cells, failures).run()


if __name__ == "__main__":
    sys.exit(main())
