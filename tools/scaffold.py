#!/usr/bin/env python3
# Writes the skeleton of a pass, an op or a template; the how-to pages in docs/howto tell the rest.
# SPDX-License-Identifier: MIT
"""usage: tools/dev new pass FLAG | op DIALECT.NAME | template NAME   [--summary TEXT] [--folder FOLDER] [--root ROOT]

    tools/dev new pass sm-merge-waits        compiler/Schedule/Lowering (or --folder compiler/Safety): Passes.td, a source, its line of CMake, a test
    tools/dev new pass verify-sm-waits       the same in compiler/Verify
    tools/dev new op tile.clip               dialect/Tile: an entry of a .td file, tests of what it accepts and refuses
    tools/dev new template row_sums          templates/row_sums.tile and a test on both targets

A name that exists is refused, and nothing is written. What is written compiles, does nothing yet, and passes its test."""
import argparse
import pathlib
import re
import sys

SPDX = "SPDX-License-Identifier: MIT"
OPS_PER_GROUP = 20  # each op costs half a second of build


class Refused(Exception):
    """Names that cannot be taken; the message says why."""


def camel(words):
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[-_]", words))


def sentence(words):
    text = re.sub(r"[-_]", " ", words)
    return text[:1].upper() + text[1:]


class Tree:
    """The files of a repository, and what is to be written: all of it at the end, or nothing."""

    def __init__(self, root):
        self.root, self.written = pathlib.Path(root), {}

    def read(self, path):
        if path not in self.written:
            file = self.root / path
            if not file.exists():
                raise Refused(f"{path} does not exist below {self.root}")
            return file.read_text(encoding="utf-8")
        return self.written[path]

    def create(self, path, text):
        if (self.root / path).exists():
            raise Refused(f"{path} exists")
        self.written[path] = text

    def insert(self, path, before, text):
        """Puts `text` in front of the last line that is `before`."""
        old = self.read(path)
        position = old.rfind("\n" + before + "\n")
        if position < 0:
            raise Refused(f"{path} has no line '{before}'")
        self.written[path] = old[:position + 1] + text + old[position + 1:]

    def list_source(self, path, source):
        """Adds a source to `selvedge_library(...)`, before the first one that comes after it."""
        text = self.read(path)
        library = re.search(r"selvedge_library\(\w+\n((?:  \S+\.cpp\n)+)", text)
        if not library:
            raise Refused(f"{path} has no selvedge_library with one source per line")
        lines = library[1].splitlines(keepends=True)
        position = next((index for index, line in enumerate(lines) if line.strip() > source), len(lines))
        lines.insert(position, f"  {source}\n")
        self.written[path] = text[:library.start(1)] + "".join(lines) + text[library.end(1):]

    def commit(self):
        for path, text in self.written.items():
            file = self.root / path
            print(f"{'changed' if file.exists() else 'new    '} {path}")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")


PASS_SOURCE = """// {flag}: {lower}.
// {spdx}
#include "{folder}/Passes.h"

namespace selvedge::{space} {{

#define GEN_PASS_DEF_{upper}
#include "{folder}/Passes.h.inc"

namespace {{

using namespace mlir;
using namespace selvedge::{dialect};

struct {name}Pass : impl::{name}Base<{name}Pass> {{
  void runOnOperation() override {{
    getOperation()->walk([](Operation *) {{}});
  }}
}};

}} // namespace
}} // namespace selvedge::{space}
"""

PASS_ENTRY = """def {name} : Pass<"{flag}", "::selvedge::{dialect}::{anchor}"> {{
  let summary = "{summary}";
  let description = [{{
    Why the pass exists, and where it declines.

    Before: `...`
    After: `...`
  }}];
}}

"""

PASS_TEST = """# {summary}.
# {spdx}
# RUN: selvedge compile %templates/softmax.tile --arch sm_80 --emit {stage} -o - | selvedge-opt '-pass-pipeline=builtin.module({nest}({flag}{close})' -o - | FileCheck %s
# CHECK: {dialect}.kernel
"""


