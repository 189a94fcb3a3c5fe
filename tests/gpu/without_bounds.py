#!/usr/bin/env python3
# Compiles a program as a compiler without safety would: no bound of a tensor is ever tested.
# SPDX-License-Identifier: MIT
"""usage: without_bounds.py FILE.tile [arguments of `selvedge compile`] --arch ARCH -o OUT.ptx [--keep-bounds] [--whole-loops]

Takes the program before the safety passes and drops the predicates with one axis from every presence: they say what exists (bounds, kv_len). Those with two,
such as a causal mask, are the program's meaning and stay, as do scalar ones (whether an optional tensor is there). selvedge-opt does the rest with the passes
of the driver, verifiers aside, which would refuse. The kernels are right where all extents are multiples of the blocks, and only there.
`--keep-bounds` drops nothing and `--whole-loops` splits no loop: programs that do cost something, for tests of the comparison.
"""
import argparse
import os
import re
import subprocess
import sys


def without_bounds(text):
    """A tile program whose presences have no predicate with one axis."""

    def kept(clause):
        values, types = clause[1].split(" : ", 1)
        pairs = zip(values.split(", "), re.findall(r"tensor<.*?>>|i1", types), strict=True)
        rest = [pair for pair in pairs if not re.fullmatch(r'tensor<\?xi1, #tile.axes<"\w+">>', pair[1])]
        return f"where({', '.join(v for v, _ in rest)} : {', '.join(t for _, t in rest)})" if rest else ""

    return re.sub(r"where\((%[^)]*)\)", kept, text)


def pipeline(arch, parts=True):
    passes = ["tile.program(tile-clamp-weights)", "cse", "tile.program(tile-exact-compares)", "cse", "tile.program(tile-obligations)", "cse", "tile-loop-parts" if parts else "",
              "tile-expand-softmax", "cse", f"tile-split-variants{{arch={arch}}}", f"tile-row-classes{{arch={arch}}}", "tile-interior-parts" if parts else "", f"tile-bind-blocks{{arch={arch}}}",
              "tile-simplify-presence", "canonicalize", "cse", "tile-to-sm", "canonicalize", "cse", "sm-schedule-roles,sm-warp-roles" if arch == "sm_90a" else "",
              "sm.kernel(sm-long-tiles-first,sm-lazy-softmax,sm-async-copies,sm-reduce-scratch)", "cse", "sm.kernel(sm-drop-presence,sm-keep-infinity)", "sm-roles-to-lanes", "sm-to-lanes", "canonicalize", "cse", f"emit-ptx{{arch={arch}}}"]
    return "builtin.module(" + ",".join(filter(None, passes)) + ")"


def compile_unsafe(arguments, arch, keep_bounds=False, parts=True, selvedge="selvedge", optimizer="selvedge-opt"):
    """The PTX of `selvedge compile arguments --arch arch` without safety."""
    run = lambda command, text=None: subprocess.run(command, input=text, check=True, stdout=subprocess.PIPE, text=True).stdout
    program = run([selvedge, "compile", *arguments, "--arch", arch, "--emit", "tile", "-o", "-"])
    if not keep_bounds:
        program = without_bounds(program)
    return run([optimizer, "-", "-o", os.devnull, f"-pass-pipeline={pipeline(arch, parts)}"], program)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", required=True)
    parser.add_argument("-o", dest="out", required=True)
    parser.add_argument("--keep-bounds", action="store_true")
    parser.add_argument("--whole-loops", action="store_true")
    options, arguments = parser.parse_known_args()
    ptx = compile_unsafe(arguments, options.arch, options.keep_bounds, not options.whole_loops)
    with open(options.out, "w") as file:
        file.write(ptx)


if __name__ == "__main__":
    sys.exit(main())
