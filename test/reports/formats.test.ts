import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FORMATS } from "../../reports/index.ts";
import { ROOT } from "../../scripts/docs/generated-files.ts";
import { docsAddress } from "../../src/core/index.ts";
import { Histogram } from "../../src/metrics/index.ts";
import type { CheckResult, RunRecord } from "../../src/record/index.ts";
import { requirementOf } from "../../src/requirements/index.ts";
import { loadClass, loadPhase, loadRun, loadSeries, scatteredHeat } from "../support/load-records.ts";
import {
  attribute,
  ctrfProblems,
  elementsOf,
  llmDProblems,
  markdownElements,
  readJunit,
  readMetrics,
  sarifProblems,
  textOf,
  xmlProblems,
} from "../support/readers.ts";
import { broken, recordOf, result } from "../support/records.ts";
import { SAMPLES } from "../support/sample-records.ts";

const CHECKS = [
  result("auth.good[chat]", "pass"),
  result("auth.bad[chat]", "fail"),
  result("auth.bad[messages]", "fail"),
  result("auth.shaky", "flaky"),
  result("auth.away", "blocked"),
  result("limits.unclear", "inconclusive"),
  result("limits.advice", "warn", { findings: [broken({ requirements: ["AUTH-5"], weight: "warn" })] }),
  result("limits.seen", "observed"),
  result("limits.none", "not-applicable"),
  result("limits.crash", "harness-error"),
];
const RECORD = recordOf(CHECKS);
const TWO_CAUSES = [
  result("auth.a", "fail"),
  result("auth.b", "fail", { findings: [broken({ requirements: ["AUTH-5"], pointer: "/other" })] }),
];

function render(format: keyof typeof FORMATS, record: RunRecord = RECORD): string {
  return [...FORMATS[format]({ record, evidence: () => undefined }, "single").values()].join("");
}

describe("junit", () => {
  test("is well-formed and counts as another reader counts", async () => {
    const xml = render("junit");
    expect(await xmlProblems(xml)).toEqual([]);
    const read = readJunit(xml);
    // The verdict is a separate case in addition to the ten checks; this reader's total excludes skipped ones.
    expect(read).toMatchObject({ total: 8, failed: 4, errors: 1, skipped: 3 });
    const auth = read?.suites.find(({ name }) => name === "auth");
    expect(auth).toMatchObject({ total: 4, failed: 3, skipped: 1 });
    expect(auth?.cases.find(({ name }) => name === "auth.bad[chat]")).toMatchObject({ status: "FAIL" });
  });

  test("a failure with one finding says it once", () => {
    const expected = "expected 401, got 403";
    const outcome = result("auth.bad", "fail", { message: expected });
    const [, body = ""] = render("junit", recordOf([], { checks: [outcome] })).split("<failure");
    expect(body.split(expected)).toHaveLength(3);
  });

  test("an undecided result says why", () => {
    const unclear = result("limits.unclear", "inconclusive", { message: 'no 429 in "60" requests <skipped/>' });
    const xml = render("junit", recordOf([result("auth.good", "pass"), unclear]));
    expect(xml).toContain('<skipped message="inconclusive: no 429 in &quot;60&quot; requests &lt;skipped/>"/>');
  });

  test.each<[what: string, record: RunRecord, failed: number, errors: number]>([
    ["nothing is red when the run passed", recordOf([result("auth.good", "pass")]), 0, 0],
    [
      "one entry is red if nothing failed and yet the run did not pass",
      recordOf([result("auth.away", "blocked")]),
      0,
      1,
    ],
  ])("%s", (_what, record, failed, errors) => {
    expect(readJunit(render("junit", record))).toMatchObject({ failed, errors });
  });
});

test("ctrf: fits its schema; what was not decided is other, never skipped", () => {
  const text = render("ctrf");
  expect(ctrfProblems(text)).toBe("");
  expect(JSON.parse(text).results.summary).toMatchObject({
    tests: 11,
    passed: 3,
    failed: 5,
    other: 2,
    skipped: 1,
    flaky: 1,
  });
});

