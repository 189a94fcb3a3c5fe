# SPDX-License-Identifier: MIT
"""Checks the page of `explain`: its structure, its links in both directions, and its numbers against JSON.

check-page.py HTML JSON: ids are unique and links lead somewhere; lines of the program, cards and pictures lead to each other; the summary is what the
operations of JSON add up to; every picture of JSON is part of one on the page; the page has landmarks, texts for what is drawn, colours that can be
read in both modes, and nothing that is fetched.
"""
import collections
import json
import re
import sys
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"
XHTML = "{http://www.w3.org/1999/xhtml}"


def text_of(element):
    return " ".join("".join(element.itertext()).split())


def links_of(element):
    return [a.get("href")[1:] for a in element.iter(XHTML + "a")]


def check_links(page, by_id):
    ids = [e.get("id") for e in page.iter() if e.get("id")]
    assert len(ids) == len(set(ids)), f"ids repeat: {[i for i, n in collections.Counter(ids).items() if n > 1]}"
    for e in page.iter():
        assert e.get("href", "#")[0] == "#", "a link out of the page: " + e.get("href")
        for target in [e.get("href", "")[1:], e.get("aria-labelledby", ""), *e.get("data-with", "").split()]:
            assert not target or target in by_id, "a link to nowhere: " + target


def check_both_ways(explanation, by_id):
    """A line leads to the card of what is there, and the card to the line; so do cards and pictures."""
    records = explanation["operations"] + explanation["unnecessary"]
    for record in records:
        card, place = by_id[record["id"]], record.get("place")
        assert record["subject"] in text_of(card.find(XHTML + "h5")), record["id"]
        if place:
            line = f"{place['file'].rsplit('/')[-1] if 'file' in place else 'line'}-{place['line']}"
            assert record["id"] in links_of(by_id[line]), f"{line} does not lead to {record['id']}"
            assert line in links_of(card), f"{record['id']} does not lead to {line}"
            assert line in card.get("data-with", "").split(), f"{record['id']} does not name {line} as its counterpart"
            assert place["text"] in "".join(by_id[line].find(XHTML + "code").itertext())
    named = {(i, other) for i, e in by_id.items() for other in e.get("data-with", "").split()}
    for part, other in named:
        assert (other, part) in named, f"{other} does not name {part} as its counterpart"
    articles = [e for i, e in by_id.items() if i.startswith(("tensor-", "kernel-"))]
    shown = collections.Counter(i for a in articles for i in set(links_of(a)))
    for picture in explanation["pictures"]:
        assert shown[picture["id"]] == 1, f"{picture['id']} is in {shown[picture['id']]} pictures"
        article = next(a for a in articles if picture["id"] in links_of(a))
        assert article.get("id") in links_of(by_id[picture["id"]]), picture["id"] + " does not lead to its picture"
        assert (article.get("id"), picture["id"]) in named, f"{article.get('id')} does not name {picture['id']} as its counterpart"


def recount(explanation):
    """The summary, from the operations."""
    counts = collections.defaultdict(collections.Counter)
    conditions = collections.Counter()
    for record in explanation["operations"]:
        kernel = counts[record["kernel"]]
        kernel[{"load": "loads", "mask": "masks", "guard": "guards", "store": "stores", "init": "initialisations"}[record["kind"]]] += 1
        kernel["fills"] += record["kind"] == "load" and record["absent"] == "zero"
        for p in record["predicates"]:
            conditions["proved" if p["proved"] else "untested" if p["untested"] else "partial_only" if p["partial_only"] else "tested"] += 1
    return counts, conditions


def recost(explanation, kernel):
    """Per kind of step the costliest loop, and what a tile costs once."""
    steps = collections.defaultdict(collections.Counter)
    tile = 0
    for record in explanation["operations"]:
        once = set()
        for i in record["instances"]:
            if i["kernel"] != kernel:
                continue
            if i["frequency"].startswith("once per tile"):
                once.add((i["operation"], i["mechanism"], i["instructions_per_thread"], i["frequency"]))
            else:
                steps[i["frequency"]][i["loop"]] += i["instructions_per_thread"]
        tile += sum(way[2] for way in once)
    most = lambda frequency: max(steps[frequency].values(), default=None)
    return most("per whole iteration"), most("per partial iteration"), most("per loop iteration"), tile


