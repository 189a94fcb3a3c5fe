// Colours, patterns and script of the page of an explanation.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_EXPLAIN_HTMLSTYLE_H
#define SELVEDGE_COMPILER_EXPLAIN_HTMLSTYLE_H

namespace selvedge::explain {

/// The style sheet: light, and dark where the reader prefers it. The program
/// stays beside its explanation where there is room.
inline constexpr const char *style = R"(
:root { color-scheme: light dark; --ink: #1c2024; --dim: #565c62; --page: #ffffff; --panel: #f5f6f7; --rule: #d5d9dd; --link: #0b57a4; --lit: #fff1c2;
  --present: #7fb3e0; --shape: #e3e5e8; --valid: #f2b56b; --where: #b9a0dc; --range: #e8d47a; --init: #74c5b4; --untested: #d8a5b0; --unknown: #9aa0a6; --edge: #3c4248; --good: #24693f; --part: #b3203c; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8ea; --dim: #a4acb4; --page: #15181b; --panel: #1e2327; --rule: #3a4147; --link: #8cc2f5; --lit: #463c17;
    --present: #3a74a8; --shape: #363c42; --valid: #a56a1f; --where: #6d54a0; --range: #8a7a24; --init: #2f7f70; --untested: #7d4653; --unknown: #5c6268; --edge: #c3c8cd; --good: #6cc491; --part: #f0798e; } }
* { box-sizing: border-box; } html { scroll-padding-top: 1rem; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 96rem; margin: 1.5rem auto 4rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .2rem; } h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; border-top: 1px solid var(--rule); padding-top: 1rem; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; } h4 { font-size: 1rem; margin: 1.2rem 0 .4rem; } h5 { font-size: .95rem; margin: 0; }
p { max-width: 60rem; margin: .5rem 0; } code { font: 13px/1.45 ui-monospace, monospace; overflow-wrap: anywhere; } a { color: var(--link); } abbr { text-decoration: underline dotted; cursor: help; }
.dim { color: var(--dim); } .proved { color: var(--good); } .purpose { font-size: 1.05rem; }
nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; list-style: none; margin: .8rem 0; padding: .6rem .9rem; background: var(--panel); border: 1px solid var(--rule); border-radius: 6px; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; margin: .4rem 0; } th { text-align: left; font-weight: 600; }
tr:first-child th { color: var(--dim); } td, th { border-bottom: 1px solid var(--rule); padding: .4rem .8rem .4rem 0; vertical-align: top; }
.numbers { width: auto; } .numbers td { font-variant-numeric: tabular-nums; } @media (min-width: 40.01rem) { #costs th[scope=row] { min-width: 14.5rem; } #costs td:nth-child(5) { min-width: 11rem; } #costs td:nth-child(6) { min-width: 16rem; max-width: 34rem; } }
.choices td:first-child { width: 24%; } .choices td { width: 38%; }
.bar { display: flex; height: .9rem; max-width: 60rem; border-radius: 4px; overflow: hidden; gap: 2px; } .is-proved { background: var(--good); } .is-untested { background: var(--untested); }
.is-partial { background: var(--valid); } .is-tested { background: var(--part); }
.keys, .legend { list-style: none; padding: 0; margin: .5rem 0; display: flex; flex-wrap: wrap; gap: .3rem 1.4rem; } .keys i, .legend i { display: inline-block; width: .9rem; height: .9rem; border-radius: 2px; margin-right: .4rem; vertical-align: -2px; }
.legend svg { width: .9rem; height: .9rem; margin-right: .4rem; vertical-align: -2px; border: 1px solid var(--rule); } .legend i { border: 1px solid var(--rule); }
i.present { background: var(--present); } i.shape, i.optional, i.unstored { background: var(--shape); } i.valid { background: var(--valid); } i.where { background: var(--where); } i.range { background: var(--range); }
i.init { background: var(--init); } i.untested { background: var(--untested); } i.unknown { background: var(--unknown); } .legend i.partial { border: 2px solid var(--part); } .legend i.skipped { border: 1px dashed var(--edge); }
.listing { border: 1px solid var(--rule); border-radius: 6px; background: var(--panel); overflow: auto; } .listing h3 { margin: .6rem .9rem 0; font-size: .9rem; color: var(--dim); }
.code { margin: .4rem 0; padding: 0 .6rem 0 3.2rem; } .code li { padding: 1px .4rem; border-radius: 3px; } .code li::marker { color: var(--dim); font-size: 12px; } .code code { white-space: pre-wrap; overflow-wrap: break-word; } .comment { color: var(--dim); }
.linked { background: color-mix(in srgb, var(--present) 14%, transparent); } .marks { display: block; padding-bottom: 2px; } .mark { display: inline-block; font-size: 12px; padding: 0 .45rem; margin: 1px .3rem 1px 0; border: 1px solid var(--rule); border-radius: 9px; background: var(--page); text-decoration: none; }
.panels { display: flex; flex-wrap: wrap; gap: 1rem; align-items: flex-start; } .pictures { padding: .8rem; background: var(--panel); border: 1px solid var(--rule); border-radius: 6px; max-width: 100%; margin: 0 0 1rem; } .pictures h4 { margin: 0 0 .4rem; }
.panels > .pictures { margin: 0; } .panels > .pictures figure { max-width: 20.5rem; } figure { margin: 0; max-width: 46rem; overflow-x: auto; } figcaption { font-size: 13px; } figcaption p { margin: .2rem 0; } svg { max-width: 100%; height: auto; } svg text { fill: var(--ink); font: 11px system-ui, sans-serif; }
svg .axis { font-weight: 600; font-size: 12px; text-anchor: middle; } svg .tick { fill: var(--dim); text-anchor: middle; } svg .tick.row { text-anchor: end; } svg .name { text-anchor: middle; pointer-events: none; paint-order: stroke; stroke: var(--page); stroke-width: 3px; }
svg .present { fill: var(--present); } svg .shape, svg .optional, svg .unstored { fill: var(--shape); } svg .valid { fill: var(--valid); } svg .where { fill: var(--where); } svg .range { fill: var(--range); }
svg .init { fill: var(--init); } svg .untested { fill: var(--untested); } svg .unknown { fill: var(--unknown); } svg rect { shape-rendering: crispEdges; }
svg .partial { fill: none; stroke: var(--part); stroke-width: 2; pointer-events: none; } svg .step { fill: none; pointer-events: none; }
svg .skipped { fill: var(--page); fill-opacity: .72; stroke: var(--edge); stroke-dasharray: 3 3; pointer-events: auto; } svg .whole { stroke: none; }
.fill-zero { fill: url(#hatch-zero); pointer-events: none; } .fill-infinity { fill: url(#hatch-infinity); pointer-events: none; } pattern path { stroke: var(--ink); stroke-width: 1; stroke-opacity: .5; fill: none; } .edge { stroke: var(--edge); stroke-width: 1; stroke-opacity: .55; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(21rem, 100%), 1fr)); gap: .8rem; align-items: start; } .card { border: 1px solid var(--rule); border-left: 4px solid var(--present); border-radius: 6px; padding: .7rem .9rem; background: var(--panel); min-width: 0; }
.card.mask { border-left-color: var(--where); } .card.guard { border-left-color: var(--range); } .card.store { border-left-color: var(--valid); } .card.init { border-left-color: var(--init); } .card p { margin: .25rem 0; } .label { font-weight: 600; font-size: 13px; }
.conditions, .ways { margin: .2rem 0; padding-left: 0; list-style: none; font-size: 13.5px; } .conditions li, .ways li { margin: .25rem 0; } .badge { display: inline-block; font-size: 11.5px; line-height: 1.5; padding: 0 .4rem; border-radius: 8px; border: 1px solid currentColor; } .badge.tested { color: var(--part); }
summary { cursor: pointer; font-size: 13.5px; } .lit, article:target { outline: 2px solid var(--link); outline-offset: 1px; } li.lit, li:target, h3:target { background: var(--lit); }
dl { columns: 22rem; column-gap: 2rem; } dl div { break-inside: avoid; margin-bottom: .5rem; } dt { font-weight: 600; } dd { margin: 0; }
@media (min-width: 70rem) { .beside { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 7fr); gap: 2rem; } #source { position: sticky; top: 0; align-self: start; } .listing { max-height: calc(100vh - 9rem); } }
@media (max-width: 40rem) { body { padding: 0 .7rem; } .choices, .choices tbody, .choices tr, .choices td, .choices td:first-child { display: block; width: auto; border: none; padding: .1rem 0; } .choices tr { border-bottom: 1px solid var(--rule); padding: .5rem 0; } .choices tr:first-child { display: none; }
  .numbers, .numbers tbody, .numbers tr, .numbers td, .numbers th { display: block; width: auto; border: none; padding: .1rem 0; } .numbers tr { border-bottom: 1px solid var(--rule); padding: .5rem 0; } .numbers tr:first-child { display: none; } .numbers td::before { content: attr(data-name) ": "; color: var(--dim); }
  .choices td:nth-child(3)::before { content: "Because: "; color: var(--dim); } .code { padding-left: 2.6rem; } }
@media print { .listing { max-height: none; } #source { position: static; } }
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

/// Highlights the counterparts of what is pointed at, which `data-with` names,
/// and brings the line of a card that a link leads to into view. The page reads
/// the same without it.
inline constexpr const char *script = R"(
const partners = part => [part.id, ...part.dataset.with.split(' ')].map(id => document.getElementById(id)).filter(Boolean);
const mark = (event, on) => {
  const part = event.target.closest('[data-with]');
  if (part)
    for (const partner of partners(part))
      partner.classList.toggle('lit', on);
};
for (const [name, on] of [['mouseover', true], ['mouseout', false], ['focusin', true], ['focusout', false]])
  document.addEventListener(name, event => mark(event, on));
const follow = () => {
  for (const line of document.querySelectorAll('.listing .lit'))
    line.classList.remove('lit');
  const part = document.getElementById(location.hash.slice(1));
  const line = part?.dataset.with ? partners(part).find(partner => partner.closest('.listing')) : null;
  const list = line?.closest('.listing');
  if (!list)
    return;
  line.classList.add('lit');
  list.scrollTop = line.offsetTop - list.offsetTop - list.clientHeight / 2;
};
addEventListener('hashchange', follow);
addEventListener('load', follow);
)";

} // namespace selvedge::explain

#endif // SELVEDGE_COMPILER_EXPLAIN_HTMLSTYLE_H
