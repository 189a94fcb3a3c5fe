#!/usr/bin/env python3
# Counts, bounds and compares the instructions of the loops in which kernels spend their time.
# SPDX-License-Identifier: MIT
"""usage: hot_loops.py list FILE...
       hot_loops.py same KERNEL LEFT RIGHT
       hot_loops.py bounds BOUNDS.json TEMPLATES [--update] [--only TEXT]

A hot loop is an innermost loop with tensor-core instructions. Files are cubins (nvdisasm is $SELVEDGE_NVDISASM or found on PATH) or end in `.ptx`.
`list` prints the loops of each kernel with counts by class.
`same` compares the first hot loop of both kernels, which does full steps. In PTX each opcode has to be equally often there, but for moves, which ptxas
coalesces, and for arithmetic on registers that the loop does not write, which it hoists: LLVM leaves it in the loop or not by what surrounds it. In SASS each opcode has to be, too, but for those of two classes: ptxas chooses between several integer instructions for an address or a loop's test, and what it
keeps in registers, by what surrounds the loop. PTX has shown that they do the same work; in all, a loop may have four more or fewer of them, and two tests.
`bounds` compiles each case of BOUNDS.json (arguments of `selvedge compile`; selvedge and ptxas are found as in the tests) and fails where a loop has more
instructions of a class than it allows, a kernel spills 32 bytes, or ptxas remarks on performance. `--update` writes bounds that fit.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

import device_code

# The first class whose expression matches the name of an opcode counts it; `integer` is for addresses, indices and moves.
CLASSES = {
    "tensor": r"[HIQ]?G?MMA",
    "mufu": r"MUFU",
    "float": r"FFMA|FMUL|FADD|H(FMA|ADD|MUL)2",
    "max": r"FMNMX",
    "convert": r"F2FP?|F2I|I2F",
    "shuffle": r"SHFL",
    "load": r"LD[GS]?|LDSM|LDL",
    "store": r"ST[GS]?|STSM|STL",
    "copy": r"LDGSTS|UTMALDG|UBLKCP",
    "sync": r"BAR|SYNCS|WARPSYNC|DEPBAR|LDGDEPBAR|WARPGROUP|FENCE|MEMBAR|YIELD",
    "select": r"U?SEL|FSEL|P2R|R2P",
    "branch": r"BRA|BSSY|BSYNC|BREAK|CALL|RET|EXIT",
    "predicate": r"U?ISETP|FSETP|U?PLOP3",
    "integer": r".*",
}
# How far the counts of two equal loops may be apart: ptxas chooses by what surrounds them.
CHOSEN_BY_PTXAS = {"predicate": 2, "integer": 4}
# PTX whose result depends on its operands alone.
ARITHMETIC = r"(add|sub|mul|mad|shl|shr|and|or|xor|not|neg|min|max|cvt|selp|setp)\..*"
# What --update adds to a count, for other versions of ptxas and for code around the loop.
HEADROOM = {"predicate": lambda n: 2, "integer": lambda n: n // 20 + 4}
SPILL_LIMIT = 32  # bytes; ptxas spills a few around calls, which costs nothing


def class_of(instruction):
    name = instruction.opcode.split(".")[0]
    return next(c for c, expression in CLASSES.items() if re.fullmatch(expression, name))


def by_class(loop):
    return collections.Counter(class_of(i) for i in loop)


def is_ptx(path):
    return path.endswith(".ptx")


def registers(text):
    return re.findall(r"%[a-z]+\d+", text)


def split_result(instruction):
    """The registers that an instruction of PTX writes, and those that it reads."""
    result, rest = re.match(r"(\{[^}]*\}|[^,]*),?(.*)", instruction.operands, re.S).groups()
    return registers(result), registers(rest)


def varying(loop):
    """The instructions without arithmetic that gives the same in every round."""
    left = list(loop)
    while True:
        written = collections.Counter(r for i in left for r in split_result(i)[0])
        same_always = lambda i: (not i.predicate and re.fullmatch(ARITHMETIC, i.opcode) and all(written[r] == 1 for r in split_result(i)[0])
                                 and not any(r in written for r in split_result(i)[1]))
        kept = [i for i in left if not same_always(i)]
        if len(kept) == len(left):
            return kept
        left = kept


def key_counts(loop, path):
    """By opcode; in PTX without what ptxas moves or hoists, in SASS by class where ptxas chooses."""
    if is_ptx(path):
        return collections.Counter(i.opcode for i in varying(loop) if not i.opcode.startswith("mov."))
    return collections.Counter(c if (c := class_of(i)) in CHOSEN_BY_PTXAS else i.opcode for i in loop)


def listing(options):
    for path in options.file:
        for name, code in device_code.read(path).items():
            for number, loop in enumerate(device_code.hot_loops(code)):
                counts = key_counts(loop, path) if is_ptx(path) else by_class(loop)
                keys = sorted(counts) if is_ptx(path) else [c for c in CLASSES if counts[c]]
                print(f"{name} loop {number}: {counts.total()} instructions, " + ", ".join(f"{key} {counts[key]}" for key in keys))
    return 0


def same(options):
    counts = []
    for path in (options.left, options.right):
        code = device_code.read(path).get(options.kernel)
        hot = device_code.hot_loops(code) if code else []
        if not hot:
            sys.exit(f"{path}: no kernel '{options.kernel}' with a hot loop")
        counts.append(key_counts(hot[0], path))
    left, right = counts
    differences = []
    for key in sorted(left.keys() | right.keys()):
        if abs(left[key] - right[key]) > CHOSEN_BY_PTXAS.get(key, 0):
            differences.append(f"{key} {left[key]} and {right[key]}")
    print(f"{options.kernel}: {left.total()} and {right.total()} instructions: " + ("; ".join(differences) or "the same"))
    return 1 if differences else 0


def compile_case(case, templates, folder):
    """The counts of each loop, and what ptxas had to say against the kernels."""
    template, *rest = case.split()
    arch = rest[rest.index("--arch") + 1]
    ptx, cubin = os.path.join(folder, "code.ptx"), os.path.join(folder, "code.cubin")
    run = lambda *command: subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    run("selvedge", "compile", os.path.join(templates, template), *rest, "--emit", "ptx", "-o", ptx)
    log = run(os.environ.get("SELVEDGE_PTXAS", "ptxas"), "-arch", arch, "-O3", "-v", ptx, "-o", cubin)
    complaints = [line for line in log.splitlines() if "(C75" in line or any(int(n) >= SPILL_LIMIT for n in re.findall(r"(\d+) bytes spill stores", line))]
    counts = {f"{name} loop {number}": by_class(loop) for name, code in device_code.read(cubin).items() for number, loop in enumerate(device_code.hot_loops(code))}
    return counts, complaints


def write_bounds(path, cases):
    lines = lambda limits: ",\n".join(f"    {json.dumps(loop)}: {json.dumps(counts)}" for loop, counts in limits.items())
    with open(path, "w") as file:
        file.write("{\n" + ",\n".join(f"  {json.dumps(case)}: {{\n{lines(limits)}\n  }}" for case, limits in cases.items()) + "\n}\n")


def excesses(limits, counts):
    if limits.keys() != counts.keys():
        yield f"expected the loops {', '.join(limits) or '(none)'}, found {', '.join(counts) or '(none)'}"
    for loop in sorted(limits.keys() & counts.keys()):
        for c in CLASSES:
            if counts[loop][c] > limits[loop].get(c, 0):
                yield f"{loop}: at most {limits[loop].get(c, 0)} of class {c} expected, {counts[loop][c]} found"


def bounds(options):
    with open(options.bounds) as file:
        cases = json.load(file)
    failed = 0
    for case in filter(lambda case: options.only in case, cases):
        with tempfile.TemporaryDirectory() as folder:
            counts, complaints = compile_case(case, options.templates, folder)
        if options.update:
            cases[case] = {loop: {c: n + HEADROOM.get(c, lambda n: 0)(n) for c in CLASSES if (n := classes[c])} for loop, classes in counts.items()}
        complaints += excesses(cases[case], counts)
        failed += bool(complaints)
        print(f"{case}: " + ("; ".join(complaints) or f"{len(counts)} loops within bounds"), flush=True)
    if options.update:
        write_bounds(options.bounds, cases)
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("list")
    command.add_argument("file", nargs="+")
    command.set_defaults(run=listing)
    command = commands.add_parser("same")
    for name in ("kernel", "left", "right"):
        command.add_argument(name)
    command.set_defaults(run=same)
    command = commands.add_parser("bounds")
    for name in ("bounds", "templates"):
        command.add_argument(name)
    command.add_argument("--update", action="store_true")
    command.add_argument("--only", default="", help="cases that contain this text")
    command.set_defaults(run=bounds)
    options = parser.parse_args()
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
