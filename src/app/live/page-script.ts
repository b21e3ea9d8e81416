/**
 * The script of the live page: stores the seconds of each run and draws them. Shipped as written here; text is only ever set as
 * text, never as HTML.
 */
export const SCRIPT = `"use strict";
(function () {
  var byId = function (id) { return document.getElementById(id); };
  var make = function (name, text, className) {
    var node = document.createElement(name);
    if (text !== undefined) node.textContent = text;
    if (className) node.className = className;
    return node;
  };
  var SVG = "http://www.w3.org/2000/svg";
  var draw = function (name, attributes, text) {
    var node = document.createElementNS(SVG, name);
    Object.keys(attributes).forEach(function (key) { node.setAttribute(key, attributes[key]); });
    if (text !== undefined) node.textContent = text;
    return node;
  };
  var whole = function (value) { return value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en"); };
  var figure = function (value) {
    if (value === null || value === undefined) return "–";
    return value >= 100 ? whole(value) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
  };
  var SHOWN_S = 300;
  var count = function (name) { return function (second) { return second[name]; }; };
  var quantile = function (name, which) { return function (second) { return second[name] === null ? null : second[name][which]; }; };
  var CHARTS = [
    { title: "Requests per second", unit: "", series: [["offered", count("offered")], ["admitted", count("admitted")], ["denied", count("denied")], ["failed", count("failed")], ["invalid", count("invalid")]] },
    { title: "Requests in flight", unit: "", series: [["in flight", count("inFlight")]] },
    { title: "Time to first token, ms", unit: " ms", series: [["p50", quantile("ttftMs", "p50")], ["p95", quantile("ttftMs", "p95")], ["p99", quantile("ttftMs", "p99")]] },
    { title: "Response time, ms", unit: " ms", series: [["p50", quantile("responseMs", "p50")], ["p95", quantile("responseMs", "p95")], ["p99", quantile("responseMs", "p99")]] }
  ];

  var runs = new Map();
  var latest = null;
  var chosen = null;
  var paused = false;
  var cursor = null;
  var ended = false;

  var secondsOf = function (run) { return Array.from((runs.get(run) || new Map()).values()).sort(function (a, b) { return a.atS - b.atS; }); };

  var take = function (update) {
    latest = update;
    update.phases.forEach(function (phase) {
      if (runs.has(phase.run)) return;
      runs.set(phase.run, new Map());
      addRun(phase.run);
    });
    update.seconds.forEach(function (second) { runs.get(second.run).set(second.phase + " " + second.atS, second); });
    if (!paused) show();
  };

  var addRun = function (run) {
    if (chosen === null) chosen = run;
    var label = make("label");
    var input = make("input");
    input.type = "radio";
    input.name = "run";
    input.checked = run === chosen;
    input.addEventListener("change", function () { chosen = run; cursor = null; show(); });
    label.append(input, " " + run);
    byId("runs").append(label);
    byId("runs").hidden = runs.size < 2;
  };

  var show = function () {
    if (latest === null) return;
    byId("title").textContent = "Load on " + latest.target;
    document.title = (ended ? "ended: " : "live: ") + latest.target;
    var seconds = secondsOf(chosen);
    var phases = latest.phases.filter(function (phase) { return phase.run === chosen; });
    tiles(seconds, phases);
    phaseRows(phases);
    denials(phases);
    charts(seconds.slice(-SHOWN_S));
    if (byId("seconds").open) table(seconds.slice(-60));
  };

  var sumOf = function (phases) { return function (name) { return phases.reduce(function (all, phase) { return all + phase.counts[name]; }, 0); }; };

  // Each tile: name, value, note, class of the value.
  var tilesOfNow = function (seconds, phases) {
    var last = seconds[seconds.length - 1] || {};
    var withQuantiles = function (name) { return seconds.filter(function (second) { return second[name] !== null; }).pop(); };
    var now = phases.filter(function (phase) { return phase.verdict === null; }).pop();
    var sum = sumOf(phases);
    var values = function (name) {
      var found = withQuantiles(name);
      return found ? figure(found[name].p50) + " / " + figure(found[name].p99) : "–";
    };
    var generator = latest.generator;
    return [
      ["Phase", now ? now.phase : "none", now && now.totalS !== null ? Math.floor(now.elapsedS) + " of about " + Math.ceil(now.totalS) + " s" : "", ""],
      ["Offered per second", whole(last.offered), "due in the latest second", ""],
      ["Admitted per second", whole(last.admitted), "ended in the latest second", ""],
      ["In flight", whole(now ? now.inFlight : 0), now ? whole(now.connections) + " connections" : "", ""],
      ["TTFT p50 / p99", values("ttftMs"), "ms, latest second", ""],
      ["Response p50 / p99", values("responseMs"), "ms, latest second", ""],
      ["Admitted", whole(sum("admitted")), "of " + whole(sum("offered")) + " offered so far", ""],
      ["Denied", whole(sum("denied")), "so far", sum("denied") > 0 ? "caution" : ""],
      ["Failed", whole(sum("failed")), "so far", sum("failed") > 0 ? "bad" : ""],
      ["Invalid", whole(sum("invalid")), "2xx replies so far", sum("invalid") > 0 ? "bad" : ""],
      ["Generator", generator.late ? "late" : generator.wasLate ? "late before" : "on time", "lag p99 " + figure(generator.scheduleLagP99Ms) + ", loop delay p99 " + figure(generator.loopDelayP99Ms) + " ms", generator.late ? "bad" : generator.wasLate ? "caution" : ""]
    ];
  };

  // The verdict says whether the figures can be trusted: the generator has a tile only if it was late.
  var tilesOfTotals = function (phases) {
    var sum = sumOf(phases);
    var durationS = phases.reduce(function (all, phase) { return all + phase.elapsedS; }, 0);
    var ofOffered = "of " + whole(sum("offered")) + " offered";
    return [
      ["Offered", whole(sum("offered")), "in " + Math.round(durationS) + " s, " + phases.length + (phases.length === 1 ? " phase" : " phases"), ""],
      ["Admitted", whole(sum("admitted")), ofOffered, ""],
      ["Denied", whole(sum("denied")), ofOffered, sum("denied") > 0 ? "caution" : ""],
      ["Failed", whole(sum("failed")), ofOffered, sum("failed") > 0 ? "bad" : ""],
      ["Invalid", whole(sum("invalid")), "2xx replies", sum("invalid") > 0 ? "bad" : ""],
      ["Dropped", whole(sum("dropped")), ofOffered, sum("dropped") > 0 ? "caution" : ""]
    ].concat(latest.generator.wasLate ? [["Generator", "late", "at some time of the run", "caution"]] : []);
  };

  var tiles = function (seconds, phases) {
    byId("now").textContent = ended ? "Totals" : "Now";
    byId("tiles").replaceChildren.apply(byId("tiles"), (ended ? tilesOfTotals(phases) : tilesOfNow(seconds, phases)).map(function (tile) {
      var box = make("div");
      var value = make("dd", tile[1], tile[3]);
      value.append(make("small", tile[2]));
      box.append(make("dt", tile[0]), value);
      return box;
    }));
  };

  var phaseRows = function (phases) {
    byId("phases").replaceChildren.apply(byId("phases"), phases.map(function (phase) {
      var row = make("tr");
      var name = make("th", phase.phase);
      name.scope = "row";
      var tone = { pass: "good", warn: "held", fail: "bad", inconclusive: "held" }[phase.verdict] || "";
      row.append(name, make("td", phase.verdict === null ? "under way" : phase.verdict, tone), make("td", Math.floor(phase.elapsedS) + " s"));
      ["offered", "admitted", "denied", "failed", "invalid", "dropped"].forEach(function (name) { row.append(make("td", whole(phase.counts[name]))); });
      return row;
    }));
  };

  var denials = function (phases) {
    var counts = new Map();
    phases.forEach(function (phase) {
      phase.denials.forEach(function (denial) { counts.set(denial.reason, (counts.get(denial.reason) || 0) + denial.count); });
    });
    var items = Array.from(counts).sort(function (a, b) { return b[1] - a[1]; }).map(function (entry) { return make("li", whole(entry[1]) + " × " + entry[0]); });
    byId("denials").replaceChildren.apply(byId("denials"), items.length > 0 ? items : [make("li", "none")]);
  };

  var ROOM = { left: 44, right: 8, top: 8, bottom: 18 };

  var chartOf = function (definition) {
    var box = make("figure");
    var key = make("ul", undefined, "key");
    definition.series.forEach(function (series, index) {
      var item = make("li");
      var line = draw("svg", { viewBox: "0 0 26 10", "aria-hidden": "true" });
      line.append(draw("polyline", { points: "0,5 26,5", "class": "s" + (index + 1) }));
      item.append(line, series[0]);
      key.append(item);
    });
    var svg = draw("svg", { tabindex: "0", role: "img" });
    svg.addEventListener("keydown", moved);
    svg.addEventListener("pointermove", pointed);
    svg.addEventListener("pointerleave", function () { cursor = null; show(); });
    box.append(make("figcaption", definition.title), key, svg);
    byId("figures").append(box);
    definition.svg = svg;
  };

  var charts = function (seconds) {
    CHARTS.forEach(function (definition) { chart(definition, seconds); });
    reading(seconds);
  };

  var niceMost = function (value) {
    var step = Math.pow(10, Math.floor(Math.log10(Math.max(1, value))));
    return Math.ceil(Math.max(1, value) / step) * step;
  };

  var chart = function (definition, seconds) {
    var svg = definition.svg;
    var width = svg.clientWidth || 400;
    var height = svg.clientHeight || 176;
    var first = seconds.length > 0 ? seconds[0].atS : 0;
    var span = Math.max(10, seconds.length > 0 ? seconds[seconds.length - 1].atS - first : 0);
    var most = niceMost(Math.max.apply(null, [0].concat(seconds.flatMap(function (second) { return definition.series.map(function (series) { return series[1](second) || 0; }); }))));
    var x = function (atS) { return ROOM.left + (atS - first) / span * (width - ROOM.left - ROOM.right); };
    var y = function (value) { return height - ROOM.bottom - value / most * (height - ROOM.top - ROOM.bottom); };
    var marks = [0, 0.5, 1].flatMap(function (share) {
      var at = y(most * share);
      return [draw("line", { x1: ROOM.left, x2: width - ROOM.right, y1: at, y2: at, "class": "grid" }), draw("text", { x: ROOM.left - 6, y: at + 4, "text-anchor": "end" }, figureOfAxis(most * share))];
    });
    marks.push(draw("text", { x: ROOM.left, y: height - 4 }, Math.round(first) + " s"), draw("text", { x: width - ROOM.right, y: height - 4, "text-anchor": "end" }, Math.round(first + span) + " s"));
    var lines = definition.series.flatMap(function (series, index) {
      return pieces(seconds, series[1]).map(function (piece) {
        var points = piece.map(function (point) { return x(point[0]).toFixed(1) + "," + y(point[1]).toFixed(1); });
        if (points.length === 1) points.push((x(piece[0][0]) + 2).toFixed(1) + "," + y(piece[0][1]).toFixed(1));
        return draw("polyline", { points: points.join(" "), "class": "s" + (index + 1) });
      });
    });
    var at = cursor === null ? [] : seconds.filter(function (second) { return second.atS === cursor; });
    var line = at.map(function (second) { return draw("line", { x1: x(second.atS), x2: x(second.atS), y1: ROOM.top, y2: height - ROOM.bottom, "class": "cursor" }); });
    var last = seconds[seconds.length - 1];
    svg.setAttribute("viewBox", "0 0 " + width + " " + height);
    svg.setAttribute("aria-label", definition.title + (last ? ", at " + Math.round(last.atS) + " s: " + valuesAt(definition, last) : ": nothing yet"));
    svg.replaceChildren.apply(svg, marks.concat(lines, line));
  };

  var figureOfAxis = function (value) { return value >= 1000 ? (value / 1000).toLocaleString("en") + "k" : value.toLocaleString("en"); };

  // A second without a value is a gap, not a zero; so is one in which nothing happened.
  var pieces = function (seconds, read) {
    var all = [];
    var open = null;
    var before = null;
    seconds.forEach(function (second) {
      var value = read(second);
      if (value === null || (before !== null && second.atS - before > 1.5)) open = null;
      before = second.atS;
      if (value === null) return;
      if (open === null) all.push((open = []));
      open.push([second.atS, value]);
    });
    return all;
  };

  var valuesAt = function (definition, second) {
    return definition.series.map(function (series) { var value = series[1](second); return series[0] + " " + (definition.unit === "" ? whole(value) : figure(value) + definition.unit); }).join(", ");
  };

  var reading = function (seconds) {
    var second = cursor === null ? undefined : seconds.find(function (one) { return one.atS === cursor; });
    var text = second ? Math.round(second.atS) + " s, " + second.phase + ": " + CHARTS.map(function (definition) { return (definition.unit === "" ? "" : definition.title.split(",")[0] + " ") + valuesAt(definition, second); }).join("; ") : "";
    if (byId("reading").textContent !== text) byId("reading").textContent = text;
  };

  var moved = function (event) {
    var seconds = secondsOf(chosen).slice(-SHOWN_S);
    if (seconds.length === 0) return;
    var at = seconds.findIndex(function (second) { return second.atS === cursor; });
    if (at < 0) at = seconds.length;
    var to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: seconds.length - 1 }[event.key];
    if (event.key === "Escape") cursor = null;
    else if (to === undefined) return;
    else cursor = seconds[Math.min(seconds.length - 1, Math.max(0, to))].atS;
    event.preventDefault();
    charts(seconds);
  };

  var pointed = function (event) {
    var seconds = secondsOf(chosen).slice(-SHOWN_S);
    if (seconds.length === 0) return;
    var box = event.currentTarget.getBoundingClientRect();
    var share = (event.clientX - box.left - ROOM.left) / (box.width - ROOM.left - ROOM.right);
    var first = seconds[0].atS;
    var at = first + share * Math.max(10, seconds[seconds.length - 1].atS - first);
    cursor = seconds.reduce(function (best, second) { return Math.abs(second.atS - at) < Math.abs(best - at) ? second.atS : best; }, first);
    charts(seconds);
  };

  var COLUMNS = [["Second", function (s) { return Math.round(s.atS); }]].concat(CHARTS.flatMap(function (definition) {
    return definition.series.map(function (series) { return [(definition.unit === "" ? "" : definition.title.split(",")[0] + " ") + series[0], function (second) { var value = series[1](second); return definition.unit === "" ? whole(value) : figure(value); }]; });
  }));
  var table = function (seconds) {
    byId("rows").replaceChildren.apply(byId("rows"), seconds.slice().reverse().map(function (second) {
      var row = make("tr");
      COLUMNS.forEach(function (column) { row.append(make("td", column[1](second))); });
      return row;
    }));
  };

  var connection = function (text, lost) {
    var node = byId("connection");
    if (node.textContent === text) return;
    node.textContent = text;
    node.className = lost ? "lost" : "";
  };

  CHARTS.forEach(chartOf);
  COLUMNS.forEach(function (column) { var head = make("th", column[0]); head.scope = "col"; byId("columns").append(head); });
  byId("seconds").addEventListener("toggle", show);
  addEventListener("resize", show);
  byId("pause").addEventListener("click", function () {
    paused = !paused;
    byId("pause").setAttribute("aria-pressed", String(paused));
    byId("pause").textContent = paused ? "Resume" : "Pause";
    show();
  });

  var events = new EventSource("events");
  events.addEventListener("open", function () { connection("Connected", false); });
  events.addEventListener("error", function () { connection("Connection lost. Trying again…", true); });
  events.addEventListener("update", function (event) { take(JSON.parse(event.data)); });
  events.addEventListener("end", function (event) {
    events.close();
    ended = true;
    var end = JSON.parse(event.data);
    connection("The run has ended", false);
    byId("pause").hidden = true;
    var result = byId("result");
    result.hidden = false;
    result.className = end && end.exitCode === 0 ? "good" : end && end.exitCode === 1 ? "bad" : "";
    result.textContent = end ? end.headline + ". Exit code " + end.exitCode + ", report in " + end.folder : "The run ended without a verdict.";
    show();
  });
})();
`;
