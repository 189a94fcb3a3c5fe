# Numbers of README.md, docs/python.md and docs/case-studies.md, and the kernel that the README shows, are those of docs/data and of the template.
# SPDX-License-Identifier: MIT
"""Usage: check_claims.py ROOT"""
import csv
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


def claim(pattern, *values, page="README.md"):
    found = re.search(pattern, (root / page).read_text(encoding="utf-8"))
    assert found, f"{page} has no '{pattern}'"
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

# Several GPUs.
lines = (root / "docs/data/context-parallel-h200.csv").read_text(encoding="utf-8").splitlines()
(results,) = (re.match(r"# results: (\d+) compared with float64, all within twice the error of one GPU", line) for line in lines if line.startswith("# results"))
claim(r"all (\d+) results are within twice the error of one GPU", results[1], page="docs/python.md")
rows = csv.DictReader(line for line in lines if not line.startswith("#"))
parts = [100 * float(row["not_hidden"]) / float(row["all"]) for row in rows if row["way"] == "ring" and int(row["positions"]) >= 32768]
claim(r"not hide is ([\d.]+) to (\d+) % of the time from 32768 positions on", round(min(parts), 1), round(max(parts)), page="docs/python.md")

# The case studies in their own sizes.
with (root / "docs/data/cases-h100.csv").open(encoding="utf-8") as file:
    results = [row["result"] for row in csv.DictReader(file)]
claim(r"(\d+) of (\d+) pass on an H100", results.count("pass"), len(results), page="docs/case-studies.md")

template = (root / "templates/flash_fwd.tile").read_text(encoding="utf-8")
lines_of = lambda text: [re.sub(r"\s+", " ", re.sub(r"//.*", "", line)).strip() for line in text.splitlines() if line.strip()]
shown = 0
for page in (readme, (root / "docs/index.md").read_text(encoding="utf-8")):
    for block in re.findall(r"^```text\n((?:kernel|op) .*?)^```$", page, re.M | re.S):
        assert "\n".join(filter(None, lines_of(block))) in "\n".join(filter(None, lines_of(template))), f"not of the template:\n{block}"
        shown += 1
print(f"{shown} excerpts, claims agree with the data")
