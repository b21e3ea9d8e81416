import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { ConfigError } from "../../../src/core/index.ts";
import { loadWorkload } from "../../../src/load/index.ts";
import { loadTarget } from "../../../src/target/index.ts";

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
  test.each(readdirSync(fileURLToPath(new URL("../../../suites/throughput", import.meta.url))))("%s is one", (name) => {
    const workload = loadWorkload(fileURLToPath(new URL(`../../../suites/throughput/${name}`, import.meta.url)));
    expect(`${workload.name}.yaml`).toBe(name);
  });

  test("defaults are filled in", () => {
    const path = join(folder, "d.yaml");
    writeFileSync(path, "name: d\narrivals: { kind: constant, ratePerS: 5, durationS: 2 }\n");
    expect(loadWorkload(path)).toMatchObject({
      mix: [{ dialect: "chat", stream: false, promptTokens: 20, maxTokens: 64, weight: 1 }],
      warmupS: 0,
      engine: "native",
      allow: { deniedShare: 0, failedShare: 0, invalidShare: 0.005, emptyShare: 0.02 },
    });
  });

  test("an unknown field of one kind of arrivals names the fields of this kind", () => {
    const path = join(folder, "k.yaml");
    writeFileSync(path, "name: k\narrivals: { kind: constant, speed: 5, durationS: 2 }\n");
    expect(() => loadWorkload(path)).toThrow(/unknown field "speed"\. Known here: kind, ratePerS, durationS\./);
  });

  test.each([
    [
      "an unknown field",
      "name: a\narrivals: { kind: constant, ratePerS: 5, durationS: 2 }\nmaxInflight: 3\n",
      ["3 maxInflight"],
    ],
    ["a wrong kind", "name: a\narrivals:\n  kind: constantly\n", ["3 arrivals.kind"]],
    ["a rate of zero", "name: a\narrivals: { kind: constant, ratePerS: 0, durationS: 2 }\n", ["2 arrivals.ratePerS"]],
    [
      "a misspelt required field, which is not missing as well",
      "name: a\narivals: { kind: constant, ratePerS: 5, durationS: 2 }\nmix:\n  - { dialet: chat }\n",
      ["4 mix.0.dialet", "2 arivals"],
    ],
    ["neither arrivals nor tier", "name: a\n", ["1 arrivals"]],
    ["a closed loop without an end", "name: a\narrivals: { kind: closed, inFlight: 5 }\n", ["2 arrivals"]],
    [
      "a range upside down",
      "name: a\narrivals: { kind: closed, inFlight: 1, requests: 1 }\nmix:\n  - dialect: chat\n    promptTokens: { kind: uniform, from: 9, to: 3 }\n",
      ["5 mix.0.promptTokens.to"],
    ],
    [
      "tokens and bytes",
      "name: a\narrivals: { kind: closed, inFlight: 1, requests: 1 }\nmix: [{ dialect: chat, promptTokens: 5, promptBytes: 9 }]\n",
      ["3 mix.0.promptBytes"],
    ],
    [
      "what is not an objective of a request",
      "name: a\narrivals: { kind: closed, inFlight: 1, requests: 1 }\nobjectives:\n  - response_ms < 9\n  - ttft_ms p99 < 3\n",
      ["5 objectives.1"],
    ],
    [
      "an objective that the mix cannot meet",
      "name: a\narrivals: { kind: closed, inFlight: 1, requests: 1 }\nobjectives: [response_ms < 9, ttft_ms < 3]\n",
      ["3 objectives.1"],
    ],
    [
      "sessions with images",
      "name: a\narrivals: { kind: sessions, ratePerS: 1, durationS: 2, turns: 3 }\nmix: [{ dialect: chat, toolCalls: 2 }]\n",
      ["3 mix"],
    ],
    [
      "an invalid header",
      "name: a\narrivals: { kind: sessions, ratePerS: 1, durationS: 2, turns: 3, header: 'a b' }\n",
      ["2 arrivals.header"],
    ],
    ["objectives of a tier", "name: a\ntier: starter\nobjectives: [response_ms < 9]\n", ["3 objectives"]],
    ["a missing trace", "name: a\narrivals: { kind: replay, file: nowhere.ndjson }\n", ["undefined "]],
  ])("%s is named with its place", (_what, text, problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });

  test.each([
    ["{ kind: concurrent, inFlight: 4 }", /:2:\d+ \(arrivals\.kind\): expected "constant" or "poisson" or /],
    ["{ inFlight: 4 }", /:2:\d+ \(arrivals(\.kind)?\): missing; expected "constant" or "poisson" or /],
  ])("arrivals %s: the kinds are named", (arrivals, message) => {
    const path = join(folder, "kind.yaml");
    writeFileSync(path, `name: k\narrivals: ${arrivals}\n`);
    expect(() => loadWorkload(path)).toThrow(message);
  });

  test.each([
    ["arrivals: { kind: poison, ratePerS: 5 }", 'Did you mean "poisson"?'],
    ["tier: starter\nengine: autocanon", 'Did you mean "autocannon"?'],
    ["durration: 4\ntier: starter", 'Did you mean "arrivals.durationS"?'],
    ["durationS: 4\ntier: starter", 'Did you mean "arrivals.durationS"?'],
    ["promptTokens: 4\ntier: starter", 'Did you mean "mix.0.promptTokens"?'],
    ["thresholdds: [failed < 1 %]\ntier: starter", 'Did you mean "thresholds"?'],
    [
      "arrivals: { kind: constant, ratePerS: 5, durationS: 10s }",
      "Remove the unit: the field name already includes it.",
    ],
  ])("%s: says what was probably meant", (lines, hint) => {
    const path = join(folder, "meant.yaml");
    writeFileSync(path, `name: m\n${lines}\n`);
    expect(() => loadWorkload(path)).toThrow(
      expect.objectContaining({ problems: expect.arrayContaining([expect.objectContaining({ hint })]) }),
    );
  });

  test.each([
    ["mix: [{ model: m }]", ":2:7 (mix.0.dialect): missing; expected "],
    ["arrivals: { kind: constant, ratePerS: 5 durationS: 3 }", ":2:39: not valid YAML: separate the items in { }"],
  ])("%s: says what is missing", (line, message) => {
    const path = join(folder, "missing.yaml");
    writeFileSync(path, `name: m\n${line}\n`);
    expect(() => loadWorkload(path)).toThrow(message);
  });

  test("each of the arrivals of docs/traffic.md is valid", () => {
    const page = readFileSync(new URL("../../../docs/traffic.md", import.meta.url), "utf8");
    const section = page.slice(page.indexOf("\n## Arrivals"), page.indexOf("\n## Mix"));
    const complete = [...section.matchAll(/^\| `(\{[^`…]*\})` \|/gm)].map(([, arrivals = ""]) => arrivals);
    expect(complete).toHaveLength(6);
    const path = join(folder, "documented.yaml");
    for (const arrivals of complete) {
      writeFileSync(path, `name: d\narrivals: ${arrivals}\n`);
      expect(loadWorkload(path).arrivals, arrivals).toBeDefined();
    }
  });

  test("a target file and a workload file that were swapped are recognised", () => {
    const target = join(folder, "gauntlet.yaml");
    writeFileSync(target, "baseUrl: http://127.0.0.1:9/v1\nkeys: { valid: env:K }\n");
    expect(() => loadWorkload(target)).toThrow(/gauntlet\.yaml: is a target file, not a workload file/);
    const workload = join(folder, "w.yaml");
    writeFileSync(workload, "name: w\narrivals: { kind: constant, ratePerS: 1, durationS: 1 }\n");
    expect(() => loadTarget(workload, {})).toThrow(/w\.yaml: is a workload file, not a target file/);
  });

  test("a name that is reserved is not taken", () => {
    const path = join(folder, "thresholds.yaml");
    writeFileSync(path, "name: thresholds\ntier: starter\n");
    expect(() => loadWorkload(path)).toThrow(/:1:\d+ \(name\): must not be "thresholds": this name is reserved/);
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

  test.each([
    ["", "holds no requests"],
    ["what,is,this\n1,2,3\n", "is not a known trace format"],
    ['{"timestamp":1,"input_length":5,"output_length":3}\n{"timestamp":2}\n', "t.csv:2:1 (input_length)"],
    ['{"timestamp":1,"input_length":5,"output_length":3,"hash_ids":[1,2]}\n', "t.csv:1:1 (hash_ids): has more ids"],
    ['{"timestamp":1,"input_length":5,"output_length":3}\n{"timestamp":2,\n', "t.csv:2:1: is not JSON"],
    [
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\nlater,1,1\n",
      "t.csv:3:1 (TIMESTAMP): expected a date and time",
    ],
    [
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,many,10\n",
      "t.csv:2:1 (ContextTokens): expected a whole number",
    ],
    [
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,GPT-4,7,,7,API log\n",
      "t.csv:2:1 (Response tokens): expected a whole number",
    ],
  ])("a trace %j is refused by line", (text, message) => {
    writeFileSync(join(folder, "t.csv"), text);
    const path = join(folder, "c.yaml");
    writeFileSync(path, "name: c\narrivals: { kind: replay, file: t.csv }\n");
    expect(() => loadWorkload(path)).toThrow(message);
  });

  test("a trace in another format than the one that is named is refused with the columns of that one", () => {
    writeFileSync(join(folder, "t.csv"), "a,b\n1,2\n");
    const path = join(folder, "c.yaml");
    writeFileSync(path, "name: c\narrivals: { kind: replay, file: t.csv, format: burstgpt }\n");
    expect(() => loadWorkload(path)).toThrow(/t\.csv:1:1: .*Timestamp, Request tokens, Response tokens/);
  });

  test("a file of lengths is refused by line", () => {
    writeFileSync(join(folder, "out.txt"), "16\n0\n");
    const path = join(folder, "e.yaml");
    const mix = "mix: [{ dialect: chat, maxTokens: { kind: empirical, file: out.txt } }]";
    writeFileSync(path, `name: e\narrivals: { kind: closed, inFlight: 1, requests: 1 }\n${mix}\n`);
    expect(() => loadWorkload(path)).toThrow(/out\.txt:2:1: expected a whole number above 0/);
  });
});
