import { expect, test } from "vitest";
import type { JournalLine } from "../../../src/record/index.ts";
import { LOAD_DISCARDED, recoverLoad } from "../../../src/run/record/recover-load.ts";

const line = (event: string, more: object = {}): JournalLine => ({ event, at: "2026-11-23T00:00:00.000Z", ...more });
const started = line("load-started", { runs: [{ name: "starter", kind: "tier", engine: "native", workload: null }] });
const progress = (phase: string, more: object = {}) =>
  line("load-progress", { run: "starter", phase, elapsedS: 1, inFlight: 0, counts: { offered: 4, sent: 4 }, ...more });

test("of a killed run whose tiers were measured again only the second measurement counts", () => {
  const phasesOf = (...lines: JournalLine[]) =>
    recoverLoad(lines)?.runs.map(({ name, phases }) => [name, phases.map((phase) => phase.name)]);
  expect(phasesOf(started, progress("recovery"))).toEqual([["starter", ["recovery"]]]);
  expect(phasesOf(started, progress("recovery"), line(LOAD_DISCARDED), started, progress("warm-up"))).toEqual([
    ["starter", ["warm-up"]],
  ]);
  expect(phasesOf(started, progress("recovery"), line(LOAD_DISCARDED))).toBeUndefined();
});

test("a killed run keeps the latencies of each mode, if its engine reported any", () => {
  const secondsOf = (more: object) =>
    recoverLoad([started, progress("recovery", more)])?.runs[0]?.phases[0]?.series.map(
      ({ responseByModeMs }) => responseByModeMs,
    );
  const responseByModeMs = { streaming: { p50: 2_000, p95: 2_100, p99: 2_200 }, nonStreaming: null };
  expect(secondsOf({ responseByModeMs })).toEqual([responseByModeMs]);
  expect(secondsOf({})).toEqual([{ streaming: null, nonStreaming: null }]);
});
