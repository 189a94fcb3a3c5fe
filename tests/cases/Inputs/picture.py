# SPDX-License-Identifier: MIT
"""Pictures of a page of `selvedge explain --html`, side by side in one SVG: `picture.py PAGE OUT ID[.N]...`, ID as the page calls the article (`kernel-main`, `tensor-v`), N the number of its picture.

Drawings and colours are those of the page. Below them are the meanings of the colours that occur.
"""
import re
import sys
import xml.etree.ElementTree as ET

SVG, XHTML = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xhtml}"
GAP, TITLE, LINE = 16, 22, 18


def text_of(element):
    return " ".join("".join(element.itertext()).split())


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def style_of(page):
    """The palettes, and the rules of what is drawn."""
    text = next(page.iter(XHTML + "style")).text
    dark = text[text.index("@media (prefers-color-scheme: dark)"):]
    dark = dark[:dark.index("} }") + 3]
    rules = [rule.strip() for rule in re.findall(r"[^{}]+\{[^{}]*\}", text.replace(dark, ""))]
    drawn = [rule for rule in rules if re.match(r":root|svg [.tr]|\.fill-|pattern |\.edge", rule)]
    return "\n".join(drawn[:1] + [dark] + drawn[1:] + [".title { font-weight: 600; font-size: 13px; }"])


def copy(element):
    """An element of SVG as text, a line each."""
    tag = element.tag.replace(SVG, "")
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in element.attrib.items())
    inside = escape(element.text.strip()) if element.text and element.text.strip() else ""
    inside += "".join(copy(child) for child in element)
    return f"<{tag}{attributes}>{inside}</{tag}>" if inside else f"<{tag}{attributes}/>"


def main(path, out, *names):
    page = ET.parse(path).getroot()
    articles = {e.get("id"): e for e in page.iter(XHTML + "article") if e.get("class") == "pictures"}
    x, height, used, panels, words = 0, 0, set(), [], []
    for name in names:
        article, number = re.fullmatch(r"(.*?)(?:\.(\d+))?", name).groups()
        drawing = list(articles[article].iter(SVG + "svg"))[int(number or 1) - 1]
        wide, high = float(drawing.get("width")), float(drawing.get("height"))
        used |= {word for e in drawing.iter() for word in e.get("class", "").split()}
        title = text_of(articles[article].find(XHTML + "h4"))
        panels.append(f'<text class="title" x="{x + GAP:.1f}" y="15">{escape(title)}</text>')
        panels.append(f'<g transform="translate({x:.1f} {TITLE})">' + "\n".join(copy(e) for e in drawing) + "</g>")
        words.append(drawing.get("aria-label"))
        x, height = x + max(wide, 8 * len(title) + GAP) + GAP, max(height, high + TITLE)
    legend = next(e for e in page.iter(XHTML + "ul") if e.get("class") == "legend")
    y = height + 8
    for item in legend:
        key = next(iter(item))
        kind = key.get("class") or next(iter(key)).get("class")
        if kind not in used:
            continue
        panels.append(f'<rect class="key {kind}" x="{GAP}" y="{y:.1f}" width="12" height="12"/><text x="{GAP + 18}" y="{y + 10:.1f}">{escape(text_of(item))}</text>')
        y += LINE
    patterns = next(e for e in page.iter(SVG + "defs"))
    width = max(x, 320)
    with open(out, "w", encoding="utf-8") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape("; ".join(words))}" width="{width:.0f}" height="{y + 4:.0f}" viewBox="0 0 {width:.0f} {y + 4:.0f}">\n')
        file.write(f"<style>{style_of(page)}</style>\n{copy(patterns)}\n")
        file.write(f'<rect x="0" y="0" width="{width:.0f}" height="{y + 4:.0f}" style="fill: var(--page)"/>\n')
        file.write("\n".join(panels) + "\n</svg>\n")


main(*sys.argv[1:])
