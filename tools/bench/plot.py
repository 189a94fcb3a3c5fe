# Plots as SVG: rates over sizes at equal distances, and ranges of ratios.
# SPDX-License-Identifier: MIT
import math
from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 56, 120, 40, 36
# Distinguishable for colour-blind readers (Okabe and Ito, but for their yellow).
COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#8c6d31", "#999999", "#000000"]
OWN = "#d55e00"


def step_of(top):
    """A round distance of grid lines, of which about five fit below `top`."""
    size = 1.0
    while size * 10 <= top / 5:
        size *= 10
    while size > top / 5:
        size /= 10
    return next((size * m for m in (1, 2, 5, 10) if size * m >= top / 6), size * 10)


def labels(ends):
    """Heights of the names at the right, moved apart."""
    placed, last = {}, -1e9
    for name, y in sorted(ends.items(), key=lambda item: item[1]):
        last = placed[name] = max(y, last + 13)
    return placed


def draw(title, xs, lines, own):
    """`lines` has a rate or None per x and name; `own` is drawn in front."""
    top = max((rate for rates in lines.values() for rate in rates if rate), default=1) * 1.05
    x_of = lambda index: LEFT + (WIDTH - LEFT - RIGHT) * (index / max(1, len(xs) - 1))
    y_of = lambda rate: HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * rate / top
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', f'<text x="{LEFT}" y="22" font-size="14">{escape(title)}</text>']
    step, value = step_of(top), 0.0
    while value <= top:
        y = y_of(value)
        out.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/><text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
        value = round(value + step, 6)
    for index, x in enumerate(xs):
        out.append(f'<text x="{x_of(index):.1f}" y="{HEIGHT - 14}" text-anchor="middle">{escape(x)}</text>')
    peers = [name for name in lines if name != own]
    colours = {name: COLOURS[index % len(COLOURS)] for index, name in enumerate(peers)}
    ends = {}
    for name in peers + [own] * (own in lines):
        points = [(x_of(index), y_of(rate)) for index, rate in enumerate(lines[name]) if rate is not None]
        if not points:
            continue
        colour, width = (OWN, 3) if name == own else (colours[name], 1.5)
        out.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="none" stroke="{colour}" stroke-width="{width}"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{width}" fill="{colour}"/>' for x, y in points]
        ends[name] = points[-1][1]
    for name, y in labels(ends).items():
        out.append(f'<text x="{WIDTH - RIGHT + 10}" y="{y + 4:.1f}" fill="{OWN if name == own else colours[name]}">{escape(name)}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def ranges(title, groups, width=640, left=230, right=60):
    """A line per group, a label and its ratios: from the lowest to the highest on a logarithmic axis, with a dot at the geometric mean."""
    low, high = math.log(0.45), math.log(max(3.6, *(max(ratios) for _, ratios in groups)))
    x_of = lambda ratio: left + (width - left - right) * (math.log(ratio) - low) / (high - low)
    height = 60 + 20 * len(groups)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/>', f'<text x="12" y="20" font-size="13">{escape(title)}</text>']
    for mark in (mark for mark in (0.5, 0.7, 1, 1.5, 2, 3, 5) if math.log(mark) < high):
        out.append(f'<path d="M{x_of(mark):.1f} 32V{height - 24}" stroke="{"#444" if mark == 1 else "#ddd"}"/>'
                   f'<text x="{x_of(mark):.1f}" y="{height - 8}" text-anchor="middle">{mark:g}</text>')
    for index, (name, ratios) in enumerate(groups):
        y = 44 + 20 * index
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        colour = OWN if mean >= 1 else COLOURS[0]
        out.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{escape(name)}</text>'
                   f'<path d="M{x_of(min(ratios)):.1f} {y}H{x_of(max(ratios)):.1f}" stroke="{colour}" stroke-width="3"/><circle cx="{x_of(mean):.1f}" cy="{y}" r="4.5" fill="{colour}"/>'
                   f'<text x="{width - right + 12}" y="{y + 4}">{mean:.2f}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"