test("sarif: fits its schema; a result for each problem, fingerprints that stay", () => {
  const text = render("sarif");
  expect(sarifProblems(text)).toBe("");
  const [run] = JSON.parse(text).runs;
  expect(run.results.map((entry: { ruleId: string; level: string }) => [entry.ruleId, entry.level])).toEqual([
    ["auth.bad", "error"],
    ["auth.bad", "error"],
    ["auth.shaky", "error"],
    ["limits.unclear", "warning"],
    ["limits.advice", "warning"],
    ["limits.crash", "error"],
  ]);
  const own = result("mine.own", "fail", { requirements: [] });
  const known = result("auth.unknown-key[chat]", "fail", { requirements: ["AUTH-2"] });
  const named = JSON.parse(render("sarif", recordOf([own, known]))).runs[0].tool.driver.rules;
  const pages = named.map(({ id, help }: { id: string; help: { text: string } }) => [
    id,
    /docs\/(\S+) \(in the \S+ package\)\.$/.exec(help.text)?.[1],
  ]);
  expect(pages).toContainEqual(["auth.unknown-key", "checks.md#authunknown-key"]);
  expect(pages).toContainEqual(["mine.own", "own-suites.md"]);
  expect(readFileSync(join(ROOT, "docs/checks.md"), "utf8")).toContain("\n### auth.unknown-key\n");
  // The repository in package.json is a placeholder.
  expect(named.filter((rule: object) => "helpUri" in rule)).toEqual([]);
  expect(docsAddress("checks.md#a", "https://github.com/acme/gauntlet#readme")).toBe(
    "https://github.com/acme/gauntlet/blob/main/docs/checks.md#a",
  );
  const { help } = named.find(({ id }: { id: string }) => id === "auth.unknown-key");
  const { text: statement, source } = requirementOf("AUTH-2");
  expect(help.text.split("\n")[0]).toBe(`AUTH-2 (MUST): ${statement} Source: ${source}.`);
  expect(help.text).toContain("\nExplanation: gauntlet explain auth.unknown-key\n");
  expect(help.markdown).toContain("\n\nExplanation: <code>gauntlet explain auth.unknown-key</code>\n\n");
  expect(run.results[0].locations[0].physicalLocation.artifactLocation.uri).toMatch(/\.ya?ml$/);
  const embedded = render("sarif", recordOf(CHECKS, { target: { ...RECORD.target, source: "embedded" } }));
  expect(sarifProblems(embedded)).toBe("");
  expect(embedded).not.toContain("physicalLocation");
  expect(JSON.parse(embedded).runs[0].results[0].locations[0].logicalLocations[0].fullyQualifiedName).toBe(
    "auth.bad[chat]",
  );
  const later = JSON.parse(render("sarif", recordOf(CHECKS, { runId: "another", durationMs: 1 })));
  expect(later.runs[0].results[0].partialFingerprints).toEqual(run.results[0].partialFingerprints);
});

test("openmetrics: another reader finds the figures", () => {
  const text = render("openmetrics");
  expect(text.endsWith("# EOF\n")).toBe(true);
  const families = new Map(readMetrics(text).map((family) => [family.name, family]));
  expect(families.get("gauntlet_exit_code")?.metrics).toEqual([{ value: "1", labels: { target: "staging" } }]);
  expect(families.get("gauntlet_checks")?.metrics).toContainEqual({
    value: "2",
    labels: { target: "staging", suite: "auth", status: "fail" },
  });
});

