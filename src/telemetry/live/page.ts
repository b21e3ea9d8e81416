import { TOKENS } from "../../../reports/index.ts";

/** The script of the page, `page-script/main.ts`, as `scripts/bundle.mjs` builds it. */
declare const LIVE_PAGE_SCRIPT: string;

/** The live page: static text that its script fills in from the events of the run. Paths are relative to the page. */
const HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gauntlet: live</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="live.css">
<script src="live.js" defer></script>
</head>
<body>
<a class="skip" href="#charts">Skip to the charts</a>
<header>
  <p class="brand">Gauntlet <span>live</span></p>
  <p id="connection" role="status">Connecting…</p>
</header>
<main>
  <h1 id="title">Load run</h1>
  <p id="result" role="status" hidden></p>
  <p id="open-report" class="note" hidden>To open the report: <code></code></p>
  <noscript><p>This page needs JavaScript. The report of the run does not.</p></noscript>
  <fieldset id="runs" hidden><legend>Run</legend></fieldset>
  <section id="current" aria-labelledby="now">
    <h2 id="now">Now</h2>
    <dl id="tiles" class="tiles"></dl>
  </section>
  <section aria-labelledby="totals-title">
    <h2 id="totals-title">So far</h2>
    <dl id="totals" class="tiles"></dl>
  </section>
  <section id="latencies" aria-labelledby="latencies-title" hidden>
    <h2 id="latencies-title">Latency</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Table of latencies"><table id="latency-table"></table></div>
    <p id="latency-legend" class="note"></p>
  </section>
  <section id="thresholds" aria-labelledby="thresholds-title" hidden>
    <h2 id="thresholds-title">Thresholds</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Table of thresholds"><table>
      <thead><tr><th scope="col">Threshold</th><th scope="col">State</th><th scope="col">Value</th></tr></thead>
      <tbody id="threshold-rows"></tbody>
    </table></div>
  </section>
  <section id="charts" tabindex="-1" aria-labelledby="charts-title">
    <h2 id="charts-title">Per second</h2>
    <p class="tools"><button type="button" id="pause" aria-pressed="false">Pause</button>
    <span class="note">Hover over a chart, or focus it and use the arrow keys, to see one second. Press Esc to return to the latest second. A latency line has a gap where no admitted request ended. With fewer than 20 requests in a second, p95 and p99 both show the slowest one.</span></p>
    <p id="reading" aria-live="polite"></p>
    <div id="figures"></div>
    <details id="seconds"><summary>The last 60 seconds as a table</summary>
      <div class="scroll" tabindex="0" role="region" aria-label="The last 60 seconds"><table>
        <thead><tr id="columns"></tr></thead><tbody id="rows"></tbody>
      </table></div>
    </details>
  </section>
  <section aria-labelledby="phases-title">
    <h2 id="phases-title">Phases</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Table of phases"><table>
      <thead><tr><th scope="col">Phase</th><th scope="col">State</th><th scope="col">Time</th><th scope="col">Offered</th><th scope="col">Admitted</th><th scope="col">Denied</th><th scope="col">Failed</th><th scope="col">Invalid</th><th scope="col">Dropped</th></tr></thead>
      <tbody id="phases"></tbody>
    </table></div>
  </section>
  <section id="denials-section" aria-labelledby="denials-title" hidden>
    <h2 id="denials-title">Denials</h2>
    <ul id="denials"></ul>
  </section>
