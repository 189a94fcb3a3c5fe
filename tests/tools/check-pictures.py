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
    """A tensor's picture that shows one access has its cells; each picture says what absent lanes are, and the legend its states."""
    page = ET.parse(path).getroot()
    pictures = {picture["id"]: picture for picture in explanation["pictures"]}
    legend = "".join(next(e for e in page.iter() if e.get("class") == "legend").itertext())
    style = next(page.iter(XHTML + "style")).text
    for figure in page.iter(XHTML + "figure"):
        shown = [pictures[a.get("href")[1:]] for a in figure.iter(XHTML + "a")]
        steps = [rect for rect in figure.iter(SVG + "rect") if rect.get("class").startswith("step")]
        text = " ".join("".join(figure.itertext()).split())
        for picture in shown:
            titles = [title.text for title in figure.iter(SVG + "title")]
            if not steps and len(shown) == 1:
                assert titles == list(titles_of(picture)), picture["id"] + " differs on the page"
            assert steps or "Steps" in text or "steps" in text or picture["absent"] in text, picture["id"]
            assert all(value in text for value in picture["sample"].split(", ")), picture["id"]
            for state in {cell["state"] for cell in picture["cells"]} & {"unknown", "untested"}:
                assert {"unknown": "depends on data", "untested": "removed later"}[state] in legend and "removed later" in text + legend
        for rect in figure.iter(SVG + "rect"):
            for name in rect.get("class").split():
                assert re.search(r"\." + name + r"\b[^{]*\{", style), "no colour for " + name
    print(len(explanation["pictures"]), "pictures agree")


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