test("llm-d: a document for each phase, with statistics from the full histograms", () => {
  const [streams, others] = [new Histogram(), new Histogram()];
  for (let ms = 1; ms <= 100; ms++) streams.record(ms * 1_000);
  others.record(300_000, 100);
  const classes = [
    loadClass({ count: 100, outputTokens: 800 }),
    loadClass({ stream: false, count: 100, outputTokens: 0 }),
  ];
  const phase = loadPhase("busy", {
    ...{ classes, sent: 250, admitted: 200, denied: 30, failed: 15, invalid: 5, dropped: 2, durationS: 10 },
    series: loadSeries(0, 10, 25, 20),
  });
  const run = loadRun("night", { phases: [loadPhase("../first"), phase], hlog: "load.hlog" });
  const record = recordOf(CHECKS, { load: { runs: [run] } });
  const histograms = new Map([
    [`${run.name}.busy.chat.streaming.admitted.service`, streams],
    [`${run.name}.busy.chat.non-streaming.admitted.service`, others],
    [`${run.name}.busy.chat.streaming.admitted.ttft`, streams],
  ]);
  const source = { record, evidence: () => undefined, histograms: () => histograms };
  const files = FORMATS["llm-d"](source, "single");
  expect([...files.keys()]).toEqual([`llm-d/1-${run.name}...-first.json`, `llm-d/2-${run.name}.busy.json`]);
  expect([...files.values()].flatMap(llmDProblems)).toEqual([]);
  const { aggregate } = JSON.parse([...files.values()][1] ?? "").results.request_performance;
  expect(aggregate.requests).toEqual({
    total: 250,
    failures: 50,
    incomplete: 2,
    output_length: { units: "count", mean: 4 },
  });
  expect(aggregate.throughput).toEqual({
    output_token_rate: { units: "tokens/s", mean: 80 },
    request_rate: { units: "queries/s", mean: 20 },
  });
  expect(Object.keys(aggregate.latency)).toEqual(["time_to_first_token", "request_latency"]);
  const { request_latency: latency, time_to_first_token: ttft } = aggregate.latency;
  expect(latency.mean).toBeCloseTo((50.5 + 300) / 2 / 1_000, 3);
  expect(latency.p50).toBeCloseTo(0.1, 3);
  expect(latency.p75).toBeCloseTo(0.3, 3);
  expect(ttft.p90).toBeCloseTo(0.09, 3);
  expect(ttft.units).toBe("s");
});

test("events: a line each, started first, finished last", () => {
  const lines = render("events")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.map(({ event }) => event)).toEqual(["run-started", ...CHECKS.map(() => "outcome"), "run-finished"]);
  expect(lines.at(-1)).toMatchObject({ verdict: "fail", exitCode: 1, counts: { fail: 2, blocked: 1 } });
});

describe("markdown", () => {
  test("escapes only what is markup, and separates thousands", () => {
    const message =
      'sent invalid_api_key (a "b" [c] {d}), #tag, `x_y`, *z*, _w_ | ~q~ to https://gw.example/v1 as @me [l](u)!';
    const failed = result("auth.bad[chat]", "inconclusive", { message });
    const record = recordOf([failed]);
    const text = render("markdown", {
      ...record,
      counts: { ...record.counts, pass: 1_851 },
      traffic: { ...record.traffic, requests: 12_345 },
    });
    expect(text).toContain(
      '- sent invalid_api_key (a "b" [c] {d}), &#35;tag, <code>x_y</code>, &#42;z&#42;, &#95;w&#95; &#124; &#126;q&#126; to <code>https://gw.example/v1</code> as &#64;me [l]&#40;u)!',
    );
    expect(text).toContain("1,851 pass");
    expect(text).toContain("12,345 requests");
    const elements = markdownElements(text);
    expect(elements.filter(({ tagName }) => ["a", "em", "s", "del"].includes(tagName))).toEqual([]);
  });

  test("shows the verdict first and unfolds the causes, then what has none", () => {
    const elements = markdownElements(render("markdown"));
    expect(textOf(elements[0] as (typeof elements)[0])).toContain("FAIL: staging");
    expect(elements.filter(({ tagName }) => tagName === "summary").map(textOf)).toEqual([
      expect.stringMatching(/^✗ 3 check instances \(2 failed, 1 warned\): expected 401/),
      "! harness-error limits.crash What limits.crash is about",
      "≈ flaky auth.shaky What auth.shaky is about",
      "? inconclusive limits.unclear What limits.unclear is about",
    ]);
  });

  test.each<[what: string, checks: readonly CheckResult[], open: readonly string[], closed: readonly string[]]>([
    ["one cause", [result("auth.a", "fail")], ["✗ 1 check instance: "], []],
    ["one problem without a cause", [result("auth.a", "flaky")], ["≈ flaky auth.a "], []],
    ["several causes", TWO_CAUSES, [], ["✗ 1 check instance: ", "✗ 1 check instance: "]],
    ["several problems", [result("a.a", "flaky"), result("a.b", "flaky")], [], ["≈ flaky a.a ", "≈ flaky a.b "]],
    ["a problem among several causes", [...TWO_CAUSES, result("a.c", "flaky")], [], ["✗ 1 ", "✗ 1 ", "≈ flaky a.c "]],
  ])("what explains a failure is open if it is the only one: %s", (_what, checks, open, closed) => {
    const parts = markdownElements(render("markdown", recordOf(checks))).filter(({ tagName }) => tagName === "details");
    const starting = (texts: readonly string[]) => texts.map((text) => expect.stringMatching(`^${text}`));
    const [opened, folded] = [true, false].map((isOpen) =>
      parts.filter((part) => (attribute(part, "open") !== undefined) === isOpen).map(textOf),
    );
    expect([opened, folded]).toEqual([starting(open), starting(closed)]);
  });

  test("has the rate of each phase with its interval", () => {
    const around: [number, number] = [16.3, 17.1];
    const intervals = { ...{ offered: around, sent: around, admitted: around }, denied: around, failed: around };
    const rates = { ...loadPhase("p").rates, intervals: { ...intervals, invalid: around } };
    const runs = [loadRun("w", { phases: [loadPhase("w", { rates })] })];
    expect(render("markdown", recordOf([], { load: { runs } }))).toContain("| 16.7 (16.3–17.1) |");
  });

  test("stays below the host's size limit, however much failed", () => {
    const many = Array.from({ length: 3_000 }, (_, index) =>
      result(`auth.bad-${index}`, "blocked", { message: `${index} ${"é".repeat(5_000)}` }),
    );
    const text = render("markdown", recordOf([...CHECKS, ...many]));
    expect(Buffer.byteLength(text)).toBeLessThan(1_024 * 1_024);
    expect(text).toContain("3,001 not run");
  });
});