</main>
</body>
</html>
`;

const STYLE = `${TOKENS}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 var(--text); }
header, main { padding: .8rem clamp(1rem, 3vw, 2.5rem); max-width: 84rem; margin: 0 auto; }
header { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .2rem 1rem; border-bottom: 1px solid var(--line); }
header p { margin: 0; }
.brand { font-weight: 650; } .brand span { font-weight: 400; color: var(--soft); }
#connection { color: var(--soft); } #connection.lost { color: var(--caution); font-weight: 600; }
h1 { font-size: 1.5rem; margin: .6rem 0; line-height: 1.25; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 1.4rem 0 .4rem; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 2px; }
.skip { position: absolute; left: -99rem; background: var(--sheet); padding: .5rem 1rem; } .skip:focus { left: .5rem; top: .5rem; }
code { font-family: var(--mono); overflow-wrap: anywhere; }
.note { color: var(--soft); font-size: .87rem; }
#result { padding: .6rem .9rem; border-radius: 6px; background: var(--held-wash); color: var(--held); overflow-wrap: anywhere; white-space: pre-line; }
#result.good { background: var(--good-wash); color: var(--good); } #result.bad { background: var(--bad-wash); color: var(--bad); }
fieldset { border: 0; padding: 0; margin: 0; display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; } legend { float: left; margin-right: 1rem; color: var(--soft); }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(max(9.5rem, 22%), 1fr)); gap: .6rem; margin: 0; }
.tiles div { background: var(--sheet); border: 1px solid var(--line); border-radius: 8px; padding: .5rem .8rem; }
dt { color: var(--soft); font-size: .8rem; } dd { margin: 0; font-size: 1.35rem; font-weight: 600; font-variant-numeric: tabular-nums; }
dd small { display: block; line-height: 1.35; font-size: .8rem; font-weight: 400; color: var(--soft); } dd.bad { color: var(--bad); } dd.caution { color: var(--caution); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td { text-align: right; white-space: nowrap; padding: .28rem .8rem .28rem 0; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child, #phases td:nth-child(2), thead th:nth-child(2) { text-align: left; }
thead th { color: var(--soft); font-weight: 550; font-size: .8rem; }
#rows td:nth-child(2), #columns th:nth-child(2), #latency-table thead th:nth-child(2) { text-align: right; }
#latency-table tbody tr:not(:has(td)) th { color: var(--soft); }
tbody th { font-weight: 500; } .good { color: var(--good); } .bad { color: var(--bad); } .held { color: var(--held); }
#thresholds th, #thresholds td { text-align: left; } #threshold-rows th { font-family: var(--mono); } #threshold-rows td:last-child { white-space: normal; min-width: 14rem; }
@media (max-width: 40rem) {
  #thresholds thead { display: none; } #threshold-rows th, #threshold-rows td { border: 0; padding: 0; white-space: normal; overflow-wrap: anywhere; }
  #threshold-rows tr { display: grid; grid-template-columns: 1fr auto; gap: 0 .8rem; padding: .4rem 0; border-bottom: 1px solid var(--line); }
  #threshold-rows td:last-child { grid-column: 1 / -1; min-width: 0; }
}
#denials { margin: 0; padding-left: 1.2rem; overflow-wrap: anywhere; }
button { font: inherit; color: inherit; background: var(--sheet); border: 1px solid var(--soft); border-radius: 6px; padding: .15rem .9rem; cursor: pointer; }
#reading { min-height: 1.5em; margin: .3rem 0; font-variant-numeric: tabular-nums; }
#seconds { margin-top: 1rem; }
#figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem; }
figure { margin: 0; background: var(--sheet); border: 1px solid var(--line); border-radius: 8px; padding: .6rem .8rem; min-width: 0; }
figcaption { font-weight: 550; font-size: .9rem; }
.key { display: flex; flex-wrap: wrap; gap: 0 1rem; margin: .1rem 0 .3rem; padding: 0; list-style: none; font-size: .82rem; color: var(--soft); }
.key svg { width: 1.6rem; height: .6rem; margin-right: .3rem; }
figure > svg { display: block; width: 100%; height: 11rem; }
svg text { fill: var(--soft); font: 11px var(--text); } svg .grid { stroke: var(--line); } svg .event { stroke: var(--ink); } svg .phase { stroke: var(--soft); stroke-dasharray: 2 3; } svg .cursor { stroke: var(--ink); stroke-dasharray: 2 3; }
svg polyline { fill: none; stroke-width: 1.8; stroke-linejoin: round; vector-effect: non-scaling-stroke; }
.s1 { stroke: var(--series-1); } .s2 { stroke: var(--series-2); stroke-dasharray: 7 3; } .s3 { stroke: var(--series-3); stroke-dasharray: 2 3; }
.s4 { stroke: var(--series-4); stroke-dasharray: 9 3 2 3; } .s5 { stroke: var(--series-5); stroke-dasharray: 1 4; }
`;

/** Files of the page by path: type and content. */
export const PAGE: ReadonlyMap<string, { readonly type: string; readonly text: string }> = new Map([
  ["/", { type: "text/html; charset=utf-8", text: HTML }],
  ["/live.css", { type: "text/css; charset=utf-8", text: STYLE }],
  ["/live.js", { type: "text/javascript; charset=utf-8", text: LIVE_PAGE_SCRIPT }],
]);
