// Colours and patterns of the page of an explanation.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_EXPLAIN_HTMLSTYLE_H
#define SELVEDGE_COMPILER_EXPLAIN_HTMLSTYLE_H

namespace selvedge::explain {

/// The style sheet: light, and dark where the reader prefers it.
inline constexpr const char *style = R"(
:root { color-scheme: light dark; --ink: #1c2024; --dim: #60666c; --page: #ffffff; --panel: #f5f6f7; --rule: #d5d9dd;
  --present: #7fb3e0; --shape: #e3e5e8; --valid: #f2b56b; --where: #b9a0dc; --range: #e8d47a; --init: #74c5b4; --untested: #d8a5b0; --unknown: #9aa0a6; --edge: #3c4248; --good: #2f7d4f; --part: #c2334d; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8ea; --dim: #9aa2aa; --page: #15181b; --panel: #1e2327; --rule: #3a4147;
    --present: #3a74a8; --shape: #363c42; --valid: #a56a1f; --where: #6d54a0; --range: #8a7a24; --init: #2f7f70; --untested: #7d4653; --unknown: #5c6268; --edge: #c3c8cd; --good: #6cc491; --part: #f0798e; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 78rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; } h3 { font-size: 1rem; }
p { max-width: 60rem; } code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; font-weight: 600; color: var(--dim); }
td, th { border-bottom: 1px solid var(--rule); padding: .4rem .6rem .4rem 0; vertical-align: top; }
tr:target, figure:target { outline: 2px solid var(--present); } .dim { color: var(--dim); } .proved { color: var(--good); }
.wide { overflow-x: auto; } .pictures { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: 0; padding: .8rem; background: var(--panel); border: 1px solid var(--rule); border-radius: 6px; max-width: 25rem; }
figcaption { font-size: 13px; } svg { max-width: 100%; height: auto; } svg text { fill: var(--ink); font: 11px system-ui, sans-serif; }
svg .axis { font-weight: 600; font-size: 12px; text-anchor: middle; } svg .tick { fill: var(--dim); text-anchor: middle; } svg .tick.row { text-anchor: end; }
.present { fill: var(--present); } .shape { fill: var(--shape); } .valid { fill: var(--valid); } .where { fill: var(--where); }
.range { fill: var(--range); } .init { fill: var(--init); } .optional { fill: var(--shape); } .untested { fill: var(--untested); }
.unknown { fill: var(--unknown); } svg rect { shape-rendering: crispEdges; }
svg .partial { fill: none; stroke: var(--part); stroke-width: 2; pointer-events: none; } i.partial { border: 2px solid var(--part); box-sizing: border-box; }
.fill-zero { fill: url(#hatch-zero); pointer-events: none; } .fill-infinity { fill: url(#hatch-infinity); pointer-events: none; }
pattern path { stroke: var(--ink); stroke-width: 1; stroke-opacity: .5; fill: none; } .edge { stroke: var(--edge); stroke-width: 1; stroke-opacity: .55; }
.legend span { margin-right: 1.4rem; white-space: nowrap; } .legend i { display: inline-block; width: .9rem; height: .9rem; border-radius: 2px;
  margin-right: .4rem; vertical-align: -2px; } i.present { background: var(--present); } i.shape { background: var(--shape); }
i.valid { background: var(--valid); } i.where { background: var(--where); } i.range { background: var(--range); } i.init { background: var(--init); }
i.optional { background: var(--shape); } i.untested { background: var(--untested); } i.unknown { background: var(--unknown); }
.legend svg { width: .9rem; height: .9rem; margin-right: .4rem; vertical-align: -2px; border: 1px solid var(--rule); }
)";

/// Patterns of the fills, for every picture of the page.
inline constexpr const char *patterns =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"0\" height=\"0\" "
    "style=\"position: absolute\" aria-hidden=\"true\"><defs>\n"
    "<pattern id=\"hatch-zero\" width=\"7\" height=\"7\" "
    "patternUnits=\"userSpaceOnUse\"><path d=\"M-1,8 L8,-1\"/></pattern>\n"
    "<pattern id=\"hatch-infinity\" width=\"7\" height=\"7\" "
    "patternUnits=\"userSpaceOnUse\"><path d=\"M0,0 L7,7 M0,7 L7,0\"/>"
    "</pattern>\n</defs></svg>\n";

} // namespace selvedge::explain

#endif // SELVEDGE_COMPILER_EXPLAIN_HTMLSTYLE_H
