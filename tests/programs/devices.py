"""Compiled programs as they are emitted, on a GPU where there is one or on `sim`: `selvedge run`, poisoned, compared with `ref` and, on a GPU, with a clean run."""
# SPDX-License-Identifier: MIT
import json
import os
import re
import subprocess

import numpy as np

import inputs
from byte_values import narrowed
from specialise import plain

SAFETENSORS = {"f32": "F32", "bf16": "BF16", "f16": "F16", "i32": "I32", "bool": "BOOL", "e4m3": "F8_E4M3", "e5m2": "F8_E5M2", "i8": "I8", "u8": "U8"}
BYTES = {"f32": 4, "i32": 4, "bf16": 2, "f16": 2}


def archs(selvedge):
    """Targets whose code runs here."""
    try:
        text = subprocess.run([selvedge, "doctor"], capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [a for a in ("sm_80", "sm_90a") if re.search(r"\b" + a + ": runs", text)]


def to_bytes(array, type_):
    if type_ == "bf16":
        return (np.asarray(array, np.float32).view(np.uint32) >> 16).astype("<u2").tobytes()
    if type_ in inputs.TABLES:
        return narrowed(np.asarray(array), inputs.TABLES[type_]).tobytes()
    kind = {"i8": "i1", "u8": "u1", "f32": "<f4", "f16": "<f2", "i32": "<i4", "bool": "?"}[type_]
    return np.ascontiguousarray(array, kind).tobytes()


def write_safetensors(path, arrays, types):
    header, parts, at = {}, [], 0
    # Wide elements first, so that all are aligned.
    for name in sorted(arrays, key=lambda n: -BYTES.get(types[n], 1)):
        data = to_bytes(arrays[name], types[name])
        header[name] = {"dtype": SAFETENSORS[types[name]], "shape": list(np.shape(arrays[name])), "data_offsets": [at, at + len(data)]}
        parts.append(data)
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + b"".join(parts))


# What is said of a run that takes too long: of `sim` that says nothing about the program.
LATE = "does not end"
# On `sim` undefined bytes are seen for themselves.
HOW = {"gpu": ["--poison", "all", "--compare", "ref,clean"], "sim": ["--poison", "nan", "--compare", "ref", "--schedules", "2"]}


def layouts_of(program, case):
    """`--layout` of every tensor that does not lie in memory as usual."""
    return ["--layout %s=%s" % kind for kind in inputs.layouts(program, case).items() if kind[1] != "contiguous"]


def run(selvedge, program, text, prepared, arch, folder, device):
    """None, or what `selvedge run` has to say about the first case that fails."""
    source = os.path.join(folder, "program.tile")
    with open(source, "w") as file:
        file.write(text)
    types = {t.name: t.type for t in plain(program).tensors}
    lines = []
    for i, (case, arrays, _) in enumerate(prepared):
        if case.special:
            continue
        path = os.path.join(folder, "in%d.safetensors" % i)
        write_safetensors(path, arrays, types)
        shape = ["--shape " + ",".join("%s=%d" % d for d in case.dims)] if case.dims else []
        lines.append(" ".join(["-i " + path] + shape + layouts_of(plain(program), case)))
    cases = os.path.join(folder, "cases")
    with open(cases, "w") as file:
        file.write("\n".join(lines) + "\n")
    command = [selvedge, "run", source, "--arch", arch, "--device", device, *HOW[device], "--cases", cases]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return LATE + " within 300 s"
    if done.returncode == 0:
        return None
    said = [line for line in (done.stdout + done.stderr).splitlines() if "FAILED" in line or "error" in line]
    return said[0] if said else "status %d" % done.returncode
