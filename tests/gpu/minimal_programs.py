#!/usr/bin/env python3
"""Runs the programs of tests/programs/minimal on the GPU, or on device sim: poisoned in every way, compared with the reference and with a clean run.

    minimal_programs.py SELVEDGE FOLDER [--device sim] [--arch sm_80 --arch sm_90a] [--csv FILE]

Each file says its shapes in its RUN lines. Prints what fails and a count; the table has a row per program and target.
"""
# SPDX-License-Identifier: MIT
import argparse
import concurrent.futures
import csv
import os
import pathlib
import re
import subprocess
import sys

LIMIT_S = 120


def cases(folder):
    """File, op, target and shape of every RUN line."""
    for path in sorted(pathlib.Path(folder).glob("*.tile")):
        for line in re.findall(r"^// RUN: .*selvedge run %s (.*)$", path.read_text(), re.M):
            options = {key: value.strip("'") for key, value in re.findall(r"--(op|arch|shape) (\S+)", line)}
            fills = re.findall(r"--fill \S+", line)
            yield path, options.get("op"), options["arch"], " ".join([options["shape"]] + fills)


def run(selvedge, device, path, op, arch, shape):
    """Exit status and last line of one program on a device."""
    command = [selvedge, "run", str(path), "--arch", arch, "--device", device, "--shape", *shape.split(), "--poison", "all", "--compare", "ref,clean"]
    if op:
        command += ["--op", op]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return "timeout", f"no end within {LIMIT_S} s"
    lines = (done.stdout + done.stderr).strip().splitlines()
    told = [line for line in lines if "error" in line or "outside" in line] or lines[-1:] or [""]
    return ("ok" if done.returncode == 0 else f"status {done.returncode}"), told[0][:160]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("selvedge")
    parser.add_argument("folder")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--arch", action="append")
    parser.add_argument("--jobs", type=int, default=min(8, os.cpu_count() or 1))
    parser.add_argument("--csv")
    options = parser.parse_args()
    rows = []
    chosen = [case for case in cases(options.folder) if not options.arch or case[2] in options.arch]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda case: run(options.selvedge, options.device, *case), chosen)
        told_of = list(zip(chosen, results))
    for (path, op, arch, shape), (status, told) in told_of:
        rows.append([path.stem, op or "", arch, shape, status])
        if status != "ok":
            print(f"{path.stem} {op or ''} {arch}: {status}: {told}", flush=True)
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            csv.writer(file).writerows([["program", "op", "arch", "shape", "status"]] + rows)
    failed = sum(row[-1] != "ok" for row in rows)
    print(f"{len(rows) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
