// real-time: sends load, and judges how much of it was served in time
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../src/core/index.ts";
import { parseUntil } from "../../../src/load/index.ts";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { DISTRIBUTIONS } from "../../support/simulated-latencies.ts";
import { timedGateway } from "../../support/timed-gateway.ts";
import { skipWhereLate } from "../../support/valid-generator.ts";

/** Log-normal, 20 ms at p50. */
function logNormal(): () => number {
  const draw = DISTRIBUTIONS["log-normal"](seededRandom(11));
  return () => draw() / 10_000;
}

/** Runs `gauntlet load` against such a gateway, with a workload that would take ten minutes. */
async function loadUntil(...options: string[]) {
  await using gateway = await timedGateway(logNormal());
  using folder = temporaryFolder();
  writeFileSync(
    join(folder.path, "target.yaml"),
    `name: log-normal\nbaseUrl: ${gateway.baseUrl}\nkeys: { valid: "env:KEY" }\nmodels: { chat: m }\n`,
  );
  writeFileSync(
    join(folder.path, "even.yaml"),
    "name: even\narrivals: { kind: constant, ratePerS: 60, durationS: 600 }\nmix: [{ dialect: chat }]\n",
  );
  const run = await gauntlet(
    ["load", "even.yaml", "--target", "target.yaml", "--json", "--out", "run", ...options],
    { KEY: "sk-a-key-that-is-not-real" },
    folder.path,
  );
  return { ...run, document: JSON.parse(run.stdout) };
}

describe("load --until", () => {
  test("ends as soon as the figure is known, long before its bound", { timeout: 120_000 }, async (context) => {
    const { code, document } = await loadUntil("--until", "response_ms p50 within 20%");
    const [phase] = document.phases;
    const { p50, intervals } = phase.classes[0].responseMs;
    const [low, high] = intervals.p50;
    expect(low).toBeLessThanOrEqual(p50);
    expect(high).toBeGreaterThanOrEqual(p50);
    expect(document.durationS).toBeLessThan(300);
    skipWhereLate(context, document);
    const found = phase.findings.find(({ name }: { name: string }) => name === "load.until");
    expect(found).toMatchObject({ outcome: "met", expected: { kind: "condition", text: "±20 %" } });
    expect((high - low) / 2 / p50).toBeLessThanOrEqual(0.2);
    expect(code).toBe(0);
  });

  test("is inconclusive when it is not known within its bound", { timeout: 120_000 }, async (context) => {
    const { code, document } = await loadUntil("--until", "response_ms p999 within 5%", "--at-most", "2");
    expect(code).toBe(4);
    const found = document.phases[0].findings.find(({ name }: { name: string }) => name === "load.until");
    expect(found.outcome).toBe("undecided");
    expect(document.phases[0].offered).toBe(120);
    skipWhereLate(context, document);
    expect(found.reason.text).toMatch(
      /^response_ms p999 within 5%: 120 values of chat, non-streaming do not support an interval$/,
    );
  });

  test.each<[what: string[], says: RegExp]>([
    [["even.yaml", "--until", "ttft_ms p99"], /--until takes a figure, a quantile and a precision/],
    [["even.yaml", "--until", "ttft_ms p98 within 5%"], /at p50, p90, p95, p99, p999/],
    [["even.yaml", "--until", "response_ms p99 within 0%"], /more than 0/],
    [["even.yaml", "--until", "ttft_ms p99 within 5%"], /applies only to streams/],
    [["even.yaml", "--at-most", "5"], /until/],
    [["even.yaml", "--until", "response_ms p50 within 5%", "--at-most", "0"], /--at-most takes a number from 1/],
    [["even.yaml", "--until", "response_ms p50 within 5%", "--workers", "2"], /one thread/],
    [["even.yaml", "--until", "response_ms p50 within 5%", "--shard", "1/2"], /one thread/],
    [["starter", "--until", "response_ms p50 within 5%"], /the phases of a tier/],
    [["ramp.yaml", "--until", "response_ms p50 within 5%"], /ramp has ramp arrivals/],
  ])("%j is a mistake of the command line", async (what, says) => {
    using folder = temporaryFolder();
    for (const [name, arrivals] of [
      ["even", "{ kind: constant, ratePerS: 5, durationS: 5 }"],
      ["ramp", "{ kind: ramp, fromPerS: 1, toPerS: 5, durationS: 5 }"],
    ])
      writeFileSync(
        join(folder.path, `${name}.yaml`),
        `name: ${name}\narrivals: ${arrivals}\nmix: [{ dialect: chat }]\n`,
      );
    const { code, stderr } = await gauntlet(["load", "--target", "embedded", ...what], {}, folder.path);
    expect(stderr).toMatch(says);
    expect(code).toBe(2);
  });

  test("its text may have any spaces", () => {
    expect(parseUntil(" ttft_ms  p99 within 2.5 % ")).toEqual({
      ...{ kind: "quantile", text: "ttft_ms p99 within 2.5%", figure: "ttft", quantile: "p99", withinShare: 0.025 },
    });
  });
});
