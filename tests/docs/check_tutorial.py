# Does as a page says: writes its files, runs its commands, compares what they print.
# SPDX-License-Identifier: MIT
"""Usage: check_tutorial.py PAGE FOLDER

A block whose first line is a comment with a file's name is that file. In a ```console block lines that begin with "$ " are commands of a shell, which have to end with 0 unless the lines below
expect an error; those lines have to be in what it prints, in order, and "..." stands for anything. ```python files run where there is PyTorch."""
import ast
import importlib.util
import pathlib
import re
import subprocess
import sys

page, folder = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"), pathlib.Path(sys.argv[2])
commands = files = 0


def run(command, expected):
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True)
    printed = done.stdout + done.stderr
    position = 0
    for part in (part for line in expected for part in line.split("...") if part):
        found = printed.find(part, position)
        if found < 0:
            sys.exit(f"$ {command}\nprinted\n{printed}\nwithout\n{part}")
        position = found + len(part)
    if done.returncode and "did you mean" not in "".join(expected):
        sys.exit(f"$ {command}\nended with {done.returncode}\n{printed}")


for kind, text in re.findall(r"^```(\w+)\n(.*?)^```$", page, re.M | re.S):
    if kind == "console":
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.M):
            run(command, expected.splitlines())
            commands += 1
    elif name := re.match(r"(?://|#) (\w+\.\w+)\n", text):
        (folder / name[1]).write_text(text, encoding="utf-8")
        files += 1
        if kind == "python":
            ast.parse(text)
            if importlib.util.find_spec("torch"):
                run(f"{sys.executable} {name[1]}", ["torch.Size([1, 4, 8, 16]) torch.Size([1, 4, 8, 16]) torch.Size([1, 2, 12, 16])"])
print(f"{files} files, {commands} commands")
