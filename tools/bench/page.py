#!/usr/bin/env python3
# Writes docs/performance.md from the files in docs/data.
# SPDX-License-Identifier: MIT
"""usage: page.py [--data docs/data] [--out docs/performance.md] [--check]

Each section is a table of one file; a file that is missing leaves its section out. `--check` fails where the page is not what the data give.
"""
import argparse
import collections
import csv
import json
import os
import sys

import report

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INTRODUCTION = """# Performance

Results on one NVIDIA H200, generated from `docs/data` by `tools/bench/page.py`. [Measuring](dev/measuring.md) says how each number is taken and how to repeat it. [Experiments](dev/experiments.md) and
[what was tried](dev/tried.md) say why the code is as it is.

A ratio is our rate over that of the fastest peer in the same run: above 1 we are ahead. All launches of an operation count, for everyone. Each candidate is compared with an fp32 reference before it is timed.
"""
GRID = ["D 64 full", "D 64 causal", "D 128 full", "D 128 causal", "D 256 full", "D 256 causal"]


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


class Data:
    def __init__(self, folder):
        self.folder = folder

    def path(self, name):
        path = os.path.join(self.folder, name)
        return path if os.path.exists(path) else None

    def families(self, name):
        return report.read([self.path(name)])[0] if self.path(name) else []

    def rows(self, name):
        if not self.path(name):
            return []
        with open(self.path(name), newline="") as file:
            return list(csv.DictReader(line for line in file if not line.startswith("#")))


def forward(data):
    families = data.families("attention-h200.csv")
    if not families:
        return ""
    by_name = {family.name: family for family in families}
    grid = [by_name[name] for name in GRID if name in by_name]
    cell = lambda family, x: f"{report.number(family.rate(x, report.OURS))} ({family.ratio(x):.2f})"
    sizes = list(grid[0].cells)
    text = ["## Attention forward, sm_90a\n", "TFLOP/s (ratio) in bf16, batch * S = 16384, heads * D = 2048, by S. Peers: cuDNN, FlashAttention 2 to 4, FlexAttention, TileLang.\n",
            table(["S"] + [family.name for family in grid], [[x] + [cell(family, x) for family in grid] for x in sizes])]
    text += ["Ratios per group of cells; the rates of every candidate are in `attention-h200.csv`, sustained load (0.3 s, then 1 s) in `sustained-h200.csv`, scores capped at 50 in windows of 4096 in `softcap-h200.csv`.\n",
             report.summary(families + data.families("sustained-h200.csv") + data.families("softcap-h200.csv"))]
    text += ["\n".join(f"![{family.name}](data/plots/{family.file()}.svg)" for family in grid) + "\n"]
    return "\n".join(text)


def against(data, title, name, peers, note):
    """One row per cell: our rate, those of `peers`, the ratio to the best."""
    families = data.families(name)
    if not families:
        return ""
    rows = []
    for family in families:
        for x in family.cells:
            rates = [report.number(family.rate(x, peer)) for peer in peers]
            ratio = family.ratio(x)
            rows.append([f"{family.name} {x}", report.number(family.rate(x, report.OURS)), *rates, f"{ratio:.2f}" if ratio else ""])
    return f"## {title}\n\n{note}\n\n" + table(["cell", "ours", *peers, "ratio"], rows)


def matrices(data):
    families = data.families("matrices-h200.csv")
    return "## Matrix products and softmax, sm_90a\n\n" + report.summary(families) if families else ""


def accuracy(data):
    if not data.path("accuracy-h200.json"):
        return ""
    with open(data.path("accuracy-h200.json")) as file:
        cases = json.load(file)["rows"]
    groups = collections.defaultdict(list)
    for row in cases:
        groups[" ".join(row["case"].split()[:3] if "flash" in row["case"] else row["case"].split()[:2])].append(row)
    rows = []
    for name, group in groups.items():
        worst = max(group, key=lambda row: row["error"] / row["torch"] if row["torch"] else 0)
        rows.append([name, f"{sum(row['pass'] for row in group)} of {len(group)}", f"{worst['error']:.2e}", f"{worst['torch']:.2e}"])
    note = "Relative error in the Frobenius norm against fp64: the case of each group that is worst beside PyTorch. A case passes below twice PyTorch's error (`tests/gpu/compare_torch.py`)."
    return f"## Accuracy\n\n{note}\n\n" + table(["cases", "pass", "ours", "PyTorch"], rows)


def poison(data):
    cases = data.rows("poison-matrix-h200.csv") + data.rows("poison-matrix-templates-h200.csv")
    if not cases:
        return ""
    counts = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    archs = sorted({row["arch"] for row in cases})
    for row in cases:
        count = counts[row["case"].split()[0]][row["arch"]]
        count[0] += row["result"] == "pass"
        count[1] += 1
    note = ("Cases whose poisoned runs equal the clean run bit for bit, lie within the bounds of `ref`, and change no canary. Everything outside the valid data is poisoned, with each kind of poison: gaps, outputs, workspaces, "
            "shared memory and registers (`tests/gpu/poison_matrix.py`). A case that failed when this was recorded is told in [experiments](dev/experiments.md#poison).")
    rows = [[op] + [f"{of[arch][0]} of {of[arch][1]}" for arch in archs] for op, of in sorted(counts.items())]
    return f"## Poison\n\n{note}\n\n" + table(["op", *archs], rows)


