import { expect, test } from "vitest";
import { Histogram } from "../../../src/metrics/index.ts";
import { prometheusMetrics } from "../../../src/telemetry/live/prometheus-metrics.ts";
import { parseExposition } from "../../../src/telemetry/watch/exposition.ts";
import { readMetrics } from "../../support/readers.ts";

const all = (text: string) => parseExposition(text, () => true);
const one = (line: string) => all(`${line}\n`).samples[0];

test.each<[what: string, line: string, labels: Record<string, string>, value: number]>([
  ["without labels", "up 1", {}, 1],
  ["with a tab and a time", "up\t1 1700000000000", {}, 1],
  ["with empty braces", "up{} 1", {}, 1],
  ["spaces wherever they may stand", 'up { a = "x" , b = "y" } 2.5', { a: "x", b: "y" }, 2.5],
  ["a comma at the end", 'up{a="x",} 3', { a: "x" }, 3],
  ["what ends a label, inside one", String.raw`up{a="}, \"b\" \\ \n#"} 4`, { a: '}, "b" \\ \n#' }, 4],
  ["a backslash before anything else stays", String.raw`up{a="\d"} 4`, { a: "\\d" }, 4],
  ["an exemplar", 'up{a="x"} 5 # {trace_id="abc"} 0.67', { a: "x" }, 5],
  ["exponents", "up 1.5e+09", {}, 1_500_000_000],
  ["less than nothing", "up -.5", {}, -0.5],
  ["without bound", "up +Inf", {}, Number.POSITIVE_INFINITY],
  ["without bound, below", "up -inf", {}, Number.NEGATIVE_INFINITY],
  ["no number", "up NaN", {}, Number.NaN],
  ["a line that ends as on Windows", "up 6\r", {}, 6],
])("a sample %s", (_what, line, labels, value) => {
  expect(one(line)).toEqual({ name: "up", labels, kind: "gauge", value });
});

test.each([
  ["no value", "up"],
  ["no value behind labels", 'up{a="x"}'],
  ["an invalid value", "up one"],
  ["a hexadecimal value", "up 0x10"],
  ["a label without quotes", "up{a=x} 1"],
  ["a label without an end", 'up{a="x} 1'],
  ["braces without an end", 'up{a="x" 1'],
  ["an invalid name", "1up 1"],
  ["a page", "<!doctype html>"],
  ["JSON", '{"up": 1}'],
  ["more than any sample has", `up{a="${"x".repeat(5_000)}"} 1`],
])("%s is skipped, and what follows is read", (_what, line) => {
  const { samples, lines } = all(`${line}\nup 7`);
  expect(samples).toEqual([{ name: "up", labels: {}, kind: "gauge", value: 7 }]);
  expect(lines).toBe(1);
});

test.each([
  ["# TYPE a counter", "a 1", "counter"],
  ["# TYPE a gauge", "a 1", "gauge"],
  // prom-client's names for its gauges.
  ["# TYPE a_total gauge", "a_total 1", "gauge"],
  // OpenMetrics: the type is listed under the name of the family.
  ["# TYPE a counter", "a_total 1", "counter"],
  ["# TYPE a histogram", "a_count 1", "counter"],
  ["# TYPE a histogram", 'a_bucket{le="1"} 1', "counter"],
  ["# TYPE a summary", "a_sum 1", "counter"],
  ["# TYPE a summary", 'a{quantile="0.5"} 1', "gauge"],
  ["# TYPE a gaugehistogram", "a_count 1", "gauge"],
  ["# TYPE a untyped", "a 1", "gauge"],
  ["", "a_total 1", "counter"],
  ["# HELP a_total is a gauge", "a_total 1", "counter"],
  ["# TYPE  a   COUNTER", "a 1", "counter"],
])("%j makes %j a %s", (type, line, kind) => {
  expect(all(`${type}\n${line}\n`).samples).toMatchObject([{ kind }]);
});

test("only the name of an unselected sample is read; a text without any sample has another format", () => {
  const requested: string[] = [];
  const { samples, lines } = parseExposition("a 1\nb{x} 1\nc 1\n", (name) => {
    requested.push(name);
    return name === "c";
  });
  expect(requested).toEqual(["a", "b", "c"]);
  expect(samples).toEqual([{ name: "c", labels: {}, kind: "gauge", value: 1 }]);
  expect(lines).toBe(3);
  for (const text of ["", "# a comment", "Not Found", "<html>\nbody { color: red }\n</html>", '{"status":"ok"}'])
    expect(parseExposition(text, () => false).lines, text).toBe(0);
});

test("Gauntlet's own endpoint is read as another library reads it", async () => {
  const histogram = new Histogram();
  for (let us = 1; us < 3e6; us *= 3) histogram.record(us);
  const registry = prometheusMetrics({
    target: 'a "quoted" \\ name',
    loopDelayP99Ms: 1.5,
    phases: ["even", "late"].map((phase) => ({
      ...{ run: "w", phase, inFlight: 3, connections: 4, lag: histogram },
      counts: { offered: 1, admitted: 2, denied: 3, failed: 4, invalid: 0, dropped: 5 },
      classes: [{ dialect: "chat", stream: true, outcome: "admitted", figures: new Map([["ttft", histogram]]) }],
    })),
  });
  const text = await registry.metrics();
  const theirs = readMetrics(text).flatMap(({ name, metrics }) =>
    metrics.map(({ labels = {}, value }) => ({ name, labels, value: Number(value) })),
  );
  const ours = all(text).samples.map(({ name, labels, value }) => ({ name, labels, value }));
  expect(ours).toEqual(theirs);
  expect(ours.length).toBeGreaterThan(30);
  expect(ours.filter(({ labels }) => labels["target"] !== 'a "quoted" \\ name')).toEqual([]);
});