def new_pass(tree, flag, summary, folder):
    if not re.fullmatch(r"(verify-)?(tile|sm)(-[a-z][a-z0-9]*)+", flag):
        raise Refused(f"'{flag}' is no flag of a pass: expected tile-WORDS, sm-WORDS, verify-tile-WORDS or verify-sm-WORDS, in lower case")
    is_verifier = flag.startswith("verify-")
    dialect = flag.removeprefix("verify-").split("-")[0]
    folder = (folder or ("compiler/Verify" if is_verifier else "compiler/Schedule/Lowering")).rstrip("/")
    # A library has one Passes.td and one CMakeLists.txt; folders inside of it group sources.
    library = next((str(place) for place in (pathlib.PurePosixPath(folder), *pathlib.PurePosixPath(folder).parents) if (tree.root / place / "Passes.td").is_file()), folder)
    within = f"{folder}/".removeprefix(f"{library}/")
    if is_verifier != (folder == "compiler/Verify"):
        raise Refused(f"'{flag}' does not belong into {folder}: verifiers, and they alone, are in compiler/Verify and named verify-...")
    for path in sorted(tree.root.glob("compiler/**/Passes.td")):
        if f'Pass<"{flag}"' in path.read_text(encoding="utf-8"):
            raise Refused(f"a pass '{flag}' exists in {path.relative_to(tree.root)}")
    name = camel(flag)
    source = f"{camel(dialect)}/{camel(flag.removeprefix('verify-'))}.cpp" if is_verifier else within + camel(flag.removeprefix(dialect + "-")) + ".cpp"
    summary = summary or sentence(flag.removeprefix("verify-").removeprefix(dialect + "-"))
    words = {"flag": flag, "name": name, "upper": name.upper(), "folder": library, "space": library.split("/")[1].lower(), "dialect": dialect,
             "anchor": "KernelOp", "summary": summary, "lower": summary[:1].lower() + summary[1:], "spdx": SPDX,
             "stage": "tile" if dialect == "tile" else "sm:seq", "nest": "tile.program(tile.kernel" if dialect == "tile" else "sm.kernel",
             "close": "))" if dialect == "tile" else ")"}
    tree.insert(f"{library}/Passes.td", "#endif", PASS_ENTRY.format(**words))
    tree.create(f"{library}/{source}", PASS_SOURCE.format(**words))
    tree.list_source(f"{library}/CMakeLists.txt", source)
    tree.create(f"tests/{library.split('/')[1]}/{flag}.test", PASS_TEST.format(**words))
    return [f"say in {library}/Passes.td why the pass exists, with before and after", "give it a place in compiler/Driver/Pipeline.cpp, and a row in docs/architecture.md",
            "docs/howto/pass.md has an example"]


OP_ENTRY = """def {prefix}_{name}Op : {prefix}_Op<"{mnemonic}", [Pure, AllTypesMatch<["source", "result"]>]> {{
  let summary = "{summary}";
  let description = [{{
    The value of each element of the result, in terms of the operands.
    Constraints:
    - (C1) the result has the source's type.
  }}];
  let arguments = (ins {prefix}_Tile:$source);
  let results = (outs {prefix}_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}}

"""

OP_ROUND_TRIP = """// {full} prints, parses back, and survives the generic form.
// {spdx}
// RUN: selvedge-opt %s | selvedge-opt | FileCheck %s
// RUN: selvedge-opt %s -mlir-print-op-generic | selvedge-opt | FileCheck %s
// CHECK: {full} %{{{{.*}}}} : tensor
{program}"""

OP_INVALID = """// Constraints of {full}.
// {spdx}
// RUN: selvedge-opt %s -split-input-file -verify-diagnostics
{program}"""

PROGRAMS = {
    "tile": """tile.program @p dims ["N"] tensors [#tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {{}} {{
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0] -> (s0), block = "BM">] axes [#tile.axis<name = "i", block = "BM">] {{
  ^bb0(%N: i32, %y: !tile.tensor<1, f32>, %i0: i32):
    %one = arith.constant 1.0 : f32
    %x = tile.splat %one : f32 -> {source}
    {line}
    tile.return
  }}
}}
""",
    "sm": """sm.kernel @k args [] warps 1 {{
^bb0:
  %one = arith.constant 1.0 : f32
  %x = sm.splat %one : f32 -> {source}
  {line}
  sm.return
}}
"""}
TYPES = {"tile": ('tensor<?xf32, #tile.axes<"i">>', 'tensor<?xbf16, #tile.axes<"i">>'),
         "sm": ('tensor<32xf32, #sm.layout<<"i" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[]>>>', 'tensor<32xbf16, #sm.layout<<"i" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[]>>>')}
GROUPS = {"tile": ["TileComputeOps.td", "TileOps.td"], "sm": ["SmOps.td", "SmBulkOps.td"]}


