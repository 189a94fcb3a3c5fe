#!/usr/bin/env python3
"""Runs the programs of tests/programs/minimal on the GPU, or on device sim: poisoned in every way unless --poison says otherwise, compared with the reference and with a clean run.

    minimal_programs.py SELVEDGE FOLDER [--device sim] [--arch sm_80 --arch sm_90a] [--poison KINDS] [--csv FILE]

Each file says its shapes in its RUN lines. Prints what fails and a count; the table has a row per program, target and shape.
"""
# SPDX-License-Identifier: MIT
import argparse
import concurrent.futures
import csv
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LIMIT_S = 120
OTHER_KINDS = ["inf", "ninf", "max", "random", "subnormal", "ff"]


def cases(folder):
    """File, op, target, settings and shape of every RUN line."""
    for path in sorted(pathlib.Path(folder).glob("*.tile")):
        for line in re.findall(r"^// RUN: .*selvedge run %s (.*)$", path.read_text(), re.M):
            options = {key: value.strip("'") for key, value in re.findall(r"--(op|arch|shape) (\S+)", line)}
            fills = re.findall(r"--fill \S+", line)
            yield path, options.get("op"), options["arch"], tuple(re.findall(r"--set (\S+)", line)), " ".join([options["shape"]] + fills)


def run(selvedge, device, path, op, arch, sets, shapes, poison):
    """Status and what was told of every shape of a program, which is compiled once."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "shapes"
        file.write_text("".join(f"--shape {shape}\n" for shape in shapes))
        command = [selvedge, "run", str(path), "--arch", arch, "--device", device, "--cases", str(file), "--poison", poison, "--compare", "ref,clean"]
        if op:
            command += ["--op", op]
        for setting in sets:
            command += ["--set", setting]
        limit = LIMIT_S * len(shapes)
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return [("timeout", f"no end within {limit} s")] * len(shapes)
    lines = (done.stdout + done.stderr).strip().splitlines()
    told = dict(re.findall(r"^case (\d+): (.*)", done.stdout, re.M))
    results = []
    for number in range(1, len(shapes) + 1):
        # A program that does not compile says nothing of its shapes.
        text = told.get(str(number), (lines or [""])[-1])
        results.append(("ok" if text.startswith("ok") and str(number) in told else f"status {done.returncode}", text[:160]))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("selvedge")
    parser.add_argument("folder")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--arch", action="append")
    parser.add_argument("--poison", default="all", help="kinds, as of `selvedge run`; turns: NaN and one other kind, the next one for the next program")
    parser.add_argument("--jobs", type=int, default=min(8, os.cpu_count() or 1))
    parser.add_argument("--csv")
    options = parser.parse_args()
    rows, programs = [], {}
    for path, op, arch, sets, shape in cases(options.folder):
        if not options.arch or arch in options.arch:
            # Several forms of a program name the same shape.
            programs.setdefault((path, op, arch, sets), {})[shape] = None
    kinds = itertools.cycle(OTHER_KINDS)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = []
        for program, shapes in programs.items():
            poison = f"nan,{next(kinds)}" if options.poison == "turns" else options.poison
            results.append(pool.submit(run, options.selvedge, options.device, *program, list(shapes), poison))
        for ((path, op, arch, sets), shapes), result in zip(programs.items(), results):
            for shape, (status, told) in zip(shapes, result.result()):
                rows.append([path.stem, op or "", arch, " ".join([shape, *sets]), status])
                if status != "ok":
                    print(f"{path.stem} {op or ''} {arch} {shape}: {status}: {told}", flush=True)
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            csv.writer(file).writerows([["program", "op", "arch", "shape", "status"]] + rows)
    failed = sum(row[-1] != "ok" for row in rows)
    print(f"{len(rows) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
