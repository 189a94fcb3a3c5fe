# Unpacks the wheel of a folder and compares it with its record.
# SPDX-License-Identifier: MIT
import base64
import hashlib
import pathlib
import sys
import zipfile

(path,) = pathlib.Path(sys.argv[1]).glob("*.whl")
with zipfile.ZipFile(path) as wheel:
    names = wheel.namelist()
    print(*names, sep="\n")
    print(wheel.read("selvedge-0.1.0.dist-info/METADATA").decode().split("\n\n")[0])
    lines = wheel.read("selvedge-0.1.0.dist-info/RECORD").decode().split()
    for line in lines:
        name, digest, size = line.split(",")
        if digest:
            content = wheel.read(name)
            wanted = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            assert digest == "sha256=" + wanted and int(size) == len(content), name
    assert sorted(names) == sorted(line.split(",")[0] for line in lines)
    wheel.extractall(sys.argv[2])
print("the record agrees")
