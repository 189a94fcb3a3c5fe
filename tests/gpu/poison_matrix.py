#!/usr/bin/env python3
# Runs the templates on a GPU over shapes, layouts and head sizes with every kind of poison.
# SPDX-License-Identifier: MIT
"""usage: poison_matrix.py --selvedge bin/selvedge [--arch sm_90a ...] [--quick] [--jobs 8] [--budget 240] [--out table.csv]

Each case is one shape in one layout. It runs clean, then once per kind of poison, all in one process per compiled kernel, and passes when every run
lies within the error bounds of `ref`, every poisoned run equals the clean one bit for bit, and no canary, gap or input has changed.
"""
import argparse
import csv
import itertools
import os
import queue
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

HEADS = [(8, 8), (40, 40), (59, 59), (64, 64), (72, 72), (80, 80), (96, 96), (104, 104), (128, 128), (64, 128), (40, 72), (192, 128), (256, 256)]
QUICK_HEADS = [(59, 59), (128, 128), (40, 72)]
TYPES = ["bf16", "f16"]

# B, M, G, R, N, further options. Blocks have 16 to 128 rows: most of these are no multiples.
FLASH_SHAPES = [
    (1, 1, 1, 1, 1, "--omit kv_len"),
    (4, 1, 2, 2, 77, "--fill kv_len=77,0,1,64"),
    (2, 65, 1, 3, 130, "--fill kv_len=0,77"),
    (3, 33, 2, 1, 0, ""),
    (1, 100, 1, 1, 40, "--omit kv_len"),
    (1, 128, 2, 1, 128, "--omit kv_len --repeat 3"),
    (2, 200, 2, 2, 300, "--fill kv_len=299,17 --repeat 2"),
    # Few positions of several heads, which share rows: part of a block, all of one, several; heads that divide no block.
    (2, 5, 2, 4, 300, "--fill kv_len=299,17"),
    (1, 16, 1, 4, 200, "--omit kv_len --repeat 2"),
    (2, 31, 1, 8, 130, "--fill kv_len=0,130"),
    (2, 9, 1, 7, 77, "--fill kv_len=77,5"),
    (1, 30, 2, 12, 150, "--omit kv_len"),
]
# More tiles than twice the multiprocessors of a large GPU, so that persistent blocks take several, some without keys between others: a result leaves beside the next
# tile's first step, and rings go round. Rows of their own, and rows that heads share.
MANY_HEADS = [(64, 64), (128, 128), (256, 256), (40, 72)]
MANY_TILES = [
    (3, 33, 15, 6, 800, "--fill kv_len=800,0,769"),
    (3, 5, 100, 2, 100, "--fill kv_len=0,100,65"),
    # Tiles of one step, with rows to be cleared, behind tiles whose first warpgroup leaves steps out.
    (70, 256, 2, 2, 330, "--fill kv_len=330,40,0,70"),
]
MULTIPROCESSORS, MOST_ROWS, MOST_COLUMNS, MOST_STAGES = 132, 256, 128, 4
FLASH_LAYOUTS = ["padded", "permuted", "transposed", "unaligned", "broadcast", "q=transposed", "k=padded --layout v=transposed",
                 "k=unaligned", "o=padded --layout lse=padded", "o=unaligned", "padded --layout broadcast"]
MATMUL_SHAPES = [(1, 1, 1), (1, 64, 1), (65, 33, 129), (128, 128, 128), (130, 7, 0), (0, 5, 5), (257, 65, 96), (100, 300, 200)]  # M, N, K
SOFTMAX_SHAPES = [(1, 1), (1, 4097), (77, 65), (5, 0), (0, 5), (64, 128), (129, 1000), (3, 2056), (6, 4096), (3, 8184), (2, 16385), (2, 32776)]
MATRIX_LAYOUTS = ["padded", "transposed", "unaligned", "broadcast", "padded --layout broadcast"]


# Variants of flash_fwd, appended to the template; what those whose masks and biases lie in memory need beside a shape.
VARIANTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "variants.tile")
VARIANT_INPUTS = {
    "masked": ["", "--fill mask=1,1,1,0,1 --plant v=nan@1:3..4", "--fill mask=0"],
    "padded": ["--fill first=3,70", "--fill first=3,70 --plant v=nan@1:0..3"],
    "documents": ["--fill doc=0,0,0,1,1,2"],
    "biased": [""],
    "kept": ["--fill keys=1,1,1,0,1 --plant v=nan@1:3..4"],
}
GRADIENT_INPUTS = {"biased": "", "sinks": "", "qk_norm": "", "sink_window": "", "masked": "", "documents": "--fill doc_q=0,0,0,1,1,2 --fill doc_k=0,0,1", "alibi": "--fill slopes=0.1"}
VARIANT_SHAPES = [
    (2, 200, 1, 2, 336, "--fill kv_len=336,77"),
    (4, 5, 2, 4, 300, "--fill kv_len=299,17,0,128"),
    (3, 70, 1, 1, 132, ""),
    (40, 260, 2, 2, 176, "--fill kv_len=176,20,0,130"),
]


