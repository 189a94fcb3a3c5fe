# Rules of docs/howto that sources keep: summaries of ops, interfaces, includes, names of targets and templates.
# SPDX-License-Identifier: MIT
"""Usage: check_howto.py ROOT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])


def sources(*patterns):
    return {path.relative_to(root): path.read_text(encoding="utf-8") for pattern in patterns for path in sorted(root.glob(pattern))}


wrong = []
# op.md: the summary is in lower case without a period; what stands for itself keeps its name.
summaries = 0
for path, text in sources("dialect/*/*Ops.td").items():
    for name, summary in re.findall(r'^def (\w+Op)\b.*?let summary = "([^"]*)"', text, re.M | re.S):
        summaries += 1
        if summary.endswith(".") or re.match(r"[A-Z][a-z]", summary):
            wrong.append(f"{path}: summary of {name}: {summary}")
# op.md: sinks, accesses and writes of buffers say so; passes and verifiers ask.
for interface in ("SinkOpInterface", "TensorAccessOpInterface", "BufferFillOpInterface"):
    declared = [path for path, text in sources("dialect/*/*Interfaces.td").items() if f'OpInterface<"{interface}"' in text]
    asked = [path for path, text in sources("compiler/Safety/*.cpp", "compiler/Schedule/**/*.cpp", "compiler/Verify/**/*.cpp", "compiler/Physical/*.cpp").items() if re.search(rf"<(tile::|sm::)?{interface}>", text)]
    if len(declared) != 1 or not asked:
        wrong.append(f"{interface}: declared in {declared}, asked for in {asked}")
# pass.md: which folder may include which other; TargetInfo.h is for all but verifiers.
may = {"Analysis": (), "Safety": ("Analysis",), "Schedule": ("Analysis",), "Verify": (), "Target": ()}
for folder, others in may.items():
    for path, text in sources(f"compiler/{folder}/**/*.cpp", f"compiler/{folder}/**/*.h").items():
        for file, other in re.findall(r'#include "compiler/((\w+)/[^"]*)"', text):
            if other not in (folder, *others) and not (file == "Target/TargetInfo.h" and folder != "Verify"):
                wrong.append(f"{path}: {folder} includes {other}")
# target.md: no pass compares the name of a target.
passes = sources(*(f"compiler/{folder}/**/*.{kind}" for folder in ("Analysis", "Safety", "Schedule", "Verify", "Target") for kind in ("cpp", "h")))
for path, text in passes.items():
    if path.name != "TargetInfo.h":
        wrong += [f"{path}: names a target: {line.strip()}" for line in text.splitlines() if re.search(r'"sm_\d', line.split("//")[0])]
# template.md: no pass knows a template by name; a template with kernels has no schedule.
templates = sources("templates/*.tile")
ops = {op for text in templates.values() for op in re.findall(r"^op (\w+)", text, re.M)} | {path.stem for path in templates}
# Names of operations as well.
ops -= {"softmax", "matmul", "merge"}
for path, text in passes.items():
    wrong += [f"{path}: names the template {name}" for name in re.findall(r'"(\w+)"', re.sub(r"//.*", "", text)) if name in ops]
wrong += [f"{path}: has a schedule" for path, text in templates.items() if re.search(r"^\s*schedule\b", text, re.M) and re.search(r"^\s*kernel\b", text, re.M)]
print("\n".join(wrong) or f"{summaries} summaries, {len(passes)} sources and {len(templates)} templates keep the rules")
sys.exit(bool(wrong))