test("annotations: an error in the user's own suite is shown at its line", () => {
  const place = "suites/own.ts:12:7";
  const reason = { kind: "suite-error", place, text: "boom" } as const;
  const own = { ...CHECKS[0], id: "own.broken", status: "harness-error", findings: [], reason } as CheckResult;
  const lines = render("annotations", recordOf([own])).split("\n");
  expect(lines).toContainEqual(
    expect.stringMatching(/^::error file=suites\/own\.ts,line=12,title=harness-error own\.broken::/),
  );
});

test("annotations: each undecided threshold of a load is named", () => {
  const thresholds = ["ttft_ms p95 < 800", "response_ms p99 < 2000"].map((text) =>
    result(`load.w.thresholds[${text}]`, "inconclusive", { title: `Threshold: ${text}` }),
  );
  const lines = render("annotations", recordOf(thresholds)).split("\n");
  for (const { title } of thresholds) expect(lines.filter((line) => line.includes(`::${title}: `))).toHaveLength(1);
});

test("the verdict of a failed run counts the checks that ended with an error", () => {
  const page = render("html", recordOf([result("auth.one", "fail"), result("own.two", "harness-error")]));
  expect(page).toMatch(/1 check instance failed\.\s*(?:<[^>]+>\s*)*1 more ended with an error in the check itself\./);
});

test("annotations: one for each cause, at most ten of a kind, omitted ones are counted", () => {
  const many = Array.from({ length: 30 }, (_, index) =>
    result(`auth.bad-${index}[chat]`, "fail", { findings: [broken({ pointer: `/field-${"abc".repeat(index)}` })] }),
  );
  const lines = render("annotations", recordOf([...CHECKS, ...many]))
    .trimEnd()
    .split("\n");
  expect(lines.filter((line) => line.startsWith("::error"))).toHaveLength(10);
  expect(lines.every((line) => /^::(error|warning|notice) title=[^:]*::/.test(line))).toBe(true);
  expect(lines).toContainEqual(
    expect.stringContaining("title=fail AUTH-3 in 3 check instances (2 failed%2C 1 warned)::"),
  );
  expect(lines.join("\n")).toMatch(/and \d+ more; the report has all/);
});

test.each([
  ["fail", "error"],
  ["error", "error"],
  ["inconclusive", "warning"],
  ["pass", "notice"],
] as const)("annotations: the verdict %s is shown as %s", (result, level) => {
  const record = recordOf(CHECKS);
  const lines = render("annotations", { ...record, verdict: { ...record.verdict, result } });
  expect(lines).toMatch(new RegExp(`^::${level} title=Gauntlet::`));
});

