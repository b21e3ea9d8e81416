import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { beforeEach, describe, expect, test } from "vitest";
import { type HistoryOptions, history } from "../../src/commands/history/run.ts";
import { compareStored } from "../../src/compare/index.ts";
import type { LoadClass, RunRecord, Status } from "../../src/record/index.ts";
import { gauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { loadClass, loadPhase, loadRun, quantiles } from "../support/load-records.ts";
import { recordOf, result } from "../support/records.ts";

/** TTFT of ten runs, ms: the newest three are 50 % slower. */
const SLOWER = [90, 91, 89, 92, 90, 88, 91, 135, 137, 134];
const STEADY = [90, 91, 89, 92, 90, 88, 91, 90, 92, 89];

let folder: string;
beforeEach(({ onTestFinished }) => {
  const made = temporaryFolder();
  onTestFinished(() => made[Symbol.dispose]());
  folder = made.path;
});

interface Made {
  readonly name?: string;
  readonly valid?: boolean;
  readonly target?: Partial<RunRecord["target"]>;
  readonly admitted?: Partial<LoadClass>;
}

function recordWith(ttftMs: number, day: number, made: Made = {}): RunRecord {
  const { name = "growth", valid = true, target = {}, admitted } = made;
  const run = loadRun(name, {
    phases: [loadPhase("soak", { classes: [loadClass({ ttftMs: quantiles(ttftMs), ...admitted })] })],
    retryAfter: null,
  });
  const generator = { ...run.generator, valid, problems: valid ? [] : ["the event loop was late"] };
  const record = recordOf([], {
    runId: `run-${day}${target.name === undefined ? "" : `-${target.name}`}`,
    startedAt: `2026-11-${String(day).padStart(2, "0")}T12:00:00.000Z`,
    command: "load",
    load: { runs: [{ ...run, generator }] },
  });
  return { ...record, target: { ...record.target, ...target } };
}

function keep(record: RunRecord, at = join("runs", `${record.runId}-${record.target.name}`)): void {
  mkdirSync(join(folder, at), { recursive: true });
  writeFileSync(join(folder, at, "run.json"), JSON.stringify(record));
}

function keepAll(values: readonly number[], made: Made = {}): void {
  for (const [index, value] of values.entries()) keep(recordWith(value, index + 1, made));
}

interface Document {
  readonly verdict: string;
  readonly reasons: string[];
  readonly imported: number;
  readonly known: number;
  readonly notImported: { dir: string; why: string }[];
  readonly runs: { runId: string }[];
  readonly metrics: {
    name: string;
    group: { target: string; name: string };
    values: { runId: string; startedAt: string; value: number }[];
    latest: number | null;
    change: number | null;
    changePoint: { runId: string; change: number; before: number; after: number } | null;
    verdict: string;
    why: string;
  }[];
}

async function gated(options: Partial<HistoryOptions> = {}): Promise<Document & { readonly code: number }> {
  const { document, exitCode } = await history({
    paths: [join(folder, "runs")],
    db: join(folder, "history.db"),
    metric: ["ttft_ms"],
    margin: 10,
    gate: true,
    ...options,
  });
  return { ...(JSON.parse(JSON.stringify(document)) as Document), code: exitCode };
}

const TTFT = "ttft_ms{dialect=chat,phase=soak,stream=true} p50";

test("the newest runs got slower: the gate fails, and the change point is the run where it began", async () => {
  keepAll(SLOWER);
  const { code, verdict, metrics, runs, imported } = await gated();
  expect({ code, verdict, imported, runs: runs.length }).toEqual({ code: 1, verdict: "fail", imported: 10, runs: 10 });
  const ttft = metrics.find(({ name }) => name === TTFT);
  expect(ttft).toMatchObject({ verdict: "regressed", changePoint: { runId: "run-8", before: 90, after: 135 } });
  expect(ttft?.changePoint?.change).toBeCloseTo(0.5, 5);
  expect(ttft?.values.map(({ value }) => value)).toEqual(SLOWER);
  expect(ttft?.values[7]).toMatchObject({ runId: "run-8", startedAt: "2026-11-08T12:00:00.000Z" });
});

test.each<[what: string, values: number[], options: Partial<HistoryOptions>, code: number, verdict: string]>([
  ["nothing changed", STEADY, {}, 0, "not worse"],
  ["it became faster", SLOWER.map((ms) => 8_100 / ms), {}, 0, "improved"],
  ["slower and back again", [...SLOWER, 136, 90, 91, 89, 90], {}, 0, "not worse"],
  ["slower by less than the margin", SLOWER, { margin: 60 }, 0, "not worse"],
  ["only the latest run is slow", [...STEADY, 300], {}, 4, "inconclusive"],
  ["only the two latest runs are slow", [...STEADY, 300, 310], {}, 4, "inconclusive"],
  ["too few runs", SLOWER.slice(3), {}, 4, "inconclusive"],
  ["too few since a date", SLOWER, { since: "2026-11-05" }, 4, "inconclusive"],
  ["the level since a run is accepted", [...SLOWER, 136, 134, 135, 136, 134], { since: "run-8" }, 0, "not worse"],
  ["so noisy that nothing could be seen", [10, 300, 40, 900, 20, 500, 15, 700, 30, 250], {}, 4, "inconclusive"],
])("%s", async (_what, values, options, code, verdict) => {
  keepAll(values);
  const found = await gated(options);
  expect(found.metrics.find(({ name }) => name === TTFT)).toMatchObject({ verdict });
  expect(found.code, found.reasons.join()).toBe(code);
});

test.each([
  [[300], "the latest run is far worse than all before it; 3 such runs"],
  [[300, 310], "the latest 2 runs are far worse than all before them; 3 such runs"],
])("the latest runs took %j: it says how many of them are far worse", async (values, why) => {
  keepAll([...STEADY, ...values]);
  const { metrics } = await gated();
  expect(metrics.find(({ name }) => name === TTFT)?.why).toContain(why);
});

test.each<[what: string, values: number[], change: number | null]>([
  ["an earlier value of 0 does not turn the change into a difference", [0, 0.02, 0.02, 0.06], 2],
  ["there is no change from 0", [0, 0, 0, 0.06], null],
])("%s", async (_what, values, change) => {
  keepAll(values);
  const { metrics } = await gated();
  const shown = metrics.find(({ name }) => name === TTFT)?.change;
  if (change === null) expect(shown).toBeNull();
  else expect(shown).toBeCloseTo(change, 9);
});

test("without --gate the exit code is 0, and the document still has the verdict", async () => {
  keepAll(SLOWER);
  expect(await gated({ gate: false })).toMatchObject({ code: 0, verdict: "fail" });
});

test("a latest run without a value does not pass", async () => {
  keepAll(STEADY);
  keep(recordWith(90, 20, { valid: false }));
  const { code, metrics } = await gated();
  expect(metrics[0]?.why).toBe("the latest run, run-20, has no value: the event loop was late");
  expect(code).toBe(4);
});

const UNKNOWN: [number, number] | null = null;

test.each<[what: string, admitted: Partial<LoadClass>, why: string]>([
  ["too few requests", { count: 20 }, "20 samples are too few for p90, which needs 36"],
  [
    "requests that depend on each other",
    {
      ttftMs: {
        ...quantiles(90),
        intervals: { p50: [89, 91], p90: UNKNOWN, p95: UNKNOWN, p99: UNKNOWN, p999: UNKNOWN },
      },
    },
    "the 5000 samples are correlated in time and count as fewer than the 36 independent ones that p90 needs; a longer load yields more independent samples",
  ],
  ["no such request", { ttftMs: null }, "too few requests of this kind were admitted"],
])("a latest run without a value says why: %s", async (_what, admitted, why) => {
  keepAll(STEADY);
  keep(recordWith(90, 20, { admitted }));
  const { metrics } = await gated();
  const p90 = metrics.find(({ name }) => name === TTFT.replace("p50", "p90"));
  expect(p90?.why).toBe(`the latest run, run-20, has no value: ${why}`);
});

describe("import", () => {
  test("a run is known by its id: importing again adds nothing", async () => {
    keepAll(STEADY);
    await gated();
    expect(await gated()).toMatchObject({ imported: 0, known: 10, code: 0 });
    const shown = await gated({ paths: [join(folder, "history.db")] });
    expect(shown).toMatchObject({ imported: 0, known: 0, code: 0 });
    expect(shown.runs).toHaveLength(10);
  });

  test("a comparison of two stored runs, which has the id of the second, does not hide that run", async () => {
    keepAll(STEADY);
    const second = recordWith(300, 11);
    const sideOf = (name: string, record: RunRecord) => {
      return { name, record, behaviour: { checks: record.checks, responses: new Map() } };
    };
    const comparison = compareStored(sideOf("first", recordWith(90, 1)), sideOf("second", second));
    keep({ ...second, command: "compare", comparison }, join("runs", "0-comparison"));
    expect(await gated()).toMatchObject({ imported: 10, known: 0, comparisons: 1, notImported: [], code: 0 });
    keep(second);
    expect(await gated()).toMatchObject({ imported: 1, known: 10, comparisons: 1 });
  });

  test("a record of another version is named, and prevents a pass", async () => {
    keepAll(STEADY);
    mkdirSync(join(folder, "runs", "old"));
    writeFileSync(join(folder, "runs", "old", "run.json"), JSON.stringify({ schemaVersion: 0 }));
    const { notImported, code, imported } = await gated();
    expect(notImported).toEqual([
      {
        dir: join(folder, "runs", "old"),
        why: expect.stringMatching(/not a run record of this version: schemaVersion/),
      },
    ]);
    expect({ code, imported }).toEqual({ code: 4, imported: 10 });
  });

  test("folders without a single readable run are a usage error", async () => {
    mkdirSync(join(folder, "runs", "other"), { recursive: true });
    writeFileSync(join(folder, "runs", "other", "run.json"), JSON.stringify({ a: 1 }));
    await expect(gated()).rejects.toThrow(/none of these folders contains a readable run: .* is not a run record/);
  });

  test("the folder of one run shows only what is comparable with it", async () => {
    keepAll(SLOWER);
    keepAll(STEADY, { target: { name: "other" } });
    await gated();
    keep(recordWith(90, 21), "newest");
    const { metrics, runs } = await gated({ paths: [join(folder, "newest")] });
    expect(new Set(metrics.map(({ group }) => group.target))).toEqual(new Set(["staging"]));
    expect(runs).toHaveLength(11);
  });
});

test("runs of other targets, addresses and workloads are never mixed", async () => {
  for (const [day, ttftMs] of SLOWER.entries()) {
    keep(recordWith(90, day + 1, day < 7 ? {} : { target: { baseUrl: "https://other.example.test/v1" } }));
    keep({ ...recordWith(ttftMs, day + 1, { name: day < 7 ? "growth" : "scale" }), runId: `w-${day}` });
  }
  const { metrics, code } = await gated();
  expect(metrics.map(({ values }) => values.length).sort((a, b) => b - a)[0]).toBe(14);
  expect(metrics.every(({ changePoint }) => changePoint === null)).toBe(true);
  expect(code).toBe(4);
});

test("failed checks of conformance runs have a trend", async () => {
  for (let day = 1; day <= 10; day++) {
    const results = ["a", "b", "c"].map((id) => result(`auth.${id}`, day > 7 && id !== "c" ? "fail" : "pass"));
    keep({ ...recordOf(results), runId: `c-${day}`, startedAt: `2026-11-${10 + day}T12:00:00.000Z` });
  }
  const { metrics, code } = await gated({ metric: ["checks"] });
  expect(metrics.find(({ name }) => name === "checks{status=fail}")).toMatchObject({
    verdict: "regressed",
    changePoint: { runId: "c-8", before: 0, after: 2, change: 2 },
  });
  expect(code).toBe(1);
});

test("the checks of a load are a series of their own, named after the load", async () => {
  const own = result("load.growth.soak.chat.every-usage", "fail", { suite: "chat" });
  for (const day of [1, 2]) {
    const record = recordWith(90, day);
    keep({ ...record, checks: [...record.checks, own] });
  }
  const { metrics } = await gated({ metric: ["checks"] });
  const failed = metrics.filter(({ name }) => name === "checks{status=fail}");
  expect(failed.map(({ group, latest }) => [group.name, latest])).toEqual([
    ["growth", 0],
    ["checks in growth", 1],
  ]);
});

test("thresholds that fail are counted among the figures of their load", async () => {
  for (let day = 1; day <= 10; day++) {
    const record = recordWith(90, day);
    const threshold = result("load.growth.thresholds[ttft_ms p95 < 100]", day > 7 ? "fail" : "pass", { suite: "load" });
    keep({ ...record, checks: [...record.checks, threshold] });
  }
  const { code, reasons } = await gated({ metric: [] });
  expect(code).toBe(1);
  expect(reasons[0]).toBe("growth got worse in the run of 2026-11-08 12:00:00 UTC: checks{status=fail} +1");
});

test("each change is reported on one line, with the most important metrics first", async () => {
  keepAll(SLOWER);
  const { reasons } = await gated();
  expect(reasons[0]).toMatch(
    /^growth got worse in the run of 2026-11-08 12:00:00 UTC: ttft_ms\{\S+\} p50 \+48\.9 %, ttft_ms\{\S+\} p99 \+48\.9 %, ttft_ms\{\S+\} p90 \+48\.9 %$/,
  );
  expect(reasons.filter((reason) => reason.includes("ttft_ms"))).toHaveLength(1);
});

describe("what the latest run lost", () => {
  const conformed = (
    day: number,
    statuses: Readonly<Record<string, Status>>,
    more: Partial<RunRecord> = {},
  ): RunRecord => ({
    ...recordOf(Object.entries(statuses).map(([id, status]) => result(id, status))),
    ...{ runId: `c-${day}`, startedAt: `2026-11-${10 + day}T12:00:00.000Z`, notSelected: ["auth.z"] },
    ...more,
  });
  const ALL = { "auth.a": "pass", "auth.b": "pass", "chat.c": "pass" } as const;
  const NEWER = { harness: { name: "gateway-gauntlet", version: "9.9.9" } };

  test.each<[what: string, latest: RunRecord, code: number, says: RegExp]>([
    ["nothing", conformed(11, ALL), 0, /^$/],
    [
      "a check that no longer applies",
      conformed(11, { ...ALL, "auth.b": "not-applicable" }),
      4,
      /auth\.b is not-applicable in run c-11; 10 of 10 earlier runs decided it/,
    ],
    ["a check that is blocked", conformed(11, { ...ALL, "auth.b": "blocked" }), 4, /auth\.b is blocked in run c-11/],
    [
      "a check that was selected and has no result",
      conformed(11, { "auth.a": "pass", "chat.c": "pass" }),
      1,
      /auth\.b has no result in run c-11/,
    ],
    [
      "a check that it did not select and that is therefore not lost",
      conformed(11, { "auth.a": "pass" }, { notSelected: ["auth.b", "auth.z", "chat.c"] }),
      4,
      /^no trend yet, 8 runs are needed: checks has 1 run$/,
    ],
    [
      "a check of another version, which is therefore not lost",
      conformed(11, { "auth.a": "pass", "chat.c": "pass" }, NEWER),
      4,
      /^no trend yet, 8 runs are needed: checks has 1 run$/,
    ],
  ])("%s", async (_what, latest, code, says) => {
    for (let day = 1; day <= 10; day++) keep(conformed(day, ALL));
    keep(latest);
    const found = await gated({ metric: [] });
    expect(found.reasons.join("\n")).toMatch(says);
    expect(found.code).toBe(code);
  });

  test("a check that most runs do not decide is not lost, and --since accepts a loss", async () => {
    for (let day = 1; day <= 10; day++) keep(conformed(day, { ...ALL, "auth.b": day % 3 === 0 ? "pass" : "blocked" }));
    expect((await gated({ metric: [] })).code).toBe(0);
    for (let day = 11; day <= 19; day++) keep(conformed(day, { ...ALL, "auth.a": "blocked" }));
    expect((await gated({ metric: [] })).reasons.join()).toMatch(/auth\.a is blocked in run c-19/);
    expect((await gated({ metric: [], since: "c-11" })).code).toBe(0);
  });

  test("a p99 that most runs have is lost, although an undecided p99 alone is not a loss", async () => {
    keepAll(STEADY);
    const record = recordWith(90, 11);
    const [run] = record.load?.runs ?? [];
    const [phase] = run?.phases ?? [];
    const [entry] = phase?.classes ?? [];
    if (run === undefined || phase === undefined || entry === undefined) throw new Error("the record has a class");
    // Enough samples for p90 and too few for p99.
    const few = { ...entry, count: 100, outputTokens: 1_800 };
    keep({ ...record, load: { runs: [{ ...run, phases: [{ ...phase, classes: [few] }] }] } });
    const { code, reasons } = await gated();
    expect(code).toBe(4);
    expect(reasons.join()).toMatch(/ttft_ms\{\S+\} p99: the latest run, run-11, has no value/);
  });

  test("shorter replies are a regression, whatever the latency", async () => {
    for (let day = 1; day <= 10; day++) {
      const record = recordWith(day > 7 ? 9 : 90, day);
      const short = { outputTokens: day > 7 ? 6_000 : 90_000 };
      const runs = (record.load?.runs ?? []).map((run) => ({
        ...run,
        phases: run.phases.map((phase) => ({ ...phase, classes: phase.classes.map((one) => ({ ...one, ...short })) })),
      }));
      keep({ ...record, load: { runs } });
    }
    const { code, metrics } = await gated({ metric: [] });
    expect(metrics.find(({ name }) => name.startsWith("tokens_per_reply"))).toMatchObject({
      verdict: "regressed",
      changePoint: { runId: "run-8", before: 18, after: 1.2 },
    });
    expect(code).toBe(1);
  });
});

function makeDatabase(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}

describe("what is not a history", () => {
  test.each<[what: string, make: (path: string) => void, says: RegExp]>([
    ["nothing", () => undefined, /no history file/],
    [
      "text",
      (path) => writeFileSync(path, "not a database, but long enough to be taken for one".repeat(100)),
      /is not a history of runs/,
    ],
    ["a file of another program", (path) => makeDatabase(path, "CREATE TABLE t (x)"), /is not a history of runs/],
    [
      "a file of another version",
      (path) => makeDatabase(path, "CREATE TABLE t (x); PRAGMA application_id = 1197951081; PRAGMA user_version = 9"),
      /has format 9, written by another version/,
    ],
  ])("%s", async (_what, make, says) => {
    const path = join(folder, "x.db");
    make(path);
    await expect(gated({ paths: [path] })).rejects.toThrow(says);
  });

  test.each<[options: Partial<HistoryOptions>, says: RegExp]>([
    [{ paths: ["/nowhere", "/else"] }, /there is no folder "\/nowhere"/],
    [{ since: "yesterday" }, /"yesterday" is neither a run of the history nor a date/],
    [{ metric: ["tfft_ms"] }, /no run has a metric tfft_ms/],
  ])("%j", async (options, says) => {
    keepAll(STEADY.slice(0, 2));
    await expect(gated(options)).rejects.toThrow(says);
  });
});

test("a series whose latest run has no value is shown with the reason, however short it is", async () => {
  keepAll(STEADY.slice(0, 3));
  keep(recordWith(90, 20, { valid: false }));
  const { stdout } = await gauntlet(["history", join(folder, "runs"), "--db", join(folder, "missing.db")]);
  expect(stdout).toMatch(/ttft_ms\{dialect=chat,phase=soak,stream=true\} p50 .*│ +3 │ [▁-█]{3}· +│ no value │/);
  expect(stdout).toMatch(/^ {2}\d+ metrics: the latest run, run-20, has no value: the event loop was late$/m);
});

test("an earlier run without values is a gap in the sparkline and the chart, with its reason", async () => {
  for (const [index, value] of STEADY.entries()) keep(recordWith(value, index + 1, { valid: index !== 3 }));
  const html = join(folder, "trends.html");
  const { stdout } = await gauntlet([
    ...["history", join(folder, "runs"), "--db", join(folder, "gap.db"), "--html", html],
  ]);
  expect(stdout).toMatch(/│ ttft_ms\{dialect=chat,phase=soak,stream=true\} p50 +│ +9 │ [▁-█]{3}·[▁-█]{6} +│/);
  expect(stdout).toContain("  · run run-4 of 2026-11-04 12:00:00 UTC has no values: the event loop was late\n");
  const page = readFileSync(html, "utf8");
  expect(page).toContain(
    "Run run-4 of 2026-11-04 12:00:00 UTC has no values (× in the charts): the event loop was late",
  );
  expect(page).toContain("<title>run-4, 2026-11-04T12:00: no value: the event loop was late</title>×");
});

test("from the second run on, the values of the main metrics are shown, and the last lines say what is missing once", async () => {
  keepAll(STEADY.slice(0, 2));
  const { stdout } = await gauntlet(["history", join(folder, "runs"), "--db", join(folder, "early.db")]);
  expect(stdout).toMatch(/│ ttft_ms\{dialect=chat,phase=soak,stream=true\} p50 +│ +2 │ [▁-█]{2} +│ +\d+ ms │/);
  expect(stdout).toMatch(/\nCOLLECTING: 2 of the 8 runs that a trend needs\nexit code 0 \(with --gate: 4\)\n$/);
  expect(stdout).not.toContain("no trend yet");
});

test("the values of a first run are shown, and how it differs from earlier runs with the same name", async () => {
  const history = async () =>
    (await gauntlet(["history", join(folder, "runs"), "--db", join(folder, "first.db")])).stdout;
  keep(recordWith(90, 1));
  expect(await history()).toMatch(/│ ttft_ms\{dialect=chat,phase=soak,stream=true\} p50 +│ +90 ms │/);
  const { load, ...record } = recordWith(70, 2);
  const runs = load?.runs.map((run) => ({ ...run, workload: { shape: "another" } })) ?? [];
  keep({ ...record, load: { runs } });
  const both = await history();
  expect(both).toMatch(/p50 +│ +70 ms │/);
  expect(both).not.toMatch(/p50 +│ +90 ms │/);
  expect(both).toContain("growth has 2 series with at most 1 run each (their workloads differ)");
  expect(both).toContain("\n  1 more series: growth; add --html trends.html to see all\n");
});

test("a second run without values is said once, not for each metric", async () => {
  keep(recordWith(90, 1));
  keep(recordWith(90, 2, { valid: false }));
  const { stdout } = await gauntlet(["history", join(folder, "runs"), "--db", join(folder, "late.db")]);
  expect(stdout.match(/│ no value │/g)?.length).toBeLessThanOrEqual(6);
  expect(stdout.match(/the event loop was late/g)?.length).toBeLessThanOrEqual(2);
});

test("runs that measured nothing: the verdict says so, once", async () => {
  for (const day of [1, 2]) {
    const { load: _load, ...record } = recordWith(90, day);
    keep(record);
  }
  const { stdout } = await gauntlet(["history", join(folder, "runs"), "--db", join(folder, "none.db")]);
  const lines = stdout.trimEnd().split("\n").slice(1);
  expect(lines).toEqual([
    "INCONCLUSIVE: nothing was measured in 2 runs: no check was decided and no load completed",
    "exit code 0 (with --gate: 4)",
  ]);
});

test("the page names the folder of each run that was just imported, with a link to its report", async () => {
  keepAll(STEADY);
  const html = join(folder, "pages", "trends.html");
  mkdirSync(join(folder, "pages"));
  writeFileSync(join(folder, "runs", "run-2-staging", "report.html"), "");
  await gated({ html });
  const page = readFileSync(html, "utf8");
  expect(page).toMatch(/<a href="\.\.\/runs\/run-2-staging\/report\.html">[^<]*runs\/run-2-staging<\/a>/);
  expect(page).toMatch(/<span>[^<]*runs\/run-1-staging<\/span>/);
  await gated({ html, paths: [join(folder, "history.db")] });
  expect(readFileSync(html, "utf8")).not.toContain("run-2-staging");
});

test("the command prints a table and one document, and renders a page", async () => {
  keepAll(SLOWER);
  const db = join(folder, "runs.db");
  const html = join(folder, "trends.html");
  const printed = await gauntlet(["history", join(folder, "runs"), "--db", db, "--gate", "--html", html]);
  expect(printed.code, printed.stderr).toBe(1);
  expect(printed.stdout).toMatch(
    /ttft_ms\{dialect=chat,phase=soak,stream=true\} p50 .* 134 ms .* 90 ms .*2026-11-08 12:00:00 UTC/,
  );
  expect(printed.stdout).toMatch(
    /FAIL: 3 metrics got worse and have stayed worse: ttft_ms\{dialect=chat,phase=soak,stream=true\} p50, …\nexit code 1 \(failed\), because of --gate\n$/,
  );
  const shown = await gauntlet(["history", db]);
  expect(shown.stdout).toMatch(/\nexit code 0 \(with --gate: 1\)\n$/);
  const { code, stdout } = await gauntlet(["history", db, "--json", "--metric", "ttft_ms"]);
  const document = JSON.parse(stdout);
  expect(document).toMatchObject({ verdict: "fail", exitCode: 0, file: db });
  expect(document.metrics).toHaveLength(3);
  expect(code).toBe(0);
  expect(readFileSync(html, "utf8")).toContain("with run run-8");
});
