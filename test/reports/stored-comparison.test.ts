import pc from "picocolors";
import { expect, test } from "vitest";
import { FORMATS, renderComparison, renderTerminal } from "../../reports/index.ts";
import { compareStored } from "../../src/compare/index.ts";
import { isSameLoad, type RunRecord } from "../../src/record/index.ts";
import { loadClass, loadPhase, loadRun, quantiles } from "../support/load-records.ts";
import { recordOf, result } from "../support/records.ts";
import { SAMPLES } from "../support/sample-records.ts";

const run = (p50: number, failed = 0): RunRecord =>
  recordOf([], {
    load: {
      runs: [
        loadRun("w", {
          kind: "workload",
          phases: [
            loadPhase("w", { sent: 240, failed, classes: [loadClass({ responseMs: quantiles(p50), ttftMs: null })] }),
          ],
        }),
      ],
    },
  });

function comparedWith(a: RunRecord, b: RunRecord): RunRecord {
  const side = (name: string, record: RunRecord) => ({
    ...{ name, record },
    behaviour: { checks: record.checks, responses: new Map() },
  });
  return { ...b, command: "compare", comparison: compareStored(side("old", a), side("new", b)) };
}

const pageOf = (record: RunRecord): string =>
  [...FORMATS.html({ record, evidence: () => undefined }, "single").values()].join("");

test("two stored runs have no columns for intervals, margins and tests, and no figure that is not worse as a reason", () => {
  const record = comparedWith(run(2_000), run(2_010));
  const text = renderComparison(record, pc.createColors(false));
  expect(text).toContain("2,010.0");
  expect(text).not.toMatch(/90 % interval|E2E p50.* in old/);
  const page = pageOf(record);
  expect(page).not.toMatch(/<th[^>]*>(?:90 % interval|Margin|p \(Holm\)|Detectable)/);
  expect(page.match(/as far as two runs can show/g)).toHaveLength(1);
});

test("nothing in common is said once", () => {
  const other = renderComparison(comparedWith(run(2_000), recordOf([], { runId: "1" })), pc.createColors(false));
  expect(other.match(/the two runs have no decided check or figure in common/g)).toHaveLength(1);
});

test("a live comparison has the margin next to the interval, and ends with the next step", () => {
  const { comparison, ...record } = comparedWith(run(2_000), run(2_010));
  if (comparison === undefined) throw new Error("nothing was compared");
  const interval = { change: 0.288, low: 0.082, high: 0.454 };
  const metrics = comparison.metrics.map((metric) =>
    metric.unit === "share" ? { ...metric, low: 0, high: 0, margin: 0.01 } : { ...metric, ...interval, margin: 0.613 },
  );
  const nextStep = "For a verdict, run again with --pairs 24.";
  const text = renderComparison(
    { ...record, comparison: { ...comparison, kind: "live", metrics, nextStep } },
    pc.createColors(false),
  );
  expect(text).toMatch(/90 % interval │\s+margin │/);
  expect(text).toMatch(/E2E p50, ms.* \(\+8\.2 … \+45\.4\) │\s+± 61\.3 % │/);
  expect(text).toMatch(/failed requests.*│ ± 1\.0 points │/);
  expect(text.trimEnd().split("\n").at(-1)?.trim()).toBe(nextStep);
});

