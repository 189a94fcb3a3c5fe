# Commands of pages that no ```console block runs: blocks of ```sh, and code in lines that names a program of ours.
# SPDX-License-Identifier: MIT
"""Usage: check_shell.py ROOT BUILD FOLDER

FOLDER gets a tree that is repository, build and unpacked bundle at once. There a line of a ```sh block runs, unless it needs a GPU, a network, a compiler or minutes:

- Python programs parse their arguments, and list their cases where they can (dry_run.py). Shell scripts are programs. So it is with commands in a line of prose, which may be
  parts of one.
- `selvedge bench` says that there is no GPU; its program compiles with what it sets.
- `tools/dev` and the programs of CMake are looked at by check_commands.py, or not at all.

Every block has a label, and pages with ```console blocks are those that tests run."""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

from pages import blocks, inline, pages_of, shell_lines

root, build, folder = (pathlib.Path(each).resolve() for each in sys.argv[1:])
here = pathlib.Path(__file__).resolve().parent
# What a block may be, and which test looks at it.
LABELS = {"console", "cpp", "json", "python", "sh", "td", "text", "tile", "cmake", "ebnf"}
# Not run: they build, install or fetch.
OTHERS = {"cmake", "cpack", "tools/dev", "git"}
SCRIPT = re.compile(r"(?:tests|tools|examples)/[\w/.-]+\.(?:py|sh)")
# Words that stand for a value.
VALUES = {"N": "1", "S": "1"}
wrong, counts = [], {"ran": 0, "parsed": 0}


def tree():
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("tests", "tools", "templates", "docs", "examples", "CMakePresets.json"):
        (folder / name).symlink_to(root / name)
    (folder / "build").symlink_to(build)
    (folder / "bin").symlink_to(build / "bin")


def run(words, environment=()):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **dict(environment)})
    return done.returncode, done.stdout + done.stderr


def values_of(words):
    """Without the brackets of what may be left out; of a choice the first."""
    text = re.sub(r"\[([^]|]*)(?:\|[^]]*)?\]", r"\1", " ".join(map(shlex.quote, words)).replace("'['", "["))
    return [VALUES.get(word, word) for word in shlex.split(text)]


def parse(where, script, arguments, direct=True, part=()):
    if direct and not os.access(folder / script, os.X_OK):
        code, said = 1, "is not executable"
    elif script.endswith(".sh"):
        code, said = run(["bash", "-n", script])
    else:
        code, said = run([sys.executable, here / "dry_run.py", *part, script, *values_of(arguments)])
    counts["parsed"] += 1
    if code:
        wrong.append(f"{where}: {script} {shlex.join(arguments)}: {said.strip().splitlines()[-1] if said.strip() else code}")


def bench(where, words):
    """The options of a program for GPUs: what it sets has to be of the op, and dims have to be its."""
    code, said = run(words)
    if code and "bench needs a GPU" not in said:
        wrong.append(f"{where}: {shlex.join(words)}: {said.strip()}")
        return
    sets = [word for name, value in zip(words, words[1:]) if name in ("--set", "--op") for word in (name, value)]
    code, said = run(["selvedge", "compile", words[2], *sets, "--emit", "tile", "-o", "-"])
    signature = json.loads(run(["selvedge", "list", words[2], "--json"])[1])[0]["signature"]
    dims = [pair.split("=")[0] for name, value in zip(words, words[1:]) if name == "--shape" for pair in value.split(",")]
    if code or not all(re.search(rf"[\[, *]{dim}[\], *]", signature) for dim in dims):
        wrong.append(f"{where}: {shlex.join(words)}: {said.strip() if code else f'dims {dims}'}")
    counts["ran"] += 1


def line(where, text):
    words = shlex.split(text)
    environment = []
    while re.match(r"[A-Z_]+=", words[0]):
        environment.append(tuple(words.pop(0).split("=", 1)))
    program = words[0]
    if program in ("python3", "torchrun"):
        at = next(i for i, word in enumerate(words) if SCRIPT.fullmatch(word))
        parse(where, words[at], words[at + 1:], direct=False)
    elif SCRIPT.fullmatch(program):
        parse(where, program, words[1:])
    elif words[:2] == ["selvedge", "bench"]:
        bench(where, words)
    elif program == "selvedge" or program.startswith("build/bin/"):
        code, said = run(words, environment)
        counts["ran"] += 1
        if code:
            wrong.append(f"{where}: {text}: {said.strip()}")
    elif program == "cmake" and words[1] == "--preset" and words[2] not in presets:
        wrong.append(f"{where}: {text}: there is no preset {words[2]}")
    elif program not in OTHERS:
        wrong.append(f"{where}: {text}: runs a program that no test knows")


tree()
presets = {each["name"] for each in json.loads((root / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]}
tests = "".join(path.read_text(encoding="utf-8") for path in sorted(here.glob("*.test")))
for page in pages_of(root):
    name = str(page.relative_to(root))
    for label, text in blocks(page):
        if label not in LABELS:
            wrong.append(f"{name}: a block with the label '{label}'")
        if label == "console" and f"check_tutorial.py %S/../../{name} " not in tests:
            wrong.append(f"{name}: commands that no test runs")
        for command in shell_lines(text) if label == "sh" else []:
            line(name, command)
    for code in inline(page):
        found = re.search(rf"(?:^|[ =])({SCRIPT.pattern}) (.*)$", code)
        if found and "argparse" in (folder / found[1]).read_text(encoding="utf-8"):
            parse(name, found[1], shlex.split(found[2]), direct=code.startswith(found[1]), part=["--part"])
print("\n".join(wrong) or f"{counts['ran']} commands run, {counts['parsed']} command lines of programs parse")
sys.exit(bool(wrong))