def rows_of(table):
    return [[text_of(cell) for cell in row] for row in list(table.iter(XHTML + "tr"))[1:]]


def check_summary(explanation, by_id):
    counts, conditions = recount(explanation)
    names = ["loads", "fills", "masks", "guards", "stores", "initialisations"]
    told = explanation["summary"]
    rows = rows_of(by_id["counts"])
    assert {row[0] for row in rows} >= set(counts), f"kernels {rows} of {list(counts)}"
    for row, kernel in zip(rows, told["kernels"], strict=True):
        wanted = [counts[row[0]][name] for name in names]
        assert row == [kernel["kernel"], *map(str, wanted)] and [kernel[n] for n in names] == wanted, f"{row}, counted {wanted}"
    shown = [int(item.find(XHTML + "b").text) for item in by_id["conditions"]]
    order = ["proved", "untested", "partial_only", "tested"]
    wanted = [conditions[name] for name in order]
    assert shown == wanted == [told["conditions_" + name] for name in order], f"conditions {shown}, counted {wanted}"
    assert len(told["costs"]) == len(explanation["schedules"])
    for row, cost, schedule in zip(rows_of(by_id["costs"]), told["costs"], explanation["schedules"], strict=True):
        whole, partial, step, tile = recost(explanation, cost["kernel"])
        assert (cost["per_whole_step"], cost["per_partial_step"], cost["per_step"], cost["per_tile"]) == (whole, partial, step, tile), f"{cost}: {whole, partial, step, tile}"
        say = lambda c: str(c) if c is not None else f"{step}, as every step" if step is not None else "no such step"
        assert row[0].startswith(schedule["variant"]) and row[1:4] == [say(whole), say(partial), str(tile)], row
        choices = {c["what"]: c for c in schedule["choices"]}
        assert row[4] == choices["tiles"]["choice"], row
        roles = choices.get("roles")
        assert not roles or row[5] == ("none: " + roles["why"] if roles["choice"].startswith("none") else "yes: " + roles["choice"]), row


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def check_reading(page, source):
    for name in ("header", "nav", "main"):
        assert len(list(page.iter(XHTML + name))) == 1, "landmarks: " + name
    assert page.get("lang") == "en" and len(list(page.iter(XHTML + "h1"))) == 1
    nav = set(links_of(next(page.iter(XHTML + "nav"))))
    for section in page.iter(XHTML + "section"):
        assert section.get("aria-labelledby"), "a section without a name"
        assert section.get("id") in nav | {"pictures", "operations"}, section.get("id") + " is not in the contents"
    assert {e.get("id") for e in page.iter(XHTML + "article") if e.get("class") == "pictures"} <= nav
    for svg in page.iter(SVG + "svg"):
        assert svg.get("aria-hidden") or (svg.get("role") == "img" and svg.get("aria-label")), "a picture without words"
    assert all(th.get("scope") for th in page.iter(XHTML + "th"))
    style = next(page.iter(XHTML + "style")).text
    light, dark = style.split("prefers-color-scheme: dark")
    palette = lambda text: dict(re.findall(r"--(\w+): (#\w{6})", text))
    for colours in palette(light), palette(dark):
        for ink in ("ink", "dim", "link", "good", "part"):
            for ground in ("page", "panel"):
                a, b = sorted((luminance(colours[ink]), luminance(colours[ground])))
                assert (b + 0.05) / (a + 0.05) >= 4.5, f"{ink} on {ground} is hard to read"
    scripts = list(page.iter(XHTML + "script"))
    assert len(scripts) <= 1 and not any(s.attrib for s in scripts)
    assert not re.search(r"https?://(?!www\.w3\.org/(1999/xhtml|2000/svg)\")|fetch\(|XMLHttp|@import|url\((?!#)|<link|<img", source), "a resource"


source = open(sys.argv[1], encoding="utf-8").read()
page = ET.fromstring(source)
explanation = json.load(open(sys.argv[2], encoding="utf-8"))
by_id = {e.get("id"): e for e in page.iter() if e.get("id")}
check_links(page, by_id)
check_both_ways(explanation, by_id)
check_summary(explanation, by_id)
check_reading(page, source)
cards = [e for e in page.iter(XHTML + "article") if e.get("class", "").startswith("card")]
pictures = [e for e in page.iter(XHTML + "article") if e.get("class") == "pictures"]
print(f"{len(cards)} cards, {len(pictures)} articles of pictures agree")
