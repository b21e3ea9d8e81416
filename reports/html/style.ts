/** Colors and type that all our pages share, light and dark. */
export const TOKENS = `
:root {
  color-scheme: light dark;
  --paper: light-dark(#f7f7f5, #121416);
  --sheet: light-dark(#ffffff, #1a1d20);
  --sunk: light-dark(#f2f2ef, #15181a);
  --ink: light-dark(#1b1d1f, #e7e9ea);
  --soft: light-dark(#565c63, #a2aab2);
  --line: light-dark(#dedfdc, #30353a);
  --link: light-dark(#1f4fa3, #93b8ff);
  --good: light-dark(#17693f, #63cf97);
  --bad: light-dark(#a9201a, #ff8d84);
  --caution: light-dark(#7d5200, #e8b95b);
  --held: light-dark(#5f3f9e, #c2abf8);
  --quiet: light-dark(#565c63, #a2aab2);
  --good-wash: light-dark(#e6f3ec, #16291f);
  --bad-wash: light-dark(#fbeae8, #331917);
  --caution-wash: light-dark(#faf1de, #2c2413);
  --held-wash: light-dark(#f0ebf9, #231c33);
  --quiet-wash: light-dark(#eeeeec, #23272b);
  --series-1: light-dark(#2a5fb8, #7fa8f5);
  --series-2: light-dark(#b4540a, #f0a25e);
  --series-3: light-dark(#17693f, #63cf97);
  --series-4: light-dark(#a9201a, #ff8d84);
  --series-5: light-dark(#5f3f9e, #c2abf8);
  --heat-1: light-dark(#d6e2f5, #1f3252);
  --heat-2: light-dark(#a9c3ea, #2b4b80);
  --heat-3: light-dark(#7199d8, #4170b4);
  --heat-4: light-dark(#3a6bbd, #6f9fe6);
  --heat-5: light-dark(#143a7c, #c3dcff);
  --text: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif;
  --mono: ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
`;

