#!/usr/bin/env python3
"""Edits of the program at each stage of a compilation, one at a time, judged by all verifiers that follow; what they accept is executed.

    stage_mutants.py BIN TEMPLATES [--count 10] [--seed 0] [--kernel NAME] [--stage NAME] [--class NAME] [--show KIND] [--table FILE]

Makes COUNT edits of each class at each stage of each kernel, and prints a row per stage and class: edits that are no program (invalid), that a verifier or a pass refuses (refused), that change nothing in
physical mode with poison (same), and that are accepted and then read poison, leave their tensors, store twice or not at all, hang (unsafe), or compute something else (wrong). `--show` prints edits of a kind.
The status is 1 where the unchanged program is refused, an edit ends the compiler, or with `--strict` one is unsafe.
"""
# SPDX-License-Identifier: MIT
import argparse
import collections
import csv
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "Sim"))
from lanes_mutants import delete, replace  # noqa: E402

LIMIT_S = 60

# Template, op, target, parameters, variant, cases: small, with tails in every direction, and nothing between something.
FLASH = ["--shape B=3,M=140,G=1,R=2,N=150 --fill kv_len=150,0,77"]
VARLEN = ["--shape B=5,G=1,R=2,Q=152,K=200 --fill cu_q=3,3,80,81,147,147 --fill cu_k=0,3,3,80,199,200"]
BACKWARD = ["--shape B=3,M=140,G=1,R=1,N=150 --fill kv_len=150,0,77 --fill lse=6"]
DECODE = ["--shape B=3,M=2,G=2,R=4,N=200,S=3 --fill kv_len=0,77,200"]
MERGE = ["--shape B=2,M=70,H=2 --plant l=-inf@2:3..9 --plant l2=-inf@2:7..20"]
KERNELS = {
    "softmax-80": ("softmax", "softmax", "sm_80", [], "universal", ["--shape M=3,N=1030"]),
    "matmul-80": ("matmul", "matmul", "sm_80", [], "aligned", ["--shape M=130,N=72,K=104"]),
    "flash-80": ("flash_fwd", "flash_fwd", "sm_80", ["D=64", "causal=true"], "aligned", FLASH),
    "packed-80": ("flash_fwd", "flash_fwd", "sm_80", ["D=64", "causal=true"], "packed", ["--shape B=3,M=20,G=2,R=3,N=150 --fill kv_len=150,0,77"]),
    "packed-90": ("flash_fwd", "flash_fwd", "sm_90a", ["D=64", "causal=true"], "packed", ["--shape B=3,M=13,G=2,R=4,N=150 --fill kv_len=150,0,77"]),
    "matmul-90": ("matmul", "matmul", "sm_90a", [], "bulk", ["--shape M=300,N=136,K=136"]),
    "flash-90": ("flash_fwd", "flash_fwd", "sm_90a", ["D=64", "causal=true"], "bulk", ["--shape B=3,M=300,G=1,R=1,N=200 --fill kv_len=200,0,77"]),
    "varlen-80": ("flash_varlen", "flash_varlen", "sm_80", ["D=64", "causal=true"], "aligned", VARLEN),
    "varlen-90": ("flash_varlen", "flash_varlen", "sm_90a", ["D=64", "causal=true"], "bulk", VARLEN),
    "bwd-80": ("flash_bwd", "flash_bwd", "sm_80", ["D=64", "causal=true"], "aligned", BACKWARD),
    "bwd-90": ("flash_bwd", "flash_bwd", "sm_90a", ["D=64", "causal=true"], "bulk", BACKWARD),
    "decode-80": ("flash_decode", "flash_decode", "sm_80", ["D=64"], "aligned", DECODE),
    "decode-90": ("flash_decode", "flash_decode", "sm_90a", ["D=64"], "bulk", DECODE),
    "paged-80": ("flash_paged", "flash_paged", "sm_80", ["D=64"], "aligned", ["--shape B=4,M=2,G=2,R=4,NP=9,MP=5 --fill table=8,0,3,-1,5,2147483647,2,2,7,1,4,-2147483648,6"]),
    "paged-90": ("flash_paged", "flash_paged", "sm_90a", ["D=64"], "bulk", ["--shape B=4,M=2,G=2,R=4,NP=9,MP=5 --fill table=8,0,3,-1,5,2147483647,2,2,7,1,4,-2147483648,6"]),
    "append-80": ("append_kv", "append_kv", "sm_80", ["D=64"], "aligned", ["--shape B=3,A=9,G=2,N=70 --fill len=0,9,61"]),
    "append-90": ("append_kv", "append_kv", "sm_90a", ["D=64"], "aligned", ["--shape B=3,A=9,G=2,N=70 --fill len=0,9,61"]),
    "merge-80": ("merge", "merge", "sm_80", ["DV=64"], "aligned", MERGE),
    "merge-90": ("merge", "merge", "sm_90a", ["DV=64"], "aligned", MERGE),
}
# Forms of tile, then those of sm.
TILE_STAGES = ["folded", "packed", "safe", "parts", "softmax", "interior", "blocks", "bound"]
STAGES = [*TILE_STAGES, "seq", "roles", "async"]


