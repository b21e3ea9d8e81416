import { expect, test } from "vitest";
import { Redactor } from "../../../src/http/recorder/index.ts";
import { DEFAULT_BOUNDS, nowUs } from "../../../src/load/index.ts";
import { OutcomeCounts } from "../../../src/load/measure/phase-record.ts";
import { Tally } from "../../../src/load/measure/tally.ts";
import { LiveFeed } from "../../../src/telemetry/live/live-feed.ts";
import { sent } from "../../load/support/observations.ts";
import { loadPhase, loadSeries } from "../../support/load-records.ts";

test("a gateway that invents reasons for its denials and repeats keys: the most frequent ones are shown, and no key", () => {
  const key = "ck-live-feed-0123456789abcdef";
  const outcomes = new OutcomeCounts();
  const denied = (what: string, times: number) => {
    for (let time = 0; time < times; time++)
      outcomes.add({ prepared: { dialect: "chat", stream: false } }, { outcome: "denied", what }, undefined);
  };
  for (let reason = 0; reason < 1_000; reason++) denied(`reason-${reason}`, 1);
  denied(`${"x".repeat(110)}${key}`, 3);
  denied("rate_limit_exceeded", 5);
  using feed = new LiveFeed({
    target: "staging",
    redactor: new Redactor([{ name: "key.valid", value: key }]),
    onUpdate: () => undefined,
  });
  const originUs = nowUs();
  const tally = new Tally(originUs);
  const sender = { inFlight: 2, opened: 3 };
  feed.start({ run: "w", name: "w", originUs, totalS: 5, bounds: DEFAULT_BOUNDS, tally, outcomes, sender });
  feed.ended("w", loadPhase("w"));
  const { phases } = feed.since(0);
  expect(phases[0]?.denials).toHaveLength(20);
  expect(phases[0]?.denials[0]).toEqual({ reason: "rate_limit_exceeded", count: 5 });
  expect(phases[0]?.denials[1]).toEqual({ reason: `${"x".repeat(110)}[key.valid`, count: 3 });
  expect(JSON.stringify(phases)).not.toContain(key.slice(0, 10));
});

test("a generator that was late stays marked after its phase has ended", () => {
  const originUs = nowUs();
  const tally = new Tally(originUs);
  using feed = new LiveFeed({ target: "staging", redactor: new Redactor([]), onUpdate: () => undefined });
  const start = (name: string) =>
    feed.start({
      run: "w",
      name,
      originUs,
      totalS: 5,
      bounds: DEFAULT_BOUNDS,
      tally,
      outcomes: new OutcomeCounts(),
      sender: { inFlight: 0, opened: 1 },
    });
  start("on-time");
  feed.ended("w", loadPhase("on-time"));
  expect(feed.since(0).generator.wasLate).toBe(false);
  start("late");
  tally.offered(originUs);
  tally.sent(originUs, originUs + 2 * DEFAULT_BOUNDS.scheduleLagP99Ms * 1_000, 1);
  feed.ended("w", loadPhase("late"));
  expect(feed.since(0).generator).toMatchObject({
    ...{ late: false, wasLate: true },
    scheduleLagBoundMs: undefined,
  });
});

test("the bound of the lag is that of a phase that is sending", () => {
  const originUs = nowUs();
  using feed = new LiveFeed({ target: "staging", redactor: new Redactor([]), onUpdate: () => undefined });
  const sender = { inFlight: 0, opened: 1 };
  for (const [name, scheduleLagP99Ms] of [
    ["strict", 5],
    ["lenient", 70],
  ] as const)
    feed.start({
      ...{ run: "w", name, originUs, totalS: 5, tally: new Tally(originUs), outcomes: new OutcomeCounts(), sender },
      bounds: { ...DEFAULT_BOUNDS, scheduleLagP99Ms },
    });
  feed.ended("w", loadPhase("strict"));
  expect(feed.since(0).generator.scheduleLagBoundMs).toBe(70);
  feed.ended("w", loadPhase("lenient"));
  expect(feed.since(0).generator.scheduleLagBoundMs).toBeUndefined();
});

test("an incomplete last second is omitted unless it is the only one", () => {
  const originUs = nowUs();
  using feed = new LiveFeed({ target: "staging", redactor: new Redactor([]), onUpdate: () => undefined });
  const sender = { inFlight: 0, opened: 1 };
  const frame = { run: "w", originUs, totalS: 5, bounds: DEFAULT_BOUNDS, tally: new Tally(originUs), sender };
  for (const [name, durationS] of [
    ["steady", 3.2],
    ["short", 0.4],
    ["whole", 2],
  ] as const) {
    feed.start({ ...frame, name, outcomes: new OutcomeCounts() });
    const series = loadSeries(0, Math.ceil(durationS), 60, 50);
    feed.ended("w", loadPhase(name, { startS: 0, durationS, series }));
  }
  const of = (name: string) => feed.since(0).seconds.filter(({ phase }) => phase === name);
  expect(["steady", "short", "whole"].map((name) => of(name).map(({ atS }) => atS))).toEqual([[0, 1, 2], [0], [0, 1]]);
});

test("the time left is that of the run: the rest of the phase, and the later ones", () => {
  const originUs = nowUs();
  using feed = new LiveFeed({ target: "staging", redactor: new Redactor([]), onUpdate: () => undefined });
  const sender = { inFlight: 0, opened: 1 };
  const phase = { run: "starter", originUs, bounds: DEFAULT_BOUNDS, tally: new Tally(originUs), sender };
  feed.start({ ...phase, name: "warm-up", totalS: 5, laterS: 90, outcomes: new OutcomeCounts() });
  feed.ended("starter", loadPhase("warm-up"));
  feed.start({ ...phase, name: "closed", totalS: undefined, outcomes: new OutcomeCounts() });
  feed.ended("starter", loadPhase("other"));
  feed.start({ ...phase, name: "recovery", totalS: 20, laterS: 10, outcomes: new OutcomeCounts() });
  feed.ended("starter", loadPhase("closed"));
  const left = feed.since(0).phases.map(({ runLeftS }) => (runLeftS === null ? null : Math.ceil(runLeftS)));
  expect(left).toEqual([90, null, 30]);
});

test("the latencies of streams and of non-streaming replies are separate", () => {
  const originUs = nowUs();
  const tally = new Tally(originUs);
  using feed = new LiveFeed({ target: "staging", redactor: new Redactor([]), onUpdate: () => undefined });
  const ended = (stream: boolean, ms: number) =>
    tally.observed(
      sent(0, { stream, outcome: "admitted", dueUs: originUs, sentUs: originUs, endUs: originUs + ms * 1_000 }),
    );
  for (let count = 0; count < 10; count++) {
    ended(true, 2_000);
    ended(false, 3);
  }
  const running = { outcomes: new OutcomeCounts(), sender: { inFlight: 0, opened: 1 }, bounds: DEFAULT_BOUNDS };
  feed.start({ ...running, run: "w", name: "w", originUs, totalS: 5, tally });
  feed.ended("w", loadPhase("w"));
  const [latency] = feed.since(0).latencies;
  expect(latency?.responseByModeMs.streaming?.p50).toBeCloseTo(2_000, -1);
  expect(latency?.responseByModeMs.nonStreaming?.p50).toBeCloseTo(3, 1);
  // 10 requests do not reach a p95.
  expect(latency?.responseByModeMs.nonStreaming).toMatchObject({ p95: null, p99: null });
});
