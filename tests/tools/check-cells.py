# SPDX-License-Identifier: MIT
"""Looks at what the page of `explain` draws, and compares it with the contract, which it computes by itself.

check-cells.py HTML CASE...: rectangles are painted over each other in the order of the SVG, and read at elements; where elements lie follows from the
labels of the axes. A case names the picture and says what an element of it is; `CASES` has them.
"""
import re
import sys
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"
XHTML = "{http://www.w3.org/1999/xhtml}"


def causal(v, i, j):
    """Row i sees key j up to the diagonal that ends with the valid keys."""
    if i >= v["M"]:
        return "unstored"
    if j >= v["N"]:
        return "shape"
    return "present" if j < v["kv_len"] and j <= i + v["kv_len"] - v["M"] else "where"


def lengths(v, j, d):
    return "shape" if j >= v["N"] or d >= v.get("head", 128) else "present" if j < v["kv_len"] else "valid"


def packed_scores(v, i, j):
    if i >= min(v["cu_q[1]"], v["Q"]):
        return "unstored"
    return "present" if v["cu_k[0]"] <= j < v["cu_k[1]"] else "range"


def paged_scores(v, i, j):
    return "unstored" if i >= v["M"] else "present" if j < v["kv_len"] else "range"


def product(v, i, k):
    return "shape" if k >= v["K"] else "unstored" if i >= v["M"] else "present"


# By name: the picture, and the state of the element at (row, column) with the values that the picture is drawn for.
CASES = {
    "causal": ("kernel-main", causal),
    "queries": ("tensor-q", lambda v, i, d: "present" if i < v["M"] and d < v.get("head", 128) else "shape"),
    "keys": ("tensor-k", lengths),
    "untested keys": ("tensor-k", lambda v, j, d: {"valid": "untested"}.get(lengths(v, j, d), lengths(v, j, d))),
    "values": ("tensor-v", lengths),
    "lse": ("tensor-lse", lambda v, _, i: "present" if i < v["M"] else "shape"),
    "product": ("kernel-main", product),
    "factor": ("tensor-a", lambda v, i, k: "present" if i < v["M"] and k < v["K"] else "shape"),
    "packed": ("kernel-main", packed_scores),
    "packed keys": ("tensor-k", lambda v, j, d: "present" if j < v["cu_k[1]"] else "untested" if j < v["K"] else "shape"),
    "packed values": ("tensor-v", lambda v, j, d: "present" if j < v["cu_k[1]"] else "range"),
    "paged": ("kernel-main", paged_scores),
    "paged keys": ("tensor-kp", lambda v, j, d: "present" if j < v["kv_len"] else "range"),
}


def number(element, key):
    return float(element.get(key))


class Drawing:
    def __init__(self, figure):
        self.svg = figure.find(SVG + "svg")
        said = re.search(r"drawn for (.*)", " ".join("".join(figure.itertext()).split()))[1]
        self.values = {name: int(value) for name, value in (part.split(" = ") for part in said.split(", ")) if value.isdigit()}
        ticks = {style: [t for t in self.svg.iter(SVG + "text") if t.get("class") == style] for style in ("tick", "tick row")}
        self.cols, self.x = self.scale(ticks["tick"], "x", 0)
        self.rows, self.y = self.scale(ticks["tick row"], "y", -4) if ticks["tick row"] else (1, None)
        self.steps, self.cells, self.hatched = [], [], []
        for rect in self.svg.iter(SVG + "rect"):
            kind = rect.get("class").split()
            (self.steps if kind[0] == "step" else self.hatched if kind[0].startswith("fill-") else self.cells).append((kind[-1], self.box(rect)))
        self.cells = [cell for cell in self.cells if cell[0] != "partial"]

    @staticmethod
    def scale(ticks, key, shift):
        """The last element's number, and the element at a coordinate: by the labels of the first and last one."""
        first, last = ticks[0], ticks[-1]
        length, zero = int(last.text), number(first, key) + shift
        return length, lambda at: (at - zero) * length / (number(last, key) + shift - zero)

    def box(self, rect):
        """First and last element along both axes, as columns and rows."""
        left, right = (round(self.x(number(rect, "x") + w)) for w in (0, number(rect, "width")))
        if not self.y:
            return left, right, 0, 1
        top, bottom = (round(self.y(number(rect, "y") + h)) for h in (0, number(rect, "height")))
        return left, right, top, bottom

    def paint(self, rects):
        """States by (row, column); what is painted later covers what is there."""
        painted = {}
        for state, (left, right, top, bottom) in rects:
            for row in range(top, bottom):
                for col in range(left, right):
                    painted[row, col] = state
        return painted


def check_lanes(name, drawing, expected, head):
    values = drawing.values | head
    painted, tops = drawing.paint(drawing.cells), {box[2] for _, box in drawing.cells}
    assert painted.keys() == {(r, c) for r in range(drawing.rows) for c in range(drawing.cols)}, name + ": lanes without a colour"
    seen = set()
    for (row, col), state in painted.items():
        # A diagonal is drawn in steps of a few rows, which begin with one that is exact.
        if row in tops or not any(kind == "where" for kind, _ in drawing.cells):
            wanted = expected(values, row, col)
            assert state == wanted, f"{name}: ({row}, {col}) of {values} is {state}, not {wanted}"
            seen.add(wanted)
    assert len(seen) > 1 and "present" in seen, f"{name} shows only {seen}"
    for lane in drawing.paint(drawing.hatched):
        assert painted[lane] not in ("present", "untested", "unstored"), f"{name}: {lane} is used, and filled"
    return seen


def check_steps(name, drawing, expected):
    """A step without a lane is skipped, one with all lanes of its columns whole; rows that are not stored are computed as others are."""
    kinds = set()
    for state, (left, right, top, bottom) in drawing.steps:
        lanes = {expected(drawing.values, i, j) for i in range(top, bottom) for j in range(left, right)} - {"unstored"}
        wanted = "whole" if lanes == {"present"} else "partial" if "present" in lanes else "skipped"
        # A thread block whose rows are past the end is drawn, but no launch has it.
        if lanes:
            assert state == wanted, f"{name}: step {left, top} is {state}, not {wanted}"
            kinds.add(wanted)
    assert kinds, name + " has no steps"
    return kinds


def main():
    page = ET.parse(sys.argv[1]).getroot()
    by_id = {e.get("id"): e for e in page.iter() if e.get("id")}
    head = {}
    for argument in sys.argv[2:]:
        if argument.startswith("head="):
            head = {"head": int(argument[5:])}
            continue
        article, expected = CASES[argument]
        drawing = Drawing(by_id[article].find(f".//{XHTML}figure"))
        seen = check_lanes(argument, drawing, expected, head)
        kinds = check_steps(argument, drawing, expected) if drawing.steps else set()
        print(f"{argument}: {drawing.rows} x {drawing.cols} lanes agree:", *sorted(seen), *sorted(kinds))


if __name__ == "__main__":
    main()