test("the table fits 80 columns: figures under the kind of their requests, short names of sides, no rows without values", () => {
  const { comparison, ...record } = comparedWith(run(2_000), run(20_000));
  if (comparison === undefined) throw new Error("nothing was compared");
  const [first] = comparison.metrics;
  const names = {
    a: { ...comparison.a, name: "the build of last week" },
    b: { ...comparison.b, name: "of this week" },
  };
  const empty = {
    ...first,
    name: "chat streaming ttft_ms p95",
    a: null,
    b: null,
  } as (typeof comparison.metrics)[number];
  const metrics = [...comparison.metrics, empty];
  const text = renderComparison(
    { ...record, comparison: { ...comparison, ...names, metrics } },
    pc.createColors(false),
  );
  const table = text.split("\n").filter((line) => /^[│┌├└]/.test(line));
  expect(Math.max(...table.map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect(table[1]).toMatch(/figure +│ +A │ +B │ +change │ verdict/);
  expect(table.some((line) => /^│ chat streaming, w +│ +│/.test(line))).toBe(true);
  expect(table.some((line) => /^│ {3}E2E p50, ms +│ 2,000\.0 │ 20,000\.0 │/.test(line))).toBe(true);
  expect(text).not.toMatch(/^│.*TTFT/m);
  expect(text).not.toContain("TTFT p95, chat streaming");
  expect(text).toMatch(/^ {2}A, the build of last week: /m);
});

test("a check that newly warns has the mark of a warning", () => {
  const [before, now] = (["pass", "warn"] as const).map((status) => recordOf([result("auth.a", status)]));
  const text = renderComparison(comparedWith(before as RunRecord, now as RunRecord), pc.createColors(false));
  expect(text).toMatch(/^▲ newly warning auth\.a: /m);
  expect(text).not.toContain("✗");
});

test.each([
  ["fail", "✗ newly failing"],
  ["warn", "▲ newly warning"],
] as const)("checks that newly %s with one cause are one change, with the cause", (status, says) => {
  const ids = ["auth.a[chat]", "auth.a[messages]", "auth.b[chat]", "auth.c[chat]"];
  const before = recordOf([...ids, "models.list"].map((id) => result(id, "pass")));
  const cause = {
    title: "keys of revoked accounts: expected 401, got 200",
    requirement: "AUTH-3",
    requirements: ["AUTH-3"],
    weight: status,
    checks: ids,
    advice: "Compare them.",
  };
  const now = recordOf(
    [...ids, "models.list"].map((id) => result(id, status)),
    { causes: [cause] },
  );
  const compared = comparedWith(before, now);
  const text = renderComparison(compared, pc.createColors(false));
  expect(text).toContain(
    `${says}, 4 check instances: keys of revoked accounts: expected 401, got 200\n    in auth.a[chat], auth.a[messages], auth.b[chat] and 1 more\n`,
  );
  expect(text).toMatch(new RegExp(`^${says} models\\.list: `, "m"));
  if (status === "fail")
    expect(pageOf(compared)).toContain("keys of revoked accounts: expected 401, got 200 (4 check instances)");
});

test("the last lines name the latencies that users notice first, and count the others that got worse", () => {
  const { comparison, ...record } = comparedWith(run(2_000), run(20_000));
  const worse = comparison?.metrics.find(({ verdict }) => verdict === "regressed");
  if (comparison === undefined || worse === undefined) throw new Error("nothing got worse");
  const names = ["event_gap_ms p50", "event_gap_ms p95", "event_gap_ms p99", "response_ms p50", "ttft_ms p50"];
  const metrics = names.map((name) => ({ ...worse, name: `chat streaming ${name}` }));
  const text = renderComparison(
    { ...record, comparison: { ...comparison, metrics, nextStep: undefined } },
    pc.createColors(false),
  );
  const figures = text
    .trimEnd()
    .split("\n")
    .slice(-4)
    .map((line) => line.split(":")[0]);
  expect(figures).toEqual([
    "  E2E p50, chat streaming",
    "  TTFT p50, chat streaming",
    "  event gap p50, chat streaming",
    "  and 2 more figures regressed",
  ]);
});

test("if all undecided figures have one reason, the first line gives it", () => {
  const other = run(2_000);
  const [load] = other.load?.runs ?? [];
  if (load === undefined) throw new Error("no load");
  const longer = { ...other, load: { runs: [{ ...load, workload: { another: true } }] } };
  const text = renderComparison(comparedWith(run(2_000), longer), pc.createColors(false));
  expect(text.split("\n")[0]).toMatch(/\d figures are undecided \(the two runs sent different loads\)/);
});

test("loads that differ only in thresholds and allowances have comparable figures", () => {
  const [before, after] = [
    { thresholds: ["failed < 1 %"] },
    { thresholds: ["failed < 2 %"], allow: { deniedShare: 0.1 } },
  ].map((judging) => {
    const record = run(2_000);
    const [load] = record.load?.runs ?? [];
    if (load === undefined) throw new Error("no load");
    return { ...load, workload: { name: "w", ...judging } };
  });
  if (before === undefined || after === undefined) throw new Error("no load");
  const withLoad = (load: typeof before) => ({ ...run(2_000), load: { runs: [load] } });
  const text = renderComparison(comparedWith(withLoad(before), withLoad(after)), pc.createColors(false));
  expect(text).not.toContain("sent different loads");
  const other = { ...after, workload: { ...after.workload, maxInFlight: 2 } };
  const different = renderComparison(comparedWith(withLoad(before), withLoad(other)), pc.createColors(false));
  expect(different).toContain("sent different loads");
  // isSameLoad also compares thresholds: a removed threshold must not be reported as a check that the second run lost.
  expect(isSameLoad(before, after)).toBe(false);
});

test("each reason in the page has its own status", () => {
  const page = pageOf(comparedWith(run(2_000, 0), run(20_000, 2)));
  const [, why = ""] = /<div class="reasons">([\s\S]*?)<\/ul>/.exec(page) ?? [];
  const items = why.split("<li>").slice(1);
  expect(items.find((item) => item.includes("E2E p50"))).toMatch(/\bfail\b/);
  const open = items.find((item) => item.includes("failed requests"));
  expect(open).toMatch(/inconclusive/);
  expect(open).not.toMatch(/\bfail\b/);
});

test("compared with the baseline of a policy, the terminal names the checks that changed", () => {
  const comparison = SAMPLES["compare"]?.comparison;
  if (comparison === undefined) throw new Error("no such sample");
  const shown = (kind: "baseline" | "stored") =>
    renderTerminal(recordOf([], { comparison: { ...comparison, kind } }), {
      colors: pc.createColors(false),
      evidence: () => undefined,
      folder: "run",
    });
  expect(shown("baseline")).toContain(
    "\nCompared with the baseline:\n✗ newly failing auth.revoked[chat]: expected 401, got 403\n✗ vanished limits.gone\n",
  );
  expect(shown("stored")).not.toContain("Compared with the baseline");
});

test("tables and figures explain the signs that they use", () => {
  const html = (record: RunRecord) =>
    [...FORMATS.html({ record, evidence: () => undefined }, "single").values()].join("");
  const comparison = SAMPLES["compare"]?.comparison;
  if (comparison === undefined) throw new Error("no such sample");
  const metrics = comparison.metrics.map((metric) => ({ ...metric, a: null }));
  const legend = "–: not measured, or too few samples to compute it.";
  expect(html(recordOf([], { comparison: { ...comparison, metrics } }))).toContain(legend);
  const few = recordOf([], {
    load: {
      runs: [
        loadRun("w", {
          kind: "workload",
          phases: [loadPhase("w", { classes: [loadClass({ count: 5, responseMs: quantiles(80), ttftMs: null })] })],
        }),
      ],
    },
  });
  const [, headline = ""] = html(few).split('class="headline-figures"');
  expect(headline.split("</dl>")[1]).toMatch(/^<p class="note">.*–: too few requests to print the percentile/);
});

test("a failure of both runs is not a reason of their comparison, and a new one is", () => {
  const failing = (id: string, title: string): RunRecord["causes"][number] => ({
    ...{ title, weight: "fail", requirement: "AUTH-3", requirements: ["AUTH-3"], checks: [id], advice: "" },
  });
  const known = { checks: [result("auth.a", "fail")], causes: [failing("auth.a", "the key is ignored")] };
  const before = recordOf(known.checks, { causes: known.causes });
  const why = (record: RunRecord) =>
    /<h2 class="small">Why<\/h2>(.*?)<\/ul>/s.exec(pageOf(record))?.[1]?.replace(/<[^>]+>/g, " ") ?? "";
  const same = why(comparedWith(before, { ...before, runId: "again" }));
  expect(same).toContain("1 cause of failures that are not new");
  expect(same).not.toContain("the key is ignored");
  const worse = recordOf([...known.checks, result("auth.b", "fail")], {
    causes: [...known.causes, failing("auth.b", "the path is ignored")],
  });
  const newly = why(comparedWith(recordOf([...known.checks, result("auth.b", "pass")]), worse));
  expect(newly).toContain("the path is ignored");
  expect(newly).not.toContain("the key is ignored");
  // Its cause is the reason; that it is new goes without saying.
  expect(newly).not.toContain("newly fails");
});

test("a new failure whose cause is not among the reasons is a reason itself", () => {
  const now = comparedWith(recordOf([result("auth.b", "pass")]), recordOf([result("auth.b", "fail")]));
  const unlisted = { ...now, checks: [], causes: [] };
  expect(pageOf(unlisted)).toContain("auth.b newly fails");
});

test("the last lines of a terminal name new failures and new warnings", () => {
  const before = recordOf([result("auth.a", "pass"), result("auth.b", "pass"), result("auth.c", "pass")]);
  const now = recordOf([result("auth.a", "fail"), result("auth.b", "warn"), result("auth.c", "warn")]);
  const end = renderComparison(comparedWith(before, now), pc.createColors(false)).trimEnd().split("\n").slice(-2);
  expect(end).toEqual([
    "  1 check instance fails in new and did not in old: auth.a",
    "  2 check instances warn in new and did not in old: auth.b and 1 more",
  ]);
});

test("undecided thresholds are separate reasons, with their own texts", () => {
  const thresholds = ["ttft_ms p95 < 800", "ttft_ms p99 < 60"].map((text) =>
    result(`load.w.thresholds[${text}]`, "inconclusive", { title: `Threshold: ${text}` }),
  );
  const page = pageOf(recordOf(thresholds));
  for (const { title } of thresholds) expect(page).toContain(title.replace("<", "&lt;"));
  expect(page).not.toContain("(2 times)");
});