def training(data):
    rows = data.rows("training-h200.csv")
    if not rows:
        return ""
    names = [name for name in rows[0] if name != "step"]
    last = rows[-20:]
    means = [f"{sum(float(row[name]) for row in last) / len(last):.4f}" for name in names]
    note = (f"Loss of a small transformer, mean of the last {len(last)} of {len(rows)} steps from the same weights on the same batches: with `flash_fwd` and `flash_bwd` (`selvedge`), with PyTorch's attention in bf16 (`sdpa`), in fp32 "
            "(`tools/bench/train.py`).")
    return f"## Training\n\n{note}\n\n" + table(names, [means]) + "\n![loss over steps](data/plots/training.svg)\n"


def safety(data):
    rows = data.rows("safety-cost-h200.csv")
    if not rows:
        return ""
    cases = [case for case in dict.fromkeys(row["case"] for row in rows) if float(next(r for r in rows if r["case"] == case)["percent"]) or case != rows[0]["case"]]
    kernels = collections.defaultdict(dict)
    for row in rows:
        kernels[row["kernel"], row["arch"]][row["case"]] = row["percent"] + " %"
    note = "Additional time beside the case without tails. Steps in which every element is present carry no instruction for safety (`tests/Safety/zero-cost.test`)."
    cases = [case for case in cases if not all(of.get(case, "0.00 %") == "0.00 %" for of in kernels.values())]
    return f"## Cost of safety\n\n{note}\n\n" + table(["kernel", *cases], [[f"{name}, {arch}"] + [of.get(case, "") for case in cases] for (name, arch), of in kernels.items()])


def plain(title, name, note):
    """A file that is shown as it is."""
    def section(data):
        rows = data.rows(name)
        return f"## {title}\n\n{note}\n\n" + table(list(rows[0]), [row.values() for row in rows]) if rows else ""

    return section


SECTIONS = [
    forward,
    lambda data: against(data, "Attention forward, sm_80", "attention-sm80-h200.csv", ["fa2"], "TFLOP/s of code for `sm_80` on the same GPU, beside FlashAttention-2, which is made of the same instructions."),
    lambda data: against(data, "Attention backward, sm_90a", "backward-h200.csv", ["selvedge_deterministic", "cudnn", "fa2"],
                         "TFLOP/s of `flash_bwd`, side kernels included: `ours` adds gradients of queries up in any order, as the peers do (`--set deterministic=false`); with `deterministic`, the default, equal inputs give equal bits."),
    lambda data: against(data, "Attention backward, sm_80", "backward-sm80-h200.csv", ["selvedge_deterministic", "fa2"], "TFLOP/s of code for `sm_80` on the same GPU (`--set apart=false`); columns as above."),
    lambda data: against(data, "Packed, cached, paged and listed attention, sm_90a", "inference-h200.csv", ["cudnn", "fa2", "fa3", "flex"], "TFLOP/s, decode in TB/s of keys and values; cuDNN and FlashAttention-2 take no lengths per sequence."),
    lambda data: against(data, "Packed, cached and paged attention, sm_80", "inference-sm80-h200.csv", ["fa2"], "The same of code for `sm_80` on the same GPU."),
    plain("Thread blocks per multiprocessor, sm_80", "residency-sm80.csv",
          "Not measured: what registers and shared memory of `compile --json` allow by the rules of the CUDA C++ Programming Guide (\"Compute Capabilities\"; a block takes 1 KB more than it asks for). A multiprocessor of the H200 has 228 KB of "
          "shared memory, one of an A100 164 KB, one of the others 100 KB. Where it says 2 and 1 a plan that was measured on the H200 keeps half as many warps on an A100, and one of at most 81 KB would keep two blocks there: "
          "`bench --tune` on such a GPU decides. The last column is of the second version where there is one ([runtime](runtime.md#devices-with-less-shared-memory))."),
    matrices,
    training,
    accuracy,
    poison,
    safety,
    plain("Compile time", "compile-time.csv", "CPU seconds of the release build on one core with a cold cache, from `.tile` to the artefact with all kernels of the op, all proofs included (2-core x86-64 machine, least of five)."),
    plain("Cold start", "cold-start-h200.csv", "Seconds from the source to the end of the first launch, nothing cached: causal attention, D 128, B 2, H 16, S 1024 (`tools/bench/cold_start.py --causal`)."),
    plain("Launch", "launch-latency.csv", "Host time of a launch of `flash_fwd`, D 128, in microseconds, on a driver that does nothing (`build/bin/launch-latency`)."),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.path.join(ROOT, "docs", "data"))
    parser.add_argument("--out", default=os.path.join(ROOT, "docs", "performance.md"))
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    data = Data(options.data)
    text = "\n".join([INTRODUCTION] + list(filter(None, (section(data) for section in SECTIONS))))
    if options.check:
        with open(options.out) as file:
            if file.read() != text:
                sys.exit(f"{options.out}: not what the data give; run tools/bench/page.py")
        return
    with open(options.out, "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
