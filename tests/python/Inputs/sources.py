# SPDX-License-Identifier: MIT
import ast
import pathlib
import sys

import selvedge

for path in pathlib.Path(sys.argv[1]).rglob("*.py"):
    ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=(3, 10))
assert selvedge.__version__ == selvedge.version()
