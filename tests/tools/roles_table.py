#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which kernels of which ops run with warp roles, and why the others do not.

    roles_table.py SELVEDGE FILE... [--set D=64 ...] [--arch sm_90a]

Writes a table in Markdown: a line per op, a column per list of bindings, of which an op takes those that it knows. Ops are those that a file defines itself.
"""

import argparse
import re
import subprocess
import sys


def ops_of(path):
    text = open(path, encoding="utf-8").read()
    return re.findall(r"^op (\w+)", text, re.MULTILINE)


def parameters_of(path, op):
    """Names that `--set` knows, as far as the header of the op names them; None where it extends another op, which may know more."""
    text = open(path, encoding="utf-8").read()
    header = re.search(rf"^op {op}(<[^>]*>)?([^{{]*)", text, re.MULTILINE)
    if "extends" in header.group(2):
        return None
    return set(re.findall(r"(\w+):", header.group(1) or ""))


def outcome(selvedge, arch, path, op, bindings):
    known = parameters_of(path, op)
    if known is not None:
        bindings = [binding for binding in bindings if binding.split("=")[0] in known]
    command = [selvedge, "compile", path, "--op", op, "--arch", arch, "--emit", "sm:async", "--verbose", "-o", "-"]
    for binding in bindings:
        command += ["--set", binding]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    remarks = re.findall(r"kernel '(\w+)' runs without warp roles: (.*)", done.stderr)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return "refused: " + next((line for line in lines if "error" in line), lines[-1] if lines else "")
    kernels = re.findall(r"^  sm\.kernel @(\w+).*?^  }", done.stdout, re.MULTILINE | re.DOTALL)
    bodies = re.split(r"^  sm\.kernel @", done.stdout, flags=re.MULTILINE)[1:]
    with_roles = sorted({re.sub(r"_(bulk|packed|aligned)$", "", name) for name, body in zip(kernels, bodies) if "sm.role " in body})
    words = ["roles: " + ", ".join(name.removeprefix(op + "_") for name in with_roles)] if with_roles else []
    words += [f"`{kernel}`: {why}" for kernel, why in remarks]
    return "; ".join(words) or "no products"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("selvedge")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--set", action="append", default=[], help="comma-separated bindings, a column each")
    parser.add_argument("--op", action="append", default=[], help="these ops alone")
    parser.add_argument("--arch", default="sm_90a")
    args = parser.parse_args()
    columns = args.set or [""]
    print("| op | " + " | ".join(column or "as written" for column in columns) + " |")
    print("|---|" + "---|" * len(columns))
    for path in args.files:
        for op in ops_of(path):
            if args.op and op not in args.op:
                continue
            cells = [outcome(args.selvedge, args.arch, path, op, [b for b in column.split(",") if b]) for column in columns]
            print(f"| {op} | " + " | ".join(cells) + " |")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
