# Writes the ```tile blocks of a page to numbered files and runs a command on each.
# SPDX-License-Identifier: MIT
"""Usage: extract_examples.py PAGE OUT_PREFIX COMMAND... ; '{}' in the command is the file. Fails when a block does, or when there is none."""
import pathlib
import re
import subprocess
import sys


def main() -> int:
    page, prefix, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    text = pathlib.Path(page).read_text(encoding="utf-8")
    failed = 0
    blocks = list(re.finditer(r"^```tile\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    for number, block in enumerate(blocks, 1):
        path = pathlib.Path(f"{prefix}.{number}.tile")
        path.write_text(block[1], encoding="utf-8")
        line = text.count("\n", 0, block.start()) + 1
        run = subprocess.run([word.replace("{}", str(path)) for word in command], capture_output=True, text=True)
        if run.returncode != 0:
            failed += 1
            print(f"{page}:{line}: block {number} does not compile\n{run.stderr}")
    print(f"{len(blocks) - failed} of {len(blocks)} examples compile")
    return 1 if failed or not blocks else 0


if __name__ == "__main__":
    sys.exit(main())
