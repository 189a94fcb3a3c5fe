"""Checks the cells of the pictures of `explain`.

check-pictures.py JSON [HTML] [ID=EXPRESSION]...: in the picture of operation ID a lane is present, absent or unknown as the expression says: True,
False or None, of the axes and of the values that the picture is drawn for. With HTML the page's cells are those of JSON.
"""
import json
import re
import sys
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"
XHTML = "{http://www.w3.org/1999/xhtml}"
WANTED = {True: {"present", "init"}, False: {"shape", "range", "valid", "where", "optional", "untested"}, None: {"unknown"}}


def sample_of(picture):
    pairs = (part.split(" = ") for part in picture["sample"].split(", ") if part)
    # cu[1] is cu1 in an expression; what a table holds is told, not counted.
    return {name.replace("[", "").rstrip("]"): int(value) for name, value in pairs if value.isdigit()}


def check_cells(picture, expression):
    names, cells = sample_of(picture), picture["cells"]
    assert cells, picture["id"] + " has no cells"
    code, seen = compile(expression, picture["id"], "eval"), set()
    for cell in cells:
        # Rows are drawn in steps; columns one by one.
        for x in (cell["x"], cell["x"] + cell["width"] - 1):
            place = {picture["column_axis"]: x, picture["row_axis"]: cell["y"]}
            wanted = eval(code, {}, names | place)
            seen.add(wanted)
            assert cell["state"] in WANTED[wanted], f"{picture['id']} at {place} of {names}: {cell['state']}, expected {wanted}"
    assert seen == {True, False} or None in seen, f"{picture['id']} shows only {seen}"
    print(picture["id"], "drawn for", picture["sample"], *sorted({cell["state"] for cell in cells}))


def titles_of(picture):
    for cell in picture["cells"]:
        title = f"{cell['state']}: {picture['column_axis']} {cell['x']}..{cell['x'] + cell['width'] - 1}"
        if picture["row_axis"]:
            title += f", {picture['row_axis']} {cell['y']}..{cell['y'] + cell['height'] - 1}"
        yield title


def check_page(explanation, path):
    page = ET.parse(path).getroot()
    figures = {f.get("id"): f for f in page.iter(XHTML + "figure")}
    assert figures.keys() == {"picture-" + picture["id"] for picture in explanation["pictures"]}
    legend = "".join(next(p for p in page.iter(XHTML + "p") if p.get("class") == "legend").itertext())
    style = next(page.iter(XHTML + "style")).text
    for picture in explanation["pictures"]:
        figure = figures["picture-" + picture["id"]]
        shown = [title.text for title in figure.iter(SVG + "title")]
        assert shown == list(titles_of(picture)), picture["id"] + " differs on the page"
        text = " ".join("".join(figure.itertext()).split())
        assert picture["absent"] in text and picture["sample"] in text, picture["id"]
        for rect in figure.iter(SVG + "rect"):
            assert re.search(r"\." + rect.get("class") + r"\b[^{]*\{", style), "no colour for " + rect.get("class")
        for state in {cell["state"] for cell in picture["cells"]} & {"unknown", "untested"}:
            assert {"unknown": "depends on data", "untested": "removed later"}[state] in legend and "removed later" in text + legend
    print(len(figures), "pictures agree")


def main():
    explanation = json.load(open(sys.argv[1], encoding="utf-8"))
    pictures = {picture["id"]: picture for picture in explanation["pictures"]}
    for argument in sys.argv[2:]:
        name, separator, expression = argument.partition("=")
        if separator:
            check_cells(pictures[name], expression)
        else:
            check_page(explanation, argument)


if __name__ == "__main__":
    main()