# Rows per page, shapes and tables of flash_paged: decode and prefill, garbage behind the last key, pages that there are not. {n} is a length of n pages and a half.
PAGE_SIZES = [1, 3, 16, 64, 256]
PAGED_SHAPES = [
    "--shape B=4,M=1,G=2,R=4,NP=9,MP=6 --fill table=8,0,3,-1,5,2147483647,2,2,7,1,4,-2147483648,6 --fill kv_len={5},0,1,{2}",
    "--shape B=2,M=200,G=1,R=2,NP=5,MP=4 --fill table=4,0,3,1,-7,99 --fill kv_len={3},{0}",
    "--shape B=70,M=16,G=2,R=2,NP=40,MP=9 --fill table=39,0,3,1,17,99,4,-1,21,8,8,30,31 --fill kv_len={8},{1},0 --repeat 2",
]


# Sequences that are empty at any place, shorter and longer than tiles, in buffers that go on behind them; more tiles than a large GPU has multiprocessors.
VARLEN_SHAPES = [
    "--shape B=5,G=1,R=2,Q=150,K=200 --fill cu_q=3,3,80,81,147,147 --fill cu_k=0,3,3,80,199,200",
    "--shape B=12,G=2,R=1,Q=50,K=60 --fill cu_q=0,1,1,2,9,16,17,30,30,30,49,50,50 --fill cu_k=0,4,5,5,5,16,17,31,40,44,48,49,60 --repeat 2",
    "--shape B=4,G=20,R=1,Q=900,K=500 --fill cu_q=300,600,601,601,890 --fill cu_k=0,200,200,420,499",
    "--shape B=0,G=1,R=1,Q=9,K=7 --fill cu_q=2 --fill cu_k=1",
]
# Their gradients, LSE packed and in rows of L per sequence, whose ends hold anything; 6 is more than any lse of such data.
VARLEN_GRADIENTS = [f"{shape} --fill lse=6" for shape in VARLEN_SHAPES]
PADDED_GRADIENTS = [shape.replace(" --fill", f",L={longest} --fill", 1) + " --fill lse=6" + plant
                    for shape, longest, plant in zip(VARLEN_SHAPES, (80, 20, 300, 4), (" --plant lse=nan@2:77..80", " --plant lse=nan@2:19", "", ""))]
# The forward with the same lse: rows that are longer than a sequence, and shorter.
PADDED_SHAPES = [shape.replace(" --fill", f",L={longest} --fill", 1) for shape, longest in zip(VARLEN_SHAPES * 2, (80, 20, 300, 4, 40, 3, 0, 0))]
# Lists that are empty, full, in any order, with blocks that there are not; garbage behind.
SPARSE_SHAPES = [
    "--shape B=1,M=150,G=1,R=2,N=170,MQ=3,MK=3 --fill idx=0,2,5,1,4,-1,2147483647,3,7,9,0,1 --fill cnt=3,2,0,1,3",
    "--shape B=2,M=1000,G=2,R=2,N=3000,MQ=16,MK=9 --fill idx=11,3,40,0,22,7,35,-5,46,1,99 --fill cnt=9,0,4,1 --repeat 2",
]
# Their gradients: `ref` goes through all lists for every block of keys.
SPARSE_GRADIENTS = [
    SPARSE_SHAPES[0] + " --fill lse=6",
    "--shape B=2,M=300,G=2,R=2,N=400,MQ=5,MK=4 --fill idx=3,0,5,22,2,-5,1,1,9,4 --fill cnt=4,0,3,1 --fill lse=6 --repeat 2",
]

