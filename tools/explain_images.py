#!/usr/bin/env python3
# Takes the pictures of the page of `explain` that docs/explain.md shows: as wide as a telephone and as a screen, light and dark.
# SPDX-License-Identifier: MIT
"""usage: explain_images.py [--selvedge build/bin/selvedge] [--out docs/images]

Needs chromium. Files are explain-PART-WIDTH-MODE.webp."""
import argparse
import pathlib
import subprocess
import tempfile

from browser import Browser

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Where the page is looked at, and how far down from there; which card's line is lit.
PARTS = {"summary": "", "pictures": "#kernel-main", "cards": "#main.load2"}
HEIGHTS = {400: 860, 1400: 900}


def names():
    return [f"explain-{part}-{width}-{mode}.webp" for part in PARTS for width in HEIGHTS for mode in ("light", "dark")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--selvedge", default=ROOT / "build/bin/selvedge")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs/images")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        page = pathlib.Path(folder) / "page.html"
        subprocess.run([options.selvedge, "explain", "flash_fwd.tile", "--arch", "sm_90a", "--set", "causal=true", "--html", page], check=True, cwd=ROOT / "templates")
        for name in names():
            _, part, width, mode = pathlib.Path(name).stem.split("-")
            browser.open(page, int(width), HEIGHTS[int(width)], mode == "dark", PARTS[part])
            (options.out / name).write_bytes(browser.picture("webp", quality=80))
            print(options.out / name)


if __name__ == "__main__":
    main()
