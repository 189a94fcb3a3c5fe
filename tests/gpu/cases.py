#!/usr/bin/env python3
# Runs the five reports of docs/case-studies.md in their own sizes on a GPU, with every kind of poison.
# SPDX-License-Identifier: MIT
"""usage: cases.py --selvedge bin/selvedge [--arch sm_90a ...] [--jobs 8] [--out table.csv]

Each case runs clean, then once per kind of poison. It passes when every run lies within the error bounds of `ref`, every poisoned run equals the clean one bit for bit, no canary, gap or input has changed,
and no output but an lse has NaN or Inf. Cases for which `ref` would take minutes are compared with clean runs only; a smaller one of the same kernel is compared with `ref`.
`--device sim --small` tests this file without a GPU.
"""
import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
INPUTS = os.path.join(HERE, "../cases/Inputs")
LEAST = "-3.3895313892515355e38"


class Group:
    """Cases of one compiled op of a report. A case has its options, those of its small form, and what it is compared with."""

    def __init__(self, report, file, op, sets, cases):
        self.report, self.file, self.op, self.sets, self.cases = report, file, op, sets, cases

    def name(self):
        return " ".join([self.op] + [f"{key}={value}" for key, value in self.sets.items()])


def both(full, small):
    return (full, small, "ref,clean")


def clean(full, small):
    return (full, small, "clean")


def expanded(rows, keys, more=""):
    return f"--shape B=1,M={rows},G=1,R=2,N={keys}{more} --layout mask=broadcast --layout bias=broadcast"


def tilelang_2461():
    """f16, 32 heads over 2, heads of 192 and 128: sequences of up to 256 rows, and 8 of up to 1024. NaN wherever no sequence is."""
    few = "--fill cu_q=2,2,250,251,450 --fill cu_k=0,3,251,252,460 --plant q=nan@0:450 --plant dO=nan@0:0..2 --plant k=nan@0:460 --plant v=inf@0:460 --fill lse=6"
    many = "--fill cu_q=0,100,1124,1641,1705,2038,2938,3194,3894 --fill cu_k=0,100,1124,1641,1705,2038,2938,3194,3894 --fill lse=7"
    small = "--fill cu_q=2,2,40,41,77 --fill cu_k=0,3,45,46,80 --fill lse=6"
    shape = "--shape B=4,G=2,R=16,Q=460,K=470"
    sets = {"T": "f16", "D": 192, "DV": 128}
    for causal in ("false", "true"):
        packed = [both(f"{shape} {few} --plant lse=nan@1:450", f"--shape B=4,G=1,R=2,Q=80,K=84 {small} --plant lse=nan@1:77"),
                  clean(f"--shape B=8,G=2,R=16,Q=4096,K=4096 {many} --plant lse=nan@1:3894", "")]
        padded = [both(f"{shape},L=256 {few} --plant lse=nan@2:248", f"--shape B=4,G=1,R=2,Q=80,K=84,L=48 {small} --plant lse=nan@2:38"),
                  clean(f"--shape B=8,G=2,R=16,Q=4096,K=4096,L=1100 {many} --plant lse=nan@2:1024", "")]
        yield Group("tilelang-2461", "flash_bwd_varlen.tile", "flash_bwd_varlen", {**sets, "causal": causal}, packed)
        yield Group("tilelang-2461", "flash_bwd_varlen.tile", "flash_bwd_varlen_padded", {**sets, "causal": causal}, padded)


def flash_attention_2407():
    """4 sequences of one query, 8 heads of 64, 32 to 96 keys in a cache of 128; a longer cache; the same along lists of blocks."""
    own = "--shape B=4,M=1,G=8,R=1,N=128 --fill kv_len=32,64,96,48 --plant k=nan@1:96 --plant v=nan@1:96"
    cache = "--shape B=4,M=64,G=2,R=4,N=8192 --fill kv_len=5000,1,0,777 --plant k=nan@1:5000 --plant v=inf@1:5000"
    small = "--shape B=3,M=20,G=1,R=2,N=200 --fill kv_len=150,1,0 --plant k=nan@1:150 --plant v=inf@1:150"
    for causal in ("false", "true"):
        yield Group("flash-attention-2407", "flash_fwd.tile", "flash_fwd", {"D": 64, "causal": causal}, [both(own, own), both(cache, small)])
    yield Group("flash-attention-2407", "flash_decode.tile", "flash_decode", {"D": 64}, [both(own, own), both(cache, small)])
    lists = "--fill idx=3,0,63,17,2,39,0,5 --fill cnt=8,3,5"
    long = "--shape B=4,M=128,G=2,R=4,N=8192,MQ=1,MK=8 --fill kv_len=5000,1,0,777 --plant k=nan@1:5000 --plant v=inf@1:5000 " + lists
    short = "--shape B=3,M=100,G=1,R=2,N=256,MQ=1,MK=4 --fill idx=0,3,1,2 --fill cnt=4,3 --fill kv_len=140,40,0 --plant k=nan@1:140 --plant v=inf@1:140"
    one = "--shape B=4,M=1,G=8,R=1,N=128,MQ=1,MK=1 --fill idx=0 --fill cnt=1 --fill kv_len=32,64,96,48 --plant k=nan@1:96 --plant v=nan@1:96"
    for causal in ("false", "true"):
        yield Group("flash-attention-2407", "flash_blocksparse.tile", "flash_blocksparse", {"D": 64, "causal": causal}, [both(one, one), both(long, short)])
    yield Group("flash-attention-2407", "flash_blocksparse.tile", "grad(flash_blocksparse)", {"D": 64}, [both(one + " --fill lse=4", one + " --fill lse=4"), both(long + " --fill lse=8", short + " --fill lse=6")])


