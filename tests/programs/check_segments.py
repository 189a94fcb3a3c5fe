#!/usr/bin/env python3
"""Which segment, and which place in it, each row is told: by an evaluator that shares nothing with the compiler.

    check_segments.py SELVEDGE OP.tile FOLDER

The op has outputs `of` and `place`, i32[Q], for `cu`, i32[B + 1]; rows of no segment hold -1.
"""
# SPDX-License-Identifier: MIT
import json
import pathlib
import random
import struct
import subprocess
import sys

DEVICES = ["--device ref", "--arch sm_80 --device ref --form sm:seq", "--arch sm_80 --device sim --schedules 1", "--arch sm_90a --device sim --schedules 1"]


def layouts():
    """Ends of segments, and the number of rows: many short ones, few long ones, rows before, between tiles and behind."""
    yield [0], 0
    yield [700, 700, 701, 1000], 1100
    yield [0, 1024, 1024, 2048], 2048
    yield [5] * 40, 5
    yield [3000, 3001, 3001, 4200], 4300
    # As many segments as a number of halvings can tell apart, and one more.
    for count in (16, 17, 257):
        yield list(range(count + 1)), count
    for seed in range(4):
        draw = random.Random(seed)
        rows = draw.choice([63, 300, 1500])
        yield sorted(draw.choice([draw.randint(0, rows), 64 * draw.randint(0, rows // 64), rows]) for _ in range(draw.choice([2, 9, 65]))), rows


def integers(path, name):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    entry = json.loads(data[8:8 + size])[name]
    begin, end = entry["data_offsets"]
    return list(struct.unpack(f"<{(end - begin) // 4}i", data[8 + size + begin:8 + size + end]))


def expected(cu, rows):
    of, place = [-1] * rows, [-1] * rows
    for segment, (first, last) in enumerate(zip(cu, cu[1:])):
        for row in range(first, last):
            of[row], place[row] = segment, row - first
    return {"of": of, "place": place}


def main():
    selvedge, op, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "out.safetensors"
    failed = runs = 0
    for cu, rows in layouts():
        wanted = expected(cu, rows)
        for device in DEVICES:
            subprocess.run([selvedge, "run", op, *device.split(), "--shape", f"B={len(cu) - 1},Q={rows}", "--fill", "cu=" + ",".join(map(str, cu)), "-o", str(target)],
                           check=True, stdout=subprocess.DEVNULL)
            runs += 1
            for name, values in wanted.items():
                got = integers(target, name)
                if got != values:
                    row = next((i for i, (a, b) in enumerate(zip(got, values)) if a != b), len(got))
                    print(f"{device}: {name}[{row}] of cu {cu}: got {got[row:row + 1]}, expected {values[row:row + 1]}")
                    failed += 1
    print(f"{runs} runs, {failed} wrong")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
