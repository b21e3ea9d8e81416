// real-time: sends load, and judges how much of it was served in time
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { LoadPhase, RunRecord } from "../../../src/record/index.ts";
import type { LiveUpdate } from "../../../src/telemetry/live/live-feed.ts";
import { startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { metricsOf, spansOf, startCollector, startTracedGateway, valuesOf } from "../../support/otlp.ts";
import { readMetrics } from "../../support/readers.ts";

const COUNTS = ["offered", "sent", "admitted", "denied", "failed", "invalid", "dropped"] as const;
const RUNS = ["short", "long"] as const;

/** The short one has ended long before the other. */
const WORKLOADS = {
  short: "arrivals: { kind: constant, ratePerS: 100, durationS: 2 }",
  long: "arrivals: { kind: constant, ratePerS: 50, durationS: 6 }",
} as const satisfies Record<(typeof RUNS)[number], string>;

/** Every update of the live page, until the server ends them. */
async function updatesFrom(url: string): Promise<LiveUpdate[]> {
  const text = await (await fetch(url)).text();
  return text.split("\n\n").flatMap((event) => {
    const data = /^data: (.*)$/m.exec(event)?.[1];
    return event.includes("event: update") && data !== undefined ? [JSON.parse(data) as LiveUpdate] : [];
  });
}

/** Polls the metrics until the server no longer exists. */
async function scrapesFrom(url: string): Promise<string[]> {
  const scrapes: string[] = [];
  for (;;) {
    try {
      scrapes.push(await (await fetch(url)).text());
    } catch {
      // The run has ended, and its server with it.
      return scrapes;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Values of a metric of one run, each with its labels. */
const samplesOf = (text: string, name: string, run: string) =>
  (readMetrics(text).find((family) => family.name === name)?.metrics ?? [])
    .filter(({ labels }) => labels?.["run"] === run)
    .map(({ labels = {}, value }) => ({ labels, value: Number(value) }));

const counted = (text: string, name: string, run: string) => samplesOf(text, name, run)[0]?.value ?? 0;

async function load() {
  await using otlp = await startCollector();
  await using gateway = await startTracedGateway();
  using folder = temporaryFolder();
  const write = (name: string, text: string) => writeFileSync(join(folder.path, name), text);
  for (const name of RUNS)
    write(
      `${name}.yaml`,
      `name: ${name}\n${WORKLOADS[name]}\nmix: [{ dialect: chat, stream: true }]\nallow: { deniedShare: 1 }\n`,
    );
  write("t.yaml", `baseUrl: ${gateway.origin}/v1\nkeys: { valid: env:K }\nmodels: { chat: plain }\n`);
  const what = ["load", ...RUNS.map((name) => `${name}.yaml`), "--target", "t.yaml", "--workers", "2"];
  const shown = ["--live", "--metrics-port", "0", "--otlp", otlp.origin];
  const key = { K: "ck-shown-0123456789abcdef" };
  await using running = startGauntlet([...what, ...shown, "--json", "--out", "run"], key, folder.path);
  const printed = await running.printed(/\/metrics\b/);
  const [live] = /http:\/\/127\.0\.0\.1:\d+(?=\/\n)/.exec(printed) ?? [];
  const [metrics] = /http:\/\/127\.0\.0\.1:\d+\/metrics/.exec(printed) ?? [];
  const [updates, scrapes, { stderr }] = await Promise.all([
    updatesFrom(`${live}/events`),
    scrapesFrom(metrics ?? ""),
    running.finished,
  ]);
  const record = JSON.parse(readFileSync(join(folder.path, "run", "run.json"), "utf8")) as RunRecord;
  const phases = new Map(record.load?.runs.map(({ name, phases: [phase] }) => [name, phase as LoadPhase]));
  const workers = record.load?.runs.map(({ generator }) => generator.workers);
  return { updates, scrapes, otlp, sent: gateway.traceparents, phases, workers, stderr };
}

test("two threads: page, metrics and spans show their sum during the run, and end with the record's values", async () => {
  const { updates, scrapes, otlp, sent, phases, workers, stderr } = await load();
  expect(workers, stderr).toEqual([2, 2]);
  expect(sent).toHaveLength(500);
  const last = updates.at(-1);
  const { metrics } = metricsOf(otlp.metrics.at(-1) as Buffer);
  for (const run of RUNS) {
    const phase = phases.get(run) as LoadPhase;
    expect(phase.sent, run).toBe(run === "short" ? 200 : 300);

    // The page.
    const shown = last?.phases.find((one) => one.run === run);
    expect(shown?.counts).toEqual(Object.fromEntries(COUNTS.map((count) => [count, phase[count]])));
    expect(shown).toMatchObject({ connections: phase.connections, inFlight: 0 });
    expect(shown?.verdict, "it has ended").not.toBeNull();
    expect(shown?.denials).toEqual([{ reason: "rate_limit_exceeded", count: phase.denied }]);
    const seconds = new Map(updates.flatMap((update) => update.seconds).map((one) => [`${one.run} ${one.atS}`, one]));
    const own = [...seconds.values()].filter((one) => one.run === run);
    const complete = phase.series.filter(({ atS }) => atS + 1 <= phase.startS + phase.durationS);
    expect(complete.length).toBeGreaterThan(0);
    expect(own.map(({ run: _run, phase: _phase, ...second }) => second)).toEqual(complete);

    // During the run: it grew, by both threads' requests.
    const soFar = updates.map((update) => update.phases.find((one) => one.run === run)?.counts.sent ?? 0);
    expect(soFar).toEqual([...soFar].sort((a, b) => a - b));
    // The page changes once a second: it may show only the end of the short run.
    if (run === "short") continue;
    const early = updates.filter((update) => update.phases.some((one) => one.run === run && one.verdict === null));
    const timed = early.flatMap(({ seconds: some }) => some).filter((one) => one.run === run && one.ttftMs !== null);
    expect(timed.length).toBeGreaterThan(0);
    const between = soFar.filter((count) => count > 0 && count < phase.sent);
    expect(new Set(between).size, soFar.join(" ")).toBeGreaterThanOrEqual(2);
  }

  // The metrics, of the short run while the long one continues.
  const short = phases.get("short") as LoadPhase;
  const whole = scrapes
    .filter((text) => counted(text, "gauntlet_admitted_requests", "short") === short.admitted)
    .at(-1);
  expect(whole).toBeDefined();
  for (const count of ["offered", "admitted", "denied", "failed", "dropped"] as const)
    expect(counted(whole ?? "", `gauntlet_${count}_requests`, "short"), count).toBe(short[count]);
  const admitted = short.classes.find(({ outcome }) => outcome === "admitted");
  const ttft = samplesOf(whole ?? "", "gauntlet_ttft_seconds", "short");
  const quantile = (name: string) => ttft.find(({ labels }) => labels["quantile"] === name)?.value ?? Number.NaN;
  for (const [name, ms] of [
    ["0.5", admitted?.ttftMs?.p50],
    ["0.99", admitted?.ttftMs?.p99],
    ["1", admitted?.ttftMs?.max],
  ] as const)
    expect(quantile(name) * 1_000, name).toBeCloseTo(ms ?? 0, 6);
  const growing = scrapes.map((text) => counted(text, "gauntlet_admitted_requests", "long"));
  expect(new Set(growing).size).toBeGreaterThan(3);

  // What the collector received.
  const points = metrics.get("gauntlet.requests")?.sum?.dataPoints ?? [];
  for (const { attributes, asInt } of points) {
    const { "gauntlet.run": run, "gauntlet.outcome": outcome } = valuesOf(attributes);
    const phase = phases.get(String(run)) as LoadPhase;
    expect(asInt, `${run} ${outcome}`).toBe(phase[outcome as (typeof COUNTS)[number]]);
  }
  expect(points.length).toBeGreaterThanOrEqual(COUNTS.length);
  const spans = spansOf(otlp.traces);
  const sampled = sent.filter((traceparent) => traceparent !== undefined);
  // Of 200 requests each; of 300 every second one.
  expect(sampled).toHaveLength(350);
  expect(new Set(spans.map(({ traceparent }) => traceparent))).toEqual(new Set(sampled));
  expect(spans).toHaveLength(sampled.length);
});