# Long caches and few queries, keys in parts: parts without keys, more parts than blocks of keys, a number of parts that the launch chooses.
DECODE_SHAPES = [
    "--shape B=3,M=1,G=2,R=4,N=700,S=4 --fill kv_len=700,0,129",
    "--shape B=2,M=3,G=1,R=7,N=300,S=128 --fill kv_len=299,1",
    "--shape B=1,M=1,G=1,R=1,N=1,S=2 --omit kv_len",
    "--shape B=2,M=1,G=2,R=2,N=0,S=3",
    "--shape B=30,M=1,G=3,R=8,N=600,S=5 --fill kv_len=600,64,0,377 --repeat 2",
    "--shape B=2,M=1,G=8,R=4,N=5000 --fill kv_len=4999,2600 --repeat 3",
    "--shape B=2,M=1,G=1,R=16,N=333,S=3 --fill kv_len=333,65 --layout padded",
    "--shape B=2,M=2,G=2,R=3,N=333,S=3 --fill kv_len=333,65 --layout unaligned",
    "--shape B=3,M=1,G=1,R=5,N=200,S=2 --fill kv_len=200 --layout broadcast",
    "--shape B=2,M=17,G=2,R=8,N=333,S=3 --fill kv_len=333,12",
    "--shape B=2,M=5,G=2,R=16,N=200,S=2 --fill kv_len=200,4 --repeat 3",
    "--shape B=1,M=70,G=1,R=4,N=150,S=2",
    # Blocks that begin within a position, whose heads divide no block: rows one by one, four at a time, thirty-two.
    "--shape B=2,M=23,G=2,R=7,N=333,S=2 --fill kv_len=333,30 --repeat 2",
    "--shape B=1,M=19,G=1,R=12,N=150,S=2",
    "--shape B=2,M=3,G=2,R=96,N=150,S=2 --fill kv_len=150,1 --layout padded",
]
# A compressed cache: heads that fill blocks, and that do not; parts without keys.
MLA_SHAPES = [
    "--shape B=3,M=1,H=16,N=700,S=4 --fill kv_len=700,0,129",
    "--shape B=1,M=2,H=128,N=300 --fill kv_len=299 --repeat 2",
    "--shape B=2,M=3,H=19,N=77,S=5 --fill kv_len=77,1",
    "--shape B=2,M=1,H=16,N=0,S=2",
    "--shape B=2,M=1,H=40,N=150,S=2 --fill kv_len=150,65 --layout padded",
    "--shape B=2,M=1,H=40,N=150,S=2 --fill kv_len=150,65 --layout unaligned",
]
# New keys at the beginning, the end and anywhere in a cache, and lengths that no cache has: what is outside is not written.
APPEND_SHAPES = [
    "--shape B=4,G=2,A=1,N=300 --fill len=0,299,128,17",
    "--shape B=3,G=1,A=70,N=200 --fill len=0,130,65",
    "--shape B=2,G=3,A=0,N=9 --fill len=3",
    "--shape B=90,G=4,A=33,N=150 --fill len=0,117,64,1,100 --repeat 2",
    "--shape B=5,G=1,A=40,N=100 --fill len=90,2147483647,-1,-2147483648,-39 --break-requires",
    "--shape B=3,G=2,A=20,N=64 --fill len=0,44,7 --layout padded",
    "--shape B=3,G=2,A=20,N=64 --fill len=0,44,7 --layout unaligned",
    "--shape B=3,G=2,A=20,N=64 --fill len=0,44,7 --layout permuted",
]
# Slots that there are and are not, in pages of any number of rows.
SLOT_SHAPES = [
    "--shape B=2,G=2,A=3,NP=5,P=16 --fill slot=3,-1,79,2147483647,16,0",
    "--shape B=1,G=3,A=7,NP=4,P=3 --fill slot=11,12,0,-5,-5,7,2 --layout unaligned",
    "--shape B=3,G=1,A=2,NP=2,P=200 --fill slot=399,0,200,199,-2147483648,77 --layout permuted",
    "--shape B=2,G=1,A=0,NP=2,P=4",
]
# Slots that are equal, which the promise excludes, lie within the tensors; others lie anywhere.
SLOT_SHAPES += ["--shape B=5,G=2,A=9,NP=3,P=16 --fill slot=3,3,47,48,-1,2147483647,-2147483648,17,3 --break-requires"]
# New positions of a cache that queries see at once: at its beginning, its end and between; none, one, more than a tile has; keys in parts; lengths that no cache has.
APPEND_ATTEND_SHAPES = [
    "--shape B=4,A=1,G=2,R=4,N=700,S=4 --fill len=699,0,128,64",
    "--shape B=3,A=5,G=1,R=7,N=300,S=128 --fill len=295,0,17",
    "--shape B=1,A=1,G=1,R=1,N=1",
    "--shape B=2,A=0,G=1,R=2,N=9 --fill len=3",
    "--shape B=2,A=150,G=2,R=2,N=333,S=2 --fill len=183,0 --repeat 2",
    "--shape B=30,A=1,G=8,R=4,N=600 --fill len=599,64,0,377 --repeat 2",
    "--shape B=2,A=3,G=2,R=3,N=100,S=3 --fill len=97,12 --layout padded",
    "--shape B=2,A=3,G=2,R=3,N=100,S=3 --fill len=97,12 --layout unaligned",
    "--shape B=2,A=3,G=2,R=3,N=100,S=3 --fill len=97,12 --layout permuted",
    "--shape B=5,A=5,G=1,R=2,N=90,S=2 --fill len=86,2147483647,-1,-2147483648,1000 --break-requires",
]
# The same with rotary embedding: a table as long as the cache, and one that ends before it.
TURNED_SHAPES = [re.sub(r"N=(\d+)", lambda extent: f"N={extent[1]},C={max(1, int(extent[1]) // part)}", shape)
                 for part, shapes in ((1, APPEND_ATTEND_SHAPES), (2, APPEND_ATTEND_SHAPES[1:2])) for shape in shapes]
