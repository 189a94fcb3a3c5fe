# Numbers of README.md, and the kernel that it shows, are those of docs/data and of the template.
# SPDX-License-Identifier: MIT
"""Usage: check_claims.py ROOT"""
import math
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(root / "tools/bench"))
import report

readme = (root / "README.md").read_text(encoding="utf-8")
families = {family.name: family for family in report.read([root / "docs/data/attention-h200.csv"])[0]}
grid = [families[f"D {d} {mask}"] for d in (64, 128, 256) for mask in ("full", "causal")]


def claim(pattern, *values):
    found = re.search(pattern, readme)
    assert found, f"README.md has no '{pattern}'"
    assert [float(text) for text in found.groups()] == [float(value) for value in values], f"{found[0]}: the data say {values}"


rate = lambda peer: f"{families['D 128 full'].rate('16384', peer):.0f}"
claim(r"(\d+) TFLOP/s at D 128, S 16384", rate("selvedge"))
claim(r"FlashAttention-3 reaches (\d+), FlashAttention-4 (\d+) and cuDNN (\d+)", rate("fa3"), rate("fa4"), rate("cudnn"))
ratios = [family.ratio(x) for family in grid for x in family.cells]
assert min(ratios) >= 1
claim(r"in all (\d+) cells", len(ratios))
claim(r"by (\d+) % in the geometric mean", round(100 * (math.exp(sum(map(math.log, ratios)) / len(ratios)) - 1)))
softcap = report.read([root / "docs/data/softcap-h200.csv"])[0][0]
against = [softcap.rate(x, "selvedge") / softcap.rate(x, "fa4") for x in softcap.cells if int(x) >= 1024 and softcap.rate(x, "fa4")]
claim(r"([\d.]+) to ([\d.]+) times the speed of FlashAttention-4", round(min(against), 1), round(max(against), 1))

template = (root / "templates/flash_fwd.tile").read_text(encoding="utf-8")
lines = lambda text: [re.sub(r"\s+", " ", re.sub(r"//.*", "", line)).strip() for line in text.splitlines() if line.strip()]
shown = 0
for page in (readme, (root / "docs/index.md").read_text(encoding="utf-8")):
    for block in re.findall(r"^```text\n((?:kernel|op) .*?)^```$", page, re.M | re.S):
        assert "\n".join(filter(None, lines(block))) in "\n".join(filter(None, lines(template))), f"not of the template:\n{block}"
        shown += 1
print(f"{shown} excerpts, claims agree with the data")
