# Commands in the pages: `selvedge COMMAND` and `tools/dev COMMAND` exist, with every option that stands behind them.
# SPDX-License-Identifier: MIT
"""Usage: check_commands.py ROOT"""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
helps = {}


def help_of(command):
    if command not in helps:
        done = subprocess.run(["selvedge", "help", command], capture_output=True, text=True)
        helps[command] = done.stdout if done.returncode == 0 else None
    return helps[command]


development = (root / "tools/dev").read_text(encoding="utf-8")
wrong, count = [], 0
for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
    text = page.read_text(encoding="utf-8")
    code = re.findall(r"^```\w*\n(.*?)^```$", text, re.M | re.S) + re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))
    for line in "\n".join(code).splitlines():
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