# Masks and biases: whole, or one element for batch, heads and rows; rows of 4095 keys, which begin at any alignment; steps without a key, which are left out, NaN and all.
MASKED_SHAPES = [
    "--shape B=2,M=200,G=1,R=2,N=336 --fill mask=1,0,1,1,0 --fill kv_len=336,77",
    "--shape B=1,M=130,G=1,R=2,N=4095 --layout mask=broadcast --layout bias=broadcast --fill mask=1,1,0 --omit kv_len",
    "--shape B=2,M=9,G=2,R=2,N=4095 --layout mask=unaligned --layout bias=permuted --plant mask=0@3:100 --omit kv_len",
    "--shape B=2,M=70,G=1,R=1,N=255 --layout mask=transposed --layout bias=padded --fill mask=0 --omit kv_len",
    "--shape B=1,M=300,G=2,R=1,N=700 --fill mask=1 --plant mask=0@3:128..512 --plant v=nan@1:256..384 --omit kv_len --repeat 2",
    "--shape B=1,M=1,G=1,R=1,N=1 --fill mask=1",
    "--shape B=2,M=33,G=1,R=2,N=0",
    "--shape B=20,M=260,G=2,R=2,N=176 --fill mask=1,1,0,1 --fill kv_len=176,20,0,130",
    "--shape B=4,M=40,G=1,R=2,N=200 --fill kv_len=2147483647,-1,201,-2147483648 --break-requires",
]
# Lengths past a table, and below 0: loops end with the table. With ends of sequences of any kind for packed queries.
LONG_LENGTHS = "--fill table=8,0,3,-1,5,2147483647 --fill kv_len=2147483647,-1,-2147483648,2147483646 --break-requires"
PAGED_BROKEN = [f"--shape B=4,M={rows},G=2,R=2,NP=9,MP=6 {LONG_LENGTHS}" for rows in (1, 130)]
VARLEN_BROKEN = [f"--shape B=4,Q=70,G=2,R=2,NP=9,MP=6 --fill cu_q={ends} {LONG_LENGTHS}" for ends in ("0,20,20,65,70", "-5,2147483647,2147483647,-2147483648,-7")]
# Packed queries, sequences without queries or keys, and tables as those of flash_paged.
VARLEN_PAGED_SHAPES = [
    "--shape B=4,Q=60,G=2,R=2,NP=9,MP=6 --fill cu_q=1,4,4,40,58 --fill table=8,0,3,-1,5,2147483647,2,2,7,1,4,-2147483648,6 --fill kv_len={5},0,1,{2}",
    "--shape B=3,Q=300,G=1,R=4,NP=5,MP=4 --fill cu_q=0,200,201,300 --fill table=4,0,3,1,-7,99 --fill kv_len={3},{0},{1} --repeat 2",
]
# Parts without keys on either side, on both and at any place.
MERGE_SHAPES = [
    "--shape B=2,M=150,H=3",
    "--shape B=1,M=1,H=1 --fill l=-inf",
    "--shape B=2,M=130,H=2 --fill l2=-inf,0.5,-3 --plant o2=nan@3:0",
    "--shape B=2,M=65,H=2 --fill l=-inf,2 --fill l2=-inf,1,-inf",
    "--shape B=3,M=70,H=2 --fill l=-inf --fill l2=-inf",
    "--shape B=40,M=300,H=4 --fill l=1,-inf,30,-30 --repeat 2",
    "--shape B=2,M=90,H=2 --layout padded",
    "--shape B=2,M=90,H=2 --layout unaligned",
]
# Variants of attention (templates/flash_variants.tile): parameters, and what is filled in beside a shape. What follows a blank tells entries of one op apart.
SHIPPED_VARIANTS = {
    "window": ({"W": 100}, [""]),
    "softcap": ({}, [""]),
    "alibi": ({}, [""]),
    "sinks": ({}, ["", "--fill sink_score=-inf,3"]),
    "qk_norm": ({}, [""]),
    "sink_window": ({"W": 64}, [""]),
    "documents": ({}, ["--fill doc_q=0,0,1,1,2 --fill doc_k=0,0,0,1,1,2"]),
    "prefix_lm": ({}, ["--fill prefix=7,0,300", "--fill prefix=-1,2147483647"]),
    "masked": ({}, ["--fill mask=1,1,1,0,1", "--fill mask=0"]),
    "biased": ({}, ["", "--layout bias=broadcast"]),
    "biased 16": ({"BT": "bf16"}, ["", "--layout bias=broadcast"]),
    "chunked": ({"C": 100}, [""]),
}


class Group:
    """Cases of one compiled kernel; a case is the options of one line of `run --cases`. The op may be one of a file of `variants` of the template."""

    def __init__(self, template, arch, sets, cases, op=None, mask="tile", variants=None):
        self.template, self.arch, self.sets, self.cases, self.op, self.mask = template, arch, sets, cases, op or template, mask
        self.variants = variants

    def source(self, templates, folder):
        path = os.path.join(templates, self.template + ".tile")
        if not self.variants:
            return path
        both = os.path.join(folder, "variants.tile")
        with open(both, "w") as file:
            for part in (path, self.variants):
                with open(part) as text:
                    file.write(text.read())
        return both

    def name(self):
        return " ".join([self.op] + [f"{key}={value}" for key, value in self.sets.items()] + ["mask=exact"] * (self.mask == "exact"))


