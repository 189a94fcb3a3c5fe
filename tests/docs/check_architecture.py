# The table of docs/architecture.md names each pass, in the folder of its source and in the order in which the driver runs them.
# SPDX-License-Identifier: MIT
"""Usage: check_architecture.py ROOT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
page = (root / "docs/architecture.md").read_text(encoding="utf-8")

sources = {name: str(path.parent.relative_to(root)) for path in (root / "compiler").rglob("*.cpp")
           for name in re.findall(r"^#define GEN_PASS_DEF_(\w+)$", path.read_text(encoding="utf-8"), re.M)}
flags, folders = {}, {}
for path in (root / "compiler").rglob("Passes.td"):
    for name, flag in re.findall(r'def (\w+)\s*:\s*Pass<"([\w-]+)"', path.read_text(encoding="utf-8")):
        flags[name] = flag
        folders[flag] = sources[name.upper()]

shown = []
for row in re.findall(r"^\| [^|]+ \| (`[^|]*) \| ([^|]*) \|", page[page.index("| step | pass |"):page.index("## Attempts")], re.M):
    passes, places = (re.findall(r"`([^`]+)`", cell) for cell in row)
    known = [flag for flag in passes if flag in folders]
    assert known or passes == ["selvedge-lower-to-llvm"], f"no pass of ours: {row[0]}"
    assert set(places) >= {folders[flag] for flag in known}, f"{row[0]} is not of {row[1]}"
    assert not known or set(places) == {folders[flag] for flag in known}, f"{row[0]}: nothing of {row[1]}"
    shown += known
assert set(shown) == set(folders), f"not in the table: {set(folders) - set(shown)}"

# What runs, in order: bodies of functions, with those that they call in their place.
text = "".join((root / path).read_text(encoding="utf-8") for path in ("compiler/Driver/Pipeline.cpp", "compiler/Safety/Pipeline.cpp"))
bodies = {name: body for name, body in re.findall(r"^ *(?:static )?void (?:safety::)?(\w+)\([^;{]*\{\n(.*?)^ {0,2}\}$", text, re.M | re.S)}


def run(name, inside=()):
    for create, call in re.findall(r"\bcreate(\w+)\b|\b(\w+)\((?=pm|passes|guarded)", bodies[name]):
        if create in flags:
            yield flags[create]
        elif call in bodies and call not in (name, *inside):
            yield from run(call, (name, *inside))


def order(passes):
    """The first place of each; verifiers stand behind what they run."""
    return list(dict.fromkeys(flag for flag in passes if not flag.startswith(("verify-", "strip-")) and not folders[flag].endswith("PTX")))


builds = ("buildFoldPipeline", "buildColumnsPipeline", "buildPackPipeline", "buildProgramPipeline", "buildKernelPipeline", "buildLanePipeline")
made = order(flag for name in builds for flag in run(name))
assert made == order(shown), f"the driver runs\n{made}\nthe table has\n{order(shown)}"
print(len(folders), "passes are in the table")
