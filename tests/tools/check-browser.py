# SPDX-License-Identifier: MIT
"""Opens the page of `explain` in chromium, as wide as a telephone and as a screen, light and dark.

check-browser.py HTML FOLDER: nothing but boxes that scroll is wider than the page, with all details open; the colours are those of the mode; a link to a
card brings its line into view. FOLDER is for what the browser writes.
"""
import json
import pathlib
import re
import subprocess
import sys

# Told to the page around, as the width of a window has a least value.
PROBE = """<script>addEventListener('load', () => setTimeout(() => {
for (const part of document.querySelectorAll('details')) part.open = true;
const root = document.documentElement, right = e => e.getBoundingClientRect().right;
const wide = [...document.querySelectorAll('body *')].filter(e => right(e) > root.clientWidth + 1);
const list = document.querySelector('.listing'), line = list.querySelector('.lit');
const inside = line && line.offsetTop >= list.offsetTop + list.scrollTop && line.offsetTop < list.offsetTop + list.scrollTop + list.clientHeight;
parent.postMessage(JSON.stringify({width: root.scrollWidth, room: root.clientWidth,
  wide: wide.filter(e => !e.closest('.wide, figure, .listing')).map(e => e.outerHTML.slice(0, 80)),
  page: getComputedStyle(document.body).backgroundColor, beside: document.querySelector('.facts').offsetLeft > 200, line: line?.id, inside}), '*');
}, 100))</script>"""


def ask(folder, width, dark, card):
    (folder / "frame.html").write_text(
        f'<p id="told"></p><iframe src="probe.html#{card}" style="width: {width}px; height: 900px"></iframe>'
        "<script>addEventListener('message', e => document.getElementById('told').textContent = e.data)</script>", encoding="utf-8")
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile", "--window-size=1500,1000",
               f"--blink-settings=preferredColorScheme={0 if dark else 1}", "--virtual-time-budget=5000", "--dump-dom", (folder / "frame.html").as_uri()]
    told = subprocess.run(command, capture_output=True, text=True, timeout=300).stdout
    text = re.search(r'<p id="told">(.*?)</p>', told)[1]
    return json.loads(text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


def main():
    folder = pathlib.Path(sys.argv[2]).resolve()
    source = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    (folder / "probe.html").write_text(source.replace("</body>", PROBE + "</body>"), encoding="utf-8")
    pages = {}
    for width in (400, 1400):
        for dark in (False, True):
            told = ask(folder, width, dark, "main.load3")
            assert told["width"] <= told["room"] and not told["wide"], f"wider than {width}: {told}"
            assert told["beside"] == (width == 1400), f"at {width} the program is in the wrong place"
            assert told["line"] and (width == 400 or told["inside"]), f"the line of a card is out of view: {told}"
            pages[dark] = told["page"]
    assert sum(map(int, re.findall(r"\d+", pages[True])[:3])) < 120 < 600 < sum(map(int, re.findall(r"\d+", pages[False])[:3])), f"colours of the modes: {pages}"
    print("the page fits")


if __name__ == "__main__":
    main()