def flash_dmattn_121():
    """B 1, H 1, S 256 and 192, D 64 and 80, causal, bf16."""
    for d in (64, 80):
        cases = [both(f"--shape B=1,M={s},G=1,R=1,N={s} --fill lse=6", f"--shape B=1,M={s},G=1,R=1,N={s} --fill lse=6") for s in (256, 192)]
        for deterministic in ("true", "false"):
            yield Group("flash-dmattn-121", "flash_fwd.tile", "grad(flash_fwd)", {"D": d, "causal": "true", "deterministic": deterministic}, cases)


def flash_dmattn_169():
    """Batch 1, heads 2/1, 4095 x 4095, D 128, causal, expanded mask and bias, with dBias; and tiles of the mask that are skipped."""
    mask = os.path.join(INPUTS, "mask_bias.tile")
    sums = ",d_bias_0=1,d_bias_1=1"
    yield Group("flash-dmattn-169", mask, "mask_bias", {}, [both(expanded(4095, 4095), expanded(63, 127))])
    yield Group("flash-dmattn-169", mask, "grad(mask_bias)", {}, [both(expanded(4095, 4095, sums) + " --fill lse=9", expanded(63, 127, sums) + " --fill lse=6")])
    skipped = os.path.join(INPUTS, "skipped_mask.tile")
    # No row sees keys from 2048 on, which are NaN: a step that is not left out makes rows NaN.
    plants = "--fill mask=1,0,1,1 --plant mask=0@2:0..{0} --plant mask=1@3:0..2 --plant mask=0@3:{1} --plant k=nan@1:{1} --plant v=nan@1:{1}"
    full, small = plants.format(700, 2048), plants.format(40, 128)
    yield Group("flash-dmattn-169", skipped, "skipped_bias", {}, [both(f"{expanded(4095, 4095)} {full}", f"{expanded(63, 255)} {small}")])
    yield Group("flash-dmattn-169", skipped, "grad(skipped_bias)", {}, [both(f"{expanded(4095, 4095, sums)} {full} --fill lse=8", f"{expanded(63, 255, sums)} {small} --fill lse=6")])


def flash_dmattn_181():
    """A length of 4096, of which 2048 keys are kept; the others have the least bf16 in their bias. `Step` has the lse of the forward."""
    file = os.path.join(INPUTS, "sentinels.tile")
    full = f"--shape B=1,M=4096,G=1,R=2,N=4096 --omit kv_len --plant bias={LEAST}@3:1024..3072"
    small = f"--shape B=1,M=50,G=1,R=2,N=200 --omit kv_len --plant bias={LEAST}@3:64..164"
    for op in ("sentinels", "selected"):
        yield Group("flash-dmattn-181", file, op, {"D": 64}, [both(full, small)])
        yield Group("flash-dmattn-181", file, f"grad({op})", {"D": 64}, [both(full + " --fill lse=9", small + " --fill lse=6")])
        yield Step("flash-dmattn-181", file, op)


class Step(Group):
    """A training step: the forward, then the gradient with its o and lse, by Inputs/sentinels.py."""

    def __init__(self, report, file, op):
        super().__init__(report, file, op, {"step": "training"}, [both("256 4096", "16 256")])


def run(command, limit):
    # As a user compiles: roles that a verifier refuses are done without.
    environment = {**os.environ, "SELVEDGE_STRICT": ""}
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=limit, env=environment)
    except subprocess.TimeoutExpired as ended:
        return (ended.stdout or b"").decode(errors="replace"), f"no result after {limit:.0f} s"
    return done.stdout, f"ended with status {done.returncode}: " + " / ".join(done.stderr.splitlines()[-3:]) if done.returncode else ""


