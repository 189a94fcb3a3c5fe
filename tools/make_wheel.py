#!/usr/bin/env python3
# Makes a wheel: the Python package, the library of compiler and runtime, the program, the templates.
# SPDX-License-Identifier: MIT
"""make_wheel.py --library libselvedge_jit.so --program selvedge --version 0.1.0 [--glibc 2.34] [--out dist]"""
import argparse
import base64
import hashlib
import os
import pathlib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

METADATA = """Metadata-Version: 2.1
Name: selvedge
Version: {version}
Summary: Attention kernels from a tile language
License: MIT
Classifier: Operating System :: POSIX :: Linux
Requires-Python: >=3.10
Requires-Dist: nvidia-cuda-nvcc>=13; extra == "ptxas"
Provides-Extra: ptxas
Description-Content-Type: text/markdown

"""


class Wheel:
    """A zip file with a record of hashes. Times are those of the format's beginning: equal inputs give equal files."""

    def __init__(self, path):
        self.zip, self.record = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED), []

    def add(self, name, content, mode=0o644):
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}")

    def close(self, record):
        self.zip.writestr(zipfile.ZipInfo(record, (1980, 1, 1, 0, 0, 0)), "\n".join([*self.record, f"{record},,", ""]))
        self.zip.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("library", "program", "version"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--glibc", default="2.34")
    parser.add_argument("--out", default="dist")
    options = parser.parse_args()
    tag = f"py3-none-manylinux_{options.glibc.replace('.', '_')}_x86_64"
    base = f"selvedge-{options.version}"
    os.makedirs(options.out, exist_ok=True)
    path = os.path.join(options.out, f"{base}-{tag}.whl")
    wheel = Wheel(path + ".part")
    package = ROOT / "runtime/python"
    for source in sorted(package.rglob("*.py")):
        wheel.add(source.relative_to(package).as_posix(), source.read_bytes())
    wheel.add("selvedge/lib/libselvedge_jit.so", pathlib.Path(options.library).read_bytes(), 0o755)
    wheel.add(f"{base}.data/scripts/selvedge", pathlib.Path(options.program).read_bytes(), 0o755)
    # The library looks beside its folder, the program in share.
    for source in sorted((ROOT / "templates").glob("*.tile")):
        for folder in ("selvedge/templates", f"{base}.data/data/share/selvedge/templates"):
            wheel.add(f"{folder}/{source.name}", source.read_bytes())
    info = f"{base}.dist-info"
    text = METADATA.format(version=options.version) + (ROOT / "docs/python.md").read_text(encoding="utf-8")
    wheel.add(f"{info}/METADATA", text.encode())
    wheel.add(f"{info}/LICENSE", (ROOT / "LICENSE").read_bytes())
    wheel.add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: selvedge\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
    wheel.close(f"{info}/RECORD")
    os.replace(path + ".part", path)
    print(f"{path}: {os.path.getsize(path)} bytes")


if __name__ == "__main__":
    main()
