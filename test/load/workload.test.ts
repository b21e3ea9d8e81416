import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { ConfigError } from "../../src/core/index.ts";
import { loadWorkload } from "../../src/load/index.ts";

const folder = mkdtempSync(join(tmpdir(), "gauntlet-workload-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function problemsOf(text: string): string[] {
  const path = join(folder, "w.yaml");
  writeFileSync(path, text);
  try {
    loadWorkload(path);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ line, path: where }) => `${line} ${where}`);
    throw error;
  }
  return [];
}

describe("workload files", () => {
  test.each(readdirSync(fileURLToPath(new URL("../../suites/throughput", import.meta.url))))("%s is one", (name) => {
    const workload = loadWorkload(fileURLToPath(new URL(`../../suites/throughput/${name}`, import.meta.url)));
    expect(`${workload.name}.yaml`).toBe(name);
  });

  test("defaults are filled in", () => {
    const path = join(folder, "d.yaml");
    writeFileSync(path, "name: d\narrivals: { kind: constant, ratePerS: 5, durationS: 2 }\n");
    expect(loadWorkload(path)).toMatchObject({
      mix: [{ dialect: "chat", stream: false, promptTokens: 20, maxTokens: 64, weight: 1 }],
      warmupS: 0,
      engine: "native",
      allow: { deniedShare: 0, failedShare: 0 },
    });
  });

  test.each([
    [
      "an unknown field",
      "name: a\narrivals: { kind: constant, ratePerS: 5, durationS: 2 }\nmaxInflight: 3\n",
      ["3 maxInflight"],
    ],
    ["a wrong kind", "name: a\narrivals:\n  kind: constantly\n", ["3 arrivals.kind"]],
    ["a rate of zero", "name: a\narrivals: { kind: constant, ratePerS: 0, durationS: 2 }\n", ["2 arrivals.ratePerS"]],
    ["neither arrivals nor tier", "name: a\n", ["1 arrivals"]],
    ["a closed loop without an end", "name: a\narrivals: { kind: closed, inFlight: 5 }\n", ["2 arrivals"]],
    ["a missing trace", "name: a\narrivals: { kind: replay, file: nowhere.ndjson }\n", ["undefined "]],
  ])("%s is named with its place", (_what, text, problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });

  test("a trace is read in order of time, and its problems are named by line", () => {
    writeFileSync(join(folder, "t.ndjson"), '{"offsetMs":20}\n{"offsetMs":10,"stream":true}\n');
    const path = join(folder, "r.yaml");
    writeFileSync(path, "name: r\narrivals: { kind: replay, file: t.ndjson }\n");
    const { arrivals } = loadWorkload(path);
    expect(arrivals?.kind === "replay" && arrivals.entries.map(({ offsetMs, stream }) => [offsetMs, stream])).toEqual([
      [10, true],
      [20, false],
    ]);
    writeFileSync(join(folder, "t.ndjson"), '{"offsetMs":20}\n{"offsetMs":"soon"}\n');
    expect(() => loadWorkload(path)).toThrow(/t\.ndjson:2:1 \(offsetMs\)/);
  });
});