# Windows: within a block, about a block, several. Lengths near their ends let a loop's only step be partial, or the last loop not run.
WINDOWS = [17, 64, 128, 300, 600]
WINDOW_SHAPES = [
    (4, 64, 1, 2, 300, "--fill kv_len=1,63,65,300"),
    (3, 130, 2, 1, 700, "--fill kv_len=127,129,700"),
    (2, 300, 1, 1, 64, "--fill kv_len=64,33"),
    (4, 1, 2, 2, 1000, "--fill kv_len=1000,0,129,191"),
    (1, 257, 1, 1, 513, "--omit kv_len --repeat 2"),
    (2, 13, 1, 8, 700, "--fill kv_len=700,129"),
    (2, 200, 1, 2, 1100, "--fill kv_len=1100,650"),
]
WINDOW_TILES = (20, 260, 2, 2, 700, "--fill kv_len=700,300,0,500")


def flash_case(b, m, g, r, n, rest):
    # kv_len comes with every N > 0 but where a case omits it.
    return f"--shape B={b},M={m},G={g},R={r},N={n} {rest}".strip()


def exercises(case):
    """Whether a case of attention has several tiles per thread block, tiles without keys, and fills its rings twice and more; at least so often, whatever the plan."""
    extent = {dim: int(value) for dim, value in re.findall(r"\b([BMGRN])=(\d+)", case)}
    if len(extent) < 5:
        return False, False, False
    tiles = extent["B"] * extent["G"] * extent["R"] * -(-extent["M"] // MOST_ROWS) // MULTIPROCESSORS
    lengths = re.search(r"kv_len=(\d+(?:,\d+)*)", case)
    lengths = [int(length) for length in lengths[1].split(",")] if lengths else [extent["N"]]
    steps = sum(-(-length // MOST_COLUMNS) for length in lengths) / len(lengths)
    return tiles >= 2, 0 in lengths, tiles * steps >= 2 * MOST_STAGES or steps >= 2 * MOST_STAGES


def flash_cases(quick):
    shape = flash_case
    cases = [shape(*s) for s in FLASH_SHAPES]
    layouts = FLASH_LAYOUTS[:6] if quick else FLASH_LAYOUTS
    # A broadcast leaves the last length to all.
    cases += [f"{shape(2, 70, 2, 2, 150, '--fill kv_len=0,150')} --layout {layout}" for layout in layouts]
    if not quick:
        cases += [f"{shape(3, 1, 1, 4, 33, '--fill kv_len=33,1,32')} --layout {layout}" for layout in layouts]
    return cases


def exact_cases():
    """NaN and Inf in tokens of the future: of all rows' and of some rows' only, in one column, in keys, past a length; and none."""
    shape = lambda b, m, g, r, n: f"--shape B={b},M={m},G={g},R={r},N={n} "
    cases = [shape(2, 200, 1, 2, 200) + "--omit kv_len " + plants
             for plants in ["", "--plant v=nan@1:130", "--plant v=inf@1:199", "--plant v=nan@1:77..78", "--plant v=-inf@3:7..8 --plant k=nan@1:150"]]
    cases += [shape(1, 130, 2, 1, 300) + "--fill kv_len=270 --plant v=nan@1:141", shape(1, 300, 1, 1, 64) + "--omit kv_len --plant v=nan@1:10 --plant k=inf@1:20",
              shape(1, 70, 1, 1, 150) + "--omit kv_len --plant v=nan@1:100 --layout transposed"]
    return cases


def paged_cases(rows, shapes=PAGED_SHAPES):
    return [re.sub(r"\{(\d)\}", lambda pages: str(int(pages[1]) * rows + (rows + 1) // 2), shape) for shape in shapes]


def matrix_cases(shapes, dims, large, quick):
    shape = lambda s: "--shape " + ",".join(f"{dim}={extent}" for dim, extent in zip(dims, s))
    cases = [shape(s) for s in shapes]
    cases += [f"{shape(s)} --layout {layout}" for s in (large if not quick else large[:1]) for layout in MATRIX_LAYOUTS]
    return cases


def without_bias(cases):
    return [re.sub(r" --layout bias=\w+", "", case) for case in cases]


def make_groups(archs, quick):
    groups = []
    for arch in archs:
        types = TYPES[:1] if quick else TYPES
        for dtype in types:
            groups.append(Group("matmul", arch, {"T": dtype}, matrix_cases(MATMUL_SHAPES, "MNK", [(65, 129, 33), (128, 64, 96)], quick)))
            groups.append(Group("softmax", arch, {"T": dtype}, matrix_cases(SOFTMAX_SHAPES, "MN", [(77, 65), (40, 256)], quick)))
        for dtype, (d, dv), causal in itertools.product(types, QUICK_HEADS if quick else HEADS, ["false", "true"]):
            many = [flash_case(*s) for s in MANY_TILES] if dtype == "bf16" and (d, dv) in MANY_HEADS else []
            groups.append(Group("flash_fwd", arch, {"T": dtype, "D": d, "DV": dv, "causal": causal}, flash_cases(quick) + many))
        for dtype, (d, dv), causal in itertools.product(types, QUICK_HEADS if quick else HEADS, ["false", "true"]):
            # Gradients of queries are sums in any order where registers hold those of keys and values: on sm_80 always.
            sets = {"T": dtype, "D": d, "DV": dv, "causal": causal, **({"apart": "false"} if arch == "sm_80" else {})}
            for deterministic in ["true", "false"] if d + dv <= 256 or arch == "sm_80" else ["true"]:
                groups.append(Group("flash_bwd", arch, {**sets, "deterministic": deterministic}, flash_cases(quick)))
                if deterministic == "false":
                    groups.append(Group("flash_bwd", arch, {**sets, "deterministic": "false", "by_head": "true"}, flash_cases(quick)))
        for (d, dv), rows, causal in itertools.product([(64, 64)] if quick else [(64, 64), (128, 128), (40, 72)], PAGE_SIZES, ["false", "true"]):
            groups.append(Group("flash_paged", arch, {"D": d, "DV": dv, "P": rows, "causal": causal}, paged_cases(rows) + PAGED_BROKEN))
            groups.append(Group("flash_varlen_paged", arch, {"D": d, "DV": dv, "P": rows, "causal": causal}, paged_cases(rows, VARLEN_PAGED_SHAPES) + VARLEN_BROKEN))
        for (d, dv), rows in itertools.product([(64, 64)] if quick else [(64, 64), (128, 128), (40, 72)], PAGE_SIZES):
            for op in ("paged_decode", "paged_chunk"):
                groups.append(Group(op, arch, {"D": d, "DV": dv, "P": rows}, paged_cases(rows) + [paged_cases(rows)[0].replace("MP=6", "MP=6,S=3")] + PAGED_BROKEN))
        for (d, dv), causal in itertools.product([(64, 64)] if quick else [(64, 64), (128, 128), (40, 72)], ["false", "true"]):
            sets = {"D": d, "DV": dv, "causal": causal}
            groups.append(Group("flash_varlen", arch, sets, VARLEN_SHAPES))
            groups.append(Group("flash_varlen", arch, sets, PADDED_SHAPES, "flash_varlen_padded"))
            for deterministic in ("true", "false"):
                groups.append(Group("flash_bwd_varlen", arch, {**sets, "deterministic": deterministic}, VARLEN_GRADIENTS))
            groups.append(Group("flash_bwd_varlen", arch, {**sets, "deterministic": "false", "by_head": "true"}, VARLEN_GRADIENTS))
            groups.append(Group("flash_bwd_varlen", arch, sets, PADDED_GRADIENTS, "flash_bwd_varlen_padded"))
            for block in (64, 128):
                groups.append(Group("flash_blocksparse", arch, {**sets, "BQ": 64, "BK": block}, SPARSE_SHAPES))
                for deterministic in ("true", "false"):
                    groups.append(Group("flash_bwd_blocksparse", arch, {**sets, "BQ": 64, "BK": block, "deterministic": deterministic}, SPARSE_GRADIENTS))
        for d, dv in [(64, 64)] if quick else [(64, 64), (128, 128), (256, 256), (59, 59), (40, 72)]:
            for op in ("flash_decode", "flash_chunk"):
                groups.append(Group(op, arch, {"D": d, "DV": dv}, DECODE_SHAPES))
                groups.append(Group(op, arch, {"D": d, "DV": dv, "causal": "false"}, DECODE_SHAPES[-3:]))
            groups.append(Group("append_kv", arch, {"D": d, "DV": dv}, APPEND_SHAPES))
            groups.append(Group("append_slots", arch, {"D": d, "DV": dv}, SLOT_SHAPES))
            for causal in ("true", "false"):
                groups.append(Group("append_attend", arch, {"D": d, "DV": dv, "causal": causal}, APPEND_ATTEND_SHAPES))
            # Half a row is turned as a whole, in pairs; or a part of it, and the rest stays.
            for half in sorted({d // 2, d // 8}):
                groups.append(Group("append_attend", arch, {"D": d, "DV": dv, "HALF": half}, TURNED_SHAPES, "append_attend_rotary"))
            for causal in ("true", "false"):
                groups.append(Group("flash_masked", arch, {"D": d, "DV": dv, "causal": causal}, without_bias(MASKED_SHAPES)))
                groups.append(Group("flash_masked", arch, {"D": d, "DV": dv, "causal": causal, "BT": "bf16"}, MASKED_SHAPES, "flash_masked_bias"))
            for dtype in ("f32", "bf16"):
                groups.append(Group("merge", arch, {"T": dtype, "DV": dv}, MERGE_SHAPES))
        groups.append(Group("mla_decode", arch, {}, MLA_SHAPES))
        for op, (d, dv) in itertools.product(SHIPPED_VARIANTS, [(64, 64)] if quick else MANY_HEADS):
            sets, inputs = SHIPPED_VARIANTS[op]
            cases = [f"{flash_case(*s)} {more}".strip() for s in VARIANT_SHAPES for more in inputs]
            groups.append(Group("flash_variants", arch, {"D": d, "DV": dv, **sets}, cases, op.split()[0]))
        for (d, dv), window in itertools.product([(128, 128)] if quick else [(64, 64), (128, 128), (59, 59), (256, 256)], WINDOWS[:1] if quick else WINDOWS):
            groups.append(Group("flash_fwd", arch, {"D": d, "DV": dv, "W": window}, [flash_case(*s) for s in WINDOW_SHAPES], "gemma"))
        for d, window in itertools.product([128] if quick else [64, 128, 256], [300] if quick else [64, 300, 600]):
            cases = [flash_case(*s) for s in WINDOW_SHAPES + ([WINDOW_TILES] if window == 300 and not quick else [])]
            groups.append(Group("flash_fwd", arch, {"D": d, "DV": d, "W": window}, cases, "window", variants=VARIANTS))
        for (d, dv), dtype in itertools.product([(64, 64), (128, 128)] if quick else HEADS, types):
            groups.append(Group("flash_fwd", arch, {"T": dtype, "D": d, "DV": dv, "causal": "true"}, exact_cases(), mask="exact"))
        for window in WINDOWS[1:2] if quick else WINDOWS:
            groups.append(Group("flash_fwd", arch, {"W": window}, exact_cases(), "gemma", mask="exact"))
        # Gradients of inputs are sums in any order; those of masks from memory have the masks' predicates.
        for op, (d, dv) in itertools.product(GRADIENT_INPUTS, [(128, 128)] if quick else [(64, 64), (128, 128)]):
            cases = [f"{flash_case(*s)} --fill lse=6 {GRADIENT_INPUTS[op]}".strip() for s in VARIANT_SHAPES[:3]]
            groups.append(Group("flash_variants", arch, {"D": d, "DV": dv}, cases, f"grad({op})"))
        for (d, dv), causal in itertools.product([(128, 128)] if quick else [(64, 64), (128, 128)], ("true", "false")):
            sets, cases = {"D": d, "DV": dv, "causal": causal}, [f"{case} --fill lse=6" for case in MASKED_SHAPES]
            groups.append(Group("flash_masked", arch, sets, without_bias(cases), "grad(flash_masked)"))
            groups.append(Group("flash_masked", arch, sets, cases, "grad(flash_masked_bias)"))
        for op, (d, dv) in itertools.product(VARIANT_INPUTS, [(128, 128)] if quick else MANY_HEADS):
            cases = [f"{flash_case(*s)} {more}".strip() for s in VARIANT_SHAPES for more in VARIANT_INPUTS[op]]
            groups.append(Group("flash_fwd", arch, {"D": d, "DV": dv}, cases, op, variants=VARIANTS))
    # Whatever a budget leaves over is then a fair sample.
    random.Random(0).shuffle(groups)
    return groups


class Matrix:
    def __init__(self, options):
        self.options = options
        self.deadline = time.monotonic() + options.budget if options.budget else float("inf")
        self.lock = threading.Lock()
        self.rows = []

    def record(self, group, case, result, seconds):
        with self.lock:
            self.rows.append([f"{group.name()} {case}", group.arch, self.options.poison, result, f"{seconds:.3f}"])
            if result != "pass":
                print(f"FAIL {group.arch} {group.name()} {case}: {result}", flush=True)

    def run_group(self, group):
        """Runs all cases, in a new process after each one that hung or died."""
        first = 0
        while first < len(group.cases) and time.monotonic() < self.deadline:
            first += self.run_process(group, group.cases[first:])

    def run_process(self, group, cases):
        """Runs cases until one is fatal and returns how many have a result."""
        on_gpu = self.options.device == "gpu"
        compare = "ref,clean" if on_gpu else "ref"
        # Where a promise is broken nothing is compared but what must not be written.
        lines = [f"{case} --poison {self.options.poison}" + ("" if "--break-requires" in case else f" --compare {compare}") for case in cases]
        if not on_gpu:
            lines = [re.sub(r"--repeat \d+", "", line) for line in lines]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "cases.txt")
            with open(path, "w") as file:
                file.write("\n".join(lines) + "\n")
            command = [self.options.selvedge, "run", group.source(self.options.templates, folder), "--arch", group.arch,
                       "--op", group.op, "--mask", group.mask, "--device", self.options.device, "--cases", path]
            for name, value in group.sets.items():
                command += ["--set", f"{name}={value}"]
            with open(os.path.join(folder, "errors.txt"), "w+") as errors:
                process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, errors="replace")
                done, ending = self.follow(process, group, cases)
                errors.seek(0)
                message = " / ".join(errors.read().splitlines()[-4:])
        if done == len(cases) or ending == "budget":
            return len(cases)
        if ending == "no compile" or (done == 0 and ending == "ended with status 2"):  # no driver, say
            for case in cases[done:]:
                self.record(group, case, f"{ending}: {message}", 0)
            return len(cases)
        if ending == "lost":  # the fatal case has been recorded
            return done
        self.record(group, cases[done], f"{ending}: {message}", 0)
        return done + 1

    def follow(self, process, group, cases):
        """Records the results that a process prints; how many there were, and how it ended."""
        lines = queue.Queue()

        def read():
            for line in process.stdout:
                lines.put(line)
            lines.put(None)

        threading.Thread(target=read, daemon=True).start()
        done, detail, ending = 0, "", None
        # The first case includes the compilation.
        limit = time.monotonic() + self.options.timeout + 60
        while ending is None:
            try:
                line = lines.get(timeout=max(0.01, min(limit, self.deadline) - time.monotonic()))
            except queue.Empty:
                ending = "budget" if time.monotonic() >= self.deadline else f"no result after {self.options.timeout} s"
                process.kill()
                break
            if line is None:
                break
            if "first at flat index" in line:
                detail = detail or line.strip()
            match = re.match(r"case \d+: (ok|FAILED), ([\d.]+) s(?:: (.*))?", line)
            if not match:
                continue
            result = "pass" if match[1] == "ok" else "; ".join(filter(None, [match[3] or "failed", detail]))
            self.record(group, cases[done], result, float(match[2]))
            done, detail = done + 1, ""
            if "does not compile" in result:
                ending = "no compile"
            limit = time.monotonic() + self.options.timeout
        status = process.wait()
        if ending is None:
            # After a result the program ends early only when it has lost the GPU.
            lost = status == 1 and 0 < done < len(cases)
            ending = "lost" if lost else f"ended with status {status}"
        return done, ending


def merge(paths, out):
    """One row per kernel, of tables of cases; a later result of a case replaces an earlier one."""
    cases, kernels = {}, {}
    for path in paths:
        with open(path, newline="") as file:
            cases.update({(row["case"], row["arch"]): row for row in csv.DictReader(file)})
    for (case, arch), row in cases.items():
        counts = kernels.setdefault((case.split(" --")[0], arch), [0, 0, 0.0])
        for i, more in enumerate((1, row["result"] == "pass", float(row["seconds"]))):
            counts[i] += more
    with open(out, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["kernel", "arch", "cases", "passed", "seconds"])
        writer.writerows([*key, total, int(passed), f"{seconds:.1f}"] for key, (total, passed, seconds) in sorted(kernels.items()))


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--selvedge")
    parser.add_argument("--templates", default=os.path.join(here, "../../templates"))
    parser.add_argument("--arch", nargs="+", default=["sm_80", "sm_90a"])
    parser.add_argument("--device", choices=["gpu", "ref"], default="gpu", help="ref: tests the options alone")
    parser.add_argument("--poison", default="all", help="kinds, as of `selvedge run`")
    parser.add_argument("--quick", action="store_true", help="fewer head sizes, types and layouts")
    parser.add_argument("--filter", default="", help="a regular expression that the name of a kernel matches: 'flash_fwd T=bf16 D=59'")
    parser.add_argument("--cases", default="", help="a regular expression that a case matches: 'G=15'")
    parser.add_argument("--jobs", type=int, default=min(8, os.cpu_count() or 1))
    parser.add_argument("--shard", default="0/1", metavar="I/N", help="every Nth kernel, from the Ith on, so that N runs have them all")
    parser.add_argument("--without", nargs="*", default=[], metavar="CSV", help="leave out what passed there, to go on with a run that a budget ended")
    parser.add_argument("--budget", type=float, default=0, help="seconds after which no case starts")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one case")
    parser.add_argument("--out", help="CSV: case, arch, kinds, result, seconds")
    parser.add_argument("--merge", nargs="+", metavar="CSV", help="run nothing: write such tables into one of kernels, with the numbers of their cases")
    options = parser.parse_args()
    if options.merge and not options.out:
        parser.error("--merge needs --out")
    if options.merge:
        return merge(options.merge, options.out)
    if not options.selvedge:
        parser.error("--selvedge is needed")
    first, every = map(int, options.shard.split("/"))
    groups = [group for group in make_groups(options.arch, options.quick) if re.search(options.filter, group.name())][first::every]
    passed = set()
    for path in options.without:
        with open(path, newline="") as file:
            passed |= {(row["case"], row["arch"]) for row in csv.DictReader(file) if row["result"] == "pass"}
    for group in groups:
        group.cases = [case for case in group.cases if (f"{group.name()} {case}", group.arch) not in passed]
        # `ref` takes no inputs that break promises.
        group.cases = [case for case in group.cases if re.search(options.cases, case) and (options.device == "gpu" or "--break-requires" not in case)]
    matrix = Matrix(options)
    with ThreadPoolExecutor(options.jobs) as pool:
        for future in [pool.submit(matrix.run_group, group) for group in groups]:
            future.result()
    if options.out:
        with open(options.out, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["case", "arch", "kinds", "result", "seconds"])
            writer.writerows(sorted(matrix.rows))
    failed = sum(row[3] != "pass" for row in matrix.rows)
    left = sum(len(group.cases) for group in groups) - len(matrix.rows)
    print(f"{len(matrix.rows) - failed} passed, {failed} failed" + (f", {left} left out for want of time" if left else ""))
    counts = [sum(column) for column in zip(*(exercises(row[0]) for row in matrix.rows))] or [0, 0, 0]
    print("with several tiles per thread block: {}, with tiles without keys: {}, with rings filled twice: {}".format(*counts))
    # A run of everything that does not do what it is for has failed.
    isIdle = not (options.filter or options.cases or options.without or left or every > 1) and 0 in counts
    return 1 if failed or not matrix.rows or isIdle else 0


if __name__ == "__main__":
    sys.exit(main())