def not_finite(text):
    """The outputs with NaN or Inf. Rows without keys have an lse of -inf."""
    found = re.findall(r"^(\w+) (?:bf16|f16|f32)\[.*?(\d+) NaN, (\d+) Inf", text, re.M)
    return [f"{name} has {nans} NaN and {infs} Inf" for name, nans, infs in found if int(nans) or (int(infs) and name != "lse")] + ([] if found else ["no outputs"])


def judge(text, ending):
    outside = re.findall(r"^compare .*(?:first at flat index).*", text, re.M)
    return "; ".join(([ending] if ending else []) + not_finite(text) + outside[:1]) or "pass"


def run_group(options, group, arch):
    """The rows of a group: report, case, arch, kinds, result, seconds."""
    rows, row = [], lambda case, result, seconds: rows.append([group.report, f"{group.name()} {case}", arch, options.poison, result, f"{seconds:.3f}"])
    device = ["--device", options.device] + (["--schedules", "1"] if options.device == "sim" else [])
    cases = [(small if options.small else full, compare) for full, small, compare in group.cases if small or not options.small]
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(group, Step):
            size, compare = cases[0]
            row_of_sentinels = "3" if group.op == "selected" else "-1"
            begin = time.monotonic()
            command = [sys.executable, os.path.join(INPUTS, "sentinels.py"), options.selvedge, group.file, group.op, folder, *size.split(), row_of_sentinels, "-I", options.templates,
                       "--arch", arch, *device, "--poison", options.poison, "--compare", compare]
            text, ending = run(command, options.timeout)
            row("M={},N={}".format(*size.split()), judge(text, ending), time.monotonic() - begin)
            return rows
        path = os.path.join(folder, "cases.txt")
        with open(path, "w") as file:
            file.writelines(f"{case} --poison {options.poison} --compare {compare}\n" for case, compare in cases)
        command = [options.selvedge, "run", os.path.join(options.templates, group.file), "-I", options.templates, "--op", group.op, "--arch", arch, *device, "--cases", path]
        for name, value in group.sets.items():
            command += ["--set", f"{name}={value}"]
        text, ending = run(command, options.timeout)
    parts = re.split(r"^case \d+: (ok|FAILED), ([\d.]+) s(?:: (.*))?\n", text, flags=re.M)
    for number, (case, _) in enumerate(cases):
        part = parts[4 * number : 4 * number + 4]
        if len(part) < 4:
            row(case, ending or "no result", 0)
        else:
            row(case, judge(part[0], "" if part[1] == "ok" else part[3] or "failed"), float(part[2]))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--selvedge", required=True)
    parser.add_argument("--templates", default=os.path.join(HERE, "../../templates"))
    parser.add_argument("--arch", nargs="+", default=["sm_80", "sm_90a"])
    parser.add_argument("--device", choices=["gpu", "sim"], default="gpu")
    parser.add_argument("--small", action="store_true", help="small shapes: tests this file")
    parser.add_argument("--poison", default="all", help="kinds, as of `selvedge run`")
    parser.add_argument("--filter", default="", help="a regular expression that report and op match: '169 grad'")
    parser.add_argument("--jobs", type=int, default=min(16, os.cpu_count() or 1))
    parser.add_argument("--timeout", type=float, default=300, help="seconds for the cases of one op")
    parser.add_argument("--out", help="CSV: report, case, arch, kinds, result, seconds")
    options = parser.parse_args()
    options.selvedge, options.templates = os.path.abspath(options.selvedge) if os.path.dirname(options.selvedge) else options.selvedge, os.path.abspath(options.templates)
    # What `ref` executes longest begins first.
    reports = [flash_dmattn_169, flash_dmattn_181, flash_attention_2407, tilelang_2461, flash_dmattn_121]
    work = [(group, arch) for report in reports for group in report() for arch in options.arch if re.search(options.filter, f"{group.report} {group.name()}")]
    rows, lock = [], threading.Lock()

    def one(group, arch):
        found = run_group(options, group, arch)
        with lock:
            rows.extend(found)
            for report, case, arch, _, result, _ in found:
                if result != "pass":
                    print(f"FAIL {arch} {report} {case}: {result}", flush=True)

    with ThreadPoolExecutor(options.jobs) as pool:
        for future in [pool.submit(one, *item) for item in work]:
            future.result()
    if options.out:
        with open(options.out, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["report", "case", "arch", "kinds", "result", "seconds"])
            writer.writerows(sorted(rows))
    failed = sum(row[4] != "pass" for row in rows)
    print(f"{len({row[0] for row in rows})} reports: {len(rows) - failed} passed, {failed} failed")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