def new_op(tree, full, summary):
    if not re.fullmatch(r"(tile|sm)\.[a-z][a-z0-9]*(_[a-z0-9]+)*", full):
        raise Refused(f"'{full}' is no name of an op: expected tile.NAME or sm.NAME, in lower case with '_'")
    dialect, mnemonic = full.split(".")
    prefix = folder = camel(dialect)
    for path in sorted(tree.root.glob(f"dialect/{folder}/*.td")):
        text = path.read_text(encoding="utf-8")
        if re.search(rf'Op<"{mnemonic}"', text) or f"{prefix}_{camel(mnemonic)}Op " in text:
            raise Refused(f"an op '{full}' exists in {path.relative_to(tree.root)}")
    count = lambda group: len(re.findall(rf"^def {prefix}_\w+Op :", tree.read(f"dialect/{folder}/{group}"), re.M))
    group = next((group for group in GROUPS[dialect] if count(group) < OPS_PER_GROUP), None)
    if not group:
        raise Refused(f"{' and '.join(GROUPS[dialect])} have {OPS_PER_GROUP} ops each: begin another group, and name it in tools/scaffold.py")
    words = {"prefix": prefix, "name": camel(mnemonic), "mnemonic": mnemonic, "summary": summary or sentence(mnemonic).lower(), "full": full, "spdx": SPDX}
    source, other = TYPES[dialect]
    program = lambda line: PROGRAMS[dialect].format(source=source, line=line)
    tree.insert(f"dialect/{folder}/{group}", "#endif", OP_ENTRY.format(**words))
    tree.create(f"tests/{folder}/{mnemonic.replace('_', '-')}.mlir", OP_ROUND_TRIP.format(program=program(f"%r = {full} %x : {source}"), **words))
    refused = (f"// expected-error @below {{{{failed to verify that all of {{source, result}} have same type}}}}\n"
               f"{'    ' if dialect == 'tile' else '  '}%r = \"{full}\"(%x) : ({source}) -> {other}")
    tree.create(f"tests/{folder}/{mnemonic.replace('_', '-')}-invalid.mlir", OP_INVALID.format(program=program(refused), **words))
    more = ["its rule in compiler/Safety, its meaning in compiler/Reference, its lowering in compiler/Schedule"] if dialect == "tile" else \
        ["its meaning in compiler/Physical, its rules in compiler/Verify, its lowering in compiler/Target"]
    return [f"operands, results and constraints in dialect/{folder}/{group}", *more, "docs/howto/op.md has an example"]


TEMPLATE = """// {summary}.
//
// x [M, N] has any strides. y[i] is the sum of row i in f32; a row without elements gives 0.
// {spdx}
op {name}<T: {{bf16, f16}} = bf16>(x: T[M, N]) -> (y: f32[M] out_init(0))
{{
  kernel main(i in M by BM) {{
    var total = zeros f32[i];
    for j in N by BN {{
      total += sum(x[i, j] as f32, j);
    }}
    y[i] = total;
  }}
}}
"""

TEMPLATE_TEST = """# Template {name}: it elaborates, and its code for both targets agrees with ref on the simulated device, whatever lies outside.
# {spdx}
# RUN: selvedge compile %templates/{name}.tile --emit tile -o - | FileCheck %s
# CHECK: tile.program @{name}
# RUN: selvedge check %templates/{name}.tile --device sim --arch sm_80 --cases 4
# RUN: selvedge check %templates/{name}.tile --device sim --arch sm_90a --cases 4
# RUN: selvedge run %templates/{name}.tile --device ref --form sm:async --shape M=5,N=70 --poison all --compare ref,clean
"""


def new_template(tree, name, summary):
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise Refused(f"'{name}' is no name of a template: expected lower case with '_'")
    for path in sorted((tree.root / "templates").glob("*.tile")):
        if re.search(rf"^op {name}\b", path.read_text(encoding="utf-8"), re.M):
            raise Refused(f"an op '{name}' exists in {path.relative_to(tree.root)}")
    words = {"name": name, "summary": summary or sentence(name), "spdx": SPDX}
    tree.create(f"templates/{name}.tile", TEMPLATE.format(**words))
    tree.create(f"tests/programs/{name.replace('_', '-')}.test", TEMPLATE_TEST.format(**words))
    return [f"the contract in the comment of templates/{name}.tile, and the kernel", "cases in tests/gpu/poison_matrix.py and tests/gpu/compare_torch.py", "docs/howto/template.md has an example"]


def main():
    parser = argparse.ArgumentParser(prog="tools/dev new", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["pass", "op", "template"])
    parser.add_argument("name")
    parser.add_argument("--summary", help="what it does, in one line without a period")
    parser.add_argument("--folder", help="of a pass: compiler/Schedule/FOLDER (default: Lowering), compiler/Safety or compiler/Verify")
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parent.parent, help="another copy of the repository")
    options = parser.parse_args()
    tree = Tree(options.root)
    try:
        if options.folder and options.kind != "pass":
            raise Refused("--folder is for passes")
        if options.kind == "pass":
            more = new_pass(tree, options.name, options.summary, options.folder)
        else:
            more = {"op": new_op, "template": new_template}[options.kind](tree, options.name, options.summary)
    except Refused as problem:
        sys.exit(f"tools/dev new: {problem}")
    tree.commit()
    print("next:", *more, sep="\n  ")


if __name__ == "__main__":
    main()