/** The style sheet. Calm and dense; two font families, five tones, one line length. */
export const STYLE = `${TOKENS}* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.55 var(--text); }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: 2px; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 2px; }
code, pre, .requirement-id, .foreign code { font-family: var(--mono); font-size: .86em; }
code { overflow-wrap: anywhere; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -99rem; background: var(--sheet); padding: .5rem 1rem; z-index: 2; }
.skip:focus { left: .5rem; top: .5rem; }
.foreign { unicode-bidi: isolate; overflow-wrap: anywhere; }
.note { color: var(--soft); font-size: .9rem; }
.nowrap { white-space: nowrap; }
p { margin: .4rem 0 .8rem; max-width: 46rem; }

.mast { display: flex; justify-content: space-between; align-items: center; gap: 1rem; flex-wrap: wrap;
  padding: .9rem clamp(1rem, 3vw, 2.5rem); border-bottom: 1px solid var(--line); }
.mast p { margin: 0; max-width: none; }
.brand { font-weight: 650; letter-spacing: .01em; display: flex; gap: .5rem; align-items: center; }
.brand span { font-weight: 400; color: var(--soft); }
.brand svg { fill: currentColor; }
.when { color: var(--soft); font-size: .87rem; }
.frame { display: grid; grid-template-columns: 12.5rem minmax(0, 1fr); gap: clamp(1.25rem, 3vw, 3rem);
  max-width: 84rem; margin: 0 auto; padding: 0 clamp(1rem, 3vw, 2.5rem) 5rem; }
.toc { position: sticky; top: 0; align-self: start; padding-top: 2rem; font-size: .9rem; }
.toc ol { list-style: none; margin: 0; padding: 0; }
.toc li { display: flex; justify-content: space-between; align-items: center; border-top: 1px solid transparent; }
.toc a { flex: 1; color: var(--soft); text-decoration: none; padding: .3rem 0; }
.toc a:hover, .toc a:focus-visible { color: var(--ink); text-decoration: underline; }
.toc b { font-size: .8rem; margin-left: .35rem; font-weight: 600; color: var(--soft); }
.toc b.bad { color: var(--bad); } .toc b.caution { color: var(--caution); }

main { padding-top: 1.5rem; min-width: 0; }
section { margin: 0 0 2.3rem; }
h1, h2, h3, h4 { line-height: 1.25; text-wrap: balance; }
h2 { font-size: 1.32rem; font-weight: 650; margin: 0 0 .15rem; letter-spacing: -.005em; }
h2.small { font-size: 1rem; margin: 1.1rem 0 .2rem; } .headline + div > h2.small { margin-top: 1.8rem; }
h3 { font-size: 1.03rem; font-weight: 650; margin: 1.9rem 0 .35rem; }
h4 { font-size: .82rem; font-weight: 600; margin: 1rem 0 .3rem; color: var(--soft); }
.finding { font-size: 1.05rem; color: var(--soft); margin: 0 0 1rem; max-width: 52rem; }
.perma { margin-left: .4em; color: var(--soft); text-decoration: none; font-weight: 400; opacity: .45; }
.perma:hover, .perma:focus-visible { opacity: 1; }

.verdict { background: var(--sheet); border: 1px solid var(--line); border-radius: 10px; padding: clamp(1rem, 2.6vw, 1.9rem); }
.headline { display: flex; gap: 1.3rem; align-items: center; }
.headline h1 { margin: 0; font-size: clamp(1.5rem, 4vw, 2.1rem); font-weight: 700; letter-spacing: -.015em;
  display: flex; flex-wrap: wrap; column-gap: .6rem; }
.headline .target { font-weight: 400; color: var(--soft); }
.headline .lead { margin: .25rem 0 0; font-size: 1.07rem; overflow-wrap: anywhere; }
.verdict.good .result { color: var(--good); } .verdict.bad .result { color: var(--bad); }
.verdict.held .result { color: var(--held); }
.shape { flex: none; width: clamp(44px, 9vw, 64px); height: auto; }
.shape .inner { fill: none; stroke: var(--sheet); stroke-width: 5; stroke-linecap: round; stroke-linejoin: round; }
.good .shape .outline { fill: var(--good); } .bad .shape .outline { fill: var(--bad); }
.held .shape .outline { fill: var(--held); }
.profiles { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: 0 0 1rem; padding: 0; list-style: none; }
.qualifiers { margin: 1rem 0 0; padding: .6rem .9rem .6rem 2rem; background: var(--caution-wash); border-radius: 6px; }
.counts { margin: 1.4rem 0 1.2rem; }
.counts svg { width: 100%; display: block; border-radius: 3px; }
.counts ul { display: flex; flex-wrap: wrap; gap: .2rem 1.3rem; list-style: none; padding: 0; margin: .55rem 0 0; }
.reasons { border-top: 1px solid var(--line); padding-top: 1rem; margin-top: 1rem; }
.reasons ul { list-style: none; margin: .5rem 0 1.2rem; padding: 0; }
.reasons li { padding: .28rem 0; display: grid; grid-template-columns: 9rem minmax(0, 1fr); gap: .2rem .6rem; }
.because { display: block; color: var(--soft); font-size: .88rem; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(13.5rem, 1fr)); gap: .65rem 1.6rem; margin: 1rem 0 0; }
.facts dt { color: var(--soft); font-size: .8rem; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.command-line { margin: .65rem 0 0; } .command-line dt { color: var(--soft); font-size: .8rem; } .command-line dd { margin: 0; }
.verdict .facts { border-top: 1px solid var(--line); padding-top: 1rem; }

.mark { display: inline-flex; align-items: baseline; gap: .35em; white-space: nowrap; font-weight: 550; }
.mark .sign { font-family: var(--mono); font-weight: 700; }
.mark.good, .good > .mark { color: var(--good); } .mark.bad { color: var(--bad); } .mark.caution { color: var(--caution); }
.mark.held { color: var(--held); } .mark.quiet { color: var(--quiet); font-weight: 450; }
.mark .times { font-size: .8em; font-weight: 450; opacity: .85; }
.fill-good { fill: var(--good); } .fill-bad { fill: var(--bad); } .fill-caution { fill: var(--caution); }
.fill-held { fill: var(--held); } .fill-quiet { fill: var(--quiet); opacity: .45; }
.level { font-size: .72rem; font-weight: 600; color: var(--soft); letter-spacing: .03em; }
.level.must { color: var(--ink); }
.requirement-id { white-space: nowrap; }
a.requirement-id { color: inherit; text-decoration: none; } a.requirement-id:hover { text-decoration: underline; }

.scroll { position: relative; overflow-x: auto; max-width: 100%; --shade: color-mix(in srgb, var(--ink) 16%, transparent);
  background: linear-gradient(90deg, var(--paper) 40%, transparent) left / 2.5rem 100% no-repeat local,
    linear-gradient(270deg, var(--paper) 40%, transparent) right / 2.5rem 100% no-repeat local,
    linear-gradient(90deg, var(--shade), transparent) left / .7rem 100% no-repeat scroll,
    linear-gradient(270deg, var(--shade), transparent) right / .7rem 100% no-repeat scroll; }
.verdict .scroll, .instance .scroll { --paper: var(--sheet); } .verdict .facts + .scroll { margin-top: 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; line-height: 1.45; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); font-size: .85rem; padding: .3rem 0; }
th, td { text-align: left; vertical-align: top; padding: .32rem .8rem .32rem 0; border-bottom: 1px solid var(--line); }
thead th { color: var(--soft); font-weight: 550; font-size: .8rem; white-space: nowrap; border-bottom-color: var(--soft); }
tbody th { font-weight: 450; }
tbody th:has(.because) { min-width: 14rem; }
.number { text-align: right; white-space: nowrap; }
.wide .number, .wide thead th { white-space: normal; } .wide tbody th:has(.because) { min-width: 11rem; }
.statement { display: block; min-width: 15rem; max-width: 44rem; }
.split { display: inline-block; line-height: 1.25; } .split small { display: block; font-weight: 400; font-size: .75rem; }
.empty { color: var(--soft); opacity: .5; }
ul.plain { list-style: none; margin: 0; padding: 0; }
:target { scroll-margin-top: 1rem; }
tr:has(:target), .problem:target > h3, .instance:target > summary { background: var(--caution-wash); }

details > summary { cursor: pointer; }
.layer > .areas { margin: .2rem 0 .8rem; }
.areas { border-top: 1px solid var(--line); }
.not-judged > summary { padding: .42rem 0; color: var(--soft); }
.area { border-bottom: 1px solid var(--line); }
.area > summary { display: grid; grid-template-columns: 1rem 8.5rem auto 1fr; align-items: center; gap: .3rem .9rem; padding: .42rem 0; list-style: none; }
.area > summary::-webkit-details-marker { display: none; }
.area > summary::before { content: "▸"; color: var(--soft); font-size: .8rem; }
.area[open] > summary::before { content: "▾"; }
.area-name { font-weight: 550; }
.area[open] > .scroll { padding: .2rem 0 1.2rem 1.9rem; }
.area[open] > .scroll > table { border-left: 0; }
.tally { color: var(--soft); font-size: .87rem; text-align: right; }
.pips { display: flex; flex-wrap: wrap; gap: 3px; max-width: 22rem; }
.pip { width: 9px; height: 9px; border-radius: 2px; background: var(--quiet); display: inline-block; flex: none; }
.pip.good { background: var(--good); } .pip.bad { background: var(--bad); border-radius: 0; transform: rotate(45deg) scale(.95); }
.pip.caution { background: var(--caution); clip-path: polygon(50% 0, 100% 100%, 0 100%); border-radius: 0; }
.pip.held { background: var(--held); border-radius: 50%; }
.pip.quiet { opacity: .45; } .pip.none { background: none; box-shadow: inset 0 0 0 1px var(--soft); }
.toc .pip { margin-right: 1px; }

.problem { border-top: 2px solid var(--line); padding: .1rem 0 .6rem; margin-top: 1.4rem; }
.problem.is-fail, .problem.is-flaky, .problem.is-harness-error { border-top-color: var(--bad); }
.problem.is-warn { border-top-color: var(--caution); } .problem.is-inconclusive { border-top-color: var(--held); }
.problem > h3 { margin: .7rem 0 .3rem; }
.problem > h3 > .mark, h3 > .mark:first-child { margin-right: .5rem; white-space: normal; }
.problem > .note { margin: .1rem 0 .5rem; }
.problem > h4 { margin: .6rem 0 .3rem; font-size: .95rem; color: inherit; }
.broken { max-width: 52rem; }
.broken .linked { text-decoration: underline; color: var(--link); }
.seen > summary, .explained > summary { padding: .3rem 0; color: var(--soft); font-size: .9rem; }
.listed li { padding: .1rem 0; font-size: .88rem; color: var(--soft); }
.instance { border: 1px solid var(--line); border-radius: 7px; margin: .45rem 0; background: var(--sheet); }
.instance > summary { padding: .45rem .8rem; display: flex; flex-wrap: wrap; gap: .1rem .9rem; align-items: baseline; list-style: none; }
.instance > summary::-webkit-details-marker { display: none; }
.instance > summary::before { content: "▸"; color: var(--soft); font-size: .8rem; }
.instance[open] > summary::before { content: "▾"; }
.instance > summary .because { display: inline; }
.instance > .body, .instance > ul { padding: .2rem 1rem 1rem; border-top: 1px solid var(--line); margin: 0; }
.expected { color: var(--good); } .observed { color: var(--bad); font-weight: 550; }
.is-warn .observed { color: var(--caution); }
.pair { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 1.1rem; margin-top: .6rem; }
.exchange { display: grid; grid-row: span 3; grid-template-rows: subgrid; grid-template-columns: minmax(0, 1fr); }
.pair.single { grid-template-columns: minmax(0, 1fr); }
.listing, .command { background: var(--sunk); border: 1px solid var(--line); border-radius: 6px; padding: .6rem .75rem; margin: 0 0 .5rem;
  font-size: .79rem; line-height: 1.5; overflow: auto; max-height: 26rem; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 2; }
.command { white-space: pre-wrap; position: relative; }
.command code { font-size: inherit; }
.listing.output { max-height: none; white-space: pre; overflow-wrap: normal; }
.listing .line { display: block; margin: 0 -.75rem; padding: 0 .75rem; }
.listing .strong { font-weight: 700; }
.listing .differs { background: var(--caution-wash); box-shadow: inset 3px 0 var(--caution); }
.listing .hname { color: var(--soft); }
.listing .content { display: block; }
.listing .quiet { color: var(--soft); }
.listing .event { display: grid; grid-template-columns: 5.6rem 1fr; gap: .6rem; }
.listing .offset { color: var(--soft); text-align: right; font-variant-numeric: tabular-nums; }
.not-run { padding-left: 0; list-style: none; } .not-run li { margin: .7rem 0; }
.not-run .note { margin: .1rem 0; }

figure { margin: .9rem 0 1rem; }
figcaption { margin-bottom: .3rem; }
figcaption .note { display: block; }
figure svg { width: 100%; height: auto; display: block; overflow: visible; }
.halves { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 1.5rem; align-items: end; }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(17.5rem, 1fr)); gap: .6rem 1.2rem; }
.classes tbody th:has(.because) { min-width: 0; }
.headline-figures { display: flex; flex-wrap: wrap; gap: .5rem 2.2rem; margin: .7rem 0 .9rem; }
.headline-figures dt { color: var(--soft); font-size: .8rem; }
.headline-figures dd { margin: 0; font-size: 1.18rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.headline-figures small { display: block; font-size: .78rem; font-weight: 400; color: var(--soft); }
main details > summary { padding: .22rem 0; }
figure svg .bar { fill: var(--series-1); opacity: .75; }
figure svg text { font: 11px var(--text); fill: var(--soft); font-variant-numeric: tabular-nums; }
figure svg .axis-line { stroke: var(--soft); } figure svg .grid { stroke: var(--line); }
figure svg .over { paint-order: stroke; stroke: var(--paper); stroke-width: 3px; stroke-linejoin: round; }
figure svg .strong { fill: var(--ink); font-weight: 600; }
figure svg [class^="line-"], .legend [class^="line-"] { fill: none; stroke-width: 1.7; stroke-linejoin: round; stroke-linecap: round; }
figure svg .thin { stroke-width: 1.2; } figure svg .dots { stroke-width: 4; }
.line-series-1 { stroke: var(--series-1); } .line-series-2 { stroke: var(--series-2); } .line-series-3 { stroke: var(--series-3); } .line-series-4 { stroke: var(--series-4); }
.line-series-5 { stroke: var(--series-5); }
.line-good { stroke: var(--good); } .line-bad { stroke: var(--bad); } .line-held { stroke: var(--held); } .line-quiet { stroke: var(--quiet); }
.mark-series-1 { fill: var(--series-1); } .mark-series-2 { fill: var(--series-2); } .mark-series-3 { fill: var(--series-3); }
.mark-series-4 { fill: none; stroke: var(--series-4); stroke-width: 1.8; } .mark-series-5 { fill: var(--series-5); }
.area-series-1 { fill: var(--series-1); opacity: .22; } .area-series-2 { fill: var(--series-2); opacity: .22; }
.heat-1 { fill: var(--heat-1); } .heat-2 { fill: var(--heat-2); } .heat-3 { fill: var(--heat-3); } .heat-4 { fill: var(--heat-4); } .heat-5 { fill: var(--heat-5); }
figure svg .band { fill: var(--quiet-wash); } figure svg .phase { stroke: var(--soft); stroke-dasharray: 2 3; }
figure svg .limit { stroke: var(--ink); stroke-width: 1.2; stroke-dasharray: 5 3; }
figure svg .cursor { stroke: var(--ink); stroke-dasharray: 2 3; }
.reading { margin: .45rem 0 .1rem; max-width: none; min-height: 1.55em; font-size: .88rem; font-variant-numeric: tabular-nums; }
.reading:empty::before { content: "Hover over the chart, or focus it and use the arrow keys, to read its values."; color: var(--soft); }
.values .scroll { max-height: 26rem; overflow-y: auto; } .values td, .values thead th { text-align: right; }
.values thead th { position: sticky; top: 0; background: var(--paper); vertical-align: bottom; box-shadow: inset 0 -1px var(--soft); }
.values thead th:first-child { text-align: left; }
.behind > summary { font-size: .85rem; color: var(--soft); padding: .3rem 0; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; font-size: .85rem; margin: 0 0 .4rem; padding: 0; list-style: none; }
.legend svg { width: 1.6rem; height: .7rem; display: inline-block; margin-right: .4rem; vertical-align: -.05rem; }

.tools { display: flex; flex-wrap: wrap; gap: .5rem; margin: .6rem 0; align-items: center; }
.tools input, .tools button, .tools select, .copy { font: inherit; font-size: .87rem; color: inherit; background: var(--sheet); border: 1px solid var(--line);
  border-radius: 5px; padding: .25rem .6rem; }
.tools input, .tools select { border-color: var(--soft); }
.tools input { min-width: 12rem; max-width: 100%; border-color: var(--soft); }
.tools button, .copy { cursor: pointer; } .tools button:hover, .copy:hover { border-color: var(--soft); }
.copy { float: right; margin: -.2rem -.3rem 0 .6rem; font-family: var(--text); font-size: .78rem; }
[hidden] { display: none !important; }

.frame.whole { grid-template-columns: minmax(0, 1fr); }
.matrix th[scope="row"] { position: sticky; left: 0; background: var(--paper); z-index: 1; min-width: 6.6rem; max-width: 16rem;
  overflow-wrap: anywhere; }
.matrix th, .matrix td { padding-right: .45rem; }
.matrix td { min-width: 4.6rem; max-width: 13rem; }
.matrix .mark { white-space: normal; flex-direction: column; gap: 0; font-size: .8rem; } .matrix a { color: inherit; }
.matrix .mark .sign { font-size: 1.1rem; line-height: 1.1; }
.whole > main > nav { margin: .6rem 0 1.6rem; }
.whole h3, .whole h4 { overflow-wrap: anywhere; }
.matrix .because { overflow-wrap: anywhere; font-size: .78rem; }
.matrix thead small { display: block; font-weight: 400; }
.matrix thead th { white-space: normal; }
.evidence { border-top: 1px solid var(--line); margin-top: 1.1rem; }
.evidence:target > h4 { background: var(--caution-wash); }
.evidence > h4 { font-size: .95rem; color: inherit; margin: .7rem 0 .3rem; }

@media (max-width: 62rem) {
  .frame { grid-template-columns: minmax(0, 1fr); gap: 0; }
  .toc { position: static; padding-top: .8rem; }
  .toc ol { display: flex; flex-wrap: wrap; gap: 0 1.1rem; }
  .toc .pip { display: none; }
  .pair, .halves { grid-template-columns: minmax(0, 1fr); }
}
@media (max-width: 40rem) {
  body { font-size: 14.5px; }
  .area > summary { grid-template-columns: 1rem 1fr auto; }
  .area > summary .pips { grid-column: 2 / -1; grid-row: 2; }
  .area > summary .tally { font-size: .8rem; }
  .area[open] > .scroll { padding-left: 0; }
  figure .scroll > svg { min-width: 38rem; }
  .scroll > table.wide { min-width: 44rem; }
  .matrix th[scope="row"] { min-width: 7rem; max-width: 8.5rem; }
  .reasons li { grid-template-columns: minmax(0, 1fr); gap: 0; }
  .facts { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .listing .event { grid-template-columns: 1fr; gap: 0; } .listing .offset { text-align: left; }
}
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
@media print {
  :root { color-scheme: light; font-size: 13px; }
  @page { margin: 14mm; }
  body { font-size: 9.5pt; background: none; }
  .toc, .perma, .tools, .copy, .skip, .reading, .cursor { display: none; }
  .frame { display: block; max-width: none; padding: 0; }
  .mast { padding: 0 0 6pt; }
  .verdict { border-width: 1.5pt; border-radius: 0; }
  details.on-paper::details-content { content-visibility: visible; block-size: auto; }
  .area > summary, .instance > summary { break-after: avoid; }
  .listing, .command { max-height: none; overflow: visible; } .listing.output { white-space: pre-wrap; }
  .scroll, .values .scroll { overflow: visible; max-height: none; background: none; }
  .matrix th[scope="row"] { position: static; }
  table.wide { font-size: 7.5pt; } .wide .because { font-size: 7pt; } .wide th, .wide td { padding-right: .5rem; }
  .wide .nowrap { white-space: normal; }
  .wide tbody th:has(.because) { min-width: 10rem; }
  .pair, .halves { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .panels { grid-template-columns: repeat(3, minmax(0, 1fr)); }
  h2, h3, h4 { break-after: avoid; }
  figure, tr, .headline { break-inside: avoid; }
  thead { display: table-header-group; }
  svg, .pip, .listing, .qualifiers { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  a { color: inherit; text-decoration: none; }
}
@media (forced-colors: active) { .pip, .shape .outline { forced-color-adjust: none; } }
`;
