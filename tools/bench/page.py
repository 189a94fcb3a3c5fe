#!/usr/bin/env python3
# Writes docs/performance.md, docs/performance-cells.md and the plots of ratios from the files in docs/data.
# SPDX-License-Identifier: MIT
"""usage: page.py [--data docs/data] [--out docs] [--check]

Each section reads one or two files; a file that is missing leaves its section out. `--check` fails where a page or plot is not what the data give.
"""
import argparse
import collections
import csv
import math
import os
import re
import sys

import plot
import report

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INTRODUCTION = """# Performance

Results on one NVIDIA H200. `tools/bench/page.py` generates this page from `docs/data`. [Every cell](performance-cells.md) is on a second page.

- A **ratio** is our rate over that of the fastest peer in the same run. Above 1 we are ahead.
- All launches of an operation count, for every candidate. Each candidate is compared with an fp32 reference before it is timed.
- A table row is a group of cells: the geometric mean of their ratios (lowest to highest). The second page has more groups: GQA, other head sizes, single cells.

[Measuring](dev/measuring.md) says how each number is taken and how to repeat it. [Experiments](dev/experiments.md) and [tried](dev/tried.md) explain the results.
"""
CELLS = """# Performance by cell

Each measured cell behind the groups of [performance](performance.md), on one NVIDIA H200. `tools/bench/page.py` generates this page from `docs/data`, whose files also have the spread, clock and power of each measurement.
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


def title_of(name):
    """The group of a family: full and causal together, and lists of one head size."""
    return re.sub(r" (full|causal)$|, \d+% kept$", "", name)


def label_of_forward(name):
    """Head sizes of the grid; the others together."""
    name = title_of(name)
    return name if name in ("D 64", "D 128", "D 256") else "GQA 32/8, D 96, D 192/128, f16, H 7"


def label_of_backward(name):
    return None if "GQA" in name else name


def of_other_runs(data, name):
    """A sentence about the rates in a table that its run does not have, of which the rows say so."""
    cells = [row["candidate"] for row in data.rows(name) if row["status"] == "ok" and row["note"]]
    return f" Cells with a rate from another run, of which the data say why: {', '.join(f'{cells.count(peer)} of `{peer}`' for peer in sorted(set(cells)))} ([experiments](dev/experiments.md#flashattention-4-beside-ours))." if cells else ""


def label_of_inference(name):
    """Without what only the heads tell apart."""
    if name.startswith("varlen GQA") or "28/4" in name:
        return None
    if name.startswith("cache"):
        return "caches, 1 to 16 queries"
    if re.match(r"decode \d+ queries", name):
        return "decode, 4 and 16 queries"
    return re.sub(r", \d+% kept$| GQA 32/8 D 128$", "", name)


def label_of_bias(name):
    return "mask from memory" if name.startswith("mask") else "bias from memory"


def groups(families, label=title_of):
    """{label: ratios of its cells}; families without a label are left out."""
    of = collections.defaultdict(list)
    for family in families:
        if label(family.name):
            of[label(family.name)] += [ratio for ratio in map(family.ratio, family.cells) if ratio]
    return {name: ratios for name, ratios in of.items() if ratios}


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def span(values):
    return f"{mean(values):.2f} ({min(values):.2f} to {max(values):.2f})" if values else ""


def both(rows, other):
    """Groups of code for sm_90a, and the same of code for sm_80."""
    return table(["group", "cells", "sm_90a", "cells", "sm_80"], [[name, len(values), span(values), len(other.get(name, [])) or "", span(other.get(name))] for name, values in rows])


def forward(data):
    families = data.families("attention-h200.csv")
    if not families:
        return ""
    by_name = {family.name: family for family in families}
    grid = [by_name[name] for name in GRID if name in by_name]
    cell = lambda family, x: f"{report.number(family.rate(x, report.OURS))} ({family.ratio(x):.2f})"
    text = ["## Attention forward, sm_90a\n", "TFLOP/s (ratio) in bf16, batch * S = 16384, heads * D = 2048, by S. Peers: cuDNN, FlashAttention 2 to 4, FlexAttention, TileLang.\n",
            table(["S"] + [family.name for family in grid], [[x] + [cell(family, x) for family in grid] for x in grid[0].cells])]
    rows = list(groups(families, label_of_forward).items())
    rows += [*groups(data.families("softcap-h200.csv")).items(), *groups(data.families("bias-h200.csv"), label_of_bias).items()]
    text += ["By group. The ratio of code for `sm_80`, on the same GPU, is to FlashAttention-2, which is made of the same instructions. `softcap` caps scores at 50.\n",
             both(rows, groups(data.families("attention-sm80-h200.csv"), label_of_forward))]
    return "\n".join(text)


def backward(data):
    families = data.families("backward-h200.csv")
    if not families:
        return ""
    note = ("`flash_bwd`, all launches. It adds gradients of queries up in any order, as the peers do (`--set deterministic=false`; for `sm_80` also `--set apart=false`; on `sm_90a` heads that share keys have `--set by_head=true`, as PyTorch's attention gets it). "
            "Peers: cuDNN, FlashAttention-2 and FlashAttention-4, for `sm_80` FlashAttention-2. *Packed* is `flash_bwd_varlen` as PyTorch's attention takes it: batches of 512 to 8192 rows, and one of mixed lengths.")
    packed = groups(data.families("backward-varlen-h200.csv"), label_of_inference)
    rows = [*groups(families, label_of_backward).items(), *((name.replace("varlen", "packed"), ratios) for name, ratios in packed.items())]
    return f"## Attention backward\n\n{note}\n\n" + both(rows, groups(data.families("backward-sm80-h200.csv"), label_of_backward))


def plots_of_forward(data):
    by_name = {family.name: family for family in data.families("attention-h200.csv")}
    images = [f"![{name}](data/plots/{by_name[name].file()}.svg)" for name in GRID if name in by_name]
    return "\n".join(" ".join(images[i:i + 2]) for i in range(0, len(images), 2)) + "\n" if images else ""


def by_group(data):
    """Groups as fine as their heads tell them apart; on the page they are coarser."""
    files = [("forward ", "attention-h200.csv", "attention-sm80-h200.csv", title_of), ("backward ", "backward-h200.csv", "backward-sm80-h200.csv", str),
             ("", "inference-h200.csv", "inference-sm80-h200.csv", lambda name: re.sub(r", \d+% kept$", "", name)), ("", "bias-h200.csv", "", title_of)]
    rows, others = [], {}
    for prefix, name, other, label in files:
        rows += [(prefix + group, values) for group, values in groups(data.families(name), label).items()]
        others.update({prefix + group: values for group, values in groups(data.families(other), label).items()} if other else {})
    note = "Geometric mean of the ratios (lowest to highest)."
    return f"## Groups\n\n{note}\n\n" + both(rows, others) if rows else ""


def grouped(data, title, name, other, note, label=str):
    families = data.families(name)
    return f"## {title}\n\n{note}\n\n" + both(groups(families, label).items(), groups(data.families(other), label)) if families else ""


def against(data, title, name, peers, note):
    """One row per cell: our rate, those of `peers`, the ratio to the best."""
    families = data.families(name)
    if not families:
        return ""
    rows = []
    peers = [peer for peer in peers if any(family.rate(x, peer) for family in families for x in family.cells)]
    for family in families:
        for x in family.cells:
            rates = [report.number(family.rate(x, peer)) for peer in peers]
            ratio = family.ratio(x)
            rows.append([f"{family.name} {x}", report.number(family.rate(x, report.OURS)), *rates, f"{ratio:.2f}" if ratio else ""])
    return f"## {title}\n\n{note}\n\n" + table(["cell", "ours", *peers, "ratio"], rows)


def matrices(data):
    families = data.families("matrices-h200.csv")
    note = "Peers: cuBLAS for products, PyTorch for softmax."
    return f"## Matrix products and softmax\n\n{note}\n\n" + table(["group", "cells", "sm_90a"], [[name, len(values), span(values)] for name, values in groups(families).items()]) if families else ""


def accuracies(data):
    """{cases of a group: rows}"""
    cases = collections.defaultdict(list)
    for row in data.rows("accuracy-h100.csv"):
        known = lambda name: float(row[name]) if row[name] else None
        cases[" ".join(row["case"].split()[:2])].append(dict(row, error=known("error"), torch=known("torch"), **{"pass": row["pass"] == "true"}))
    return cases


def against_torch(row):
    return row["error"] / row["torch"] if row.get("torch") and row["error"] is not None else 0


def errors_of_gradients(data):
    """{(target, family): {candidate: largest error of its cells}}"""
    found = {}
    for arch, name in (("sm_90a", "backward-h200.csv"), ("sm_80", "backward-sm80-h200.csv")):
        for family in data.families(name):
            for rows in family.cells.values():
                for candidate, row in rows.items():
                    if row["status"] == "ok" and row["error"]:
                        of = found.setdefault((arch, family.name), {})
                        of[candidate] = max(of.get(candidate, 0), float(row["error"]))
    return found


def gradients(data):
    """A sentence of the page."""
    text = ""
    if errors := errors_of_gradients(data):
        ratios = [of["selvedge"] / of["fa2"] for of in errors.values() if "selvedge" in of and "fa2" in of]
        text = f" All gradients of the cells of `flash_bwd` together have at most {max(ratios):.2f} times FlashAttention-2's error."
    return text


def gradients_by_family(data):
    errors = errors_of_gradients(data)
    names = ["selvedge", "selvedge_deterministic", "fa2", "fa4", "cudnn"]
    text = ""
    if errors:
        note = "Relative error of dq, dk and dv together in the Frobenius norm, against fp32: of each group the largest."
        text = f"## Accuracy of gradients\n\n{note}\n\n" + table(["group", *names], [[f"{family}, {arch}", *(f"{of[name]:.2e}" if name in of else "" for name in names)] for (arch, family), of in errors.items()])
    return text


def accuracy(data):
    cases = [row for group in accuracies(data).values() for row in group]
    if not cases:
        return ""
    worst = max(cases, key=against_torch)
    return (f"## Accuracy\n\nErrors are relative, in the Frobenius norm, against fp64. A case passes below twice PyTorch's error (`tests/gpu/compare_torch.py`): {sum(row['pass'] for row in cases)} of {len(cases)} pass. "
            f"The worst is {against_torch(worst):.2f} times PyTorch's error (`{worst['case']}`).{gradients(data)}\n")


def accuracy_by_group(data):
    rows = []
    for name, group in accuracies(data).items():
        worst = max(group, key=against_torch)
        rows.append([name, f"{sum(row['pass'] for row in group)} of {len(group)}", *(f"{worst[key]:.2e}" if worst.get(key) is not None else "none" for key in ("error", "torch"))])
    note = "Relative error in the Frobenius norm against fp64: of each group the case that is worst beside PyTorch."
    return f"## Accuracy\n\n{note}\n\n" + table(["cases", "pass", "ours", "PyTorch"], rows) if rows else ""


def poisoned(data):
    """{op: {arch: [passed, cases]}}"""
    counts = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    for row in data.rows("poison-matrix.csv"):
        count = counts[row["kernel"].split()[0]][row["arch"]]
        count[0] += int(row["passed"])
        count[1] += int(row["cases"])
    return counts


def poison(data):
    counts = poisoned(data)
    if not counts:
        return ""
    total = lambda arch: f"{sum(of[arch][0] for of in counts.values())} of {sum(of[arch][1] for of in counts.values())} cases pass for `{arch}` ({sum(of[arch][1] > 0 for of in counts.values())} ops)"
    archs = sorted({arch for of in counts.values() for arch in of})
    return ("## Poison\n\nEverything outside the valid data is poisoned: gaps, outputs, workspaces, shared memory and registers (`tests/gpu/poison_matrix.py`). A case passes if the poisoned runs equal the clean run bit for bit, lie within the bounds of `ref`, "
            f"and change no canary. {', '.join(map(total, archs))}.\n")


def poison_by_op(data):
    counts = poisoned(data)
    archs = sorted({arch for of in counts.values() for arch in of})
    rows = [[op] + [f"{of[arch][0]} of {of[arch][1]}" for arch in archs] for op, of in sorted(counts.items())]
    return "## Poison\n\nCases that pass, by op.\n\n" + table(["op", *archs], rows) if counts else ""


def training(data):
    rows = data.rows("training-h200.csv")
    if not rows:
        return ""
    last = rows[-20:]
    mean_of = lambda name: sum(float(row[name]) for row in last) / len(last)
    return (f"## Training\n\nLoss of a small transformer, from the same weights on the same batches, mean of the last {len(last)} of {len(rows)} steps (`tools/bench/train.py`): {mean_of('selvedge'):.4f} with `flash_fwd` and `flash_bwd`, "
            f"{mean_of('sdpa'):.4f} with PyTorch's attention in bf16, {mean_of('fp32'):.4f} in fp32.\n\n![loss over steps](data/plots/training.svg)\n")


def tails(data):
    """Cases with a tail, and {(kernel, arch): {case: percent}}."""
    rows = data.rows("safety-cost-h200.csv")
    kernels = collections.defaultdict(dict)
    for row in rows:
        kernels[row["kernel"], row["arch"]][row["case"]] = row["percent"]
    cases = dict.fromkeys(row["case"] for row in rows)
    return [case for case in cases if any(float(of.get(case, 0)) for of in kernels.values())], kernels


def safety(data):
    cases, kernels = tails(data)
    if not kernels:
        return ""
    values = lambda case, arch: [float(of[case]) for (_, of_arch), of in kernels.items() if of_arch == arch and case in of]
    cell = lambda found: f"{sum(found) / len(found):.2f} % ({min(found):.2f} to {max(found):.2f})" if found else ""
    archs = sorted({arch for _, arch in kernels}, reverse=True)
    note = "Additional time beside the case without tails, mean and range over kernels. Steps in which every element is present carry no instruction for safety (`tests/Safety/zero-cost.test`)."
    return f"## Cost of safety\n\n{note}\n\n" + table(["tail", *archs], [[case] + [cell(values(case, arch)) for arch in archs] for case in cases])


def safety_by_kernel(data):
    cases, kernels = tails(data)
    rows = [[f"{name}, {arch}"] + [of[case] + " %" if case in of else "" for case in cases] for (name, arch), of in kernels.items()]
    return "## Cost of safety\n\nAdditional time beside the case without tails.\n\n" + table(["kernel", *cases], rows) if kernels else ""


def plain(title, name, note):
    """A file that is shown as it is."""
    def section(data):
        rows = data.rows(name)
        return f"## {title}\n\n{note}\n\n" + table(list(rows[0]), [row.values() for row in rows]) if rows else ""

    return section


SECTIONS = [
    lambda data: "![ratios by group, sm_90a](data/plots/ratios-sm_90a.svg)\n\n![ratios by group, sm_80](data/plots/ratios-sm_80.svg)\n",
    forward,
    backward,
    lambda data: grouped(data, "Packed, cached, paged and listed attention", "inference-h200.csv", "inference-sm80-h200.csv",
                         "*Dense* decode has one length for all sequences, *ragged* one per sequence. cuDNN and FlashAttention-2 take no lengths per sequence, so `sm_80` has no peer there. "
                         "Queries of decode see the keys up to their own position, those of a *cache*, 1 to 16 per sequence, all keys. *Chunks* are the last 64 and 256 queries of a prompt." + of_other_runs(data, "inference-h200.csv"), label_of_inference),
    matrices,
    training,
    accuracy,
    poison,
    safety,
    plain("Cold start", "cold-start-h200.csv", "Seconds from the source to the end of the first launch, nothing cached: causal attention, D 128, B 2, H 16, S 1024 (`tools/bench/cold_start.py --causal`)."),
]
BY_CELL = [
    plots_of_forward,
    by_group,
    lambda data: against(data, "Attention forward, sm_90a", "attention-h200.csv", ["cudnn", "fa2", "fa3", "fa4", "flex", "tilelang"], "TFLOP/s."),
    lambda data: against(data, "Scores capped at 50, window of 4096, sm_90a", "softcap-h200.csv", ["fa4", "flex"], "TFLOP/s."),
    lambda data: against(data, "Bias and mask from memory, sm_90a", "bias-h200.csv", ["efficient", "cudnn", "flex"],
                         "TFLOP/s. `B x H` is a bias of every sequence and head; an extent of 1 is repeated. An `f32 bias` is f32 for us and FlexAttention, bf16 for PyTorch's cuDNN and memory-efficient attention; the others are bf16 for all."),
    lambda data: against(data, "Sustained load, sm_90a", "sustained-h200.csv", ["cudnn", "fa3", "fa4"], "TFLOP/s over 1 s, behind 0.3 s of the same."),
    lambda data: against(data, "Attention forward, sm_80", "attention-sm80-h200.csv", ["fa2"], "TFLOP/s of code for `sm_80` on the same GPU."),
    lambda data: against(data, "Gradients of packed sequences, sm_90a", "backward-varlen-h200.csv", ["selvedge_five", "selvedge_deterministic", "fa2", "fa4"],
                         "TFLOP/s. *ours* is what PyTorch's attention takes: sums in any order (*selvedge_five*), or of short sequences in one (*selvedge_deterministic*)."),
    lambda data: against(data, "Attention backward, sm_90a", "backward-h200.csv", ["selvedge_deterministic", "cudnn", "fa2", "fa4"],
                         "TFLOP/s of `flash_bwd`, side kernels included: `ours` adds gradients of queries up in any order, as the peers do (`--set deterministic=false`); with `deterministic`, the default, equal inputs give equal bits."),
    lambda data: against(data, "Attention backward, sm_80", "backward-sm80-h200.csv", ["selvedge_deterministic", "fa2"], "TFLOP/s of code for `sm_80` on the same GPU (`--set apart=false`); columns as above."),
    lambda data: against(data, "Packed, cached, paged and listed attention, sm_90a", "inference-h200.csv", ["cudnn", "fa2", "fa3", "flex"], "TFLOP/s, decode and caches (without chunks) in TB/s of keys and values; cuDNN and FlashAttention-2 take no lengths per sequence."),
    lambda data: against(data, "Packed, cached and paged attention, sm_80", "inference-sm80-h200.csv", ["fa2"], "The same of code for `sm_80` on the same GPU."),
    lambda data: against(data, "Matrix products and softmax, sm_90a", "matrices-h200.csv", ["cublas", "pytorch", "copy"], "TFLOP/s of products, TB/s of softmax. `copy` is a copy of as many bytes, and no peer."),
    plain("Thread blocks per multiprocessor, sm_80", "residency-sm80.csv",
          "Not measured: the rules of the CUDA C++ Programming Guide (\"Compute Capabilities\") applied to the registers and shared memory of `compile --json`. A block takes 1 KB more than it asks for. A multiprocessor of the H200 has 228 KB of "
          "shared memory, one of an A100 164 KB, one of the others 100 KB. Where a row says 2 and 1, a plan that was measured on the H200 keeps half as many warps on an A100. A plan of at most 81 KB would keep two blocks there: "
          "`bench --tune` on such a GPU decides. The last column is of the second version where there is one ([runtime](runtime.md#devices-with-less-shared-memory))."),
    accuracy_by_group,
    gradients_by_family,
    poison_by_op,
    plain("Compile time", "compile-time.csv", "CPU seconds of the release build on one core with a cold cache, from `.tile` to the artefact with all kernels of the op, all proofs included (2-core x86-64 machine, least of five)."),
    safety_by_kernel,
    plain("Launch", "launch-latency.csv", "Host time of a launch of `flash_fwd`, D 128, in microseconds, on a driver that does nothing (`build/bin/launch-latency`)."),
]


def plots(data):
    """{file: text} of the ranges of ratios."""
    backward = lambda file: [(f"backward {name}", values) for name, values in groups(data.families(file)).items()]
    plain_of = lambda file: list(groups(data.families(file)).items())
    forwards = lambda file: [(f"forward {name}", values) for name, values in plain_of(file)]
    sm90 = forwards("attention-h200.csv") + plain_of("softcap-h200.csv") + backward("backward-h200.csv") + plain_of("inference-h200.csv")
    sm80 = forwards("attention-sm80-h200.csv") + backward("backward-sm80-h200.csv") + plain_of("inference-sm80-h200.csv")
    return {f"data/plots/ratios-{arch}.svg": plot.ranges(f"{arch}: our rate / fastest peer's, lowest to highest, dot: geometric mean", rows) for arch, rows in (("sm_90a", sm90), ("sm_80", sm80))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.path.join(ROOT, "docs", "data"))
    parser.add_argument("--out", default=os.path.join(ROOT, "docs"), help="the folder of the pages")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    data = Data(options.data)
    page = lambda introduction, sections: "\n".join([introduction] + list(filter(None, (section(data) for section in sections))))
    files = {"performance.md": page(INTRODUCTION, SECTIONS), "performance-cells.md": page(CELLS, BY_CELL), **plots(data)}
    for name, text in files.items():
        path = os.path.join(options.out, name)
        if options.check:
            with open(path, encoding="utf-8") as file:
                if file.read() != text:
                    sys.exit(f"{path}: not what the data give; run tools/bench/page.py")
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)


if __name__ == "__main__":
    main()
