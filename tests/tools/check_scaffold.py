# Runs `tools/dev new` on a copy of the sources that it changes, and checks what it writes as far as that goes without a build.
# SPDX-License-Identifier: MIT
"""Usage: check_scaffold.py ROOT FOLDER LLVM_TOOLS"""
import pathlib
import re
import shutil
import subprocess
import sys

root, copy, tools = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
include = subprocess.run([tools / "llvm-config", "--includedir"], capture_output=True, text=True, check=True).stdout.strip()


def new(*words):
    return subprocess.run([sys.executable, root / "tools/scaffold.py", *words, "--root", copy], capture_output=True, text=True)


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, cwd=copy, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def tblgen(file, *options):
    return run(tools / "mlir-tblgen", *options, "-I", ".", "-I", include, file)


def files():
    return {path.relative_to(copy): path.read_text(encoding="utf-8") for path in copy.rglob("*") if path.is_file()}


for pattern in ("compiler/**/Passes.td", "compiler/**/CMakeLists.txt", "dialect/*/*.td", "templates/*.tile", ".clang-format"):
    for path in root.glob(pattern):
        (copy / path.relative_to(root)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy / path.relative_to(root))

wanted = [("pass", "sm-merge-waits"), ("pass", "tile-hoist-masks", "--folder", "compiler/Safety", "--summary", "Compute masks of whole kernels once"),
          ("pass", "verify-sm-waits"), ("op", "tile.clip"), ("op", "sm.rotate_left"), ("template", "row_totals")]
written = set()
for words in wanted:
    before, done = files(), new(*words)
    assert done.returncode == 0, done.stderr
    after = files()
    written |= set(after) - set(before)
    # A second time nothing changes.
    again = new(*words)
    assert again.returncode == 1 and "exists" in again.stderr and files() == after, again.stderr
    for path in set(after) - set(before):
        assert "SPDX-License-Identifier: MIT" in after[path], path
print(len(written), "files")

for folder, name in (("Schedule", "SmMergeWaits"), ("Safety", "TileHoistMasks"), ("Verify", "VerifySmWaits")):
    assert f"create{name}" in tblgen(f"compiler/{folder}/Passes.td", "-gen-pass-decls", "-name", folder)
assert "class ClipOp" in tblgen("dialect/Tile/TileComputeOps.td", "-gen-op-decls")
assert "class RotateLeftOp" in tblgen("dialect/Sm/SmRoleOps.td", "-gen-op-decls")
for path in written:
    if path.suffix == ".cpp":
        run(tools / "clang-format", "--dry-run", "-Werror", path)
        assert f"  {path.relative_to('/'.join(path.parts[:2]))}\n" in (copy / "/".join(path.parts[:2]) / "CMakeLists.txt").read_text(encoding="utf-8")
        # It changes nothing.
        assert re.search(r"void runOnOperation\(\) override \{\n    getOperation\(\)->walk\(\[\]\(Operation \*\) \{\}\);\n  \}", (copy / path).read_text(encoding="utf-8")), path
    if path.suffix == ".mlir":
        # The op itself needs a build: another one with the same syntax shows that the program around it is right.
        text = re.sub(r"(tile\.clip|sm\.rotate_left)", "arith.negf", (copy / path).read_text(encoding="utf-8"))
        if "invalid" not in path.name:
            assert "arith.negf" in run("selvedge-opt", "-", input=text)
test = (copy / "tests/programs/row-totals.test").read_text(encoding="utf-8")
for command in re.findall(r"^# RUN: (.*)$", test, re.M):
    run("bash", "-o", "pipefail", "-c", command.replace("%templates", "templates").replace("FileCheck %s", f"FileCheck {copy.resolve()}/tests/programs/row-totals.test"))
assert "(sm.kernel(sm-merge-waits))" in (copy / "tests/Schedule/sm-merge-waits.test").read_text(encoding="utf-8")
print("accepted by TableGen, clang-format and selvedge")

# A folder may have passes of its own.
done = new("pass", "sm-lane-waits", "--folder", "compiler/Target/Lanes")
assert done.returncode == 0 and (copy / "compiler/Target/Lanes/LaneWaits.cpp").is_file(), done.stderr
done = new("pass", "sm-copy-waits", "--folder", "compiler/Schedule/Copies")
assert done.returncode == 0 and "  Copies/CopyWaits.cpp\n" in (copy / "compiler/Schedule/CMakeLists.txt").read_text(encoding="utf-8"), done.stderr

for words, why in ((("pass", "merge"), "no flag of a pass"), (("pass", "sm-merge-waits"), "exists in compiler/Schedule/Passes.td"), (("pass", "sm-x", "--folder", "compiler/Verify"), "does not belong"),
                   (("op", "tile.dot"), "exists in dialect/Tile/TileComputeOps.td"), (("op", "gpu.x"), "no name of an op"), (("template", "softmax"), "exists in templates/softmax.tile"),
                   (("template", "flash_bwd_varlen_padded"), "exists in templates/flash_bwd_varlen.tile"), (("template", "A"), "no name of a template")):
    done = new(*words)
    assert done.returncode == 1 and why in done.stderr and "Traceback" not in done.stderr, done.stderr
print("names that exist are refused")