test("a gate of the policy is repeated with the whole run", () => {
  const { policy } = SAMPLES["everything"] ?? {};
  const record = { ...recordOf(CHECKS, { command: "conform", arguments: ["auth", "--policy", "p.yaml"] }), policy };
  const command = "gauntlet conform auth --policy p.yaml --target gauntlet.yaml --seed 7";
  expect(render("junit", record as RunRecord)).toContain(`reproduce: ${command}`);
  expect(render("junit", record as RunRecord)).not.toMatch(/--only [^\n]*policy:/);
});

describe("html", () => {
  test("says what a failure means for a gateway that expresses the same in another way, only if there is one", () => {
    expect(render("html")).toContain("declare it under <code>contract</code> in the target file");
    expect(render("html", recordOf([result("models.list", "pass")]))).not.toContain("<code>contract</code>");
  });

  test.each([
    [
      "a waiver that expired",
      { kind: "waiver", text: "the waiver of auth.bad expired on 2026-10-01" },
      "The waiver of auth.bad",
    ],
    ["a gate", { kind: "gate", text: "ttft_ms p95 < 1" }, "1 gate of the policy was not met."],
  ] as const)("a run that failed without a failed check names %s", (_what, reason, says) => {
    const { verdict, ...record } = recordOf([result("models.list", "pass")]);
    const failed: RunRecord["verdict"] = { ...verdict, result: "fail", exitCode: 1, reasons: [reason] };
    const lead = elementsOf(render("html", { ...record, verdict: failed })).find(({ attrs }) =>
      attrs.some(({ name, value }) => name === "class" && value === "lead"),
    );
    expect(lead && textOf(lead)).toContain(says);
  });

  test("blocked checks come before the undecided ones that they cause, and the lines to paste before both", () => {
    const blocked = result("auth.away", "blocked", { unblock: ["keys:", "  revoked: env:GW_REVOKED"] });
    const [body] = elementsOf(render("html", recordOf([result("limits.unclear", "inconclusive"), blocked])));
    const text = body === undefined ? "" : textOf(body);
    const order = ["was not run", "limits.unclear", "revoked: env:GW_REVOKED", "Undecided"].map((one) =>
      text.indexOf(one, text.indexOf("Why")),
    );
    expect(order.every((at) => at > 0)).toBe(true);
    expect([...order].sort((a, b) => a - b)).toEqual(order);
  });

  test("the page of a load gives the rate at the limit next to the verdict, and latencies of the phase with enough requests", () => {
    const few = loadPhase("at-rate-limit", { admitted: 9, classes: [loadClass({ count: 9 })] });
    const many = loadPhase("over-rate-limit", { admitted: 346, classes: [loadClass({ count: 346 })] });
    const load = { runs: [loadRun("starter", { phases: [few, many] })] };
    const [body] = elementsOf(
      render(
        "html",
        recordOf([result("load.starter.at-rate-limit", "pass", { suite: "load" })], { command: "load", load }),
      ),
    );
    const card = (body === undefined ? "" : textOf(body)).split("Target")[0] ?? "";
    expect(card).toMatch(/Admitted[\d.]+\/s at-rate-limit, limit [\d.]+\/s/);
    expect(card).toMatch(/E2E latency p50 \/ p95 \/ p99[^–]*ms over-rate-limit/);
  });

  test("the five outcomes of requests have five colours", () => {
    const phase = loadPhase("steady", { classes: [loadClass()], series: loadSeries(0, 5, 20, 10) });
    const html = render("html", recordOf([], { load: { runs: [loadRun("w", { phases: [phase] })] } }));
    const names = ["offered", "admitted", "denied", "failed", "invalid"];
    const classes = names.map(
      (name) => new RegExp(`<line class="(line-series-\\d)"[^>]*>(?:(?!<line)[^])*?</svg>${name}`).exec(html)?.[1],
    );
    expect(classes).toEqual([1, 3, 2, 4, 5].map((style) => `line-series-${style}`));
  });

  test("says verdict, counts, coverage and every check without a script", () => {
    const elements = elementsOf(render("html"));
    const heading = elements.find(({ tagName }) => tagName === "h1");
    expect(heading && textOf(heading)).toBe("Failstaging");
    const ids = elements.flatMap(({ attrs }) => attrs.filter(({ name }) => name === "id").map(({ value }) => value));
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ["verdict", "causes", "coverage", "data-quality", "environment"]) expect(ids).toContain(id);
    const links = elements.flatMap(({ attrs }) =>
      attrs.filter(({ name }) => name === "href").map(({ value }) => value),
    );
    for (const link of links) expect(ids, link).toContain(link.slice(1));
    const text = elements[0] === undefined ? "" : textOf(elements[0]);
    for (const { id } of CHECKS) expect(text).toContain(id);
  });

  test.each([
    ["fail", broken({ requirements: [], name: "ttft_ms p95 < 1", pointer: undefined }), "Causes", "1 crossed"],
    ["inconclusive", broken({ name: "ttft_ms p95 < 1", outcome: "undecided" }), "Not met or undecided", "1 could not"],
  ] as const)(
    "a load that ends with %s: thresholds and charts first, tables of latencies last, no coverage",
    (status, finding, why, says) => {
      const phase = loadPhase("steady", { classes: [loadClass()], series: loadSeries(0, 20, 16, 17) });
      const load = { runs: [loadRun("w", { phases: [phase] })] };
      const judged = result("load.w.thresholds[f]", status, {
        suite: "load",
        check: "load.thresholds",
        findings: [finding],
      });
      const elements = elementsOf(render("html", recordOf([judged], { command: "load", load })));
      const values = (attribute: string) =>
        elements.flatMap(({ attrs }) => attrs.filter(({ name }) => name === attribute).map(({ value }) => value));
      const titles = elements
        .filter(({ tagName }) => tagName === "h2")
        .map((element) => textOf(element).replace(/#$/, ""));
      const order = ["Thresholds", "Over time", why, "Under load", "Latency"];
      expect(titles.filter((title) => [...order, "Causes", "Coverage"].includes(title))).toEqual(order);
      const shown = elements[0] === undefined ? "" : textOf(elements[0]);
      expect(shown).toContain(`0 of 1 threshold met, ${says}`);
      expect(shown).not.toContain("no cause");
      if (status === "fail") expect(shown).toContain("1 load expectation was not met.");
      const ids = values("id");
      for (const link of values("href").filter((one) => one.startsWith("#"))) expect(ids).toContain(link.slice(1));
    },
  );

  test("the folder has the same page, with separate style and script files", () => {
    const source = { record: RECORD, evidence: () => undefined };
    const single = elementsOf(render("html"));
    const folder = FORMATS.html(source, "folder");
    expect([...folder.keys()]).toEqual(["report/index.html", "report/report.css", "report/report.js"]);
    const main = (elements: typeof single) => elements.filter(({ tagName }) => tagName === "main").map(textOf);
    const page = elementsOf(folder.get("report/index.html") ?? "");
    expect(main(page)).toEqual(main(single));
    expect(page.filter(({ tagName }) => tagName === "style")).toEqual([]);
    expect(page.flatMap(({ attrs }) => attrs).filter(({ name }) => name === "style" || name.startsWith("on"))).toEqual(
      [],
    );
  });

  test("two thousand checks and half an hour of load stay below 1.5 MB", () => {
    const run = loadRun("growth", {
      durationS: 1_800,
      phases: [
        loadPhase("soak", {
          durationS: 1_800,
          series: loadSeries(0, 1_800, 60, 50),
          heat: { response: scatteredHeat(16, 113), ttft: scatteredHeat(16, 113) },
        }),
      ],
    });
    const checks = Array.from({ length: 2_000 }, (_, index) =>
      result(
        `suite-${index % 12}.check-with-a-longer-name-${index}[chat,streaming]`,
        index % 4 === 0 ? "fail" : "pass",
        {
          axes: { dialect: "chat", mode: "streaming" },
          message: "a sentence of the length that such sentences usually have, with a value at its end: 403",
        },
      ),
    );
    expect(Buffer.byteLength(render("html", recordOf(checks, { load: { runs: [run] } })))).toBeLessThan(1_500_000);
  });
});

test("what a failed check could not decide is in every report that has its findings", () => {
  const failed = result("auth.bad", "fail", { findings: [broken({})], undecided: "one kind could not be tried" });
  const record = recordOf([failed]);
  for (const format of ["junit", "sarif", "html"] as const)
    expect(render(format, record), format).toMatch(/not decided: (<[^>]*>)*one kind could not be tried/i);
});
