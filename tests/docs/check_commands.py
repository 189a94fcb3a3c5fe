# Commands in the pages: `selvedge COMMAND` and `tools/dev COMMAND` exist, with every option that stands behind them. Options elsewhere in prose are those of some program.
# SPDX-License-Identifier: MIT
"""Usage: check_commands.py ROOT"""
import pathlib
import re
import subprocess
import sys

from pages import blocks, inline, pages_of

# Options of LLVM, ptxas, GoogleTest and pip.
FOREIGN = {"--gtest_filter", "-debug", "-mlir-print-ir-after-all", "-mlir-timing", "-verify-each", "--split-compile", "-split-compile", "--no-index", "--find-links"}
root = pathlib.Path(sys.argv[1])
helps = {}


def help_of(command):
    if command not in helps:
        done = subprocess.run(["selvedge", "help", command], capture_output=True, text=True)
        helps[command] = done.stdout if done.returncode == 0 else None
    return helps[command]


development = (root / "tools/dev").read_text(encoding="utf-8")
wrong, count = [], 0
ours = "".join(path.read_text(encoding="utf-8") for folder in ("tests", "tools") for kind in ("*.py", "*.cpp", "*.h") for path in (root / folder).rglob(kind))
for page in pages_of(root):
    prose = inline(page)
    for option in re.findall(r"(?:^|[ \[(])(--?[a-z][\w-]+)", "\n".join(prose), re.M):
        count += 1
        if option not in FOREIGN and not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", development + ours):
            wrong.append(f"{page}: no program has an option {option}")
    for line in "\n".join([text for _, text in blocks(page)] + prose).splitlines():
        line = re.sub(r"\s+#.*$", "", line)
        for command, rest in re.findall(r"(?:^|[ /(])selvedge ([a-z]+)(?![\w/.])((?: [^|;&`]*)?)", line):
            if line.lstrip().startswith(("import ", "#", "[", "from ")):
                continue
            count += 1
            known = help_of(command)
            if known is None:
                wrong.append(f"{page}: selvedge {command}: no such command")
                continue
            for option in re.findall(r"(?<=[ \[(])(--?[a-zA-Z][\w-]*)", rest):
                if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", known):
                    wrong.append(f"{page}: selvedge {command} has no option {option}")
        for command in re.findall(r"tools/dev ([a-z]+)", line):
            count += 1
            if not re.search(rf"^  (?:\w+ \| )*{command}(?: \|[\w |-]+)?\)", development, re.M):
                wrong.append(f"{page}: tools/dev {command}: no such command")
print("\n".join(wrong) or f"{count} commands: options exist")
sys.exit(bool(wrong))
