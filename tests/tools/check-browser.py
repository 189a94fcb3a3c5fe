# SPDX-License-Identifier: MIT
"""Opens the page of `explain` in chromium, as wide as a telephone and as a screen, light and dark.

check-browser.py HTML CASE...: nothing but boxes that scroll is wider than the page, with all details open; the colours are those of the mode; a link to a card brings its line into
view. What is pointed at is lit, with its counterparts. Then it looks at the window's pixels: the lanes that the contract of check-cells.py has present are drawn as the legend says, and no others are. A case is one of that program.
"""
import importlib.util
import pathlib
import re
import sys
import xml.etree.ElementTree as ET

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))
from browser import Browser  # noqa: E402

spec = importlib.util.spec_from_file_location("cells", HERE / "check-cells.py")
cells = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cells)

LAYOUT = """(() => {
for (const part of document.querySelectorAll('details')) part.open = true;
const root = document.documentElement, right = e => e.getBoundingClientRect().right;
const wide = [...document.querySelectorAll('body *')].filter(e => right(e) > root.clientWidth + 1);
const list = document.querySelector('.listing'), line = list.querySelector('.lit');
const inside = line && line.offsetTop >= list.offsetTop + list.scrollTop && line.offsetTop < list.offsetTop + list.scrollTop + list.clientHeight;
return {width: root.scrollWidth, room: root.clientWidth, wide: wide.filter(e => !e.closest('.wide, figure, .listing')).map(e => e.outerHTML.slice(0, 80)),
  page: getComputedStyle(document.body).backgroundColor, beside: document.querySelector('.facts').offsetLeft > 200, line: line?.id, inside};
})()"""
# The parts that are lit once the pointer has come to, or left, a place inside of one.
POINTING = """(() => {
document.getElementById('%s').firstElementChild.dispatchEvent(new MouseEvent('%s', {bubbles: true}));
return [...document.querySelectorAll('.lit')].map(e => e.id);
})()"""
# Where the picture's coordinates lie in the window, and the colour of the legend. Outlines and labels are not what is asked for.
PICTURE = """(() => {
const svg = document.querySelector('#%s figure svg');
for (const e of svg.querySelectorAll('text, line, .step:not(.skipped), .partial')) e.style.visibility = 'hidden';
svg.scrollIntoView({block: 'center'});
const at = svg.getScreenCTM(), box = svg.getBoundingClientRect();
const rgb = getComputedStyle(document.querySelector('.legend i.present')).backgroundColor;
return {scale: at.a, x: at.e, y: at.f, inside: box.left >= 0 && box.right <= document.documentElement.clientWidth, present: rgb.match(/\\d+/g).slice(0, 3).map(Number)};
})()"""


def check_layout(browser, page, width, dark):
    browser.open(page, width, dark=dark, anchor="#main.load3")
    told = browser.evaluate(LAYOUT)
    assert told["width"] <= told["room"] and not told["wide"], f"wider than {width}: {told}"
    assert told["beside"] == (width == 1400), f"at {width} the program is in the wrong place"
    assert told["line"] and (width == 400 or told["inside"]), f"the line of a card is out of view: {told}"
    shade = sum(map(int, re.findall(r"\d+", told["page"])[:3]))
    assert shade < 120 if dark else shade > 600, f"the page is {told['page']} where dark is {dark}"


def check_pointing(browser, page):
    """What is pointed at, and its counterparts, are outlined as long as it is."""
    browser.open(page, 1400)
    for part, others in (("line-29", ["main.load3"]), ("main.load3", ["line-29", "tensor-v"]), ("tensor-v", ["main.load3"])):
        for name, lit in (("mouseover", {part, *others}), ("mouseout", set())):
            told = browser.evaluate(POINTING % (part, name))
            assert set(told) == lit, f"{part} pointed at lights {told}" if lit else f"{told} stay lit"


def check_pixels(browser, article, drawing, expected):
    """Lanes at a grid of points, by their colours."""
    place = browser.evaluate(PICTURE % article)
    assert place["inside"], f"{article} is cut off"
    left, top = drawing.origin
    points, wanted = [], []
    for row in range(2, drawing.rows, max(1, drawing.rows // 24)):
        for col in range(2, drawing.cols, max(1, drawing.cols // 24)):
            # Not beside an edge: a pixel there has two colours.
            states = {expected(drawing.values, r, c) for r in range(row - 2, row + 3) for c in range(col - 2, col + 3)}
            skipped = any(state == "skipped" and l <= col < r and t <= row < b for state, (l, r, t, b) in drawing.steps)
            if len(states) == 1 and not skipped:
                points.append((place["x"] + place["scale"] * (left + (col + .5) * drawing.across), place["y"] + place["scale"] * (top + (row + .5) * drawing.down)))
                wanted.append((row, col, states.pop()))
    seen = {True: 0, False: 0}
    for (row, col, state), colour in zip(wanted, browser.pixels(points)):
        is_present = max(abs(a - b) for a, b in zip(colour, place["present"])) <= 3
        assert is_present == (state == "present"), f"{article}: ({row}, {col}) is {state}, and drawn in {colour}; present is {place['present']}"
        seen[is_present] += 1
    assert min(seen.values()) >= 10, f"{article}: {seen}"
    return sum(seen.values())


class Drawing(cells.Drawing):
    """With the place of the first lane, and the size of one."""

    def __init__(self, figure):
        super().__init__(figure)
        boxes = [rect for rect in self.svg.iter(cells.SVG + "rect") if rect.get("class").split()[0] != "step"]
        edge = lambda key: min(cells.number(rect, key) for rect in boxes)  # noqa: E731
        far = lambda key, size: max(cells.number(rect, key) + cells.number(rect, size) for rect in boxes)  # noqa: E731
        self.origin = edge("x"), edge("y")
        self.across, self.down = (far("x", "width") - edge("x")) / self.cols, (far("y", "height") - edge("y")) / self.rows


def main():
    page = pathlib.Path(sys.argv[1])
    by_id = {e.get("id"): e for e in ET.parse(page).getroot().iter() if e.get("id")}
    looked = 0
    with Browser() as browser:
        for width in (400, 1400):
            for dark in (False, True):
                check_layout(browser, page, width, dark)
                for case in sys.argv[2:]:
                    article, expected = cells.CASES[case]
                    browser.open(page, width, dark=dark)
                    looked += check_pixels(browser, article, Drawing(by_id[article].find(f".//{cells.XHTML}figure")), expected)
        check_pointing(browser, page)
    print(f"the page fits; {looked} lanes have the colours of the contract")


if __name__ == "__main__":
    main()
