import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { mergeOutputs, readOutput } from "../../src/engines/index.ts";
import { clockOffset } from "../../src/engines/k6/clock-offset.ts";
import { parseRequest, type RawRequest } from "../../src/engines/k6/raw-request.ts";
import { temporaryFolder } from "../support/gauntlet.ts";

const FIELDS =
  "1|load_0|messages|streaming|denied|rate_limit_exceeded|429|17|2|1|1000.500|1001.250|1795276049619|0.100|12.000|12.500|7|7000|Sat%2C%2021%20Nov%202026%2015%3A47%3A29%20GMT|0||req_1";
const REQUEST: RawRequest = {
  scenario: "load_0",
  dialect: "messages",
  stream: true,
  outcome: "denied",
  what: "rate_limit_exceeded",
  status: 429,
  index: 17,
  attempt: 2,
  key: 1,
  dueMs: 1_000.5,
  sentMs: 1_001.25,
  wallMs: 1_795_276_049_619,
  connectMs: 0.1,
  firstByteMs: 12,
  totalMs: 12.5,
  retryAfter: "7",
  retryAfterWaitMs: 7_000,
  dateMs: Date.UTC(2026, 10, 21, 15, 47, 29),
  tokens: 0,
  crossed: false,
};

/** The lines in the format of k6 1.8.1. */
const json = (metric: string, value: number, text: string) =>
  `{"metric":"${metric}","type":"Point","data":{"time":"2026-11-21T15:47:29.619659204Z","value":${value},"tags":{"phase":"x","scenario":"load_0"},"metadata":{"g":"${text}"}}}`;
const JSON_LINES = [
  '{"type":"Metric","data":{"name":"gauntlet_request","type":"trend","contains":"time","thresholds":[],"submetrics":null},"metric":"gauntlet_request"}',
  json("gauntlet_instance", 1, "1|begun|1%2F3%3A2%2F3"),
  json("gauntlet_request", 12.5, FIELDS),
  '{"metric":"dropped_iterations","type":"Point","data":{"time":"2026-11-21T15:47:29.6Z","value":3,"tags":{"scenario":"load_0"}}}',
  json("http_reqs", 1, ""),
];
const CSV_LINES = [
  "metric_name,timestamp,metric_value,scenario,extra_tags,metadata",
  "gauntlet_instance,1795276052,1.000000,,event=begun,g=1|begun|1%2F3%3A2%2F3",
  `gauntlet_request,1795276052,12.500000,load_0,"dialect=messages&reason=a,b",g=${FIELDS}`,
  "dropped_iterations,1795276052,3.000000,load_0,,",
];

describe("raw outputs of k6", () => {
  test("a request is read field by field, and nothing else is mistaken for one", () => {
    expect(parseRequest(FIELDS)).toEqual(REQUEST);
    expect(parseRequest(FIELDS.replace("|17|", "|x|"))).toBeUndefined();
    expect(parseRequest(FIELDS.slice(0, 60))).toBeUndefined();
  });

  test.each([
    ["json", JSON_LINES, "k6.json"],
    ["csv", CSV_LINES, "k6.csv"],
    ["json.gz", JSON_LINES, "k6.json.gz"],
  ])("%s holds the same; one without an end was cut off", async (_, lines, name) => {
    using folder = temporaryFolder();
    const path = join(folder.path, name);
    const cut = `${lines.join("\n")}\n${(lines[2] ?? "").slice(0, 40)}`;
    writeFileSync(path, name.endsWith(".gz") ? gzipSync(cut) : cut);
    expect(await readOutput(path)).toEqual({
      requests: [REQUEST],
      dropped: new Map([["load_0", 3]]),
      begun: true,
      ended: false,
      segment: "1/3:2/3",
    });
  });
});

/** An instance whose clock is behind the gateway's, sending at uneven times. */
function instanceBehind(offsetMs: number, startWallMs: number): RawRequest[] {
  return Array.from({ length: 60 }, (_, index) => {
    const sentMs = index * 137.25;
    const gatewayMs = startWallMs + sentMs + offsetMs + 5;
    return {
      ...REQUEST,
      outcome: "admitted" as const,
      index,
      attempt: 1,
      dueMs: sentMs,
      sentMs,
      wallMs: Math.floor(startWallMs + sentMs),
      firstByteMs: 10,
      totalMs: 11,
      dateMs: Math.floor(gatewayMs / 1_000) * 1_000,
    };
  });
}

describe("clocks of different machines", () => {
  test.each([-7_300, 0, 412, 90_000])("an offset of %d ms is found within its uncertainty", (offsetMs) => {
    const found = clockOffset(instanceBehind(offsetMs, 1_795_276_049_619));
    expect(Math.abs((found?.offsetMs ?? Number.NaN) - offsetMs)).toBeLessThanOrEqual((found?.uncertaintyMs ?? 0) + 1);
    expect(found?.uncertaintyMs).toBeLessThan(60);
  });

  test("without a Date it is unknown, and said so", () => {
    expect(clockOffset([{ ...REQUEST, dateMs: undefined }])).toBeUndefined();
  });

  test("it aligns the times of instances", () => {
    const output = (requests: RawRequest[], segment: string) => ({
      requests,
      dropped: new Map<string, number>(),
      begun: true,
      ended: true,
      segment,
    });
    const startMs = 1_795_276_049_619;
    const merged = mergeOutputs({
      outputs: [
        { name: "a", output: output(instanceBehind(0, startMs), "0:1/2"), ended: "" },
        { name: "b", output: output(instanceBehind(5_000, startMs - 5_000), "1/2:1"), ended: "" },
      ],
      groups: [{ scenario: "load_0", phase: "load", role: "load" }],
      keys: ["valid"],
      sameClock: false,
    });
    expect(merged.observations).toHaveLength(120);
    // Both began at the same moment of the gateway's clock, though their clocks differ by five seconds.
    expect(merged.skewMs).toBeLessThan(120);
    expect(
      merged.instances.map(({ clockOffsetMs }) => ((clockOffsetMs ?? 0) / 1_000).toFixed(0).replace("-0", "0")),
    ).toEqual(["0", "5"]);
  });
});
