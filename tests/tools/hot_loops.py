#!/usr/bin/env python3
# Counts, bounds and compares the instructions of the loops in which kernels spend their time.
# SPDX-License-Identifier: MIT
"""usage: hot_loops.py list FILE...
       hot_loops.py same KERNEL LEFT RIGHT [--loop LEFT RIGHT] [--shortest] [--way] [--with OPCODE] [--differs NAME N]...
       hot_loops.py bounds BOUNDS.json TEMPLATES [--update] [--only TEXT]

A hot loop is an innermost loop with tensor-core instructions, for `bounds` in kernels that have none one with exponentials. Files are cubins (nvdisasm is $SELVEDGE_NVDISASM or found on PATH) or end in `.ptx`.
`list` prints the loops of each kernel with counts by class.
`same` compares a hot loop of both kernels, by default the first, which does full steps where nothing comes before them: each opcode has to be equally often there, but for moves and for arithmetic on what the
loop does not change. LLVM and ptxas leave that in the loop or not by what surrounds it, for the sake of registers. In SASS opcodes that do the same on different
units count as one, as they are named in SAME_WORK. `--differs NAME N` says of what LEFT has N more (or fewer, for a negative N).
`bounds` compiles each case of BOUNDS.json (arguments of `selvedge compile`, which is found as in the tests) and fails where a loop has more
instructions of a class than it allows, or a kernel that is not the universal one spills 32 bytes (160 for sm_80). It is the code of the plans that a search finds. `--update` writes bounds that fit.
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
EXPONENTIALS = r"MUFU\.EX2"
# What ptxas does on one unit or another, by which has time and which kind of register holds the operands; compares in either direction.
SAME_WORK = {
    "add": r"IADD3|IMAD\.IADD|VIADD|UIADD3",
    "multiply-add": r"U?IMAD|U?LEA",
    "compare": r"U?ISETP\.(LT|LE|GT|GE)\.AND",
    "compare for equality": r"U?ISETP\.(EQ|NE)(\.U32)?\.AND",
    "shift to the right": r"U?SHF\.R\.S32\.HI",
    "shift": r"IMAD\.SHL\.U32|U?SHF\.L\.U32|IMAD\.U32 \w+,[\w.]+,0x10000,RZ",
}
# From register to register, or half of one; of a predicate as the conjunction with nothing.
MOVES = r"(MOV|UMOV|IMAD\.MOV\.U32) .*|IMAD\.U32 R\d+,RZ,RZ,UR\d+|PRMT R\d+,R\d+,0x7610,R\d+|PLOP3\.LUT P\d,PT,PT,PT,UP\d,0x80,0x0"
# SASS whose result depends on its operands alone, arguments of the kernel and the number of the thread among them.
SASS_ARITHMETIC = r"(U?MOV|IADD3|IMAD|VIADD|UIADD3|UIMAD|LEA|ULEA|U?LOP3|U?SHF|U?ISETP|U?SEL|U?PLOP3|S2U?R|U?LDC|SGXT)\b.*"
# PTX whose result depends on its operands alone.
ARITHMETIC = r"(add|sub|mul|mad|shl|shr|and|or|xor|not|neg|min|max|cvt|selp|setp)\..*"
# What --update adds to a count, for other versions of ptxas and for code around the loop.
HEADROOM = {"predicate": lambda n: 2, "integer": lambda n: n // 20 + 4}
# Bytes; ptxas spills a few around calls and loops, which costs nothing. As in compiler/Driver/PlanSearch.cpp, for kernels with and without roles.
SPILL_LIMIT = {"sm_90a": 32, "sm_80": 160}


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


def sass_operands(instruction):
    """What an instruction of SASS writes, and what it reads; predicates that are written stand first or second."""
    operands = instruction.operands.split(",")
    results = 2 if re.match(r"U?ISETP|FSETP|U?PLOP3|SHFL", instruction.opcode) else 1
    while results < len(operands) and re.match(r"U?P(\d|T)", operands[results]) and re.match(r"U?(IADD3|LEA|IMAD)", instruction.opcode):
        results += 1
    return [o for o in operands[:results] if "[" not in o], operands[results:]


def sass_registers(operands, width):
    """The registers that operands name, each with those behind it that belong to it."""
    names = re.findall(r"(?<![\w.])(U?[RP])(\d+)", ",".join(operands))
    return {f"{kind}{n}" for kind, first in names for n in range(int(first), int(first) + (1 if kind[-1] == "P" else width))}


def sass_written(instruction):
    """The registers that an instruction of SASS writes."""
    tile = re.match(r"HGMMA\.64x(\d+)", instruction.opcode)
    widths = {r"HMMA|.*\.(128|M?88\.4|MT88\.4)": 4, r".*\.(64|WIDE|M88\.2|MT88\.2)\b": 2}
    width = int(tile[1]) // 2 if tile else next((w for expression, w in widths.items() if re.match(expression, instruction.opcode)), 1)
    return sass_registers(sass_operands(instruction)[0], width)


def sass_varying(loop):
    """The instructions of SASS without arithmetic that gives the same in every round, in program order."""
    changing = set().union(*(sass_written(i) for i in loop))
    kept = []
    for i in loop:
        read = sass_operands(i)[1]
        read = sass_registers(read[:-1], 1) | sass_registers(read[-1:], 2 if re.search("WIDE|64", i.opcode) else 1)
        same_always = not i.predicate and re.fullmatch(SASS_ARITHMETIC, i.opcode) and not read & changing
        changing = changing - sass_written(i) if same_always else changing | sass_written(i)
        kept += [] if same_always else [i]
    return kept


def work_of(instruction):
    text = f"{instruction.opcode} {instruction.operands}"
    return next((name for name, expression in SAME_WORK.items() if re.match(rf"({expression})(?![\w.])", text)), instruction.opcode)


def key_counts(loop, path):
    """By opcode, without moves and without what gives the same in every round; in SASS by the work where several opcodes do it."""
    if is_ptx(path):
        return collections.Counter(i.opcode for i in varying(loop) if not i.opcode.startswith("mov."))
    return collections.Counter(work_of(i) for i in sass_varying(loop) if not re.fullmatch(MOVES, f"{i.opcode} {i.operands}"))


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
    for path, number in zip((options.left, options.right), options.loop):
        code = device_code.read(path).get(options.kernel)
        hot = device_code.hot_loops(code, options.opcode, options.way) if code else []
        if options.shortest:
            hot.sort(key=len)
        if len(hot) <= number:
            sys.exit(f"{path}: no kernel '{options.kernel}' with a hot loop of number {number}")
        counts.append(key_counts(hot[number], path))
    left, right = counts
    known = {name: int(number) for name, number in options.differs}
    differences = []
    for key in sorted(left.keys() | right.keys() | known.keys()):
        if left[key] - right[key] != known.get(key, 0):
            differences.append(f"{key} {left[key]} and {right[key]}")
    print(f"{options.kernel}: {left.total()} and {right.total()} instructions: " + ("; ".join(differences) or "the same"))
    return 1 if differences else 0


def compile_case(case, templates, folder):
    """The counts of each loop, and what ptxas had to say against the kernels."""
    template, *rest = case.split()
    arch = rest[rest.index("--arch") + 1]
    cubin = os.path.join(folder, "code.cubin")
    done = subprocess.run(["selvedge", "compile", os.path.join(templates, template), *rest, "--json", "-o", cubin], check=True, stdout=subprocess.PIPE, text=True)
    kernels = json.loads(done.stdout)["kernels"]
    complaints = [f"{kernel['name']} spills {kernel['spill_bytes']} bytes" for kernel in kernels if kernel["variant"] != "universal" and kernel["spill_bytes"] >= SPILL_LIMIT[arch]]
    counts = {f"{name} loop {number}": by_class(loop) for name, code in device_code.read(cubin).items() for number, loop in enumerate(device_code.hot_loops(code) or device_code.hot_loops(code, EXPONENTIALS))}
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
    command.add_argument("--loop", type=int, nargs=2, default=(0, 0), help="numbers of the hot loops in the kernels' code")
    command.add_argument("--shortest", action="store_true", help="count hot loops from the shortest on: full steps are shorter than others")
    command.add_argument("--way", action="store_true", help="compare the shortest ways around loops: without what some steps branch to")
    command.add_argument("--with", dest="opcode", default=device_code.TENSOR, help="what makes a loop hot, instead of tensor-core instructions")
    command.add_argument("--differs", nargs=2, action="append", default=[], metavar=("NAME", "N"))
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
