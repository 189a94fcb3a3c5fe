# What docs/reference.md says of the environment and of element types is what the sources have, and the examples of docs/runtime.md are parts of programs that the tests run.
# SPDX-License-Identifier: MIT
"""Usage: check_reference.py ROOT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
page = (root / "docs/reference.md").read_text(encoding="utf-8")
read = set()
for folder in ("compiler", "runtime", "tools"):
    for path in (root / folder).rglob("*"):
        if path.suffix in (".cpp", ".h"):
            text = path.read_text(encoding="utf-8")
            read |= set(re.findall(r'(?:getenv|GetEnv|environment|isSet)\("([A-Z_]+)"\)', text))
            read |= set(re.findall(r'std::pair\("([A-Z_]+)"', text))
for path in (root / "runtime/python").rglob("*.py"):
    read |= set(re.findall(r'os\.environ\.get\("([A-Z_]+)"\)', path.read_text(encoding="utf-8")))
table = page[page.index("## Environment variables"):page.index("## Limits")]
documented = set(re.findall(r"`([A-Z_]+)`", table)) - {"TMPDIR", "CUDA_VISIBLE_DEVICES"}
assert read == documented, f"not documented: {read - documented}; not read: {documented - read}"
for path in [root / "README.md", *(root / "docs").rglob("*.md")]:
    for name in set(re.findall(r"\bSELVEDGE_[A-Z]+\b", path.read_text(encoding="utf-8"))):
        known = name in read or any(name in (root / other).read_text(encoding="utf-8") for other in (
            "CMakeLists.txt", "tests/lit.cfg.py", "runtime/include/selvedge/selvedge.h", "runtime/include/selvedge/Version.h")) or name == "SELVEDGE_NVDISASM"
        assert known, f"{path}: {name} does not exist"
print("variables agree")

# Element types: names of the language and of safetensors, codes of DLPack, names of PyTorch.
text = lambda path: (root / path).read_text(encoding="utf-8")
names = {kind: (name, tensors) for kind, name, tensors in re.findall(r'\{DType::(\w+), \d+, "(\w+)", "(\w+)"\}', text("runtime/src/Tensor.cpp"))}
codes = {kind: f"{code}, {bits}" for kind, code, bits in re.findall(r"\{DType::(\w+), (\d+), (\d+)\}", text("runtime/src/DLPack.cpp"))}
torch = dict(re.findall(r'"(\w+)": "(\w+)"', re.search(r"^TORCH = \{(.*?)\}", text("runtime/python/selvedge/_tensors.py"), re.M | re.S)[1]))
table = page[page.index("## Element types"):page.index("## Environment variables")]
rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (\d+, \d+)[^|]* \| `(\w+)` \|$", table, re.M)
known = {(*both, codes[kind], torch[both[0]]) for kind, both in names.items() if both[0] not in ("f64", "i64")}
assert set(rows) == known, f"types: {sorted(set(rows) ^ known)}"
print(len(rows), "types agree")

programs = [path.read_text(encoding="utf-8") for path in (root / "examples").glob("*.cpp")]
runtime = (root / "docs/runtime.md").read_text(encoding="utf-8")
project = (root / "examples/CMakeLists.txt").read_text(encoding="utf-8").splitlines()
for line in "".join(re.findall(r"^```cmake\n(.*?)^```$", runtime, re.M | re.S)).splitlines():
    assert line in project, "of no project of the examples: " + line
blocks = re.findall(r"^```cpp\n(.*?)^```$", runtime, re.M | re.S)
for block in blocks:
    assert any(block.rstrip("\n") in program for program in programs), "of no example:\n" + block
print(len(blocks), "examples are parts of programs")
