"""Checks `explain` against the program that it explains.

check-explain.py JSON MLIR [HTML]: the ids of JSON's operations are exactly those in the
locations of MLIR (`compile --emit sm:async --locations`, which holds form roles for
sm_90a), operation by operation, and no access, clear or float select is without one. Every
kernel that the host plan launches has a schedule. HTML is well-formed, has every id, and
its pictures are covered without overlap (check-page.py has the rest).
"""
import collections
import json
import re
import sys
import xml.etree.ElementTree as ET

ACCESSES = {"sm." + name for name in
            "load store copy copy_async tma_load tma_store bulk_load bulk_reduce clear any".split()}
SVG = "{http://www.w3.org/2000/svg}"


def safety_operations(text):
    """(kernel, operation, id) of each operation; the id is None where there is no note."""
    notes = {}
    for alias, data in re.findall(r"^(#loc\w*) = loc\(fused<\{(.*)\}>\[", text, re.M):
        if "safety = " in data:
            notes[alias] = re.search(r'\bid = "([^"]+)"', data).group(1)
    kernel = None
    for line in text.splitlines():
        if found := re.match(r"\s*sm\.kernel @(\w+)", line):
            kernel = found.group(1)
        op = re.match(r"\s*(?:%[\w:]+ = )?((?:sm|arith|math|scf)\.\w+)", line)
        loc = re.search(r"loc\((#loc\w*)\)$", line)
        if op and loc:
            yield kernel, op.group(1), notes.get(loc.group(1)), line


def check_program(explanation, text):
    told = collections.Counter()
    ids = [operation["id"] for operation in explanation["operations"]]
    assert len(ids) == len(set(ids)), "ids repeat"
    for operation in explanation["operations"]:
        assert operation["instances"], operation["id"] + " has no instance"
        for instance in operation["instances"]:
            told[instance["kernel"], instance["operation"], operation["id"]] += 1
    found = collections.Counter()
    for kernel, op, note, line in safety_operations(text):
        if note:
            found[kernel, op, note] += 1
        access = op in ACCESSES
        select = op == "arith.select" and re.search(r"xi1, .*x(f32|bf16|f16), ", line)
        assert note or not (access or select), "no record for: " + line.strip()[:80]
    assert found, "the program has no notes"
    check_clears(found)
    assert told == found, f"told, not found: {told - found}; found, not told: {found - told}"
    launched = re.findall(r"sm\.launch @(\w+)", text)
    told_kernels = [schedule["kernel"] for schedule in explanation["schedules"]]
    assert launched == told_kernels, f"launched: {launched}, told: {told_kernels}"
    for schedule in explanation["schedules"]:
        aspects = [choice["what"] for choice in schedule["choices"]]
        first = [aspect for aspect in aspects if aspect not in ("alone", "packing", "rows")][:2]
        assert first == ["when", "tiles"] and len(aspects) == len(set(aspects)), aspects
        assert all(choice["choice"] and choice["why"] for choice in schedule["choices"])
    gone = [record["id"] for record in explanation["unnecessary"]]
    assert not set(gone) & {note for _, _, note in found}, "an unnecessary one is there"


def check_clears(found):
    """Rows that are cleared are fenced, and awaited by all that multiply, be it by their turn: tiles of one step together."""
    kernels = collections.defaultdict(collections.Counter)
    clears = collections.defaultdict(set)
    for (kernel, op, _), count in found.items():
        kernels[kernel][op] += count
        if op == "sm.clear":
            clears[kernel].add(count)
    for kernel, ops in kernels.items():
        fences = ops["sm.proxy_fence"]
        assert ops["sm.named_barrier"] in (0, fences) and clears[kernel] <= {fences}, f"{kernel} clears without fence or barrier: {dict(ops)}"


def check_page(explanation, path):
    page = open(path, encoding="utf-8").read()
    root = ET.fromstring(page)
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    assert len(ids) == len(set(ids)), "ids of the page repeat"
    for record in explanation["operations"] + explanation["unnecessary"]:
        assert record["id"] in ids, record["id"] + " is not on the page"
    pictures = [p for p in root.iter(SVG + "svg") if p.get("role") == "img"]
    assert pictures, "no pictures"
    for picture in pictures:
        check_picture(picture)


def check_picture(picture):
    number = lambda e, key: float(e.get(key))
    drawn = lambda r: not r.get("class").startswith(("fill-", "partial", "step"))
    cells = [r for r in picture.iter(SVG + "rect") if drawn(r)]
    box = lambda r: (number(r, "x"), number(r, "y"), number(r, "width"), number(r, "height"))
    right = max(x + w for x, _, w, _ in map(box, cells))
    bottom = max(y + h for _, y, _, h in map(box, cells))
    left, top = (min(b[i] for b in map(box, cells)) for i in (0, 1))
    area, covered = (right - left) * (bottom - top), sum(w * h for _, _, w, h in map(box, cells))
    assert abs(area - covered) < 0.02 * area, f"cells cover {covered} of {area}"
    assert right <= number(picture, "width") and bottom <= number(picture, "height")
    ticks = [t for t in picture.iter(SVG + "text") if "tick" in t.get("class")]
    for kind, key, gap in (("tick", "x", 28), ("tick row", "y", 12)):
        at = sorted(number(t, key) for t in ticks if t.get("class") == kind)
        assert all(b - a >= gap for a, b in zip(at, at[1:])), f"labels touch: {at}"


explanation = json.load(open(sys.argv[1], encoding="utf-8"))
check_program(explanation, open(sys.argv[2], encoding="utf-8").read())
if len(sys.argv) > 3:
    check_page(explanation, sys.argv[3])
print(len(explanation["operations"]), "operations agree")