def split_top(text):
    """The parts of a list, which may hold commas in brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "<[(") - (c in ">])")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts + [text[start:].strip()]


def drop_predicate(line, values, rng):
    """One predicate less, or none."""
    m = re.search(r" where\(([^:()]*) : ([^()]*)\)", line)
    if not m:
        return None
    names, types = split_top(m[1]), split_top(m[2])
    if len(names) == 1 or len(names) != len(types):
        return line[: m.start()] + line[m.end() :]
    i = rng.randrange(len(names))
    del names[i], types[i]
    return f"{line[: m.start()]} where({', '.join(names)} : {', '.join(types)}){line[m.end() :]}"


ACCESS = r"(?:tile\.(?:load|store)|sm\.(?:copy|copy_async|load|store|tma_load|tma_store)) .*?(%arg\d+)\[([^\]:]*?)( :|\])"


def other_index(line, values, rng):
    """Two indices exchanged, or one for another."""
    m = re.search(ACCESS, line)
    names = m and [name.strip() for name in m[2].split(",")]
    if not m or len(set(names)) < 2:
        return None
    a, b = rng.sample(range(len(names)), 2)
    if rng.random() < 0.5:
        names[a], names[b] = names[b], names[a]
    else:
        names[a] = names[b]
    return line[: m.start(2)] + ", ".join(names) + line[m.end(2) :]


def other_tensor(line, values, rng):
    """Another tensor of the kernel; most have other types, and are no program."""
    m = re.search(ACCESS, line)
    if not m:
        return None
    number = int(m[1][4:])
    return line[: m.start(1)] + f"%arg{number + rng.choice([-1, 1])}" + line[m.end(1) :]


def other_scalar(line, values, rng):
    """Another integer of the caller, or another dim."""
    names = list(re.finditer(r"(%arg)(\d+)\b(?=.* : i32)", line))
    if not names or "bb0" in line:
        return None
    m = rng.choice(names)
    return line[: m.start(2)] + str(max(0, int(m[2]) + rng.choice([-1, 1]))) + line[m.end(2) :]


def longer_loop(line, values, rng):
    """A step more at the end, or one less at the start."""
    m = re.match(r"(\s*)(.*scf\.for %\S+ = )(%\S+) to (%\S+) step (%\S+) (.*: (i32|i64) \{.*)", line)
    if not m:
        return None
    space, head, first, last, step, rest, kind = m.groups()
    if rng.random() < 0.5:
        return f"{space}%mutant = arith.addi {last}, {step} : {kind}\n{space}{head}{first} to %mutant step {step} {rest}"
    return f"{space}%mutant = arith.addi {first}, {step} : {kind}\n{space}{head}%mutant to {last} step {step} {rest}"


def other_constant(line, values, rng):
    """An integer off by one."""
    m = re.match(r"(\s*%\S+ = arith\.constant )(-?\d+)( : (?:i32|i64))$", line)
    return m and abs(int(m[2])) < 1 << 31 and f"{m[1]}{int(m[2]) + rng.choice([-1, 1])}{m[3]}"


def other_carried(line, values, rng):
    """Two values that a loop or branch hands on exchanged, or one for another; the types say which are alike."""
    m = re.match(r"(\s*scf\.yield )([^:]*) : (.*)$", line)
    names, types = (m and split_top(m[2])) or [], (m and split_top(m[3])) or []
    pairs = [(a, b) for a in range(len(names)) for b in range(len(names)) if a != b and names[a] != names[b] and types[a] == types[b]] if len(names) == len(types) else []
    if not pairs:
        return None
    a, b = rng.choice(pairs)
    old = list(names)
    names[a] = old[b]
    if rng.random() < 0.5:
        names[b] = old[a]
    return f"{m[1]}{', '.join(names)} : {m[3]}"


def other_range(line, values, rng):
    """A range of a kernel as long as another dim, or one longer."""
    extents = list(re.finditer(r"#tile\.iter<[^>]*extent = \(\)\[[^\]]*\] -> \(([^>]*?)\)[,>]", line)) if "tile.kernel" in line else []
    if not extents:
        return None
    m = rng.choice(extents)
    dim = re.search(r"s(\d+)", m[1])
    new = f"{m[1]} + 1" if not dim or rng.random() < 0.5 else m[1].replace(dim[0], f"s{max(0, int(dim[1]) + rng.choice([-1, 1]))}")
    return line[: m.start(1)] + new + line[m.end(1) :]


def swap_operands(pattern):
    return replace(pattern + r" (%[^\s,]+), (%[^\s,]+) :", r"\1 \3, \2 :", r"\1 \2, \2 :", r"\1 \3, \3 :")


CLASSES = {
    "bound": [replace(r"arith\.cmpi slt,", "arith.cmpi sle,"), replace(r"arith\.cmpi sle,", "arith.cmpi slt,"), replace(r"arith\.cmpi sge,", "arith.cmpi sgt,"), other_constant],
    "extent": [replace(r"arith\.minsi", "arith.maxsi"), replace(r"arith\.maxsi", "arith.minsi"), swap_operands(r"(arith\.(?:minsi|maxsi))"), replace(r"arith\.ceildivsi", "arith.floordivsi")],
    "index": [other_index, swap_operands(r"(arith\.(?:divui|remui|muli|addi))")],
    "fill": [replace(r"fill = #tile\.fill<zero>", "fill = #tile.fill<any>"), replace(r" garbage \[?[^\]{:]*\]?", ""), delete(r"sm\.clear")],
    "arms": [replace(r"arith\.select (%\S+), (%\S+), (%\S+) :", r"arith.select \1, \3, \2 :", r"arith.select \1, \2, \2 :", r"arith.select \1, \3, \3 :")],
    "predicate": [drop_predicate, replace(r"arith\.andi (%\S+), (%\S+) :", r"arith.andi \1, \1 :", r"arith.andi \2, \2 :")],
    "tensor": [other_tensor],
    "scalar": [other_scalar],
    "operation": [swap_operands(r"(arith\.(?:subf|maximumf|maxnumf|mulf|addf|divf))"), replace(r"(tile|sm)\.reduce  max", r"\1.reduce  add"), replace(r"arith\.cmpf oeq,", "arith.cmpf une,")],
    "loop": [longer_loop, replace(r"tile\.block_size \"\w+\"", 'arith.constant 1 : i32', 'arith.constant 96 : i32')],
    "range": [other_range],
    "carried": [other_carried],
    "store": [delete(r"(tile|sm)\.(store|tma_store|tma_reduce)")],
    "copy": [delete(r"sm\.(copy|stage|tma_load|commit)\b")],
    "wait": [delete(r"sm\.(wait|await|await_launch|barrier|named_barrier|tma_drain)\b")],
    "arrival": [delete(r"sm\.(arrive|expect|post)\b"), replace(r"bytes (\d+)", r"bytes 1\1", "bytes 64")],
    "parity": [replace(r"parity (%\S+)", "parity %c0_i32", "parity %c1_i32")],
    "fence": [delete(r"sm\.proxy_fence")],
    "move": [],  # two lines, below
    "launch": [delete(r"sm\.launch"), replace(r"block (\d+) smem", "block 32 smem"), replace(r"(sm\.launch .*) persistent", r"\1")],
    "map": [replace(r'(tensor_map<"\w+" box\[: [\d, ]*?)64', r"\g<1>32"), replace(r"swizzle 7", "swizzle 6", "swizzle 0"), replace(r" pairs <[^>]*>", "")],
}
# Moved past the line before or behind it.
MOVED = r"sm\.(proxy_fence|arrive|wait|await|await_launch|barrier|launch|expect|wgmma_wait)\b"


def spans(lines, stage, variant):
    """Lines of the program that is executed: its main kernel, and the host plan."""
    if stage in TILE_STAGES:
        # Programs of their own for packed rows, any strides and lengths of rows come behind the first.
        programs = [i for i, line in enumerate(lines) if line.startswith("  tile.program")]
        first = next((i for i in programs if variant == "packed" and "version <packed>" in lines[i]), programs[0])
        return [(first, next(i for i in range(first, len(lines)) if lines[i] == "  }"))]
    found, kernels = [], []
    kind = {"aligned": "program", "bulk": "program"}.get(variant, variant)
    for i, line in enumerate(lines):
        m = re.match(r"    sm\.variant <([^>]+)>", line)
        if m and m[1] == kind:
            end = next(j for j in range(i, len(lines)) if lines[j] == "    }")
            found = [(i, end)]
            kernels = re.findall(r"sm\.launch (@\S+) ", "\n".join(lines[i:end]))
    for i, line in enumerate(lines):
        m = re.match(r"  sm\.kernel (@\S+) ", line)
        if m and m[1] in kernels:
            found.append((i, next(j for j in range(i, len(lines)) if lines[j] == "  }")))
    return found


def mutants(lines, where, count, classes, rng):
    """Class, number of the line, and the whole new text."""
    numbers = [i for first, last in where for i in range(first, last)]
    for name in classes:
        places = [(i, edit) for i in numbers for edit in CLASSES[name] if edit(lines[i], {}, random.Random(0)) not in (None, False)]
        if name == "move":
            places = [(i, step) for i in numbers for step in (-1, 1) if re.search(MOVED, lines[i])]
        done = set()
        for i, edit in rng.sample(places, min(count * 3, len(places))):
            text = list(lines)
            if name == "move":
                j = i + edit
                text[i], text[j] = text[j], text[i]
            else:
                new = edit(lines[i], {}, rng)
                if new in (None, False):
                    continue
                # Types of buffers and maps stand wherever they are used.
                if name == "map" and new != lines[i]:
                    m = next(re.finditer(r'tensor_map<"\w+" box[^>]*>|<"\w+" x "\w+", [^>]*>', lines[i]), None)
                    n = next(re.finditer(r'tensor_map<"\w+" box[^>]*>|<"\w+" x "\w+", [^>]*>', new), None)
                    if m and n and m[0] != n[0]:
                        text = [line.replace(m[0], n[0]) for line in text]
                text[i] = new if name != "map" or text == lines else text[i]
            whole = "\n".join(text)
            if text == lines or whole in done:
                continue
            done.add(whole)
            yield name, i, text[i], whole
            if len(done) == count:
                break


class Compiler:
    """The process that puts texts back; a new one after each that ends it."""

    def __init__(self, command):
        self.command, self.process = command, None

    def judge(self, path):
        if not self.process:
            self.process = subprocess.Popen([*self.command[:5], "judge", *self.command[5:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.process.stdin.write(f"{path}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            status = self.process.wait()
            self.process = None
            return "failed", f"status {status}"
        return tuple(line.rstrip("\n").split("\t", 1))

    def end(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


def kind_of(status, text):
    """What the execution of an accepted text says."""
    if status == 0:
        return "same"
    if status == 124:
        return "hang"
    if "differ from those of 'ref'" in text:
        return "poison" if "got nan" in text or "got -nan" in text else "wrong"
    if "differs in" in text:
        return "poison"
    for kind, words in {"bounds": r"outside|inside|below|box", "hang": "all agents wait|deadlock|hang", "twice": "twice|once|again", "missing": "never stored|not stored|no element"}.items():
        if re.search(words, text):
            return kind
    return "fault"


UNSAFE = ["poison", "bounds", "twice", "missing", "hang", "fault"]
COLUMNS = ["invalid", "refused", "same", "wrong", *UNSAFE, "failed"]


class Bench:
    """A kernel at a stage."""

    def __init__(self, options, name, folder):
        template, self.op, self.arch, self.sets, self.variant, cases = KERNELS[name]
        self.binaries, self.name, self.folder = pathlib.Path(options.bin), name, folder
        self.template = pathlib.Path(options.templates) / f"{template}.tile"
        self.cases, self.clean = folder / f"{name}.cases", folder / f"{name}.clean"
        self.cases.write_text("".join(f"{case} --poison nan --compare ref,clean\n" for case in cases))
        self.clean.write_text("".join(f"{case} --compare ref\n" for case in cases))

    def at(self, stage):
        """The compiler, and the lines of the program."""
        command = [str(self.binaries / "stage-mutants"), str(self.template), self.op, self.arch, stage, *self.sets]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{self.name} is not compiled: {done.stderr}")
        return Compiler(command), done.stdout.split("\n")

    def execute(self, path, cases):
        command = [str(self.binaries / "selvedge"), "run", str(self.template), "--op", self.op, "--arch", self.arch, "--device", "ref", "--form", "sm:async", "--variant", self.variant,
                   "--text", str(path), "--cases", str(cases)]
        for one in self.sets:
            command += ["--set", one]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return 124, "no end"
        return done.returncode, done.stdout + done.stderr

    def judge(self, compiler, path):
        """What becomes of a text, and why."""
        outcome, why = compiler.judge(path)
        if outcome == "accepted":
            final = pathlib.Path(f"{path}.final")
            status, why = self.execute(final, self.cases)
            outcome = kind_of(status, why)
            # A NaN that arithmetic makes is there without poison, too.
            if outcome == "poison" and "differ from those of 'ref'" in why and kind_of(*self.execute(final, self.clean)) == "poison":
                outcome = "wrong"
            if "has no variant" in why:  # a pass has declined it
                outcome, why = "refused", ""
            final.unlink()
        return outcome, why


def refuser(why):
    """The pass that refuses a text, or says what it cannot do."""
    m = re.search(r"pass '([\w-]+)'", why)
    return m[1] if m else "a pass"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin")
    parser.add_argument("templates")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kernel", action="append", choices=KERNELS)
    parser.add_argument("--stage", action="append", choices=STAGES)
    parser.add_argument("--class", dest="classes", action="append", choices=CLASSES)
    parser.add_argument("--show", action="append", default=[])
    parser.add_argument("--table", help="CSV: kernel, stage, class, outcome, number")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds after which no edit is made")
    options = parser.parse_args()
    counts, refusers = collections.Counter(), collections.Counter()
    is_bad = False
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kernel in options.kernel or KERNELS:
            bench = Bench(options, kernel, folder)
            for stage in options.stage or STAGES:
                if time.monotonic() - start > options.budget or (stage == "roles" and bench.arch == "sm_80"):
                    continue
                compiler, lines = bench.at(stage)
                path = folder / "mutant.mlir"
                path.write_text("\n".join(lines))
                outcome, why = bench.judge(compiler, path)
                if outcome != "same":
                    print(f"{kernel} at stage {stage} is {outcome} as it is: {why}", flush=True)
                    is_bad = True
                    compiler.end()
                    continue
                rng = random.Random(f"{options.seed} {kernel} {stage}")
                for kind, line, new, text in mutants(lines, spans(lines, stage, bench.variant), options.count, options.classes or CLASSES, rng):
                    if time.monotonic() - start > options.budget:
                        break
                    path.write_text(text)
                    outcome, why = bench.judge(compiler, path)
                    counts[kernel, stage, kind, outcome] += 1
                    if outcome == "refused":
                        refusers[stage, refuser(why)] += 1
                    is_bad |= outcome == "failed" or (options.strict and outcome in UNSAFE)
                    if outcome in options.show or outcome == "failed":
                        print(f"{kernel} {stage} {kind} {outcome}, line {line + 1}:\n  {lines[line].strip()[:300]}\n  {new.strip()[:300]}\n  {why.strip()[-300:]}", flush=True)
                compiler.end()
    print(f"{'':18}" + "".join(f"{column:>8}" for column in COLUMNS))

    def row(title, chosen):
        sums = [sum(n for key, n in counts.items() if chosen(key) and key[3] == column) for column in COLUMNS]
        if any(sums):
            print(f"{title:18}" + "".join(f"{n:8}" for n in sums))

    for stage in STAGES:
        for kind in CLASSES:
            row(f"{stage} {kind}", lambda key: key[1:3] == (stage, kind))
    row("all", lambda key: True)
    for (stage, name), number in sorted(refusers.items()):
        print(f"refused at {stage} by {name}: {number}")
    if options.table:
        with open(options.table, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["kernel", "stage", "class", "outcome", "number"])
            writer.writerows([*key, number] for key, number in sorted(counts.items()))
    return is_bad


if __name__ == "__main__":
    sys.exit(main())
